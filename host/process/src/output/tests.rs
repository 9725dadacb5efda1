use std::{fs, os::unix::fs::MetadataExt as _};

use super::*;

pub(super) const ROOMY: OutputLimits = OutputLimits { kept_bytes: 1 << 30, total_bytes: 1 << 30 };

/// A disk of which each session, each tenant and all may take so much.
fn disk(session: u64, tenant: u64, host: u64) -> Arc<OutputDisk> {
    disk_at_rest(session, tenant, host, AtRest::in_clear())
}

fn disk_at_rest(session: u64, tenant: u64, host: u64, at_rest: AtRest) -> Arc<OutputDisk> {
    let bounds = wharf_core::quota::Bounds {
        resource: "bytes of kept output",
        section: "[process.limits]",
        session: Some(("output_disk_bytes_per_session", session)),
        tenant: ("output_disk_bytes_per_tenant", tenant),
        host: ("output_disk_bytes", host),
    };
    OutputDisk::new(bounds, at_rest)
}

fn claim(disk: &Arc<OutputDisk>, tenant: &str, session: &str) -> Result<DiskClaim, wharf_core::QuotaFull> {
    disk.reserve(&tenant.parse().expect("legal"), &session.parse().expect("legal"))
}

pub(super) fn output(limits: OutputLimits) -> (tempfile::TempDir, Arc<CapturedOutput>) {
    let directory = tempfile::tempdir().expect("a directory");
    let claim = claim(&disk(u64::MAX, u64::MAX, u64::MAX), "local", "one").expect("room");
    let output = CapturedOutput::create(&directory.path().join("stdout"), limits, claim).expect("a file");
    (directory, output)
}

fn holding(printed: &[u8]) -> (tempfile::TempDir, Arc<CapturedOutput>) {
    let (directory, output) = output(ROOMY);
    for chunk in printed.chunks(100_000) {
        output.append(chunk).expect("room");
    }
    (directory, output)
}

#[test]
fn a_tail_is_the_last_lines_and_a_head_the_first_whether_the_last_is_complete_or_not() {
    let (_directory, output) = holding(b"one\ntwo\nthree\nfour");
    assert_eq!(output.tail(2, 1_000).expect("a tail").text(), "three\nfour");
    assert_eq!(output.head(2, 1_000).expect("a head").text(), "one\ntwo\n");
    output.append(b"\n").expect("room");
    assert_eq!(output.tail(2, 1_000).expect("a tail").text(), "three\nfour\n");
    assert_eq!(output.tail(1, 1_000).expect("a tail").text(), "four\n");
    assert_eq!(output.tail(9, 1_000).expect("a tail").text(), "one\ntwo\nthree\nfour\n");
    for nothing in [output.tail(0, 1_000), output.head(0, 1_000)] {
        assert_eq!(nothing.expect("nothing").bytes, b"");
    }
}

