//! A turn with what was printed in it, as tools answer it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use wharf_sdk::excerpt::{Excerpt, Omitted, OutputSource};
use wharf_sdk::terminal::{Piece, Screen, TerminalInfo, Turn, View};
use wharf_sdk::{Call, ToolError};

use super::excerpt::{between, without_echo};
use super::words::{turn_note, turn_state};
use crate::limits;

/// The text of a terminal.
pub(crate) struct TerminalText<'call> {
    pub(crate) call: &'call Call,
    pub(crate) id: &'call str,
}

impl OutputSource for TerminalText<'_> {
    fn read(&self, cursor: u64, max_bytes: u32) -> Result<Piece, ToolError> {
        self.call.terminals().read(self.id, View::Text, cursor, max_bytes, std::time::Duration::ZERO)
    }
}

/// A part of a terminal's text as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TerminalOutput {
    /// What the program printed, without escape sequences. Where something is left out, a line in brackets stands for it.
    pub(crate) text: String,
    /// The cursor at which it begins: bytes of text before it.
    pub(crate) start_cursor: u64,
    /// The cursor to read on from.
    pub(crate) next_cursor: u64,
    /// What is left out in the middle: read_output with its `cursor` shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omitted: Option<Omitted>,
}

impl TerminalOutput {
    pub(crate) fn new(id: &str, excerpt: &Excerpt) -> Self {
        Self {
            text: excerpt.text(|omitted| marker(id, omitted)),
            start_cursor: excerpt.start,
            next_cursor: excerpt.next,
            omitted: excerpt.omitted,
        }
    }
}

/// What stands for a part that is left out: the very call that shows it.
fn marker(id: &str, Omitted { cursor, bytes }: Omitted) -> String {
    format!(
        "[... {bytes} bytes omitted; read_output {} shows them ...]",
        json!({ "terminal_id": id, "cursor": cursor })
    )
}

/// A turn of a terminal: what was typed, and what the program made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TurnAnswer {
    pub(crate) terminal_id: String,
    /// The number of the turn in this terminal.
    pub(crate) turn: u64,
    /// Whether the turn is not over yet: wait_for_turn then waits on.
    pub(crate) still_running: bool,
    /// How the terminal is now: `ready`, `busy`, `needs-input`, `restarting` or `closed`.
    pub(crate) status: String,
    /// Why the turn is over, such as `command-ended`, `strict-prompt`, `idle` or `process-exited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What decided: `L0` the program ended, `L1` an explicit sign, `L2` a prompt or status, `L3` silence, `L4` a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layer: Option<String>,
    /// How sure it is that the answer is whole: `certain`, `high`, `medium`, `low` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<String>,
    /// The code of the command, where a shell told it, or of the program, where that ended; 0 is success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// From the input to the end of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elapsed_milliseconds: Option<u64>,
    /// How long silence had to last, where the operator lets that follow what the program usually takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) adaptive_silence_milliseconds: Option<u64>,
    /// It was given up with cancel_turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cancelled: bool,
    #[serde(flatten)]
    pub(crate) output: TerminalOutput,
    /// The lines of the screen, where a program has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screen: Option<Vec<String>>,
}

impl TurnAnswer {
    /// What a turn printed from a cursor on, without the echo of `typed`.
    pub(crate) fn new(
        call: &Call,
        id: &str,
        turn: &Turn,
        from: u64,
        typed: &str,
    ) -> Result<(Self, TerminalInfo), ToolError> {
        let info = call.terminals().get(id)?;
        let end = turn.end.unwrap_or(info.text.bytes);
        let excerpt = between(&TerminalText { call, id }, from, end, limits::OUTPUT_BYTES)?;
        let excerpt = if from == turn.start && !typed.is_empty() { without_echo(excerpt, typed) } else { excerpt };
        let screen = if info.alternate_screen { Some(lines(&call.terminals().screen(id, 0)?)) } else { None };
        let complete = turn.complete.as_ref();
        let answer = Self {
            terminal_id: id.to_owned(),
            turn: turn.number,
            still_running: turn.is_running(),
            status: info.status.to_string(),
            reason: complete.map(|end| end.reason.to_string()),
            layer: complete.map(|end| end.layer.to_string()),
            confidence: complete.map(|end| end.confidence.to_string()),
            exit_code: complete.and_then(|end| end.exit_code),
            elapsed_milliseconds: complete.map(|end| u64::try_from(end.elapsed.as_millis()).unwrap_or(u64::MAX)),
            adaptive_silence_milliseconds: adaptive_silence(turn),
            cancelled: turn.cancelled,
            output: TerminalOutput::new(id, &excerpt),
            screen,
        };
        Ok((answer, info))
    }

    /// All of it as the model reads it; `waited` says for how long.
    pub(crate) fn text(&self, turn: &Turn, info: &TerminalInfo, waited: &str) -> String {
        let mut text = turn_state(turn, info);
        if self.still_running {
            let next = json!({ "terminal_id": self.terminal_id, "cursor": self.output.next_cursor });
            text.push_str(&format!(
                "{waited}\nwait_for_turn {next} waits on, send_keys [\"C-c\"] interrupts the program, and cancel_turn \
                 gives the turn up."
            ));
        }
        let note = turn_note(turn, info);
        for part in [note.as_str(), if self.output.text.trim().is_empty() { "Nothing was printed." } else { "" }] {
            if !part.is_empty() {
                text.push('\n');
                text.push_str(part);
            }
        }
        if !self.output.text.trim().is_empty() {
            text.push('\n');
            text.push_str(self.output.text.trim_end());
        }
        if let Some(screen) = &self.screen {
            text.push_str("\nA program has the whole screen; send_keys presses keys. It shows:\n");
            text.push_str(screen.join("\n").trim_end());
        }
        text
    }
}

/// How long silence had to last before it ended this turn, where that adapts.
fn adaptive_silence(turn: &Turn) -> Option<u64> {
    let meta: serde_json::Value = serde_json::from_str(turn.meta.as_deref()?).ok()?;
    meta["adaptive"]["inactivity_milliseconds"].as_u64()
}

/// The lines of a screen, without the blank ones at its end.
pub(crate) fn lines(screen: &Screen) -> Vec<String> {
    let used = screen.lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    screen.lines.iter().take(used).cloned().collect()
}
