//! The tool that closes a terminal.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::of_terminal;
use crate::limits::{self, within};
use crate::output::words::{Terminal, state};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseTerminal {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// Seconds that the program has to end by itself once it is asked to; then it is killed.
    #[serde(default = "default_grace")]
    #[schemars(range(max = limits::GRACE_SECONDS))]
    grace_seconds: u64,
}

fn default_grace() -> u64 {
    2
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClosedTerminal {
    #[serde(flatten)]
    terminal: Terminal,
}

/// Ends the program of a terminal and everything that it started. Call it once a conversation is over. What was printed
/// can still be read with read_output and read_screen for a while.
#[tool(title = "Close a terminal", destructive, idempotent, timeout_milliseconds = 120_000)]
pub(crate) fn close_terminal(call: &Call, input: CloseTerminal) -> Result<Reply<ClosedTerminal>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_range("grace_seconds", input.grace_seconds, 0, limits::GRACE_SECONDS)?;
    let grace = within(call, Duration::from_secs(input.grace_seconds));
    let info = call.terminals().close(&input.terminal_id, grace).map_err(of_terminal)?;
    Ok(Reply::new(format!("{}: {}", info.id, state(&info)), ClosedTerminal { terminal: Terminal::from(&info) }))
}
