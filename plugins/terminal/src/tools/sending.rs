//! The tool that types and waits for the answer.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wharf_sdk::check::{length as check_length, range as check_range, text as check_text};
use wharf_sdk::contract::turn::Preset;
use wharf_sdk::terminal::{Input, TurnOptions};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::keys::check_keys;
use super::{judged_by, of_terminal};
use crate::following::follow;
use crate::limits;
use crate::output::answer::TurnAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// What to type, usually up to 10,000 characters; several lines are all right. Empty, Enter alone is pressed. Control
    /// characters are keys.
    #[serde(default)]
    #[schemars(length(max = limits::INPUT))]
    text: String,
    /// Whether Enter is pressed behind the text.
    #[serde(default = "yes")]
    submit: bool,
    /// In place of a text: keys whose effect takes long, such as ["Down", "Enter"] in a menu. For keys that act at once, use
    /// send_keys.
    #[serde(default)]
    #[schemars(length(max = limits::KEYS), inner(length(min = 1, max = limits::KEY)))]
    keys: Vec<String>,
    /// Seconds to wait for the answer. Afterwards the turn goes on, and wait_for_turn waits on.
    #[serde(default = "default_wait")]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
    /// Where this line starts other work than the terminal's: "build" before `make`, for instance. See start_terminal.
    preset: Option<Preset>,
    /// In place of a preset: a profile that the operator configured.
    #[schemars(length(min = 1, max = limits::PROFILE))]
    profile: Option<String>,
    /// A regular expression (Rust's syntax) that the line of the cursor matches once the program is done, for a prompt of its
    /// own, such as `^mysql> $`.
    #[schemars(length(min = 1, max = limits::PATTERN))]
    prompt: Option<String>,
    /// Seconds of silence that count as an end, in place of the preset's.
    #[schemars(range(min = 1, max = limits::TURN_SECONDS))]
    quiet_seconds: Option<u64>,
    /// Seconds that the turn may take in all, in place of the preset's.
    #[schemars(range(min = 1, max = limits::TURN_SECONDS))]
    time_limit_seconds: Option<u64>,
}

fn yes() -> bool {
    true
}

fn default_wait() -> u64 {
    120
}

/// Types a line into a terminal, presses Enter, and waits until the program has answered: a turn. The host finds out
/// when the answer is complete. Answers what was printed (of much output the beginning and the end), why the turn is
/// over, how sure that is, and the exit code where a shell told it. Where the wait is over first, the turn goes on and
/// `still_running` is true: call wait_for_turn. One turn runs at a time. To leave a program, send what ends it, or call
/// close_terminal.
#[tool(title = "Send a message", destructive, open_world, timeout_milliseconds = 600_000)]
pub(crate) fn send_message(call: &Call, input: SendMessage) -> Result<Reply<TurnAnswer>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_length("text", &input.text, limits::INPUT)?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    let options = options(&input)?;
    let id = input.terminal_id.as_str();
    let keys: Vec<&str> = input.keys.iter().map(String::as_str).collect();
    let typed = match (input.text.as_str(), keys.as_slice(), input.submit) {
        ("", [], false) => return Err(ToolError::invalid("there is nothing to send: give a `text`, or `keys`")),
        (text, [], true) => Input::Submit(text),
        (text, [], false) => Input::Type(text),
        ("", keys, _) => {
            check_keys(keys)?;
            Input::Keys(keys)
        }
        (_, _, _) => {
            return Err(ToolError::invalid("give a `text` or `keys`, not both; \"Enter\" is a key, too"));
        }
    };
    let turn = call.terminals().send(id, typed, &options).map_err(of_terminal)?;
    let wait = Duration::from_secs(input.wait_seconds);
    let turn = follow(call, id, &turn, turn.start, wait).map_err(of_terminal)?;
    let echo = if matches!(typed, Input::Submit(_)) { input.text.as_str() } else { "" };
    let (answer, info) = TurnAnswer::new(call, id, &turn, turn.start, echo)?;
    let text = answer.text(&turn, &info, &format!(" after {} s", input.wait_seconds));
    Ok(Reply::new(text, answer))
}

fn options(input: &SendMessage) -> Result<TurnOptions, ToolError> {
    let mut options = TurnOptions::new();
    if let Some(preset) = judged_by(input.preset, input.profile.as_deref())? {
        options = options.preset(preset);
    }
    if let Some(prompt) = &input.prompt {
        check_text("prompt", prompt, limits::PATTERN)?;
        options = options.prompt(prompt);
    }
    if let Some(seconds) = input.quiet_seconds {
        check_range("quiet_seconds", seconds, 1, limits::TURN_SECONDS)?;
        options = options.inactivity(Duration::from_secs(seconds));
    }
    if let Some(seconds) = input.time_limit_seconds {
        check_range("time_limit_seconds", seconds, 1, limits::TURN_SECONDS)?;
        options = options.time_limit(Duration::from_secs(seconds));
    }
    Ok(options)
}