#[test]
fn a_tail_reaches_over_many_blocks_and_agrees_with_a_plain_count() {
    let printed: Vec<_> = (0..40_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
    let (_directory, output) = holding(&printed);
    for lines in [1, 99, 5_000, 39_999, 40_000] {
        let expected: Vec<_> =
            (40_000 - lines..40_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
        let tail = output.tail(lines, MAX_READ_BYTES).expect("a tail");
        assert!(tail.bytes == expected, "{lines} lines");
        assert_eq!(tail.next(), printed.len() as u64);
    }
}

#[test]
fn failure_9_a_tail_survives_bad_utf_8_and_starts_at_a_character() {
    let (_directory, output) = holding(b"\xff\xfe\n\xe2\x82bad \0 nul\n\xf0\x9f\n");
    assert_eq!(output.tail(2, 1_000).expect("a tail").text(), "\u{fffd}bad \0 nul\n\u{fffd}\n");

    let (_directory, output) = holding("가나다라".as_bytes());
    let tail = output.tail(5, 7).expect("a tail");
    assert_eq!((tail.text().as_str(), tail.from), ("다라", 6));
}

#[test]
fn failure_9_characters_are_never_split_between_reads() {
    let printed = "a가€𝄞ü".repeat(300);
    let (_directory, output) = holding(printed.as_bytes());
    output.close();
    for size in 0..17 {
        let (mut text, mut cursor) = (String::new(), 0);
        while cursor < printed.len() as u64 {
            let piece = output.read(cursor, size).expect("a read");
            assert!(!piece.bytes.is_empty(), "no progress at {cursor} by {size}");
            text.push_str(&piece.text());
            cursor = piece.next();
        }
        assert!(text == printed, "read by {size}");
    }
}

#[test]
fn failure_9_half_a_character_waits_for_its_end_or_for_the_end_of_the_stream() {
    let (_directory, output) = holding(b"ok \xe2\x82");
    let piece = output.read(0, 100).expect("a read");
    assert_eq!((piece.text().as_str(), piece.next()), ("ok ", 3));
    output.append(b"\xac!\xe2").expect("room");
    assert_eq!(output.read(3, 100).expect("a read").text(), "€!");
    output.close();
    assert_eq!(output.read(3, 100).expect("a read").text(), "€!\u{fffd}");
}

#[test]
fn a_cursor_past_the_end_reads_nothing_and_comes_back() {
    let (_directory, output) = holding(b"12345");
    let piece = output.read(u64::MAX, usize::MAX).expect("a read");
    assert_eq!((piece.from, piece.bytes.len(), piece.end), (5, 0, 5));
}

#[test]
fn the_disk_holds_no_more_than_is_kept_and_cursors_stay_what_they_were() {
    let limits = OutputLimits { kept_bytes: 1 << 20, total_bytes: 1 << 30 };
    let (directory, output) = output(limits);
    let path = directory.path().join("stdout");
    let mut number = 0_u64;
    for _ in 0..200 {
        let chunk: Vec<_> = (number..number + 10_000).flat_map(u64::to_be_bytes).collect();
        number += 10_000;
        output.append(&chunk).expect("room");
        let on_disk = fs::metadata(&path).expect("a file").blocks() * 512;
        assert!(on_disk <= limits.kept_bytes + EVICTION_BYTES, "{on_disk} bytes on disk");
    }
    let state = output.state();
    assert_eq!(state.bytes, number * 8);
    assert!(state.bytes - state.evicted_before <= limits.kept_bytes);
    assert!(state.bytes - state.evicted_before >= limits.kept_bytes / 2);
    let piece = output.read_bytes(0, 8).expect("a read");
    assert_eq!(piece.from, state.evicted_before);
    assert_eq!(piece.bytes, (state.evicted_before / 8).to_be_bytes());
    assert_eq!(piece.evicted_before, state.evicted_before);

    let (tenant, session) = ("local".parse().expect("legal"), "one".parse().expect("legal"));
    let roomy = disk(u64::MAX, u64::MAX, u64::MAX);
    let again = CapturedOutput::reopen(&path, roomy.inherit(&tenant, &session)).expect("a file");
    assert_eq!((again.state().bytes, again.state().evicted_before), (state.bytes, state.evicted_before));
    assert!(!again.state().open);
}

#[test]
fn no_reader_sees_the_hole_that_eviction_leaves() {
    let (_directory, output) = output(OutputLimits { kept_bytes: MIN_KEPT_BYTES, total_bytes: 1 << 30 });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..2_000).for_each(|_| output.append(&[b'x'; 60_000]).expect("room"));
            output.close();
        });
        while output.progress().open {
            for piece in [output.read(0, 200_000), output.tail(7, 200_000), output.head(3, 200_000)] {
                assert!(piece.expect("a read").bytes.iter().all(|byte| *byte == b'x'));
            }
        }
    });
}

#[test]
fn the_total_holds_to_the_byte() {
    let (directory, output) = output(OutputLimits { kept_bytes: 1 << 20, total_bytes: 1_000 });
    output.append(&[b'x'; 999]).expect("room");
    assert_eq!(output.append(b"yz"), Err(CaptureFailure::Quota));
    assert_eq!(output.state().bytes, 1_000);
    assert_eq!(fs::metadata(directory.path().join("stdout")).expect("a file").len(), 1_000);
    assert_eq!(output.tail(1, 4).expect("a tail").text(), "xxxy");
}

/// Streams that share a disk.
struct Shared {
    directory: tempfile::TempDir,
    disk: Arc<OutputDisk>,
    made: std::cell::Cell<u32>,
}

impl Shared {
    fn new(session: u64, tenant: u64, host: u64) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, disk: disk(session, tenant, host), made: std::cell::Cell::default() }
    }

    fn open(&self, tenant: &str, session: &str) -> Arc<CapturedOutput> {
        let number = self.made.replace(self.made.get() + 1);
        let claim = claim(&self.disk, tenant, session).expect("room");
        CapturedOutput::create(&self.directory.path().join(number.to_string()), ROOMY, claim).expect("a file")
    }

    /// One that printed so much and was closed.
    fn ended(&self, tenant: &str, session: &str, bytes: u64) -> Arc<CapturedOutput> {
        let output = self.open(tenant, session);
        print(&output, bytes);
        output.close();
        output
    }

    /// What all files take on disk.
    fn blocks(&self) -> u64 {
        let entries = fs::read_dir(self.directory.path()).expect("a listing");
        entries.map(|entry| entry.expect("an entry").metadata().expect("a file").blocks() * 512).sum()
    }
}

