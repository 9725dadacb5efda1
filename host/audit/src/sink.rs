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
        let shared = Arc::new(SinkState::default());
        let writing = Arc::clone(&shared);
        let writer = AuditWriter::new(directory, options, clock, signer, copies.clone());
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
            shared.wake.wait(&mut queue);
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
mod tests {
    use std::path::Path;

    use wharf_core::audit::AuditAddresses;

    use super::*;
    use crate::{
        line::{MAX_LINE_BYTES, tests::record},
        read::AuditReader,
    };

    const PATIENCE: Duration = Duration::from_secs(60);

    fn clock() -> AuditClock {
        let now = wharf_core::grant::GrantClock::new(std::time::SystemTime::now);
        AuditClock { stamp: now.clone(), passed: now }
    }

    fn options() -> AuditFileOptions {
        AuditFileOptions {
            rotate_bytes: 1 << 20,
            keep_files: 100,
            keep: Duration::from_secs(3_600),
            addresses: AuditAddresses::Full,
        }
    }

    /// The number of lines of calls, and of dropped records.
    fn count(directory: &Path) -> (u64, u64) {
        let (mut lines, mut dropped) = (0, 0);
        let mut reader = AuditReader::new(directory, None);
        let counted = |entry: crate::AuditEntry| {
            lines += u64::from(entry.kind == "call");
            dropped += entry.count;
            true
        };
        reader.read(counted).expect("read");
        assert_eq!(reader.skipped(), 0);
        (lines, dropped)
    }

    #[test]
    fn what_was_recorded_is_there_after_a_flush_and_after_the_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let sink =
            FileSink::open(directory.path().join("audit"), options(), true, clock(), None, None).expect("opened");
        assert!(!directory.path().join("audit").exists(), "a host that nobody calls leaves nothing");
        (0..100).for_each(|_| sink.record(record("echo")));
        sink.flush(PATIENCE);
        assert_eq!(count(&directory.path().join("audit")), (100, 0));
        (0..100).for_each(|_| sink.record(record("echo")));
        drop(sink);
        assert_eq!(count(&directory.path().join("audit")), (200, 0));
    }

    #[test]
    fn files_are_rotated_by_size_and_kept_by_number() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = AuditFileOptions { rotate_bytes: 2 * MAX_LINE_BYTES as u64, keep_files: 3, ..options() };
        let sink =
            FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None).expect("opened");
        for _ in 0..40 {
            (0..10).for_each(|_| sink.record(record("echo")));
            sink.flush(PATIENCE);
        }
        drop(sink);
        let files = crate::files::list(directory.path()).expect("listed");
        // Three full ones at most, beside the shared file and the one that are being written. How
        // many there are depends on how full each of them was.
        assert!((3..=5).contains(&files.len()), "{files:?}");
        let all: u64 = files.iter().map(|file| file.bytes).sum();
        assert!(all <= 4 * options.rotate_bytes, "{files:?}");
        assert!(files.iter().all(|file| file.bytes <= options.rotate_bytes), "{files:?}");
        let (lines, _) = count(directory.path());
        assert!((20..400).contains(&lines), "{lines}");
    }

    #[test]
    fn what_cannot_be_kept_is_counted_and_the_count_is_written_once_it_can_be() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit");
        // A file in place of the directory prevents every write.
        std::fs::write(&path, "").expect("written");
        let sink = FileSink::open(path.clone(), options(), true, clock(), None, None).expect("opened");
        (0..10).for_each(|_| sink.record(record("echo")));
        sink.flush(PATIENCE);
        assert_eq!(sink.dropped(), 10);
        std::fs::remove_file(&path).expect("removed");
        sink.record(record("echo"));
        drop(sink);
        assert_eq!(count(&path), (1, 10));
    }

    #[test]
    fn a_clock_that_was_set_back_costs_no_line_once_it_is_right() {
        let directory = tempfile::tempdir().expect("a directory");
        // By the host's count it is five years later than the system's clock says.
        let counted = std::time::SystemTime::now() + Duration::from_secs(5 * 365 * 24 * 3_600);
        let clock = || {
            let counted = wharf_core::grant::GrantClock::new(move || counted);
            AuditClock { stamp: counted.clone(), passed: counted }
        };
        // Each line has a file of its own, and with each file the old ones go.
        let options = AuditFileOptions { rotate_bytes: 100, keep_files: 1_000, ..options() };
        for lines in 1..4 {
            let sink = FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None)
                .expect("opened");
            sink.record(record("echo"));
            drop(sink);
            assert_eq!(count(directory.path()), (lines, 0));
        }
    }

    fn of_tenant(tenant: &str) -> AuditRecord {
        let mut record = record("echo");
        let context = wharf_core::Context::new(tenant.parse().expect("legal"), "s".parse().expect("legal"));
        let subject = wharf_core::audit::AuditSubject { context: Some(context), ..(*record.subject).clone() };
        record.subject = Arc::new(subject);
        record
    }

    #[test]
    fn no_tenant_rotates_away_or_drops_the_lines_of_another_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = AuditFileOptions { rotate_bytes: 128 << 10, keep_files: 4, ..options() };
        let lines_of = |tenant: &str| {
            let mut count = 0_u64;
            let counted = |entry: crate::AuditEntry| {
                count += u64::from(entry.kind == "call" && entry.tenant == tenant);
                true
            };
            AuditReader::new(directory.path(), None).read(counted).expect("read");
            count
        };
        // The host starts anew several times, and continues its files.
        for round in 1..=3 {
            let sink = FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None)
                .expect("opened");
            sink.record(of_tenant("quiet"));
            for _ in 0..20 {
                (0..2 * CAPACITY).for_each(|_| sink.record(of_tenant("loud")));
                sink.record(of_tenant("quiet"));
                sink.flush(PATIENCE);
            }
            drop(sink);
            assert_eq!(lines_of("quiet"), round * 21);
            assert!(lines_of("loud") > 100, "it keeps its last lines");
        }
        let files = crate::files::list(directory.path()).expect("listed");
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        assert!(bytes <= 6 * options.rotate_bytes, "{bytes} bytes in {} files", files.len());
    }

    #[test]
    fn a_flood_never_waits_and_every_record_is_kept_or_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let sink = FileSink::open(directory.path().to_owned(), options(), true, clock(), None, None).expect("opened");
        let recorded = 6 * CAPACITY as u64;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..recorded / 3).for_each(|_| sink.record(record("echo"))));
            }
        });
        sink.flush(PATIENCE);
        // One more record, behind which the last count is written.
        sink.record(record("echo"));
        sink.flush(PATIENCE);
        let dropped = sink.dropped();
        drop(sink);
        assert_eq!(count(directory.path()), (recorded + 1 - dropped, dropped));
    }
}
