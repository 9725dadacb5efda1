//! What the writer does in its turn: operations that a caller waits for, and
//! uses of scopes that are recorded in passing.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Fault, read::Used, turn::Turn, write};
use crate::StateError;

/// Scopes whose use is on its way to the writer: one is enough.
pub(super) type Pending = Arc<Mutex<HashSet<i64>>>;

/// What the thread does in its turn.
pub(super) trait Job: Send {
    /// When it is not worth beginning any more.
    fn until(&self) -> Instant;
    /// Bytes to be written.
    fn weight(&self) -> usize;
    /// Whether anybody waits for it still.
    fn wanted(&self) -> bool;
    /// Whether it is not worth waiting for another process.
    fn gives_up_when_busy(&self) -> bool {
        false
    }
    /// Begins it, unless nobody waits for it any more.
    fn claim(&self) -> bool;
    /// Runs within a transaction, again where that was rolled back. An error
    /// of the database is returned, all else is kept for `answer`.
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    /// Keeps an error for `answer`.
    fn fail(&mut self, error: StateError);
    /// Says what came of it.
    fn answer(self: Box<Self>);
}

/// An operation that a caller waits for.
pub(super) struct Task<T, W> {
    pub(super) turn: Arc<Turn>,
    pub(super) until: Instant,
    pub(super) weight: usize,
    pub(super) work: W,
    pub(super) outcome: Result<T, StateError>,
    /// Called where the work was done, as soon as that is certain.
    pub(super) made: Box<dyn FnOnce() + Send>,
    pub(super) reply: oneshot::Sender<Result<T, StateError>>,
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, Fault> + Send,
{
    fn until(&self) -> Instant {
        self.until
    }

    fn weight(&self) -> usize {
        self.weight
    }

    fn wanted(&self) -> bool {
        !self.turn.is_abandoned()
    }

    fn claim(&self) -> bool {
        self.turn.begin()
    }

    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.outcome = match (self.work)(connection) {
            Ok(value) => Ok(value),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Storage(error)) => return Err(error),
        };
        Ok(())
    }

    fn fail(&mut self, error: StateError) {
        self.outcome = Err(error);
    }

    fn answer(self: Box<Self>) {
        if self.outcome.is_ok() {
            (self.made)();
        }
        // The caller may have gone; the change was made all the same.
        let _ = self.reply.send(self.outcome);
    }
}

/// A use of a scope, to be recorded without anybody waiting for it.
pub(super) struct Touch {
    used: Used,
    pending: Pending,
    until: Instant,
}

impl Touch {
    /// `pending` holds the scope already.
    pub(super) fn new(used: Used, pending: Pending, until: Instant) -> Self {
        Self { used, pending, until }
    }
}

impl Drop for Touch {
    fn drop(&mut self) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.used.scope);
    }
}

pub(super) struct TouchJob {
    pub(super) touch: Touch,
    pub(super) closing: Arc<AtomicBool>,
}

impl Job for TouchJob {
    fn until(&self) -> Instant {
        self.touch.until
    }

    fn weight(&self) -> usize {
        0
    }

    fn wanted(&self) -> bool {
        true
    }

    fn gives_up_when_busy(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    fn claim(&self) -> bool {
        true
    }

    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        write::touch(connection, &self.touch.used)
    }

    fn fail(&mut self, error: StateError) {
        tracing::debug!(%error, "a use of state was not recorded");
    }

    fn answer(self: Box<Self>) {}
}
