//! Processes and their output in the two shapes of an answer: fields for
//! programs, and words for the model. Pure: whatever is shown is handed in.

use schemars::JsonSchema;
use serde::Serialize;
use wharf_sdk::process::{Advice, Outcome, OutcomeKind, PollStatistics, ProcessInfo, Stream, StreamProgress};

use super::clean::Cleaned;
use super::excerpt::{Excerpt, Omitted};

/// Characters of a command on its line.
const COMMAND_CHARACTERS: usize = 200;

/// A process as tools show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Process {
    /// What the other tools take.
    pub(crate) process_id: String,
    /// What was started; cut where it is long.
    pub(crate) command: String,
    /// The system's number of it, once it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// `starting`, `running`, `finished` (exit code 0), `failed` (another exit code, or not started) or `killed`.
    pub(crate) status: String,
    /// The code with which it exited; 0 is success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<u32>,
    /// Why it was killed (`time-limit`, `user`, `quota`, `host-lost`) or did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_because: Option<String>,
    /// RFC 3339, in UTC.
    pub(crate) started_at: String,
    /// RFC 3339, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finished_at: Option<String>,
    /// After its end: how many processes that it started still live. stop_process ends them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) living_descendants: Option<u32>,
    /// Bytes printed to its standard output so far.
    pub(crate) stdout_bytes: u64,
    /// Bytes printed to its standard error so far.
    pub(crate) stderr_bytes: u64,
    /// How its status was asked for before this, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) polls: Option<Polls>,
}

/// How the status of a process was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Polls {
    /// How often, in all.
    pub(crate) total: u64,
    /// How often in a row it was found running.
    pub(crate) in_a_row: u32,
    /// When it last was: RFC 3339, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_at: Option<String>,
    /// The mean of the intervals between those in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean_interval_milliseconds: Option<u64>,
    /// Their standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deviation_milliseconds: Option<u64>,
    /// The shortest of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shortest_interval_milliseconds: Option<u64>,
}

impl From<PollStatistics> for Polls {
    fn from(polls: PollStatistics) -> Self {
        let PollStatistics { total, last, in_a_row, intervals, .. } = polls;
        Self {
            total,
            in_a_row,
            last_at: last,
            mean_interval_milliseconds: intervals.map(|intervals| intervals.mean_milliseconds),
            deviation_milliseconds: intervals.map(|intervals| intervals.deviation_milliseconds),
            shortest_interval_milliseconds: intervals.map(|intervals| intervals.shortest_milliseconds),
        }
    }
}

/// What of a stream is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StreamOutput {
    /// The text, without escape sequences. Where something is left out, a line in brackets stands for it.
    pub(crate) text: String,
    /// The cursor at which it begins: bytes of the stream before it.
    pub(crate) start_cursor: u64,
    /// The cursor to read on from: read_process_output with `mode` "from".
    pub(crate) next_cursor: u64,
    /// What is left out in the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omitted: Option<Omitted>,
    /// Bytes before this cursor are not kept any more.
    pub(crate) evicted_before: u64,
    /// Whether all that is shown was UTF-8; other bytes are shown as U+FFFD.
    pub(crate) is_utf8: bool,
    /// Whether something can still be printed to it, be it by a descendant of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<bool>,
    /// Output was lost because the host could not store it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) damaged: bool,
}

/// Advice for who asks a running process too often how it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Guidance {
    /// Polls in a row that found it running.
    pub(crate) polls: u32,
    /// From the first of them to this one.
    pub(crate) over_milliseconds: u64,
    /// The mean interval between them.
    pub(crate) mean_interval_milliseconds: u64,
    /// The interval that would do.
    pub(crate) suggested_interval_milliseconds: u64,
    /// The same in words.
    pub(crate) text: String,
}

/// A process with what it printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ProcessAnswer {
    #[serde(flatten)]
    pub(crate) process: Process,
    pub(crate) stdout: StreamOutput,
    pub(crate) stderr: StreamOutput,
    /// What to do instead of polling so often; only there where it is time to say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) guidance: Option<Guidance>,
}

impl From<&ProcessInfo> for Process {
    fn from(info: &ProcessInfo) -> Self {
        let outcome = info.outcome.as_ref();
        Self {
            process_id: info.id.clone(),
            command: info.command.clone(),
            pid: info.pid,
            status: info.status.to_string(),
            exit_code: outcome.and_then(|outcome| outcome.code),
            signal: outcome.and_then(|outcome| outcome.signal),
            ended_because: outcome.and_then(|outcome| outcome.reason.clone()),
            started_at: info.started.clone(),
            finished_at: info.finished.clone(),
            living_descendants: info.descendants.filter(|count| *count > 0),
            stdout_bytes: info.stdout.bytes,
            stderr_bytes: info.stderr.bytes,
            polls: info.polls().map(Polls::from),
        }
    }
}

