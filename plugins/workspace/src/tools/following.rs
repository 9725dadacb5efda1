//! Tools that follow a process: asking, waiting, reading what it printed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::process::{Condition, Piece, Position, ProcessInfo, Processes, Stream, Waited};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{answer, last_lines, of_process};
use crate::limits::{self, check_range, within};
use crate::output::answer::{Guidance, Process, ProcessAnswer, StreamOutput};
use crate::output::clean::Cleaned;
use crate::output::excerpt::{beginning_of, of_piece, shared};
use crate::output::words::state;

/// Bytes of a match that are shown.
const MATCH_BYTES: u64 = 1_024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = wharf_sdk::second_name("process_id", "processId"))]
pub(crate) struct PollProcess {
    /// Of execute_shell or list_processes.
    #[serde(alias = "processId")]
    #[schemars(length(min = 1, max = limits::PROCESS_ID))]
    process_id: String,
    /// How many of the last lines of each stream to show; 20 where neither this nor `tail` is given.
    #[schemars(range(max = limits::LINES))]
    lines: Option<u32>,
    /// Instead of `lines`: the last lines of one stream, and nothing of the other.
    tail: Option<Tail>,
}

/// The last lines of one stream.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Tail {
    /// The stream.
    src: Stream,
    /// How many lines.
    #[schemars(range(max = limits::LINES))]
    n: u32,
}

fn default_lines() -> u32 {
    20
}

/// Shows how a process does now, with the last lines that it printed. To learn when something happens, call
/// wait_for_process instead: one wait takes the place of many polls.
#[tool(title = "Look at a process", read_only)]
pub(crate) fn poll_process(call: &Call, input: PollProcess) -> Result<Reply<ProcessAnswer>, ToolError> {
    check_text("process_id", &input.process_id, limits::PROCESS_ID)?;
    let lines = match (input.lines, &input.tail) {
        (Some(_), Some(_)) => return Err(ToolError::invalid("give `lines` or `tail`, not both")),
        (lines, None) => lines.unwrap_or(default_lines()),
        (None, Some(tail)) => tail.n,
    };
    check_range("lines", u64::from(lines), 0, u64::from(limits::LINES))?;
    let mut polled = call.processes().poll(&input.process_id, lines, limits::WINDOW_BYTES).map_err(of_process)?;
    match input.tail.map(|tail| tail.src) {
        Some(Stream::Stdout) => polled.stderr = nothing_of(&polled.stderr),
        Some(Stream::Stderr) => polled.stdout = nothing_of(&polled.stdout),
        None => {}
    }
    let info = &polled.process;
    let length = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    let (stdout, stderr) = shared(
        limits::OUTPUT_BYTES,
        (length(polled.stdout.data.len()), length(polled.stderr.data.len())),
        |which, limit_bytes| Ok(of_piece(if which == 0 { &polled.stdout } else { &polled.stderr }, limit_bytes)),
    )?;
    let answer = ProcessAnswer {
        process: Process::from(info),
        stdout: StreamOutput::new(&info.id, Stream::Stdout, &stdout, Some(&info.stdout)),
        stderr: StreamOutput::new(&info.id, Stream::Stderr, &stderr, Some(&info.stderr)),
        guidance: polled.advice.map(Guidance::from),
    };
    Ok(Reply::new(answer.text(&state(info), ""), answer))
}

