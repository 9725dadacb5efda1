//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod directory;
pub(crate) mod editing;
pub(crate) mod exchanging;
pub(crate) mod following;
pub(crate) mod input;
pub(crate) mod processes;
pub(crate) mod reading;
pub(crate) mod searching;
pub(crate) mod shell;
pub(crate) mod writing;

use wharf_sdk::excerpt::OutputSource;
use wharf_sdk::process::{Piece, Position, ProcessInfo, Processes, Stream};
use wharf_sdk::{ErrorCode, ToolError};

use crate::limits;
use crate::output::answer::{Guidance, Process, ProcessAnswer, StreamOutput};
use crate::output::excerpt::{between, shared};

/// A stream of a process, to be read.
struct ProcessStream<'a> {
    processes: Processes<'a>,
    id: &'a str,
    stream: Stream,
}

impl OutputSource for ProcessStream<'_> {
    fn read(&self, cursor: u64, max_bytes: u32) -> Result<Piece, ToolError> {
        self.processes.read(self.id, Position { stream: self.stream, cursor }, max_bytes)
    }
}

/// A process with what it printed from these cursors of its standard output and
/// its standard error on.
fn answer(
    processes: Processes<'_>,
    info: &ProcessInfo,
    (stdout, stderr): (u64, u64),
    guidance: Option<Guidance>,
) -> Result<ProcessAnswer, ToolError> {
    let streams = [(Stream::Stdout, stdout, info.stdout.bytes), (Stream::Stderr, stderr, info.stderr.bytes)];
    let lengths = (info.stdout.bytes.saturating_sub(stdout), info.stderr.bytes.saturating_sub(stderr));
    let (stdout, stderr) = shared(limits::OUTPUT_BYTES, lengths, |which, limit_bytes| {
        let [first, second] = streams;
        let (stream, from, to) = if which == 0 { first } else { second };
        between(&ProcessStream { processes, id: &info.id, stream }, from, to, limit_bytes)
    })?;
    Ok(ProcessAnswer {
        process: Process::from(info),
        stdout: StreamOutput::new(&info.id, Stream::Stdout, &stdout, Some(&info.stdout)),
        stderr: StreamOutput::new(&info.id, Stream::Stderr, &stderr, Some(&info.stderr)),
        guidance,
    })
}

/// Where the last lines of both streams begin.
fn last_lines(processes: Processes<'_>, info: &ProcessInfo, lines: u32) -> Result<(u64, u64), ToolError> {
    let start = |stream, end| match lines {
        0 => Ok(end),
        _ => processes.tail(&info.id, stream, lines, limits::WINDOW_BYTES).map(|piece| piece.start),
    };
    Ok((start(Stream::Stdout, info.stdout.bytes)?, start(Stream::Stderr, info.stderr.bytes)?))
}

/// An error about a process, with what to do next.
fn of_process(error: ToolError) -> ToolError {
    let advice = match error.code {
        ErrorCode::NotFound => "list_processes shows those that there are",
        ErrorCode::Limit => "list_processes shows what runs, wait_for_process waits, and stop_process makes room",
        _ => return error,
    };
    error.with_advice(advice)
}