impl From<Advice> for Guidance {
    fn from(advice: Advice) -> Self {
        let Advice { polls, over_milliseconds, mean_interval_milliseconds, suggested_interval_milliseconds, text } =
            advice;
        Self { polls, over_milliseconds, mean_interval_milliseconds, suggested_interval_milliseconds, text }
    }
}

impl StreamOutput {
    pub(crate) fn new(id: &str, stream: Stream, excerpt: &Excerpt, progress: Option<&StreamProgress>) -> Self {
        Self {
            text: excerpt.text(|omitted| marker(id, stream, omitted)),
            start_cursor: excerpt.start,
            next_cursor: excerpt.next,
            omitted: excerpt.omitted,
            evicted_before: progress.map_or(0, |progress| progress.evicted_before),
            is_utf8: excerpt.is_utf8,
            open: progress.map(|progress| progress.open),
            damaged: progress.is_some_and(|progress| progress.damaged),
        }
    }

    /// The text under a line that says what it is; nothing where there is none.
    pub(crate) fn section(&self, stream: Stream, printed: u64) -> String {
        let name = stream.as_str();
        let mut notes = Vec::new();
        if self.start_cursor > 0 {
            notes.push(format!("from byte {} of {printed}", self.start_cursor));
        }
        if self.evicted_before > 0 && self.start_cursor <= self.evicted_before {
            notes.push("what was before is not kept any more".to_owned());
        }
        if !self.is_utf8 {
            notes.push("with bytes that are no UTF-8".to_owned());
        }
        if self.damaged {
            notes.push("some of it was lost, because the host could not store it".to_owned());
        }
        if self.text.is_empty() && notes.is_empty() {
            return String::new();
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        format!("\n{name}{notes}:\n{}", self.text.strip_suffix('\n').unwrap_or(&self.text))
    }
}

/// What stands in place of what is left out, with the call that shows it.
pub(crate) fn marker(id: &str, stream: Stream, omitted: Omitted) -> String {
    let Omitted { cursor, bytes } = omitted;
    let arguments = serde_json::json!({
        "process_id": id, "stream": stream.as_str(), "mode": "from", "cursor": cursor,
    });
    format!("[... {bytes} bytes omitted; read_process_output {arguments} shows them ...]")
}

/// How a process is, the exit code first.
pub(crate) fn state(info: &ProcessInfo) -> String {
    let Some(Outcome { kind, code, signal, reason }) = &info.outcome else {
        return format!("{}; process_id {}", info.status, info.id);
    };
    let reason = reason.as_deref().unwrap_or("for an unknown reason");
    let mut text = match (kind, code, signal) {
        (OutcomeKind::Exited, Some(code), _) => format!("exit code {code}"),
        (OutcomeKind::Signaled, _, Some(signal)) => format!("ended by signal {signal}{}", signal_name(*signal)),
        (OutcomeKind::NotStarted, ..) => format!("not started: {reason}"),
        _ => format!("killed ({reason})"),
    };
    if let Some(living) = info.descendants.filter(|living| *living > 0) {
        let (are, them) = if living == 1 {
            ("process that it started still lives", "it")
        } else {
            ("processes that it started still live", "them")
        };
        text.push_str(&format!("; {living} {are}, and stop_process with process_id {} ends {them}", info.id));
    }
    text
}

fn signal_name(signal: u32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        25 => " (SIGXFSZ)",
        31 => " (SIGSYS)",
        _ => "",
    }
}

/// One line about a process.
pub(crate) fn line(info: &ProcessInfo) -> String {
    let command = Cleaned::of(info.command.as_bytes()).text;
    let command: Vec<&str> = command.split_whitespace().collect();
    let mut command = command.join(" ");
    if let Some((place, _)) = command.char_indices().nth(COMMAND_CHARACTERS) {
        command.truncate(place);
        command.push('…');
    }
    let state = match &info.outcome {
        Some(_) => state(info),
        None => info.status.to_string(),
    };
    let bytes = info.stdout.bytes.saturating_add(info.stderr.bytes);
    let polls = match info.polls() {
        Some(PollStatistics { total, in_a_row: 2.., intervals: Some(intervals), .. }) => {
            format!("; polled {total} times, on average every {} ms of late", intervals.mean_milliseconds)
        }
        Some(PollStatistics { total: 1, .. }) => "; polled once".to_owned(),
        Some(PollStatistics { total, .. }) => format!("; polled {total} times"),
        None => String::new(),
    };
    format!("{}: {state}; started {}; {bytes} bytes of output{polls}; {command}", info.id, info.started)
}

