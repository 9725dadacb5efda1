use std::{fs, os::unix::fs::MetadataExt as _};

use super::*;

const ROOMY: OutputLimits = OutputLimits { kept_bytes: 1 << 30, total_bytes: 1 << 30 };

fn output(limits: OutputLimits) -> (tempfile::TempDir, Output) {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Output::create(&directory.path().join("stdout"), limits).expect("a file");
    (directory, output)
}

fn holding(printed: &[u8]) -> (tempfile::TempDir, Output) {
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

    let again = Output::reopen(&path).expect("a file");
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
    assert_eq!(output.append(b"yz"), Err(Failure::Quota));
    assert_eq!(output.state().bytes, 1_000);
    assert_eq!(fs::metadata(directory.path().join("stdout")).expect("a file").len(), 1_000);
    assert_eq!(output.tail(1, 4).expect("a tail").text(), "xxxy");
}