/// The end of a stream, of which nothing is to be shown.
fn nothing_of(piece: &Piece) -> Piece {
    Piece { start: piece.end, next: piece.end, data: Vec::new(), ..*piece }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitConditions {
    /// It prints something behind `cursor`.
    #[serde(default)]
    output: bool,
    /// It prints a line that matches this regular expression (Rust's syntax), such as `listening on`; earlier lines count,
    /// unless `cursor` is behind them.
    #[schemars(length(min = 1, max = limits::PATTERN))]
    pattern: Option<String>,
    /// It prints nothing for so many seconds.
    #[schemars(range(min = 1, max = limits::WAIT_SECONDS))]
    idle_seconds: Option<u64>,
    /// It ends.
    #[serde(default = "yes")]
    exit: bool,
    /// The stream that `output` and `pattern` look at.
    #[serde(default)]
    stream: Stream,
    /// Where `output` and `pattern` begin: `next_cursor` of an earlier answer. Left out, `output` waits for new output, and
    /// `pattern` looks at all of it.
    cursor: Option<u64>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitForProcess {
    /// Of execute_shell or list_processes.
    #[schemars(length(min = 1, max = limits::PROCESS_ID))]
    process_id: String,
    /// What to wait for: whichever comes first. Left out, its end.
    #[serde(default = "its_end")]
    until: WaitConditions,
    /// Seconds to wait at most.
    #[serde(default = "default_wait")]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
    /// How many of the last lines of each stream to show.
    #[serde(default = "default_lines")]
    #[schemars(range(max = limits::LINES))]
    lines: u32,
}

fn its_end() -> WaitConditions {
    WaitConditions { exit: true, ..WaitConditions::default() }
}

fn default_wait() -> u64 {
    60
}

/// A place in a stream where a pattern matched.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PatternMatch {
    stream: String,
    start_cursor: u64,
    end_cursor: u64,
    /// What matched; its first kilobyte.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitAnswer {
    #[serde(flatten)]
    answer: ProcessAnswer,
    /// What ended the wait: `exit`, `output`, `pattern`, `idle`, or `time-up` where none of it happened in time.
    wait_ended: String,
    /// Where the pattern matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<PatternMatch>,
}

/// Waits until a process ends, prints something, prints a line that matches, or falls silent, whichever comes first.
/// Waiting costs nothing: prefer it to poll_process, and give it a long time. Where the time is over first, the process
/// runs on: wait again.
#[tool(title = "Wait for a process", read_only, timeout_milliseconds = 600_000)]
pub(crate) fn wait_for_process(call: &Call, input: WaitForProcess) -> Result<Reply<WaitAnswer>, ToolError> {
    check_text("process_id", &input.process_id, limits::PROCESS_ID)?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    check_range("lines", u64::from(input.lines), 0, u64::from(limits::LINES))?;
    let processes = call.processes();
    let (id, until) = (input.process_id.as_str(), &input.until);
    let stream = until.stream;
    let condition = condition(processes, id, until)?;
    let wait = within(call, Duration::from_secs(input.wait_seconds));
    let Waited { reason, found, process, advice } = processes.wait(id, &condition, wait).map_err(of_process)?;
    let matched = found.map(|found| matched(processes, id, stream, found)).transpose()?;
    let mut starts = last_lines(processes, &process, input.lines)?;
    if let Some(cursor) = until.cursor {
        // What follows the place that was given is what was waited for.
        match stream {
            Stream::Stdout => starts.0 = cursor,
            Stream::Stderr => starts.1 = cursor,
        }
    }
    let answer = answer(processes, &process, starts, advice.map(Guidance::from))?;
    let text = answer.text(&state(&process), &note(reason.as_str(), matched.as_ref(), &process, input.wait_seconds));
    Ok(Reply::new(text, WaitAnswer { answer, wait_ended: reason.to_string(), matched }))
}

fn condition(processes: Processes<'_>, id: &str, until: &WaitConditions) -> Result<Condition, ToolError> {
    let (mut condition, stream) = (Condition::new(), until.stream);
    if until.exit {
        condition = condition.exit();
    }
    if until.output {
        let cursor = match until.cursor {
            Some(cursor) => cursor,
            None => processes.tail(id, stream, 1, 1).map_err(of_process)?.end,
        };
        condition = condition.output(Position { stream, cursor });
    }
    if let Some(pattern) = &until.pattern {
        check_text("pattern", pattern, limits::PATTERN)?;
        condition = condition.pattern(Position { stream, cursor: until.cursor.unwrap_or(0) }, pattern);
    }
    if let Some(seconds) = until.idle_seconds {
        check_range("idle_seconds", seconds, 1, limits::WAIT_SECONDS)?;
        condition = condition.idle(Duration::from_secs(seconds));
    }
    Ok(condition)
}

fn matched(
    processes: Processes<'_>,
    id: &str,
    stream: Stream,
    (start_cursor, end_cursor): (u64, u64),
) -> Result<PatternMatch, ToolError> {
    let bytes = end_cursor.saturating_sub(start_cursor).clamp(4, MATCH_BYTES);
    let max_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let piece = processes.read(id, Position { stream, cursor: start_cursor }, max_bytes)?;
    let wanted = usize::try_from(end_cursor.saturating_sub(piece.start)).unwrap_or(usize::MAX);
    let text = Cleaned::of(piece.data.get(..wanted).unwrap_or(&piece.data)).text;
    Ok(PatternMatch { stream: stream.as_str().to_owned(), start_cursor, end_cursor, text })
}

fn note(reason: &str, matched: Option<&PatternMatch>, process: &ProcessInfo, seconds: u64) -> String {
    match (reason, matched) {
        (_, Some(PatternMatch { stream, text, start_cursor, .. })) => {
            format!("The pattern matched in {stream} at cursor {start_cursor}: {text}")
        }
        ("time-up", _) if !process.has_ended() => {
            format!(
                "Nothing of it happened within {seconds} s. Wait again with a longer time, or stop_process ends it."
            )
        }
        ("idle", _) => "It prints nothing; it may wait for input, or work.".to_owned(),
        ("output", _) => "It printed something.".to_owned(),
        _ => String::new(),
    }
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum ReadMode {
    #[default]
    Tail,
    Head,
    From,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadProcessOutput {
    /// Of execute_shell or list_processes.
    #[schemars(length(min = 1, max = limits::PROCESS_ID))]
    process_id: String,
    /// Which stream to read.
    #[serde(default)]
    stream: Stream,
    /// "tail" shows the last lines, "head" the first ones, and "from" whatever follows `cursor`.
    #[serde(default)]
    mode: ReadMode,
    /// How many lines "tail" and "head" show; 100 where left out.
    #[schemars(range(min = 1, max = limits::LINES))]
    lines: Option<u32>,
    /// Where "from" begins: `next_cursor` of an earlier answer, or the cursor that stands where something was left out.
    cursor: Option<u64>,
    /// Bytes to read at most.
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 64, max = limits::TEXT_BYTES))]
    max_bytes: u32,
}

