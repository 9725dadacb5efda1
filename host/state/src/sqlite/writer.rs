//! The one thread that writes: it takes the jobs that wait, runs them in one
//! transaction, commits, and answers. It knows nothing of what they write.
//!
//! A process has one writer, because SQLite lets one connection write at a time
//! and waiting for its lock is slower than waiting in a queue. All waiting jobs share one
//! commit, because with [`Durability::Power`] each commit costs a wait
//! for the disk.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    fault::{Fault, storage_error},
    job::{OperationJob, Touch, TouchJob, WriterJob},
    operation::AbandonOnDrop,
    options::Durability,
    place::DatabaseFile,
    schema,
};
use crate::StateError;

/// Bounds of one transaction, so that other processes get their
/// turn. A single operation may be larger.
const BATCH_JOBS: usize = 256;
const BATCH_BYTES: usize = 8 << 20;
/// Pauses between attempts to get the database's lock.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(8);

/// Hands jobs to the writer's thread, which starts with the first of them.
#[derive(Debug)]
pub(super) struct WriterHandle {
    file: DatabaseFile,
    durability: Durability,
    /// Tells the thread not to wait for other processes any more.
    closing: Arc<AtomicBool>,
    // Held to put a job into the queue, which never waits: the queue needs no
    // bound of its own, because the calls in flight are bounded already.
    thread: Mutex<Option<WriterThread>>,
}

#[derive(Debug)]
struct WriterThread {
    jobs: mpsc::Sender<Box<dyn WriterJob>>,
    handle: thread::JoinHandle<()>,
}

impl WriterHandle {
    pub(super) fn new(file: DatabaseFile, durability: Durability) -> Self {
        Self { file, durability, closing: Arc::default(), thread: Mutex::default() }
    }

    /// Runs `work` in a transaction and returns once that is committed. Writes nothing
    /// where the job has not begun by `until`, or where the future is dropped before.
    pub(super) async fn run<T, W>(&self, until: Instant, weight: usize, work: W) -> Result<T, StateError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        self.run_and_notify(until, weight, Box::new(|| {}), work).await
    }

    /// The same, and calls `committed` from the thread once `work` is committed.
    pub(super) async fn run_and_notify<T, W>(
        &self,
        until: Instant,
        weight: usize,
        committed: Box<dyn FnOnce() + Send>,
        work: W,
    ) -> Result<T, StateError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, mut answer) = oneshot::channel();
        let waiting = AbandonOnDrop::default();
        let (state, outcome) = (Arc::clone(&waiting.0), Err(StateError::Stopped));
        self.send(Box::new(OperationJob { state, until, weight, work, outcome, committed, reply }))?;
        let answered = match tokio::time::timeout_at(until.into(), &mut answer).await {
            Ok(answered) => answered,
            Err(_) if waiting.0.abandon() => return Err(StateError::Busy),
            // The operation has begun, so it ends soon, and its outcome is known only then.
            Err(_) => answer.await,
        };
        answered.unwrap_or(Err(StateError::Stopped))
    }

    /// Records a use once the writer has time for it.
    pub(super) fn touch(&self, touch: Touch) {
        let job = Box::new(TouchJob { touch, closing: Arc::clone(&self.closing) });
        if let Err(error) = self.send(job) {
            tracing::debug!(%error, "a use of state was not recorded");
        }
    }

    fn send(&self, job: Box<dyn WriterJob>) -> Result<(), StateError> {
        let mut thread = self.thread.lock();
        let running = match &mut *thread {
            Some(running) if !running.handle.is_finished() => running,
            ended => ended.insert(self.start()?),
        };
        running.jobs.send(job).map_err(|_| StateError::Stopped)
    }

    fn start(&self) -> Result<WriterThread, StateError> {
        let (jobs, queue) = mpsc::channel();
        let worker = BatchCommitter { file: self.file.clone(), durability: self.durability, connection: None };
        let handle =
            thread::Builder::new().name("wharf-state".into()).spawn(move || worker.serve(&queue)).map_err(|error| {
                tracing::error!(%error, "cannot start the thread that writes state");
                StateError::Stopped
            })?;
        Ok(WriterThread { jobs, handle })
    }
}

impl Drop for WriterHandle {
    /// Waits until the queue is empty. That is short: no caller waits for an
    /// operation of a dropped store, and uses do not wait for other processes from now on.
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let running = self.thread.get_mut().take();
        if let Some(WriterThread { jobs, handle }) = running {
            drop(jobs);
            if handle.join().is_err() {
                tracing::error!("the thread that writes state panicked");
            }
        }
    }
}

/// The loop of the writer's thread.
struct BatchCommitter {
    file: DatabaseFile,
    durability: Durability,
    connection: Option<Connection>,
}

impl BatchCommitter {
    fn serve(mut self, queue: &mpsc::Receiver<Box<dyn WriterJob>>) {
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

    fn commit(&mut self, mut batch: Vec<Box<dyn WriterJob>>) {
        match self.attempt(&mut batch) {
            Ok(()) => batch.into_iter().for_each(|job| job.answer()),
            Err(error) => {
                // The next attempt opens another connection.
                self.connection = None;
                if batch.len() > 1 {
                    // One job's failure, such as a value that does not fit the disk,
                    // must not fail the others.
                    batch.into_iter().for_each(|job| self.commit(vec![job]));
                } else if let Some(mut job) = batch.pop() {
                    job.fail(storage_error(error));
                    job.answer();
                }
            }
        }
    }

    /// Runs all jobs of the batch in one transaction, all or none.
    fn attempt(&mut self, batch: &mut Vec<Box<dyn WriterJob>>) -> rusqlite::Result<()> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(schema::writer(&self.file, self.durability)?),
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
            // If even this fails, closing the connection rolls back.
            let _ = connection.execute_batch("ROLLBACK");
        }
        done
    }
}

/// Begins a transaction that may write, retrying while another process writes.
/// Leaves in the batch the jobs that run in it; with an empty batch no
/// transaction is open.
///
/// Always IMMEDIATE: SQLite refuses a transaction at once that reads first and then
/// writes, where another one wrote in between. Pauses vary, so that
/// waiting processes do not wake in step.
fn begin(connection: &Connection, batch: &mut Vec<Box<dyn WriterJob>>) -> rusqlite::Result<()> {
    let mut longest = SHORTEST_PAUSE;
    loop {
        keep(batch, |job| job.is_awaited());
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

/// Keeps the jobs that have time left and pass `may_run`, and answers the others that the
/// store was busy.
fn keep(batch: &mut Vec<Box<dyn WriterJob>>, may_run: impl Fn(&dyn WriterJob) -> bool) {
    let now = Instant::now();
    for mut job in batch.extract_if(.., |job| job.until() <= now || !may_run(&**job)) {
        job.fail(StateError::Busy);
        job.answer();
    }
}
