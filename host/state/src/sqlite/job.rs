//! The jobs of the writer: operations that a caller waits for, and
//! uses of scopes that it records in passing.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{fault::Fault, operation::OperationState, write};
use crate::{StateError, rules::ScopeUse};

/// Scopes whose use is on its way to the writer: one job for each is enough.
pub(super) type PendingUses = Arc<Mutex<HashSet<i64>>>;

/// One unit of work of the writer's thread.
pub(super) trait WriterJob: Send {
    /// Past this time the job does not begin any more.
    fn until(&self) -> Instant;
    /// Bytes to be written.
    fn weight(&self) -> usize;
    /// Whether a caller still waits for the outcome.
    fn is_awaited(&self) -> bool;
    /// Whether the job gives up where another process holds the database.
    fn gives_up_when_busy(&self) -> bool {
        false
    }
    /// Begins the job; false where its caller has given up.
    fn claim(&self) -> bool;
    /// Runs within a transaction, again where that was rolled back. Returns an error
    /// of the database, and keeps any other outcome for `answer`.
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    /// Keeps an error for `answer`.
    fn fail(&mut self, error: StateError);
    /// Tells the caller the outcome.
    fn answer(self: Box<Self>);
}

/// An operation that a caller waits for.
pub(super) struct OperationJob<T, W> {
    pub(super) state: Arc<OperationState>,
    pub(super) until: Instant,
    pub(super) weight: usize,
    pub(super) work: W,
    pub(super) outcome: Result<T, StateError>,
    /// Called once the work is committed.
    pub(super) committed: Box<dyn FnOnce() + Send>,
    pub(super) reply: oneshot::Sender<Result<T, StateError>>,
}

impl<T, W> WriterJob for OperationJob<T, W>
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

    fn is_awaited(&self) -> bool {
        !self.state.is_abandoned()
    }

    fn claim(&self) -> bool {
        self.state.begin()
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
            (self.committed)();
        }
        // The caller may have gone; the change was made all the same.
        let _ = self.reply.send(self.outcome);
    }
}

/// A use of a scope that the writer records while no caller waits.
pub(super) struct Touch {
    used: ScopeUse,
    pending: PendingUses,
    until: Instant,
}

impl Touch {
    /// `pending` holds the scope already.
    pub(super) fn new(used: ScopeUse, pending: PendingUses, until: Instant) -> Self {
        Self { used, pending, until }
    }
}

impl Drop for Touch {
    fn drop(&mut self) {
        self.pending.lock().remove(&self.used.scope);
    }
}

pub(super) struct TouchJob {
    pub(super) touch: Touch,
    pub(super) closing: Arc<AtomicBool>,
}

impl WriterJob for TouchJob {
    fn until(&self) -> Instant {
        self.touch.until
    }

    fn weight(&self) -> usize {
        0
    }

    fn is_awaited(&self) -> bool {
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
