//! The tool that changes the size of a terminal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::of_terminal;
use crate::limits;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resize {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// How wide it becomes.
    #[schemars(range(min = 1, max = limits::COLUMNS))]
    columns: u16,
    /// How high it becomes.
    #[schemars(range(min = 1, max = limits::ROWS))]
    rows: u16,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ResizedTerminal {
    terminal_id: String,
    columns: u16,
    rows: u16,
}

/// Changes the size of a terminal; the program is told and may draw again. More columns wrap fewer lines, more rows show more
/// of a full-screen program.
#[tool(title = "Resize a terminal", idempotent)]
pub(crate) fn resize(call: &Call, input: Resize) -> Result<Reply<ResizedTerminal>, ToolError> {
    let Resize { terminal_id, columns, rows } = input;
    check_text("terminal_id", &terminal_id, limits::TERMINAL_ID)?;
    check_range("columns", columns.into(), 1, limits::COLUMNS.into())?;
    check_range("rows", rows.into(), 1, limits::ROWS.into())?;
    call.terminals().resize(&terminal_id, columns, rows).map_err(of_terminal)?;
    let text = format!("The terminal is {columns}x{rows} now.");
    Ok(Reply::new(text, ResizedTerminal { terminal_id, columns, rows }))
}
