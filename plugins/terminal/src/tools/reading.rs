//! The tools that look: at the screen, and at what was printed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::terminal::{Screen, View};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::of_terminal;
use crate::limits::{self, within};
use crate::output::answer::lines;
use crate::output::words::state;

/// A screen as tools show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ScreenText {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    /// The lines of the screen, the blank ones at its end left out.
    pub(crate) screen: Vec<String>,
    /// Where the cursor is, counted from 1.
    pub(crate) cursor_row: u16,
    pub(crate) cursor_column: u16,
    /// Whether the program shows the cursor.
    pub(crate) cursor_visible: bool,
    /// Whether a program has the whole screen, as editors and pagers do.
    pub(crate) full_screen: bool,
}

impl From<&Screen> for ScreenText {
    fn from(screen: &Screen) -> Self {
        Self {
            columns: screen.columns,
            rows: screen.rows,
            screen: lines(screen),
            cursor_row: screen.cursor_row.saturating_add(1),
            cursor_column: screen.cursor_column.saturating_add(1),
            cursor_visible: screen.cursor_visible,
            full_screen: screen.alternate,
        }
    }
}

impl ScreenText {
    pub(crate) fn text(&self) -> String {
        let cursor = format!("cursor in row {}, column {}", self.cursor_row, self.cursor_column);
        let size = format!("{}x{}", self.columns, self.rows);
        let kind = if self.full_screen { "full screen" } else { "screen" };
        if self.screen.is_empty() {
            return format!("The {kind} ({size}, {cursor}) is empty.");
        }
        format!("The {kind} ({size}, {cursor}):\n{}", self.screen.join("\n"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadScreen {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// How many of the lines that went off the top to show, too.
    #[serde(default)]
    #[schemars(range(max = limits::HISTORY_LINES))]
    history_lines: u32,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ScreenAnswer {
    terminal_id: String,
    #[serde(flatten)]
    screen: ScreenText,
    /// Lines that went off the top, the oldest first.
    history: Vec<String>,
}

/// Shows what a person would see in a terminal now: for full-screen programs, menus and progress bars, and to see where
/// a program stands. For long output of other programs, read_output shows more.
#[tool(title = "Look at the screen", read_only, idempotent)]
pub(crate) fn read_screen(call: &Call, input: ReadScreen) -> Result<Reply<ScreenAnswer>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_range("history_lines", input.history_lines.into(), 0, limits::HISTORY_LINES.into())?;
    let id = input.terminal_id.as_str();
    let shown = call.terminals().screen(id, input.history_lines).map_err(of_terminal)?;
    let screen = ScreenText::from(&shown);
    let mut text = String::new();
    if !shown.history.is_empty() {
        text = format!("Above it:\n{}\n", shown.history.join("\n"));
    }
    text.push_str(&screen.text());
    Ok(Reply::new(text, ScreenAnswer { terminal_id: id.to_owned(), screen, history: shown.history }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadOutput {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// Where to begin: `next_cursor` of an earlier answer, or the cursor that stands where something was left out. Left out,
    /// the last `max_bytes`.
    cursor: Option<u64>,
    /// Bytes to read at most.
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 64, max = limits::TEXT_BYTES))]
    max_bytes: u32,
    /// Seconds to wait for something, where nothing is there behind `cursor` yet.
    #[serde(default)]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
}

fn default_max_bytes() -> u32 {
    u32::try_from(limits::OUTPUT_BYTES).unwrap_or(u32::MAX)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct OutputText {
    terminal_id: String,
    /// How the terminal is now: `ready`, `busy`, `needs-input`, `restarting` or `closed`.
    status: String,
    /// What was printed, without escape sequences.
    text: String,
    /// The cursor at which it begins: later than `cursor` where that is not kept any more.
    start_cursor: u64,
    /// The cursor to read on from.
    next_cursor: u64,
    /// Bytes before this cursor are not kept any more.
    evicted_before: u64,
    /// Bytes of text that were printed in all.
    total_bytes: u64,
    /// Whether more was printed behind `next_cursor`.
    has_more: bool,
}

/// Reads what a terminal printed, as text, on from a cursor or the end of it: for the part of a long answer that was
/// left out, and for what came without a turn.
#[tool(title = "Read output", read_only, idempotent, timeout_milliseconds = 600_000)]
pub(crate) fn read_output(call: &Call, input: ReadOutput) -> Result<Reply<OutputText>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_range("max_bytes", input.max_bytes.into(), 64, u64::try_from(limits::TEXT_BYTES).unwrap_or(u64::MAX))?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    let id = input.terminal_id.as_str();
    let from = match input.cursor {
        Some(cursor) => cursor,
        None => {
            let bytes = call.terminals().get(id).map_err(of_terminal)?.text.bytes;
            bytes.saturating_sub(input.max_bytes.into())
        }
    };
    let wait = within(call, Duration::from_secs(input.wait_seconds));
    let piece = call.terminals().read(id, View::Text, from, input.max_bytes, wait).map_err(of_terminal)?;
    let info = call.terminals().get(id).map_err(of_terminal)?;
    let answer = OutputText {
        terminal_id: id.to_owned(),
        status: info.status.to_string(),
        text: piece.text().into_owned(),
        start_cursor: piece.start,
        next_cursor: piece.next,
        evicted_before: piece.evicted_before,
        total_bytes: piece.end,
        has_more: piece.next < piece.end,
    };
    let mut text =
        format!("{}; bytes {} to {} of {}", state(&info), answer.start_cursor, answer.next_cursor, piece.end);
    if piece.evicted_before > 0 {
        text.push_str(&format!("; those before {} are not kept any more", piece.evicted_before));
    }
    if answer.has_more {
        text.push_str(&format!("; go on with cursor {}", piece.next));
    }
    text.push_str(&if answer.text.is_empty() {
        "\nNothing was printed there.".into()
    } else {
        format!("\n{}", answer.text)
    });
    Ok(Reply::new(text, answer))
}
