//! The tool that writes a file.

use std::fs::OpenOptions;
use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{length as check_length, text as check_text};
use wharf_sdk::workspace::ResolvedPath;
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files::{self, replace};
use crate::limits;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum WriteMode {
    #[default]
    #[serde(rename = "w")]
    Write,
    #[serde(rename = "a")]
    Append,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// The file, relative to the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// The text, exactly as it is to be.
    #[schemars(length(max = limits::CONTENT))]
    content: String,
    /// "w" writes the whole file anew, "a" adds to its end. A file that is not there is made.
    #[serde(default)]
    mode: WriteMode,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WrittenFile {
    /// Relative to the workspace.
    path: String,
    /// Bytes that were written.
    bytes_written: u64,
    /// Whether there was no such file before.
    created: bool,
}

/// Writes a text file of the workspace, new or overwriting one, and makes the directories on the way. A file that is
/// replaced is never seen half written, and keeps its permissions. To change some lines, replace_lines_in_file is
/// shorter and safer.
#[tool(title = "Write a file", destructive, timeout_milliseconds = 60_000)]
pub(crate) fn write_file(call: &Call, input: WriteFile) -> Result<Reply<WrittenFile>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    check_length("content", &input.content, limits::CONTENT)?;
    let directory = files::to_write(call)?;
    let found = files::find(&directory, &input.path)?;
    if input.path.ends_with('/') || found.relative == "." {
        return Err(ToolError::invalid(format!("`{}` is a directory; name a file", input.path)));
    }
    let created = found.metadata.is_none();
    if created {
        replace::make_parents(&found)?;
    } else {
        found.file()?;
    }
    let content = input.content.as_bytes();
    match input.mode {
        WriteMode::Write => replace::write(&found, content)?,
        WriteMode::Append => append(&found, content)?,
    }
    let bytes_written = u64::try_from(content.len()).unwrap_or(u64::MAX);
    let done = match (created, input.mode) {
        (true, _) => "Made",
        (false, WriteMode::Write) => "Wrote",
        (false, WriteMode::Append) => "Added to",
    };
    let mut text = format!("{done} {}: {bytes_written} bytes.", found.relative);
    if created && content.starts_with(b"#!") {
        text.push_str(" Run `chmod +x` on it to execute it by its name.");
    }
    Ok(Reply::new(text, WrittenFile { path: found.relative, bytes_written, created }))
}

/// One write, so that what others add meanwhile is kept.
fn append(found: &ResolvedPath, content: &[u8]) -> Result<(), ToolError> {
    let file = OpenOptions::new().append(true).create(true).open(&found.path);
    file.and_then(|mut file| file.write_all(content))
        .map_err(|error| ToolError::from_file("be written", &found.relative, &error))
}