fn default_max_bytes() -> u32 {
    u32::try_from(limits::TEXT_BYTES).unwrap_or(u32::MAX)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ReadOutput {
    process_id: String,
    stream: String,
    #[serde(flatten)]
    output: StreamOutput,
    /// Bytes that were printed in all.
    total_bytes: u64,
    /// Whether more was printed behind `next_cursor`.
    has_more: bool,
}

/// Reads what a process printed: the last lines, the first ones, or on from a cursor, for a day after its end, too. At
/// most 16 KiB come at once, and `next_cursor` says where to go on.
#[tool(title = "Read output", read_only, idempotent)]
pub(crate) fn read_process_output(call: &Call, input: ReadProcessOutput) -> Result<Reply<ReadOutput>, ToolError> {
    check_text("process_id", &input.process_id, limits::PROCESS_ID)?;
    check_range("max_bytes", u64::from(input.max_bytes), 64, u64::from(default_max_bytes()))?;
    let (processes, stream) = (call.processes(), input.stream);
    let (id, max_bytes) = (input.process_id.as_str(), input.max_bytes);
    let lines = input.lines.unwrap_or(100);
    check_range("lines", u64::from(lines), 1, u64::from(limits::LINES))?;
    let piece = match (input.mode, input.cursor) {
        (ReadMode::Tail, None) => processes.tail(id, stream, lines, max_bytes),
        (ReadMode::Head, None) => processes.head(id, stream, lines, max_bytes),
        (ReadMode::From, cursor) => {
            if input.lines.is_some() {
                return Err(ToolError::invalid("`lines` belongs to \"tail\" and \"head\"; \"from\" takes `max_bytes`"));
            }
            processes.read(id, Position { stream, cursor: cursor.unwrap_or(0) }, max_bytes)
        }
        (_, Some(_)) => return Err(ToolError::invalid("`cursor` belongs to `mode` \"from\"")),
    };
    let piece = piece.map_err(of_process)?;
    // Bytes that are no text take more as text; what does not fit comes next.
    let limit_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX).min(limits::OUTPUT_BYTES);
    let excerpt = match input.mode {
        ReadMode::Tail => of_piece(&piece, limit_bytes),
        ReadMode::Head | ReadMode::From => beginning_of(&piece, limit_bytes),
    };
    let mut output = StreamOutput::new(id, stream, &excerpt, None);
    output.evicted_before = piece.evicted_before;
    let has_more = piece.next < piece.end || (excerpt.next < piece.next && excerpt.next > excerpt.start);
    let end = if has_more { excerpt.next } else { piece.end };
    let mut text = format!("{} of {id}, bytes {} to {end} of {}", stream.as_str(), excerpt.start, piece.end);
    if piece.evicted_before > 0 {
        text.push_str(&format!("; those before {} are not kept any more", piece.evicted_before));
    }
    if !excerpt.is_utf8 {
        text.push_str("; some are no UTF-8");
    }
    if has_more {
        text.push_str(&format!("; go on with mode \"from\" and cursor {}", excerpt.next));
    }
    text.push_str(&format!("\n{}", output.text));
    let answer = ReadOutput {
        process_id: id.to_owned(),
        stream: stream.as_str().to_owned(),
        output,
        total_bytes: piece.end,
        has_more,
    };
    Ok(Reply::new(text, answer))
}
