//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod closing;
pub(crate) mod keys;
pub(crate) mod listing;
pub(crate) mod reading;
pub(crate) mod resizing;
pub(crate) mod sending;
pub(crate) mod starting;
pub(crate) mod waiting;

use wharf_sdk::check::text as check_text;
use wharf_sdk::contract::turn::Preset;
use wharf_sdk::terminal::Preset as PresetName;
use wharf_sdk::{ErrorCode, ToolError};

use crate::limits;

/// What turns go by: one of the contract's presets, or a profile that the operator
/// configured. Whether there is such a profile, the host says.
fn judged_by(preset: Option<Preset>, profile: Option<&str>) -> Result<Option<PresetName>, ToolError> {
    match (preset, profile) {
        (Some(_), Some(_)) => Err(ToolError::invalid("give a `preset` or a `profile`, not both")),
        (preset, None) => Ok(preset.map(PresetName::from)),
        (None, Some(profile)) => {
            check_text("profile", profile, limits::PROFILE)?;
            Ok(Some(PresetName::from(profile.to_owned())))
        }
    }
}

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
    error.with_advice(advice)
}
