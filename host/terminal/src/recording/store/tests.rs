use wharf_encryption::{DataKeys, MasterKey};

use super::*;

/// A store with these limits, in blocks: of a session, of a tenant, of the host. Recordings of these tests take one.
fn store(directory: &Path, blocks: [u64; 3]) -> Arc<RecordingStore> {
    store_at_rest(directory, blocks, AtRest::in_clear())
}

fn store_at_rest(directory: &Path, blocks: [u64; 3], at_rest: AtRest) -> Arc<RecordingStore> {
    let [of_session, of_tenant, of_host] = blocks.map(|blocks| blocks * BLOCK_BYTES);
    let limits = TerminalLimits {
        recording_bytes_per_session: of_session,
        recording_bytes_per_tenant: of_tenant,
        recording_bytes: of_host,
        ..TerminalLimits::default()
    };
    RecordingStore::new(RecordingSettings::in_directory(directory), &limits, at_rest)
}

fn owner(tenant: &str, session: &str) -> RecordingOwner {
    RecordingOwner { tenant: tenant.parse().expect("legal"), session: session.parse().expect("legal") }
}

/// Begins a recording, as of that second.
fn begin(
    store: &Arc<RecordingStore>,
    who: &RecordingOwner,
    second: i64,
) -> Result<(RecordingRoom, StoredFile, PathBuf), String> {
    let began = DateTime::from_timestamp(second, 0).expect("a time");
    let header = format!("{{\"version\":2,\"wharf\":{}}}\n", serde_json::to_string(who).expect("JSON"));
    let (mut room, file, path) = store.begin(who, began, "x", 100).map_err(|error| error.to_string())?;
    file.append(header.as_bytes(), 0).expect("written");
    room.count(header.len() as u64);
    Ok((room, file, path))
}

/// A recording that has ended.
fn ended(store: &Arc<RecordingStore>, who: &RecordingOwner, second: i64) -> PathBuf {
    let (room, file, path) = begin(store, who, second).expect("begun");
    drop((file, room));
    path
}

#[test]
fn the_oldest_recording_of_the_same_session_tenant_and_host_makes_room_and_nobody_elses_does() {
    for (blocks, limit) in [([2, 9, 9], "session"), ([9, 2, 9], "tenant"), ([9, 9, 3], "host")] {
        let directory = tempfile::tempdir().expect("a directory");
        let store = store(directory.path(), blocks);
        let beside = ended(&store, &owner("other", "s"), 1);
        let (s, t) = (owner("local", "s"), owner("local", if limit == "session" { "s" } else { "t" }));
        let [one, two, three] = [(&s, 2), (&t, 3), (&s, 4)].map(|(who, second)| ended(&store, who, second));
        let there = [&beside, &one, &two, &three].map(|path| path.exists());
        assert_eq!(there, [true, false, true, true], "{limit}");
        assert_eq!(store.quota.used(), 3 * BLOCK_BYTES);
    }
}

#[test]
fn another_session_of_the_tenant_keeps_its_recordings_where_a_session_is_full() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = store(directory.path(), [1, 9, 9]);
    let (one, two) = (ended(&store, &owner("local", "s"), 1), ended(&store, &owner("local", "t"), 2));
    ended(&store, &owner("local", "t"), 3);
    assert!(one.exists() && !two.exists());
}

#[test]
fn a_recording_that_is_written_is_never_removed_and_what_has_no_room_names_the_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = store(directory.path(), [9, 2, 3]);
    let who = owner("local", "s");
    let (mut first, _file, path) = begin(&store, &who, 1).expect("begun");
    let two = ended(&store, &who, 2);
    first.hold(BLOCK_BYTES).expect("it has as much");
    first.hold(BLOCK_BYTES + 1).expect("the other one makes room");
    assert!(path.exists() && !two.exists());
    assert_eq!(first.hold(2 * BLOCK_BYTES + 1).expect_err("full").bound.0, "recording_bytes_per_tenant");
    let refused = begin(&store, &who, 3).expect_err("there is no room, and none is made");
    assert!(refused.contains("`recording_bytes_per_tenant` of [terminal.limits]"), "{refused}");
    let _other = begin(&store, &owner("other", "s"), 4).expect("another tenant has its own");
    let refused = begin(&store, &owner("third", "s"), 5).expect_err("the host is full");
    assert!(refused.contains("`recording_bytes` of [terminal.limits]"), "{refused}");
    drop(first);
    assert_eq!(store.quota.used(), 2 * BLOCK_BYTES, "an ended one holds what it takes");
}

#[test]
fn a_later_host_knows_whose_recordings_it_finds_and_leaves_those_of_a_host_that_writes() {
    let directory = tempfile::tempdir().expect("a directory");
    let earlier = store(directory.path(), [9, 2, 9]);
    let (theirs, old) = (ended(&earlier, &owner("other", "s"), 1), ended(&earlier, &owner("local", "s"), 2));
    let (room, file, written) = begin(&earlier, &owner("local", "t"), 3).expect("begun");
    let files = ["19700101T000000.000Z-nobodys.cast", "notes.txt"].map(|name| directory.path().join(name));
    files.iter().for_each(|path| fs::write(path, "{\"version\":2}\n").expect("written"));
    let later = store(directory.path(), [9, 2, 9]);
    let new = ended(&later, &owner("local", "u"), 4);
    assert!(theirs.exists() && !old.exists() && written.exists() && new.exists());
    let newer = ended(&later, &owner("local", "u"), 5);
    assert!(!new.exists() && written.exists() && newer.exists(), "older, and written by another host");
    drop((room, file));
    ended(&later, &owner("local", "u"), 6);
    assert!(!written.exists() && theirs.exists() && newer.exists(), "it has ended");
    assert!(files.iter().all(|path| path.exists()), "what is nobody's stays");
}

#[test]
fn a_recording_that_is_encrypted_shows_nothing_and_a_later_host_knows_whose_it_is() {
    let (directory, keys) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let at_rest = || {
        let master = MasterKey::new(&"k".repeat(64)).expect("long enough");
        AtRest::encrypted(DataKeys::open_or_make(keys.path(), &[master]).expect("keys"))
    };
    // One takes two blocks: the header of the file, and one of content.
    let earlier = store_at_rest(directory.path(), [9, 4, 9], at_rest());
    let paths = [1, 2].map(|second| ended(&earlier, &owner("local", "secretive"), second));
    for path in &paths {
        let bytes = fs::read(path).expect("read");
        assert!(!bytes.windows(9).any(|window| window == b"secretive"));
    }
    let later = store_at_rest(directory.path(), [9, 4, 9], at_rest());
    let third = ended(&later, &owner("local", "t"), 3);
    assert_eq!(paths.map(|path| path.exists()), [false, true]);
    assert!(third.exists() && later.quota.used() == 4 * BLOCK_BYTES);
}
