//! Streams of events that many may follow: what a source says while it works,
//! and when its turn is over.
//!
//! Owns the streams of a host, who may write and read each, and how much of
//! one is kept. A [`StreamWriter`] appends to a ring; readers take from that
//! ring by number, so a slow one holds no memory and is told what it lost, and
//! one whose connection dropped goes on where it was. It never knows what the
//! source is, or over which wire somebody reads.
//!
//! # Turns and the end
//! Events belong to a turn, and each turn that begins ends with exactly one
//! `complete` event. [`Turns`] says what decides when:
//!
//! | turns | begin | end |
//! |---|---|---|
//! | [`Turns::One`] | with the stream | by [`completion`](crate::detection), fed with what the writer appends; the stream ends with it |
//! | [`Turns::Detected`] | by the writer, when its source was given input | the same; the stream goes on |
//! | [`Turns::Told`] | by the writer | by the writer, whose source has a detector of its own, as a terminal has |
//!
//! Nothing has to tick the detector: each write, wait or look hands in the time
//! first, and a wait ends no later than when the detector wants to be asked.
//! Time that passed decides before an event that came after it, so the answer
//! does not depend on when anybody looked.
//!
//! A stream ends with its only turn, when the writer closes it, when a reader
//! of its session deletes it, or when nobody used it for long. It can then be
//! read for a while, and is gone.

mod batch;
mod error;
mod event;
mod id;
mod reader;
mod record;
mod registry;
mod ring;
mod totals;
mod writer;

pub use batch::{Batch, Ended, Lost};
pub use error::StreamError;
pub use event::{AdaptedSilence, Completion, EventKind, StreamEvent};
pub use id::StreamId;
pub use reader::StreamReader;
pub use record::StreamInfo;
pub use registry::{OpenStream, Streams, Turns};
pub use writer::{BegunTurn, Message, StreamWriter};

#[cfg(test)]
mod tests;
