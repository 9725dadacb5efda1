use std::{fs::OpenOptions, os::unix::fs::MetadataExt as _};

use proptest::prelude::*;

use super::*;
use crate::MasterKey;

fn keys(directory: &Path, letter: char) -> DataKeys {
    let master = MasterKey::new(&letter.to_string().repeat(64)).expect("long enough");
    DataKeys::open_or_make(directory, &[master]).expect("a keyring")
}

fn new_file(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create_new(true).open(path).expect("a file")
}

fn read(file: &StoredFile, from: u64, until: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.read_at(from, until - from, &mut bytes).expect("read");
    bytes
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 7 + at % 251) as u8).collect()
}

/// Whether the file has these bytes somewhere.
fn shows(path: &Path, bytes: &[u8]) -> bool {
    fs::read(path).expect("read").windows(bytes.len()).any(|window| window == bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A file reads as what was appended to it, by the handle that writes and by a later one.
    #[test]
    fn what_was_appended_is_read_anywhere(
        pieces in proptest::collection::vec(0..3 * CONTENT_BYTES, 1..12),
        reads in proptest::collection::vec((0.0..1.0f64, 0.0..1.0f64), 8),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("output");
        let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
        let writer = at_rest.begin(new_file(&path)).expect("begun");
        let whole = text(pieces.iter().sum());
        let mut end = 0;
        for piece in pieces {
            writer.append(&whole[end..end + piece], end as u64).expect("written");
            end += piece;
            prop_assert_eq!(writer.length().expect("known"), end as u64);
            prop_assert_eq!(&read(&writer, 0, end as u64), &whole[..end]);
        }
        let later = at_rest.open(File::open(&path).expect("there")).expect("opened");
        prop_assert_eq!(later.length().expect("known"), end as u64);
        for (from, length) in reads {
            let from = (from * end as f64) as usize;
            let until = from + (length * (end - from) as f64) as usize;
            prop_assert_eq!(&read(&later, from as u64, until as u64), &whole[from..until]);
            prop_assert_eq!(&read(&writer, from as u64, until as u64), &whole[from..until]);
        }
        prop_assert!(later.read_at(end as u64, 1, &mut Vec::new()).is_err());
    }
}

#[test]
fn what_is_encrypted_shows_nothing_and_a_change_of_it_is_noticed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, other) = (directory.path().join("output"), directory.path().join("other"));
    let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
    for path in [&path, &other] {
        let file = at_rest.begin(new_file(path)).expect("begun");
        file.append(&b"a password: hunter2 ".repeat(1_000), 0).expect("written");
        assert!(!shows(path, b"hunter2"));
    }
    let original = fs::read(&path).expect("read");
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).expect("written");
        let file = at_rest.open(File::open(&path).expect("there")).expect("opened");
        let error = file.read_at(0, file.length().expect("known"), &mut Vec::new()).expect_err(what);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{what}: {error}");
    };
    for at in [30, 4_096, 6_000, 8_191, 9_000, original.len() - 1] {
        let mut changed = original.clone();
        changed[at] ^= 1;
        refused(&changed, "a bit");
    }
    let mut swapped = original.clone();
    swapped[4_096..12_288].rotate_left(4_096);
    refused(&swapped, "two blocks in each other's place");
    let mut foreign = original.clone();
    foreign[4_096..8_192].copy_from_slice(&fs::read(&other).expect("read")[4_096..8_192]);
    refused(&foreign, "a block of another file");
    let mut shorter = original.clone();
    shorter.truncate(original.len() - 5);
    refused(&shorter, "a part of a block");
}

#[test]
fn a_small_file_is_replaced_and_read_as_a_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("record.json");
    let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
    for content in [b"".as_slice(), b"{\"command\":\"curl -H hunter2\"}"] {
        at_rest.replace(&path, content).expect("written");
        assert_eq!(at_rest.read(&path, content.len() as u64).expect("read"), content);
    }
    assert!(!shows(&path, b"hunter2"));
    assert_eq!(at_rest.read(&path, 5).expect_err("long").kind(), io::ErrorKind::FileTooLarge);
    let mut bytes = fs::read(&path).expect("read");
    bytes[60] ^= 1;
    fs::write(&path, bytes).expect("written");
    assert_eq!(at_rest.read(&path, 100).expect_err("changed").kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_file_is_read_as_it_should_be_stored_and_no_other_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let (clear, encrypted) = (directory.path().join("clear"), directory.path().join("encrypted"));
    let (in_clear, at_rest) = (AtRest::in_clear(), AtRest::encrypted(keys(directory.path(), 'a')));
    in_clear.replace(&clear, b"text").expect("written");
    at_rest.replace(&encrypted, b"text").expect("written");
    let problem = |error: io::Error| error.to_string();
    assert!(at_rest.read(&clear, 10).map_err(problem).expect_err("clear").contains("wharf state rekey"));
    assert!(in_clear.read(&encrypted, 10).map_err(problem).expect_err("encrypted").contains("[encryption]"));
    let others = AtRest::encrypted(keys(elsewhere.path(), 'a'));
    assert!(others.read(&encrypted, 10).map_err(problem).expect_err("other keys").contains("does not have"));
}

