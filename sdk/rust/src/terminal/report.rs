//! What the host says of a terminal.

use std::time::Duration;

use wharf_contract::terminal::Meta;
pub use wharf_contract::terminal::{AnyOutcomeKind as OutcomeKind, AnyStatus as Status};
pub use wharf_contract::turn::{AnyConfidence as Confidence, AnyLayer as Layer, AnyReason as Reason};

use super::Preset;
pub use crate::process::Piece;

/// Why a turn is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What decided.
    pub layer: Layer,
    /// Why.
    pub reason: Reason,
    /// How sure it is that the answer is whole.
    pub confidence: Confidence,
    /// Pieces of output of this turn, echo not counted.
    pub messages: u64,
    /// How often the host waited for output.
    pub attempts: u32,
    /// How often in a row it found none at the end.
    pub empty_polls: u32,
    /// Since the last output when it was decided.
    pub idle: Duration,
    /// Since the input when it was decided.
    pub elapsed: Duration,
    /// The code of the command, where the shell told one; of the program, where
    /// that exited.
    pub exit_code: Option<i32>,
}

/// A turn as it is now: one input, and what the program makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its number, from 1 on.
    pub number: u64,
    /// Where it begins: a cursor of the text.
    pub start: u64,
    /// Where it ends, once it is complete or cancelled.
    pub end: Option<u64>,
    /// Why it is complete, once it is.
    pub complete: Option<Completion>,
    /// It was cancelled.
    pub cancelled: bool,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

impl Turn {
    /// Whether it goes on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.complete.is_none() && !self.cancelled
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In a word.
    pub kind: OutcomeKind,
    /// The code with which it exited.
    pub code: Option<i32>,
    /// The number of the signal.
    pub signal: Option<u32>,
    /// Why the host ended it: `owner`, `replaced`, `idle`, `evicted`,
    /// `time-limit`, `crashes`, `operator`, `quota`, `shutting-down`, `host-lost`.
    pub reason: Option<String>,
}

/// How far one view has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Bytes since the start: the cursor behind the last one.
    pub bytes: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
}

/// A terminal as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalInfo {
    /// Its handle: an unguessable string, never a process id.
    pub id: String,
    /// What was started, cut to 1,024 bytes.
    pub command: String,
    /// What kind of program the host takes it for; empty where it knows none.
    pub profile: String,
    /// The preset of its turns where a turn names none.
    pub preset: Preset,
    /// How it is.
    pub status: Status,
    /// The system's process id, while it runs; for people.
    pub pid: Option<u32>,
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// When it was started: RFC 3339 in UTC.
    pub started: String,
    /// When somebody last typed to it or read from it.
    pub last_used: String,
    /// When its program ended, once it has.
    pub ended: Option<String>,
    /// How, once it has.
    pub outcome: Option<Outcome>,
    /// How often its program crashed and was started again.
    pub restarts: u32,
    /// Why it was started again the last time, for people.
    pub restarted_because: Option<String>,
    /// The turn that runs, or the last one.
    pub turn: Option<Turn>,
    /// The text.
    pub text: Extent,
    /// The bytes as they came.
    pub raw: Extent,
    /// A program has the whole screen: the text then tells little, and the
    /// screen all.
    pub alternate_screen: bool,
    /// The operator has it recorded.
    pub recording: bool,
    /// The id of its event stream, where the host serves those.
    pub stream: Option<String>,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

impl TerminalInfo {
    /// Whether its program has ended for good.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.status == Status::Closed
    }

    /// Why it ended, in words such as `it was ended by signal 11 (SIGSEGV)`, where
    /// the host says so.
    #[must_use]
    pub fn because(&self) -> Option<String> {
        serde_json::from_str::<Meta>(self.meta.as_deref()?).ok()?.because
    }
}

/// A terminal that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The new terminal.
    pub terminal: TerminalInfo,
    /// The ids of those that were closed to make room for it.
    pub replaced: Vec<String>,
}

/// What following a turn brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The next chunk of the turn's text; empty where none came in time.
    pub piece: Piece,
    /// The turn, after that.
    pub turn: Turn,
}

impl Followed {
    /// Whether the turn is over and all of its text was told.
    #[must_use]
    pub fn is_told_whole(&self) -> bool {
        self.turn.end.is_some_and(|end| self.piece.next >= end)
    }
}

/// What a person would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// As many lines as there are rows, without the blanks at their ends.
    pub lines: Vec<String>,
    /// Columns before the cursor.
    pub cursor_column: u16,
    /// Rows above the cursor.
    pub cursor_row: u16,
    /// Whether the program shows the cursor.
    pub cursor_visible: bool,
    /// A program has the whole screen.
    pub alternate: bool,
    /// Lines that went off the top of the main screen, the last ones.
    pub history: Vec<String>,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_itself_and_a_word_of_tomorrow_stays_readable() {
        for word in ["starting", "ready", "busy", "needs-input", "restarting", "closed", "frozen"] {
            assert_eq!(Status::from(word.to_owned()).as_str(), word);
        }
        assert_eq!(Layer::from("L2".to_owned()), Layer::Status);
        assert_eq!(Reason::from("needs-continuation".to_owned()), Reason::NeedsContinuation);
        assert_eq!(Confidence::from("none".to_owned()), Confidence::None);
        assert_eq!(Reason::from("telepathy".to_owned()).to_string(), "telepathy");
    }
}