impl ProcessAnswer {
    /// Everything as the model reads it: how it is, `note`, what it printed,
    /// and advice.
    pub(crate) fn text(&self, state: &str, note: &str) -> String {
        let mut text = state.to_owned();
        if !note.is_empty() {
            text.push('\n');
            text.push_str(note);
        }
        let stdout = self.stdout.section(Stream::Stdout, self.process.stdout_bytes);
        let stderr = self.stderr.section(Stream::Stderr, self.process.stderr_bytes);
        if stdout.is_empty() && stderr.is_empty() {
            let nothing = match (self.process.stdout_bytes, self.process.stderr_bytes) {
                (0, 0) => "\nNothing was printed.",
                _ => "\nNothing new was printed.",
            };
            text.push_str(nothing);
        }
        text.push_str(&stdout);
        text.push_str(&stderr);
        if let Some(guidance) = &self.guidance {
            // In the operator's language, and without a word of another.
            text.push_str("\n\n");
            text.push_str(&guidance.text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use wharf_sdk::process::Status;

    use super::*;

    fn info(status: Status, outcome: Option<Outcome>) -> ProcessInfo {
        ProcessInfo {
            id: "p1".to_owned(),
            command: "make\n  \x1b[31mall".to_owned(),
            pid: Some(7),
            status,
            outcome,
            started: "2026-01-01T00:00:00.000Z".to_owned(),
            finished: None,
            stdout: StreamProgress { bytes: 4, ..StreamProgress::default() },
            stderr: StreamProgress::default(),
            descendants: None,
            meta: None,
        }
    }

    fn outcome(kind: OutcomeKind, code: Option<i32>, signal: Option<u32>, reason: Option<&str>) -> Option<Outcome> {
        Some(Outcome { kind, code, signal, reason: reason.map(str::to_owned) })
    }

    fn answer(info: &ProcessInfo, stdout: &str, guidance: Option<Guidance>) -> ProcessAnswer {
        let excerpt = Excerpt { head: stdout.to_owned(), is_utf8: true, ..Excerpt::default() };
        let none = Excerpt { is_utf8: true, ..Excerpt::default() };
        ProcessAnswer {
            process: Process::from(info),
            stdout: StreamOutput::new(&info.id, Stream::Stdout, &excerpt, Some(&info.stdout)),
            stderr: StreamOutput::new(&info.id, Stream::Stderr, &none, Some(&info.stderr)),
            guidance,
        }
    }

    #[test]
    fn the_exit_code_is_the_first_that_is_read() {
        let failed = info(Status::Failed, outcome(OutcomeKind::Exited, Some(3), None, None));
        assert_eq!(answer(&failed, "oh\n", None).text(&state(&failed), ""), "exit code 3\nstdout:\noh");
        let structured = serde_json::to_value(answer(&failed, "oh\n", None)).expect("json");
        assert_eq!((&structured["exit_code"], &structured["status"]), (&3.into(), &"failed".into()));
    }

    #[test]
    fn every_end_is_told_apart() {
        for (ended, expected) in [
            (outcome(OutcomeKind::Exited, Some(0), None, None), "exit code 0"),
            (outcome(OutcomeKind::Signaled, None, Some(11), None), "ended by signal 11 (SIGSEGV)"),
            (outcome(OutcomeKind::Signaled, None, Some(64), None), "ended by signal 64"),
            (outcome(OutcomeKind::Killed, None, Some(9), Some("time-limit")), "killed (time-limit)"),
            (outcome(OutcomeKind::NotStarted, None, None, Some("no such file")), "not started: no such file"),
            (outcome(OutcomeKind::Other("frozen".into()), None, None, None), "killed (for an unknown reason)"),
        ] {
            assert_eq!(state(&info(Status::Killed, ended)), expected);
        }
        assert_eq!(state(&info(Status::Running, None)), "running; process_id p1");
    }

    #[test]
    fn descendants_that_hold_on_are_counted_with_what_ends_them() {
        let mut ended = info(Status::Finished, outcome(OutcomeKind::Exited, Some(0), None, None));
        ended.descendants = Some(2);
        let text = state(&ended);
        assert_eq!(
            text,
            "exit code 0; 2 processes that it started still live, and stop_process with process_id p1 ends them"
        );
        ended.descendants = Some(0);
        assert_eq!(state(&ended), "exit code 0");
    }

    #[test]
    fn guidance_is_a_field_of_its_own_and_is_read_at_the_end() {
        let running = info(Status::Running, None);
        let advice = Advice {
            polls: 6,
            over_milliseconds: 3_000,
            mean_interval_milliseconds: 600,
            suggested_interval_milliseconds: 10_000,
            text: "Polled 6 times in 3 s.".to_owned(),
        };
        let polled = answer(&running, "a\n", Some(advice.into()));
        let text = polled.text(&state(&running), "");
        assert!(text.ends_with("\na\n\nPolled 6 times in 3 s."), "nothing is added to the host's words: {text}");
        let structured = serde_json::to_value(&polled).expect("json");
        assert_eq!(structured["guidance"]["suggested_interval_milliseconds"], 10_000);
        let without = serde_json::to_value(answer(&running, "a\n", None)).expect("json");
        assert_eq!(without.get("guidance"), None);
    }

    #[test]
    fn what_is_left_out_is_marked_with_the_very_call_that_shows_it() {
        let text = marker("p\"1", Stream::Stderr, Omitted { cursor: 5_461, bytes: 99 });
        assert!(text.starts_with("[... 99 bytes omitted; read_process_output {"), "{text}");
        let (start, end) = (text.find('{').expect("json"), text.rfind('}').expect("json"));
        let arguments: serde_json::Value = serde_json::from_str(&text[start..=end]).expect("json");
        let expected = serde_json::json!({ "process_id": "p\"1", "stream": "stderr", "mode": "from", "cursor": 5461 });
        assert_eq!(arguments, expected);
    }

    #[test]
    fn a_process_is_listed_on_one_line() {
        let line = line(&info(Status::Running, None));
        assert_eq!(line, "p1: running; started 2026-01-01T00:00:00.000Z; 4 bytes of output; make all");
    }

    #[test]
    fn how_a_process_was_polled_is_shown_with_it() {
        let mut polled = info(Status::Running, None);
        let intervals =
            r#"{"count": 6, "mean_milliseconds": 1500, "deviation_milliseconds": 20, "shortest_milliseconds": 9}"#;
        let meta = |total: u64, intervals: &str| {
            let last = "2026-01-01T00:00:09.000Z";
            format!(
                r#"{{"polls": {{"total": {total}, "last": "{last}", "in_a_row": {total}, "intervals": {intervals}}}}}"#
            )
        };
        polled.meta = Some(meta(7, intervals));
        assert!(
            line(&polled).contains("; polled 7 times, on average every 1500 ms of late; make"),
            "{}",
            line(&polled)
        );
        let structured = serde_json::to_value(Process::from(&polled)).expect("json");
        let expected = serde_json::json!({
            "total": 7, "in_a_row": 7, "last_at": "2026-01-01T00:00:09.000Z", "mean_interval_milliseconds": 1500,
            "deviation_milliseconds": 20, "shortest_interval_milliseconds": 9,
        });
        assert_eq!(structured["polls"], expected);
        polled.meta = Some(meta(1, "null"));
        assert!(line(&polled).contains("; polled once; make"), "{}", line(&polled));
        for nothing in [None, Some("{}".to_owned()), Some("no json".to_owned())] {
            polled.meta = nothing;
            assert_eq!(Process::from(&polled).polls, None);
        }
    }

    #[test]
    fn nothing_printed_is_said_so_and_what_is_not_whole_is_too() {
        let mut ended = info(Status::Finished, outcome(OutcomeKind::Exited, Some(0), None, None));
        assert_eq!(answer(&ended, "", None).text("s", ""), "s\nNothing new was printed.");
        ended.stdout.bytes = 0;
        assert_eq!(answer(&ended, "", None).text("s", "n"), "s\nn\nNothing was printed.");
        let output = StreamOutput {
            start_cursor: 10,
            evicted_before: 10,
            is_utf8: false,
            damaged: true,
            ..answer(&ended, "x", None).stdout
        };
        let section = output.section(Stream::Stdout, 30);
        for part in ["from byte 10 of 30", "not kept any more", "no UTF-8", "could not store"] {
            assert!(section.contains(part), "{section}");
        }
    }
}
