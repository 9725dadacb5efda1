//! A process with what it printed, as tools answer it: fields for programs, and one text for
//! the model. Pure: whatever is shown is handed in.

use schemars::JsonSchema;
use serde::Serialize;
use wharf_sdk::excerpt::{Excerpt, Omitted};
use wharf_sdk::process::{Advice, PollStatistics, ProcessInfo, Stream, StreamProgress};

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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in references")]
fn is_zero(cursor: &u64) -> bool {
    *cursor == 0
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
    /// The cursor at which it begins: bytes of the stream before it; 0 where absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) start_cursor: u64,
    /// The cursor to read on from: read_process_output with `mode` "from".
    pub(crate) next_cursor: u64,
    /// What is left out in the middle: read_process_output with `mode` "from" and its `cursor` shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omitted: Option<Omitted>,
    /// Bytes before this cursor are not kept any more; all are where it is absent.
    #[serde(skip_serializing_if = "is_zero")]
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
fn marker(id: &str, stream: Stream, omitted: Omitted) -> String {
    let Omitted { cursor, bytes } = omitted;
    let arguments = serde_json::json!({
        "process_id": id, "stream": stream.as_str(), "mode": "from", "cursor": cursor,
    });
    format!("[... {bytes} bytes omitted; read_process_output {arguments} shows them ...]")
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
    use wharf_sdk::process::{OutcomeKind, Status};

    use super::*;
    use crate::output::samples::{info, outcome};
    use crate::output::words::state;

    fn answer(info: &ProcessInfo, stdout: &str, guidance: Option<Guidance>) -> ProcessAnswer {
        let excerpt = Excerpt { head: stdout.to_owned(), ..Excerpt::default() };
        let none = Excerpt::default();
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
