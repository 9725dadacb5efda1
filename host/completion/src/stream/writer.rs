//! Writing to a stream.

use std::sync::Arc;

use wharf_core::text;

use super::{
    Ended, EventKind, StreamError, StreamId, StreamReader,
    event::{MessageData, ProgressData},
    record::Record,
};
use crate::detection::{AgentStatus, Decision, Event, Signal};

/// The longest stage, in bytes.
const STAGE_BYTES: usize = 256;

/// Appends to one stream. Dropping it ends nothing: completion detection does,
/// or [`StreamWriter::close`].
#[derive(Clone)]
pub struct StreamWriter {
    pub(super) record: Arc<Record>,
}

/// A part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'m> {
    /// What was said. Invisible characters are taken out and line breaks become
    /// `\n`, also where they are cut between two messages.
    pub text: &'m str,
    /// Where a terminal said it: the cursors of its text before and behind.
    pub cursors: Option<(u64, u64)>,
}

/// A turn that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BegunTurn {
    /// Its number.
    pub turn: u64,
    /// The number that its first event will have.
    pub first: u64,
}

impl std::fmt::Debug for StreamWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StreamWriter").field("stream", &self.record.id).finish_non_exhaustive()
    }
}

impl StreamWriter {
    /// Which stream.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.record.id
    }

    /// Reads what is written here.
    #[must_use]
    pub fn reader(&self) -> StreamReader {
        StreamReader { record: Arc::clone(&self.record) }
    }

    /// The source was given input: a turn begins. `number` is how the source
    /// counts its turns, where it does.
    ///
    /// # Errors
    /// `conflict` while a turn runs, `invalid` for a number that does not
    /// grow, `gone` once the stream has ended.
    pub fn begin_turn(&self, number: Option<u64>) -> Result<BegunTurn, StreamError> {
        self.record.change(|state| {
            let (turn, first) = state.begin(number)?;
            Ok(BegunTurn { turn, first })
        })
    }

    /// The source says how it is. Returns the event's number, as all of these
    /// do. A turn ends by `ready` or `completed` once a message came and the
    /// status holds.
    ///
    /// # Errors
    /// `gone` once the stream has ended.
    pub fn status(&self, status: AgentStatus) -> Result<u64, StreamError> {
        self.record.change(|state| state.status(status))
    }

    /// A part of the answer.
    ///
    /// # Errors
    /// `gone` once the stream has ended, `limit` where it is too large.
    pub fn message(&self, message: Message<'_>) -> Result<u64, StreamError> {
        let (from, next) = message.cursors.unzip();
        self.record.change(|state| {
            let text = state.said.visible(message.text.to_owned());
            let data = self.record.written(&MessageData { turn: state.turn(), text: &text, from, next })?;
            state.append(EventKind::Message, data, Event::Message)
        })
    }

    /// How far the work has come: `stage` is one line, cut at 256 bytes.
    ///
    /// # Errors
    /// `invalid` for a percentage beyond 0 and 100, `gone` once the stream has
    /// ended.
    pub fn progress(&self, stage: &str, percent: Option<f64>) -> Result<u64, StreamError> {
        if percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            return Err(StreamError::Percent);
        }
        let stage = text::line(stage, STAGE_BYTES);
        self.record.change(|state| {
            let data = self.record.written(&ProgressData { turn: state.turn(), stage: &stage, percent })?;
            state.append(EventKind::Progress, data, Event::Activity)
        })
    }

    /// The source says that its turn is complete.
    ///
    /// # Errors
    /// `conflict` where no turn runs or the source decides by
    /// [`StreamWriter::end_turn`], `gone` once the stream has ended.
    pub fn complete(&self) -> Result<(), StreamError> {
        self.record.change(|state| {
            state.open()?;
            if state.is_told() {
                return Err(StreamError::Told);
            }
            if !state.runs() {
                return Err(StreamError::NoTurn);
            }
            state.tell(Event::Signal(Signal::Completed));
            Ok(())
        })
    }

    /// The source polled something of its own for
    /// [`wait_for_data`](crate::detection::Parameters::wait_for_data); what
    /// that found was written before. Sources that are told what happens have
    /// nothing to poll.
    ///
    /// # Errors
    /// `gone` once the stream has ended.
    pub fn polled(&self, empty: bool) -> Result<(), StreamError> {
        self.record.change(|state| {
            state.open()?;
            state.tell(Event::Polled { empty });
            Ok(())
        })
    }

    /// The source is over, or about to be, and says why: a turn that ends with it
    /// and the end of the stream tell it.
    pub fn explain(&self, because: String) {
        let explained = self.record.change(|state| {
            state.because = Some(because);
            Ok(())
        });
        debug_assert!(explained.is_ok(), "explaining is always possible");
    }

    /// The source decided that this turn is over: how, its own detector says.
    /// A decision without a verdict takes the turn back, with the reason
    /// `cancelled`.
    ///
    /// # Errors
    /// `conflict` where this turn does not run, `gone` once the stream has
    /// ended.
    pub fn end_turn(&self, turn: u64, decision: &Decision) -> Result<u64, StreamError> {
        self.record.change(|state| {
            state.open()?;
            if !state.runs() || state.turn() != turn {
                return Err(StreamError::NoTurn);
            }
            Ok(state.complete(decision))
        })
    }

    /// Takes the running turn back, where one runs.
    ///
    /// # Errors
    /// `conflict` where none runs, `gone` once the stream has ended.
    pub fn cancel_turn(&self) -> Result<u64, StreamError> {
        self.record.change(|state| {
            state.open()?;
            if !state.runs() {
                return Err(StreamError::NoTurn);
            }
            let mut decision = state.decision();
            decision.verdict = None;
            Ok(state.complete(&decision))
        })
    }

    /// Nothing more will come. A turn that runs ends as `stream-closed`.
    pub fn close(&self) {
        let closed = self.record.change(|state| {
            state.end(Ended::Closed);
            Ok(())
        });
        debug_assert!(closed.is_ok(), "ending is always possible");
    }
}
