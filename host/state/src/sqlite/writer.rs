//! The one thread that writes: it takes what waits, runs it in one
//! transaction, commits, and answers. It knows nothing of what is written.
//!
//! One writer a process, because SQLite lets one connection write at a time
//! and waiting for its lock is slower than waiting in a queue; one commit for
//! all that waits, because with [`Durability::Power`] each commit costs a wait
//! for the disk.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    Durability, Fault,
    job::{Job, Task, Touch, TouchJob},
    schema, storage_error,
    turn::Waiting,
};
use crate::StateError;

/// One transaction takes no more than this, so that other processes get their
/// turn. A single operation may be larger.
const BATCH_JOBS: usize = 256;
const BATCH_BYTES: usize = 8 << 20;
/// Pauses between attempts to get the database's lock.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(8);

/// The way to the thread, which starts with the first job.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    durability: Durability,
    /// Tells the thread not to wait for other processes any more.
    closing: Arc<AtomicBool>,
    // Held to put a job into the queue, which never waits: the queue has no
    // bound of its own, because the calls in flight are bounded already.
    thread: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    jobs: mpsc::Sender<Box<dyn Job>>,
    handle: thread::JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(path: PathBuf, durability: Durability) -> Self {
        Self { path, durability, closing: Arc::default(), thread: Mutex::default() }
    }

    /// Runs `work` in a transaction and returns once that is committed. Where
    /// the turn does not come by `until`, or the future is dropped before,
    /// nothing is written.
    pub(super) async fn run<T, W>(&self, until: Instant, weight: usize, work: W) -> Result<T, StateError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        self.run_and_tell(until, weight, Box::new(|| {}), work).await
    }

    /// The same, and calls `made` from the thread once `work` is committed.
    pub(super) async fn run_and_tell<T, W>(
        &self,
        until: Instant,
        weight: usize,
        made: Box<dyn FnOnce() + Send>,
        work: W,
    ) -> Result<T, StateError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, mut answer) = oneshot::channel();
        let turn = Waiting::default();
        let outcome = Err(StateError::Stopped);
        self.send(Box::new(Task { turn: Arc::clone(&turn.0), until, weight, work, outcome, made, reply }))?;
        let answered = match tokio::time::timeout_at(until.into(), &mut answer).await {
            Ok(answered) => answered,
            Err(_) if turn.0.abandon() => return Err(StateError::Busy),
            // It has begun, so it ends soon, and only then is it known how.
            Err(_) => answer.await,
        };
        answered.unwrap_or(Err(StateError::Stopped))
    }

    /// Records a use when there is time for it.
    pub(super) fn touch(&self, touch: Touch) {
        let job = Box::new(TouchJob { touch, closing: Arc::clone(&self.closing) });
        if let Err(error) = self.send(job) {
            tracing::debug!(%error, "a use of state was not recorded");
        }
    }

    fn send(&self, job: Box<dyn Job>) -> Result<(), StateError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match &mut *thread {
            Some(running) if !running.handle.is_finished() => running,
            ended => ended.insert(self.start()?),
        };
        running.jobs.send(job).map_err(|_| StateError::Stopped)
    }

    fn start(&self) -> Result<Running, StateError> {
        let (jobs, queue) = mpsc::channel();
        let worker = Worker { path: self.path.clone(), durability: self.durability, connection: None };
        let handle =
            thread::Builder::new().name("wharf-state".into()).spawn(move || worker.serve(&queue)).map_err(|error| {
                tracing::error!(%error, "cannot start the thread that writes state");
                StateError::Stopped
            })?;
        Ok(Running { jobs, handle })
    }
}

impl Drop for Writer {
    /// Waits for what is in the queue. That is short: nobody waits for an
    /// operation of a store that is dropped, and recorded uses do not wait for
    /// other processes now.
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let running = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { jobs, handle }) = running {
            drop(jobs);
            if handle.join().is_err() {
                tracing::error!("the thread that writes state panicked");
            }
        }
    }
}

struct Worker {
    path: PathBuf,
    durability: Durability,
    connection: Option<Connection>,
}

impl Worker {
    fn serve(mut self, queue: &mpsc::Receiver<Box<dyn Job>>) {
        while let Ok(first) = queue.recv() {
            let mut weight = first.weight();
            let mut batch = vec![first];
            while batch.len() < BATCH_JOBS
                && weight < BATCH_BYTES
                && let Ok(next) = queue.try_recv()
            {
                weight += next.weight();
                batch.push(next);
            }
            self.commit(batch);
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        match self.attempt(&mut batch) {
            Ok(()) => batch.into_iter().for_each(|job| job.answer()),
            Err(error) => {
                // A connection that failed is opened afresh.
                self.connection = None;
                if batch.len() > 1 {
                    // What fails for one, such as a value that does not fit
                    // the disk, need not fail for the others.
                    batch.into_iter().for_each(|job| self.commit(vec![job]));
                } else if let Some(mut job) = batch.pop() {
                    job.fail(storage_error(error));
                    job.answer();
                }
            }
        }
    }

    /// Runs all jobs of the batch in one transaction, all or none.
    fn attempt(&mut self, batch: &mut Vec<Box<dyn Job>>) -> rusqlite::Result<()> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(schema::writer(&self.path, self.durability)?),
        };
        begin(connection, batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        let done = batch
            .iter_mut()
            .try_for_each(|job| job.run(connection))
            .and_then(|()| connection.prepare_cached("COMMIT")?.execute([]))
            .map(|_| ());
        if done.is_err() && !connection.is_autocommit() {
            // Where even this fails, closing the connection rolls back.
            let _ = connection.execute_batch("ROLLBACK");
        }
        done
    }
}

/// Begins a transaction that may write, retrying while another process does.
/// Leaves in the batch what is to run in it; where that is nothing, no
/// transaction is open.
///
/// Always IMMEDIATE: a transaction that reads first and then wants to write is
/// refused at once where another one wrote in between. Pauses vary, so that
/// processes that wait do not wake in step.
fn begin(connection: &Connection, batch: &mut Vec<Box<dyn Job>>) -> rusqlite::Result<()> {
    let mut longest = SHORTEST_PAUSE;
    loop {
        keep(batch, |job| job.wanted());
        if batch.is_empty() {
            return Ok(());
        }
        match connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]) {
            Ok(_) => break,
            Err(error) if schema::is_busy(&error) => {
                keep(batch, |job| !job.gives_up_when_busy());
                longest = (longest * 2).min(LONGEST_PAUSE);
                thread::sleep(longest.mul_f64(fastrand::f64()).max(SHORTEST_PAUSE));
            }
            Err(error) => return Err(error),
        }
    }
    keep(batch, |job| job.claim());
    if batch.is_empty() { connection.execute_batch("ROLLBACK") } else { Ok(()) }
}

/// Answers those whose time is over, drops those that nobody waits for.
fn keep(batch: &mut Vec<Box<dyn Job>>, still: impl Fn(&dyn Job) -> bool) {
    let now = Instant::now();
    for mut job in batch.extract_if(.., |job| job.until() <= now || !still(&**job)) {
        job.fail(StateError::Busy);
        job.answer();
    }
}
