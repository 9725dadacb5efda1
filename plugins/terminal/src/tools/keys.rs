//! The tool that presses keys.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::terminal::View;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::of_terminal;
use super::reading::ScreenText;
use crate::following::settle;
use crate::limits;
use crate::output::words::{state, turn_state};

/// How long a program that reacts to a key is silent in between.
const QUIET: Duration = Duration::from_millis(200);
/// How long it may take to begin.
const FIRST: Duration = Duration::from_secs(1);
/// Seconds that a program may draw for.
const WAIT_SECONDS: u64 = 30;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendKeys {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// Keys, one after the other: single characters such as "q"; "Enter", "Tab", "Backspace", "Escape",
    /// "Space", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Insert", "Delete", "F1" to "F12"; with
    /// "C-" for Control, "M-" for Alt or "S-" for Shift before it, as in "C-c", "C-d", "C-z", "M-x", "S-Tab". A word is several
    /// keys: ["w", "q"].
    #[schemars(length(min = 1, max = limits::KEYS), inner(length(min = 1, max = limits::KEY)))]
    keys: Vec<String>,
    /// Seconds at most to wait until the program has drawn what it makes of them.
    #[serde(default = "default_wait")]
    #[schemars(range(max = WAIT_SECONDS))]
    wait_seconds: u64,
}

fn default_wait() -> u64 {
    3
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct PressedKeys {
    terminal_id: String,
    /// How the terminal is now: `ready`, `busy`, `needs-input`, `restarting` or `closed`.
    status: String,
    /// Whether a turn runs.
    turn_running: bool,
    #[serde(flatten)]
    screen: ScreenText,
}

/// Presses keys in a terminal and shows the screen once the program has reacted: control keys (["C-c"] interrupts,
/// ["C-d"] ends the input), menus, pagers and full-screen programs. Works while a turn runs, too, and begins none. To
/// type a line and wait for its answer, use send_message.
#[tool(title = "Press keys", destructive, open_world, timeout_milliseconds = 60_000)]
pub(crate) fn send_keys(call: &Call, input: SendKeys) -> Result<Reply<PressedKeys>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_range("wait_seconds", input.wait_seconds, 0, WAIT_SECONDS)?;
    let id = input.terminal_id.as_str();
    let keys: Vec<&str> = input.keys.iter().map(String::as_str).collect();
    check_keys(&keys)?;
    let before = call.terminals().get(id).map_err(of_terminal)?;
    call.terminals().press(id, &keys).map_err(of_terminal)?;
    let wait = Duration::from_secs(input.wait_seconds);
    // A key may move the cursor alone, which is no text.
    settle(call, id, View::Raw, before.raw.bytes, (FIRST.min(wait), QUIET), wait).map_err(of_terminal)?;
    let info = call.terminals().get(id).map_err(of_terminal)?;
    let screen = ScreenText::from(&call.terminals().screen(id, 0).map_err(of_terminal)?);
    let mut text = state(&info);
    if let Some(turn) = before.turn.filter(wharf_sdk::terminal::Turn::is_running) {
        let now = info.turn.as_ref().filter(|now| now.number == turn.number).unwrap_or(&turn);
        text.push_str(&format!("; turn {}: {}. wait_for_turn shows it", turn.number, turn_state(now, &info)));
    }
    text.push_str(&format!("\n{}", screen.text()));
    let turn_running = info.turn.as_ref().is_some_and(wharf_sdk::terminal::Turn::is_running);
    let answer = PressedKeys { terminal_id: id.to_owned(), status: info.status.to_string(), turn_running, screen };
    Ok(Reply::new(text, answer))
}

pub(super) fn check_keys(keys: &[&str]) -> Result<(), ToolError> {
    check_range("keys", u64::try_from(keys.len()).unwrap_or(u64::MAX), 1, 100)?;
    keys.iter().try_for_each(|key| match *key {
        " " => Ok(()),
        key => check_text("keys", key, limits::KEY),
    })
}
