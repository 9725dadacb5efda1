//! The tool that reads a file.

use std::fs::File;
use std::io::{self, Read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files::{self, kind};
use crate::limits::{self, check_range};

const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// The file, relative to the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// The first line to read, counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    start_line: u64,
    /// The last line to read; left out, as many come as fit.
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
    /// Bytes of the first line to leave out, as `next_byte` of an answer that was cut within a line.
    #[serde(default)]
    start_byte: u64,
}

fn first() -> u64 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FileLines {
    /// Relative to the workspace.
    path: String,
    /// What stands there, line breaks included; bytes that are no UTF-8 are shown as U+FFFD.
    text: String,
    start_line: u64,
    /// The last line of which `text` has something.
    end_line: u64,
    /// Lines of the whole file.
    total_lines: u64,
    /// Bytes of the whole file.
    bytes: u64,
    /// Whether `text` ends before what was asked for does.
    truncated: bool,
    /// The line to go on with, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<u64>,
    /// How many bytes of that line were in this answer already, where it was cut within a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_byte: Option<u64>,
    /// Whether all that is shown was UTF-8.
    is_utf8: bool,
}

/// Reads a text file of the workspace, or a range of its lines, without line numbers. The first line of the answer says
/// which lines these are, and of how many. At most 16 KiB come at once, and it says how to go on.
#[tool(title = "Read a file", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn read_file(call: &Call, input: ReadFile) -> Result<Reply<FileLines>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    check_range("start_line", input.start_line, 1, u64::MAX)?;
    if input.end_line.is_some_and(|end| end < input.start_line) {
        return Err(ToolError::invalid("`end_line` is less than `start_line`"));
    }
    let found = files::find_file(&files::to_read(call)?, &input.path)?;
    let bytes = found.file()?.len();
    if bytes > limits::READ_BYTES {
        return Err(ToolError::limit(format!(
            "`{}` has {bytes} bytes, and {} are read; execute_shell with `sed -n 1,100p`, `tail` or `grep` shows parts \
             of it",
            found.relative,
            limits::READ_BYTES
        )));
    }
    let failed = |error: io::Error| ToolError::from_file("be read", &found.relative, &error);
    let mut file = File::open(&found.path).map_err(failed)?.take(limits::READ_BYTES);
    let mut window = LineWindow::new(input.start_line, input.end_line, input.start_byte);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut is_start = true;
    loop {
        let count = file.read(&mut buffer).map_err(failed)?;
        let part = buffer.get(..count).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        if let Some(looks) = kind::binary(part).filter(|_| is_start) {
            return Err(ToolError::invalid(format!(
                "`{}` is no text but looks like {looks} ({bytes} bytes); execute_shell with a program that reads it \
                 shows more",
                found.relative
            )));
        }
        is_start = false;
        window.take(part);
    }
    let lines = window.finish(found.relative, bytes)?;
    Ok(Reply::new(lines.words(), lines))
}

/// What is wanted of a file that comes in pieces.
struct LineWindow {
    first: u64,
    last: u64,
    skip: u64,
    /// The line that is being read, and how many of its bytes were.
    line: u64,
    column: u64,
    taken: Vec<u8>,
    /// Where the answer was full: line and byte of it.
    full_at: Option<(u64, u64)>,
}

impl LineWindow {
    fn new(first: u64, last: Option<u64>, skip: u64) -> Self {
        let last = last.unwrap_or(u64::MAX);
        Self { first, last, skip, line: 1, column: 0, taken: Vec::new(), full_at: None }
    }

    fn take(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            let (line, rest) = match memchr::memchr(b'\n', part) {
                Some(at) => part.split_at(at + 1),
                None => (part, &b""[..]),
            };
            if (self.first..=self.last).contains(&self.line) && self.full_at.is_none() {
                self.take_of_line(line);
            }
            if line.ends_with(b"\n") {
                self.line += 1;
                self.column = 0;
            } else {
                self.column += length(line.len());
            }
            part = rest;
        }
    }

    fn take_of_line(&mut self, part: &[u8]) {
        let skipped = if self.line == self.first { self.skip.saturating_sub(self.column) } else { 0 };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(part.len());
        let wanted = part.get(skipped..).unwrap_or_default();
        let room = limits::OUTPUT_BYTES.saturating_sub(self.taken.len());
        let fitting = wanted.get(..room).unwrap_or(wanted);
        self.taken.extend_from_slice(fitting);
        if fitting.len() < wanted.len() {
            self.full_at = Some((self.line, self.column + length(skipped + fitting.len())));
        }
    }

    fn finish(mut self, path: String, bytes: u64) -> Result<FileLines, ToolError> {
        let total_lines = if self.column > 0 { self.line } else { self.line - 1 };
        if self.first > total_lines.max(1) {
            return Err(ToolError::invalid(format!(
                "`start_line` is {}, and `{path}` has {total_lines} lines",
                self.first
            )));
        }
        self.cut_at_line();
        let end_line = match self.full_at {
            Some((line, 0)) => line - 1,
            Some((line, _)) => line,
            None => self.last.min(total_lines),
        };
        let text = String::from_utf8_lossy(&self.taken);
        Ok(FileLines {
            path,
            is_utf8: matches!(text, std::borrow::Cow::Borrowed(_)),
            text: text.into_owned(),
            start_line: self.first,
            end_line,
            total_lines,
            bytes,
            truncated: self.full_at.is_some(),
            next_line: self.full_at.map(|(line, _)| line),
            next_byte: self.full_at.map(|(_, byte)| byte).filter(|byte| *byte > 0),
        })
    }

    /// Where the answer is full, it ends with a whole line, if it has one, and
    /// with a whole character else.
    fn cut_at_line(&mut self) {
        let Some((line, byte)) = self.full_at else { return };
        let kept = memchr::memrchr(b'\n', &self.taken).map_or(0, |at| at + 1);
        if kept > 0 {
            self.taken.truncate(kept);
            self.full_at = Some((line, 0));
            return;
        }
        let partial = match std::str::from_utf8(&self.taken) {
            Err(error) if error.error_len().is_none() => self.taken.len() - error.valid_up_to(),
            _ => 0,
        };
        self.taken.truncate(self.taken.len() - partial);
        self.full_at = Some((line, byte - length(partial)));
    }
}

impl FileLines {
    fn words(&self) -> String {
        let Self { path, start_line, end_line, total_lines, bytes, .. } = self;
        if *total_lines == 0 {
            return format!("{path} is empty.");
        }
        let mut text = format!("{path}, lines {start_line} to {end_line} of {total_lines} ({bytes} bytes)");
        if !self.is_utf8 {
            text.push_str("; some bytes are no UTF-8");
        }
        text.push_str(&format!("\n{}", self.text));
        if let Some(next) = self.next_line {
            let within = self.next_byte.map_or(String::new(), |byte| format!(" and start_byte {byte}"));
            let separator = if self.text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("{separator}[... cut here; read_file with start_line {next}{within} goes on ...]"));
        }
        text
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
