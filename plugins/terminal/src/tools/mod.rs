//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod closing;
pub(crate) mod keys;
pub(crate) mod listing;
pub(crate) mod reading;
pub(crate) mod resizing;
pub(crate) mod sending;
pub(crate) mod starting;
pub(crate) mod waiting;

use wharf_sdk::{ErrorCode, ToolError};

/// An error about a terminal, with what to do next.
fn of_terminal(error: ToolError) -> ToolError {
    let advice = match error.code {
        ErrorCode::NotFound => "list_terminals shows those that there are",
        ErrorCode::Conflict => {
            "wait_for_turn waits for the turn that runs, send_keys [\"C-c\"] interrupts its program, and cancel_turn \
             gives it up"
        }
        ErrorCode::Gone => "start_terminal starts another one, and read_output still shows what this one printed",
        _ => return error,
    };
    ToolError { message: format!("{}; {advice}", error.message), ..error }
}
