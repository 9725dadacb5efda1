//! What the host says of a process.

use std::borrow::Cow;

use wharf_contract::process::Meta;
pub use wharf_contract::process::{
    AnyOutcomeKind as OutcomeKind, AnyStatus as Status, AnyWaitReason as WaitReason, PollIntervals, PollStatistics,
};

/// How far a stream has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Bytes printed since the start: the cursor behind the last one.
    pub bytes: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// Somebody can still write to it, be it only a descendant of a process
    /// that has ended.
    pub open: bool,
    /// Output was lost because the host could not store it.
    pub damaged: bool,
}

/// How a process ended, in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In a word.
    pub kind: OutcomeKind,
    /// The code with which it exited.
    pub code: Option<i32>,
    /// The number of the signal.
    pub signal: Option<u32>,
    /// Why the host killed it (`time-limit`, `user`, `quota`, `host-lost`), or
    /// why it did not start, for people.
    pub reason: Option<String>,
}

/// A process as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its handle: an unguessable string, never a process id.
    pub id: String,
    /// What was started, cut to 1,024 bytes.
    pub command: String,
    /// The system's process id, once it runs; for people.
    pub pid: Option<u32>,
    /// How it is.
    pub status: Status,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
    /// When it was asked for: RFC 3339 in UTC.
    pub started: String,
    /// When it ended.
    pub finished: Option<String>,
    /// Its standard output.
    pub stdout: StreamProgress,
    /// Its standard error.
    pub stderr: StreamProgress,
    /// After its end: how many of its descendants live.
    pub descendants: Option<u32>,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

impl ProcessInfo {
    /// How it was polled before this was asked, if it was; nothing from a host
    /// that does not say so.
    #[must_use]
    pub fn polls(&self) -> Option<PollStatistics> {
        serde_json::from_str::<Meta>(self.meta.as_deref()?).ok()?.polls
    }

    /// Whether it has ended, whatever its descendants do.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.outcome.is_some() || matches!(self.status, Status::Finished | Status::Failed | Status::Killed)
    }
}

/// A piece of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// The cursor of its first byte: later than asked for where that is
    /// evicted.
    pub start: u64,
    /// The cursor to go on from.
    pub next: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// How much was printed in all when this was read.
    pub end: u64,
    /// What was printed, as it was; any bytes.
    pub data: Vec<u8>,
}

impl Piece {
    /// What was printed as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.data)
    }
}

/// Advice to a caller that polls a running process too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Polls in a row that found it running.
    pub polls: u32,
    /// From the first of them to this one.
    pub over_milliseconds: u64,
    /// The mean interval between them.
    pub mean_interval_milliseconds: u64,
    /// The interval that would do.
    pub suggested_interval_milliseconds: u64,
    /// The same in words, in the operator's language: at most 512 bytes.
    pub text: String,
}

/// What a poll found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polled {
    /// The process.
    pub process: ProcessInfo,
    /// The last lines of its standard output.
    pub stdout: Piece,
    /// The last lines of its standard error.
    pub stderr: Piece,
    /// What to do instead of polling so often.
    pub advice: Option<Advice>,
}

/// How a wait ended, in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// In a word.
    pub reason: WaitReason,
    /// Where the pattern matched: the cursors of its first byte and behind its
    /// last.
    pub found: Option<(u64, u64)>,
    /// The process, after that.
    pub process: ProcessInfo,
    /// Advice, where this was no wait: what answers at once counts as a poll.
    pub advice: Option<Advice>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_itself_and_a_word_of_tomorrow_stays_readable() {
        for word in ["starting", "running", "finished", "failed", "killed", "frozen"] {
            assert_eq!(Status::from(word.to_owned()).as_str(), word);
        }
        assert_eq!(Status::from("frozen".to_owned()), Status::Other("frozen".to_owned()));
        assert_eq!(OutcomeKind::from("not-started".to_owned()), OutcomeKind::NotStarted);
        assert_eq!(WaitReason::from("time-up".to_owned()).to_string(), "time-up");
    }
}
