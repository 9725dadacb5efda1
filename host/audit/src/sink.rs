//! The queue between calls and the thread that writes.
//!
//! A call takes a lock for the time of a push, and wakes the thread only when
//! that rests. The thread checks the queue by itself while it writes and for a moment after.

use std::{
    collections::HashMap,
    io, mem,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use wharf_core::audit::{AuditInterest, AuditRecord, AuditSink};

use crate::{
    files::AuditFileOptions,
    line::Party,
    signing::AuditSigner,
    syslog::Syslog,
    writer::{AuditClock, AuditWriter},
};

/// Most records that wait to be written...
const CAPACITY: usize = 16 << 10;
/// ...and most of one party, so that a tenant's flood costs no line of another one.
const CAPACITY_OF_PARTY: usize = CAPACITY / 2;
/// Most parties whose dropped records the queue counts apart.
const MOST_LOSERS: usize = 1_000;
/// How long the thread gathers records before it writes them.
const GATHERING: Duration = Duration::from_millis(5);
/// How long the drop of a sink waits for its last lines.
const END: Duration = Duration::from_secs(2);

/// Writes records as lines to the files of a directory.
pub struct FileSink {
    shared: Arc<SinkState>,
    interest: AuditInterest,
    copies: Option<Arc<Syslog>>,
}

impl std::fmt::Debug for FileSink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FileSink").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct SinkState {
    // A blocking lock: held for a push or a swap.
    queue: Mutex<RecordQueue>,
    wake: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct RecordQueue {
    records: Vec<AuditRecord>,
    /// Number of waiting records of each party.
    of_party: HashMap<Party, usize>,
    /// Dropped records that no line counts yet.
    unreported: HashMap<Party, u64>,
    /// The thread rests until a call wakes it.
    resting: bool,
    /// Number of callers that wait for a flush.
    waiting: usize,
    /// Flushes that were asked for, and those that were done.
    asked: u64,
    flushed: u64,
    closing: bool,
    ended: bool,
    /// Records that came in, and those that were written or dropped.
    arrived: u64,
    done: u64,
    dropped: u64,
}

impl RecordQueue {
    fn lose(&mut self, party: Party, count: u64) {
        self.dropped += count;
        let is_apart = self.unreported.len() < MOST_LOSERS || self.unreported.contains_key(&party);
        *self.unreported.entry(if is_apart { party } else { Party::Operator }).or_default() += count;
    }
}

impl SinkState {
    fn queue(&self) -> MutexGuard<'_, RecordQueue> {
        self.queue.lock()
    }

    fn end(&self) {
        let mut queue = self.queue();
        queue.closing = true;
        self.wake.notify_one();
        let until = Instant::now() + END;
        while !queue.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.written.wait_for(&mut queue, left);
        }
    }
}

impl FileSink {
    /// Writes lines below this directory, which the first line creates.
    /// `host_calls` says whether to keep host calls that were not denied. `clock` judges
    /// the age of files. `signer` signs where chains stand, and `copies` gets all lines as they are written.
    ///
    /// # Errors
    /// Where the system offers no thread.
    pub fn open(
        directory: PathBuf,
        options: AuditFileOptions,
        host_calls: bool,
        clock: AuditClock,
        signer: Option<AuditSigner>,
        copies: Option<Arc<Syslog>>,
    ) -> io::Result<Self> {
        let writer = AuditWriter::new(directory, options, clock, signer, copies.clone());
        Self::start(writer, host_calls, copies)
    }

    fn start(writer: AuditWriter, host_calls: bool, copies: Option<Arc<Syslog>>) -> io::Result<Self> {
        let shared = Arc::new(SinkState::default());
        let writing = Arc::clone(&shared);
        thread::Builder::new().name("wharf-audit".to_owned()).spawn(move || work(&writing, writer))?;
        Ok(Self { shared, interest: AuditInterest { host_calls, names: true }, copies })
    }
}

impl AuditSink for FileSink {
    fn record(&self, record: AuditRecord) {
        let party = Party::of(&record);
        let mut queue = self.shared.queue();
        let full = queue.records.len() >= CAPACITY;
        let waiting = queue.of_party.get(&party).copied().unwrap_or_default();
        if full || waiting >= CAPACITY_OF_PARTY {
            queue.lose(party, 1);
            return;
        }
        queue.of_party.insert(party, waiting + 1);
        queue.records.push(record);
        queue.arrived += 1;
        let wake = mem::take(&mut queue.resting) || queue.records.len() == CAPACITY_OF_PARTY / 2;
        drop(queue);
        if wake {
            self.shared.wake.notify_one();
        }
    }

    fn interest(&self) -> AuditInterest {
        self.interest
    }

    fn flush(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut queue = self.shared.queue();
        queue.asked += 1;
        let (arrived, asked) = (queue.arrived, queue.asked);
        queue.waiting += 1;
        self.shared.wake.notify_one();
        while (queue.done < arrived || queue.flushed < asked) && !queue.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.shared.written.wait_for(&mut queue, left);
        }
        queue.waiting -= 1;
        drop(queue);
        if let Some(copies) = &self.copies {
            copies.flush(until.saturating_duration_since(Instant::now()));
        }
    }

    fn dropped(&self) -> u64 {
        self.shared.queue().dropped
    }
}

impl Drop for FileSink {
    /// Waits until the last lines are written, unless the disk takes too long, and sent, unless the log server does.
    fn drop(&mut self) {
        self.shared.end();
        if let Some(copies) = &self.copies {
            copies.close();
        }
    }
}

fn work(shared: &SinkState, mut writer: AuditWriter) {
    let mut batch = Vec::new();
    let mut queue = shared.queue();
    loop {
        while queue.records.is_empty() && queue.flushed == queue.asked && !queue.closing {
            queue.resting = true;
            let Some(left) = writer.signs_in() else {
                shared.wake.wait(&mut queue);
                continue;
            };
            if shared.wake.wait_for(&mut queue, left).timed_out() {
                // Nothing came since lines were written: they are signed all the same.
                MutexGuard::unlocked(&mut queue, || writer.sign_due());
            }
        }
        queue.resting = false;
        if queue.records.is_empty() && queue.closing {
            break;
        }
        let asked = queue.asked;
        let is_flush = queue.flushed < asked;
        mem::swap(&mut batch, &mut queue.records);
        queue.of_party.clear();
        let (arrived, unreported) = (queue.arrived, mem::take(&mut queue.unreported));
        drop(queue);

        let lost = writer.write(batch.drain(..));
        let unreported = if lost.is_empty() { writer.write_dropped(unreported) } else { unreported };
        if is_flush {
            // The program may end now, whatever still has this sink.
            writer.sign_now();
        }

        queue = shared.queue();
        for (party, count) in lost {
            queue.lose(party, count);
        }
        for (party, count) in unreported {
            *queue.unreported.entry(party).or_default() += count;
        }
        (queue.done, queue.flushed) = (arrived, asked);
        shared.written.notify_all();
        let gather = |queue: &mut RecordQueue| {
            queue.records.len() < CAPACITY_OF_PARTY / 2 && queue.waiting == 0 && !queue.closing
        };
        shared.wake.wait_while_for(&mut queue, gather, GATHERING);
    }
    drop(queue);
    // The writer gives up its files before callers learn of the end.
    drop(writer);
    shared.queue().ended = true;
    shared.written.notify_all();
}

#[cfg(test)]
mod tests;
