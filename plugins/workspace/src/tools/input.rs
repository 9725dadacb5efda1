//! The tool that writes to a process.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{length as check_length, text as check_text};
use wharf_sdk::{Call, ErrorCode, Reply, ToolError, tool};

use super::of_process;
use crate::limits::{self, within};

/// How long a process has to take what is written to it.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteProcessInput {
    /// The process; execute_shell must have started it with `input`.
    #[schemars(length(min = 1, max = limits::PROCESS_ID))]
    process_id: String,
    /// What to write.
    #[schemars(length(max = limits::INPUT))]
    text: String,
    /// Whether a line break is written behind it, as the return key does.
    #[serde(default = "yes")]
    newline: bool,
    /// Whether the input is at its end with this. Many programs only then begin to answer.
    #[serde(default)]
    close: bool,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WrittenInput {
    process_id: String,
    /// How many bytes the process took.
    bytes_written: u64,
    /// How many there were, the line break included.
    bytes_given: u64,
    /// Whether the input is closed now.
    closed: bool,
}

/// Writes to the standard input of a process, and closes it where `close` says so. An empty `text` without `newline` writes
/// nothing and only closes. wait_for_process with `until` `output` waits for what it answers.
#[tool(title = "Write to a process")]
pub(crate) fn write_process_input(call: &Call, input: WriteProcessInput) -> Result<Reply<WrittenInput>, ToolError> {
    check_text("process_id", &input.process_id, limits::PROCESS_ID)?;
    check_length("text", &input.text, limits::INPUT)?;
    let (processes, id) = (call.processes(), input.process_id.as_str());
    let mut data = input.text.into_bytes();
    // A program that reads to the end is not given a line that nobody wrote.
    if input.newline && !(data.is_empty() && input.close) {
        data.push(b'\n');
    }
    let given = u64::try_from(data.len()).unwrap_or(u64::MAX);
    let written = match data.as_slice() {
        [] => 0,
        data => processes.write(id, data, within(call, PATIENCE)).map_err(explained)?,
    };
    let is_whole = written >= given;
    let closed = input.close && is_whole;
    if closed {
        processes.close_input(id).map_err(explained)?;
    }
    let mut text = format!("{written} of {given} bytes were written");
    match (is_whole, input.close) {
        (true, true) => text.push_str(", and the input is closed."),
        (true, false) => text.push('.'),
        (false, close) => {
            text.push_str("; the process does not read on. Write the rest later");
            text.push_str(if close { "; the input is still open." } else { "." });
        }
    }
    let answer = WrittenInput { process_id: input.process_id, bytes_written: written, bytes_given: given, closed };
    Ok(Reply::new(text, answer))
}

fn explained(error: ToolError) -> ToolError {
    match error.code {
        ErrorCode::Gone => {
            let message =
                format!("{}; execute_shell with `input` starts a process that can be written to", error.message);
            ToolError { message, ..error }
        }
        _ => of_process(error),
    }
}