fn print(output: &CapturedOutput, bytes: u64) {
    for _ in 0..bytes / 65_536 {
        output.append(&[b'x'; 65_536]).expect("taken");
    }
}

fn kept(output: &CapturedOutput) -> u64 {
    let state = output.state();
    state.bytes - state.evicted_before
}

const MIB: u64 = 1 << 20;

#[test]
fn output_of_ended_processes_makes_room_within_the_tenant_the_oldest_first() {
    for (session, tenant, host) in
        [(4 * MIB, u64::MAX, u64::MAX), (u64::MAX, 4 * MIB, u64::MAX), (u64::MAX, u64::MAX, 5 * MIB)]
    {
        let shared = Shared::new(session, tenant, host);
        let (first, second) = (shared.ended("a", "s", MIB), shared.ended("a", "s", MIB));
        let other = shared.ended("b", "s", MIB);
        let running = shared.open("a", "s");
        print(&running, 3 * MIB);
        assert_eq!((kept(&first), kept(&second), kept(&other)), (0, MIB, MIB), "{session} {tenant} {host}");
        assert_eq!((kept(&running), first.state().bytes), (3 * MIB, MIB), "nothing of what runs, and cursors stay");
        assert_eq!(first.tail(5, 100).expect("a tail").bytes, b"");
        assert!(shared.blocks() <= 5 * MIB, "{}", shared.blocks());
    }
}

#[test]
fn the_output_of_another_session_stays_where_the_limit_of_one_is_reached() {
    let shared = Shared::new(2 * MIB, u64::MAX, u64::MAX);
    let other = shared.ended("a", "other", MIB);
    let running = shared.open("a", "s");
    print(&running, 5 * MIB);
    assert_eq!(kept(&other), MIB);
    assert!(kept(&running) <= 2 * MIB && kept(&running) >= MIB, "{}", kept(&running));
}

#[test]
fn who_prints_where_no_room_can_be_made_gives_up_its_own_beginning() {
    let shared = Shared::new(u64::MAX, u64::MAX, 2 * MIB);
    let other = shared.ended("b", "s", MIB);
    let (first, second) = (shared.open("a", "s"), shared.open("a", "t"));
    print(&first, 8 * MIB);
    print(&second, 8 * MIB);
    assert_eq!(kept(&other), MIB, "what is another tenant's stays");
    assert!(shared.disk.used() <= 2 * MIB && shared.blocks() <= 2 * MIB + 2 * EVICTION_BYTES);
    for output in [&first, &second] {
        assert!(kept(output) > 0, "nobody is left without its last words");
        assert_eq!(output.state().bytes, 8 * MIB);
        assert!(output.tail(1, 100).expect("a tail").bytes.iter().all(|byte| *byte == b'x'));
    }
    let full = claim(&shared.disk, "c", "s").expect_err("no room for another");
    assert_eq!(full.bound.0, "output_disk_bytes");
    drop(other);
    claim(&shared.disk, "c", "s").expect("room");
}

#[test]
fn who_keeps_most_gives_up_its_beginning_so_that_another_can_begin() {
    let shared = Shared::new(4 * MIB, u64::MAX, u64::MAX);
    let (quiet, loud) = (shared.open("a", "s"), shared.open("a", "s"));
    print(&quiet, 64 << 10);
    print(&loud, 16 * MIB);
    assert!(shared.disk.used() > 3 * MIB, "{}", shared.disk.used());
    let mut begun = vec![shared.open("a", "s")];
    assert_eq!(kept(&quiet), 64 << 10);
    assert!(kept(&loud) <= 2 * MIB && kept(&loud) >= MIB, "{}", kept(&loud));
    assert_eq!(loud.state().bytes, 16 * MIB);
    loud.append(b"last").expect("taken");
    assert_eq!(loud.tail(1, 4).expect("a tail").bytes, b"last");
    // Until each has no more than was reserved for it.
    while let Ok(claim) = claim(&shared.disk, "a", "s") {
        let path = shared.directory.path().join(format!("more-{}", begun.len()));
        begun.push(CapturedOutput::create(&path, ROOMY, claim).expect("a file"));
    }
    assert_eq!((begun.len(), shared.disk.used()), (14, 4 * MIB));
}

