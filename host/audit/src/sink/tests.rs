use std::path::Path;

use wharf_core::audit::AuditAddresses;

use super::*;
use crate::{
    line::{MAX_LINE_BYTES, tests::record},
    read::AuditReader,
    verify::tests::signer,
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
fn lines_are_signed_though_nothing_comes_after_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_owned();
    let mut writer = AuditWriter::new(path, options(), clock(), Some(signer()), None);
    writer.signing = Duration::from_millis(20);
    let sink = FileSink::start(writer, true, None).expect("started");
    for count in 1..3 {
        sink.record(record("echo"));
        let signed = || {
            let files = std::fs::read_dir(directory.path()).expect("a directory");
            let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text"));
            texts.map(|text| text.matches(r#""kind":"head""#).count()).sum::<usize>()
        };
        let until = Instant::now() + PATIENCE;
        while signed() < count {
            assert!(Instant::now() < until, "no signature came");
            thread::yield_now();
        }
    }
}

#[test]
fn what_was_recorded_is_there_after_a_flush_and_after_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let sink = FileSink::open(directory.path().join("audit"), options(), true, clock(), None, None).expect("opened");
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
    let sink = FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None).expect("opened");
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
        let sink =
            FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None).expect("opened");
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
        let sink =
            FileSink::open(directory.path().to_owned(), options.clone(), true, clock(), None, None).expect("opened");
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