#[test]
fn a_part_that_is_evicted_gives_its_room_back_and_stays_so_under_other_keys() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("output");
    let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
    let content = text(1 << 20);
    let file = at_rest.begin(new_file(&path)).expect("begun");
    file.append(&content, 0).expect("written");
    let before = path.metadata().expect("there").blocks();
    file.evict(0, 512 << 10).expect("evicted");
    file.evict(512 << 10, 768 << 10).expect("evicted");
    let after = path.metadata().expect("there").blocks();
    assert!(after * 3 < before, "{after} of {before} blocks");
    let kept = file.first_kept().expect("known");
    assert!(kept <= 768 << 10 && kept > (768 << 10) - CONTENT_BYTES as u64, "{kept}");
    assert_eq!(read(&file, 768 << 10, 1 << 20), content[768 << 10..]);

    let anew = AtRest::encrypted(keys(directory.path(), 'a').with_new_key().expect("random bytes"));
    let clear = AtRest::in_clear();
    let mut from = anew.clone();
    for to in [&anew, &clear, &anew] {
        assert!(matches!(to.reencrypt(&from, &path).expect("written"), Reencrypted::Written(1..)));
        assert_eq!(to.reencrypt(&from, &path).expect("looked at"), Reencrypted::AsItWas);
        let file = to.open(File::open(&path).expect("there")).expect("opened");
        assert_eq!(file.length().expect("known"), 1 << 20);
        let kept = file.first_kept().expect("known");
        assert!((700 << 10..=832 << 10).contains(&kept), "{kept}");
        assert_eq!(read(&file, kept, 1 << 20), content[usize::try_from(kept).expect("small")..]);
        from = anew.clone();
    }
    let file = anew.open(File::open(&path).expect("there")).expect("opened");
    drop(file);
    let all = anew.open(OpenOptions::new().read(true).write(true).open(&path).expect("there")).expect("opened");
    all.evict(0, 2 << 20).expect("evicted");
    assert_eq!((all.first_kept().expect("known"), all.length().expect("known")), (1 << 20, 1 << 20));
    for to in [&clear, &anew] {
        to.reencrypt(&anew, &path).expect("written");
        let file = to.open(File::open(&path).expect("there")).expect("opened");
        assert_eq!((file.first_kept().expect("known"), file.length().expect("known")), (1 << 20, 1 << 20));
    }
}

#[test]
fn an_empty_file_and_a_small_one_are_encrypted_anew() {
    let directory = tempfile::tempdir().expect("a directory");
    let clear = AtRest::in_clear();
    let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
    for (name, content) in [("empty", b"".as_slice()), ("small", b"one line\n")] {
        let path = directory.path().join(name);
        fs::write(&path, content).expect("written");
        at_rest.reencrypt(&at_rest, &path).expect("encrypted");
        let file = at_rest.open(File::open(&path).expect("there")).expect("opened");
        assert_eq!(read(&file, 0, content.len() as u64), content);
        clear.reencrypt(&at_rest, &path).expect("decrypted");
        assert_eq!(fs::read(&path).expect("read"), content);
        assert_eq!(clear.reencrypt_whole(&at_rest, &path, 100).expect("looked at"), Reencrypted::AsItWas);
        at_rest.reencrypt_whole(&at_rest, &path, 100).expect("encrypted");
        assert_eq!(at_rest.read(&path, 100).expect("read"), content);
    }
}

#[test]
fn what_another_handle_writes_is_read_as_far_as_it_is_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("recording");
    let at_rest = AtRest::encrypted(keys(directory.path(), 'a'));
    let writer = at_rest.begin(new_file(&path)).expect("begun");
    let whole = text(1 << 20);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for (number, piece) in whole.chunks(37).enumerate() {
                writer.append(piece, number as u64 * 37).expect("written");
            }
        });
        while !writing.is_finished() {
            let reader = at_rest.open(File::open(&path).expect("there")).expect("opened");
            let end = reader.length().expect("known");
            let from = end.saturating_sub(10_000);
            let expected = &whole[usize::try_from(from).expect("small")..usize::try_from(end).expect("small")];
            assert_eq!(read(&reader, from, end), expected);
        }
    });
}