#[test]
fn what_a_stream_took_comes_back_when_it_is_closed_and_all_of_it_when_it_goes() {
    let shared = Shared::new(u64::MAX, u64::MAX, u64::MAX);
    let quiet = shared.ended("a", "s", 0);
    assert_eq!(shared.disk.used(), 0);
    let small = shared.open("a", "s");
    small.append(b"x").expect("room");
    assert_eq!(shared.disk.used(), MIN_KEPT_BYTES);
    small.close();
    small.close();
    assert_eq!(shared.disk.used(), 4_096);
    drop((quiet, small));
    assert_eq!(shared.disk.used(), 0);
    let running = shared.open("a", "s");
    print(&running, 3 * MIB);
    assert_eq!(kept(&running), 3 * MIB);
}

#[test]
fn output_that_another_host_left_is_counted_and_what_finds_no_room_goes() {
    let shared = Shared::new(u64::MAX, 2 * MIB, u64::MAX);
    let roomy = Shared::new(u64::MAX, u64::MAX, u64::MAX);
    drop((roomy.ended("a", "s", MIB + MIB / 2), roomy.ended("a", "s", MIB)));
    let (tenant, session) = ("a".parse().expect("legal"), "s".parse().expect("legal"));
    let reopen = |name: &str| {
        let claim = shared.disk.inherit(&tenant, &session);
        CapturedOutput::reopen(&roomy.directory.path().join(name), claim).expect("a file")
    };
    let (older, newer) = (reopen("0"), reopen("1"));
    newer.count_inherited();
    older.count_inherited();
    assert_eq!((kept(&older), kept(&newer), shared.disk.used()), (0, MIB, MIB));
    assert_eq!(reopen("0").state().evicted_before, older.state().bytes, "it is gone from the disk, too");
}

/// Encrypted under keys that are made in this directory.
fn encrypted(directory: &Path) -> AtRest {
    let master = wharf_encryption::MasterKey::new(&"k".repeat(64)).expect("long enough");
    AtRest::encrypted(wharf_encryption::DataKeys::open_or_make(directory, &[master]).expect("keys"))
}

#[test]
fn what_is_encrypted_is_read_evicted_and_found_again_as_what_is_in_the_clear() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("stdout");
    let disk = disk_at_rest(u64::MAX, u64::MAX, u64::MAX, encrypted(directory.path()));
    let limits = OutputLimits { kept_bytes: 1 << 20, total_bytes: 1 << 30 };
    let room = claim(&disk, "local", "one").expect("room");
    let output = CapturedOutput::create(&path, limits, room).expect("a file");
    let line = |number: u32| format!("password {number:06}\n");
    for number in 0..200_000 {
        output.append(line(number).as_bytes()).expect("room");
    }
    let state = output.state();
    assert!(state.bytes - state.evicted_before <= limits.kept_bytes && state.evicted_before > 1 << 20);
    let on_disk = fs::metadata(&path).expect("a file").blocks() * 512;
    assert!(on_disk <= limits.kept_bytes + EVICTION_BYTES, "{on_disk} bytes on disk");
    let tail: String = (199_990..200_000).map(line).collect();
    assert_eq!(output.tail(10, 1_000).expect("a tail").text(), tail);
    assert!(!fs::read(&path).expect("read").windows(8).any(|window| window == b"password"));
    output.close();
    assert_eq!(output.tail(10, 1_000).expect("a tail").text(), tail);

    let (tenant, session) = ("local".parse().expect("legal"), "one".parse().expect("legal"));
    let again = CapturedOutput::reopen(&path, disk.inherit(&tenant, &session)).expect("a file");
    assert_eq!(again.state().bytes, state.bytes);
    assert!(again.state().evicted_before.abs_diff(state.evicted_before) < 4_096, "as far as whole blocks go");
    assert_eq!(again.tail(10, 1_000).expect("a tail").text(), tail);
    assert!(again.evict_all() && again.state().evicted_before == state.bytes);
}

#[test]
fn no_reader_of_what_is_encrypted_sees_that_it_is_evicted_meanwhile() {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = disk_at_rest(u64::MAX, u64::MAX, u64::MAX, encrypted(directory.path()));
    let limits = OutputLimits { kept_bytes: MIN_KEPT_BYTES, total_bytes: 1 << 30 };
    let room = claim(&disk, "local", "one").expect("room");
    let output = CapturedOutput::create(&directory.path().join("stdout"), limits, room).expect("a file");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..500).for_each(|_| output.append(&[b'x'; 60_000]).expect("room"));
            output.close();
        });
        while output.progress().open {
            for piece in [output.read(0, 200_000), output.tail(7, 200_000), output.head(3, 200_000)] {
                assert!(piece.expect("a read").bytes.iter().all(|byte| *byte == b'x'));
            }
        }
    });
}
