//! What a call tells while it runs, and what it says has changed.

use std::thread::sleep;
use std::time::Duration;

use wharf_sdk::{Call, Changed, Level, Text, ToolError, tool};

use crate::resources::WATCHED;

/// What the suite waits between two of them.
const PAUSE: Duration = Duration::from_millis(50);

fn done(text: &str) -> Result<Text, ToolError> {
    Ok(Text(text.to_owned()))
}

/// Tells its progress three times.
#[tool(read_only)]
pub(crate) fn test_tool_with_progress(call: &Call) -> Result<Text, ToolError> {
    for (at, progress) in [0.0, 50.0, 100.0].into_iter().enumerate() {
        if at > 0 {
            sleep(PAUSE);
        }
        call.progress(progress, Some(100.0), None)?;
    }
    done("The progress was told.")
}

/// Sends three messages.
#[tool(read_only)]
pub(crate) fn test_tool_with_logging(call: &Call) -> Result<Text, ToolError> {
    let messages = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    for (at, message) in messages.into_iter().enumerate() {
        if at > 0 {
            sleep(PAUSE);
        }
        call.message(Level::Info, message)?;
    }
    done("The messages were sent.")
}

/// Sends a message, to clients that asked for such.
#[tool(read_only)]
pub(crate) fn test_logging_tool(call: &Call) -> Result<Text, ToolError> {
    call.message(Level::Info, "This is a log message for testing")?;
    done("The message was sent.")
}

/// Takes a moment.
#[tool(read_only)]
pub(crate) fn test_reconnection() -> Result<Text, ToolError> {
    sleep(PAUSE * 2);
    done("The connection may have been another one meanwhile.")
}

/// Says that the tools have changed.
#[tool]
pub(crate) fn test_trigger_tool_change(call: &Call) -> Result<Text, ToolError> {
    call.changed(Changed::Tools)?;
    done("The tools have changed.")
}

/// Says that the prompts have changed.
#[tool]
pub(crate) fn test_trigger_prompt_change(call: &Call) -> Result<Text, ToolError> {
    call.changed(Changed::Prompts)?;
    done("The prompts have changed.")
}

/// Says that the resources have changed.
#[tool]
pub(crate) fn test_trigger_resource_change(call: &Call) -> Result<Text, ToolError> {
    call.changed(Changed::Resources)?;
    done("The resources have changed.")
}

/// Says that the watched resource has changed.
#[tool]
pub(crate) fn test_trigger_resource_update(call: &Call) -> Result<Text, ToolError> {
    call.updated(WATCHED)?;
    done("The watched resource has changed.")
}
