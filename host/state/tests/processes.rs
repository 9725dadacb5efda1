//! Several processes on one data directory, and processes that are killed,
//! locked out or short of disk: each is a child that runs this same file.

#![cfg(unix)]

use std::{
    collections::HashSet,
    env,
    fs::{self, Permissions},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use wharf_core::{ScopeKey, ScopeKind};
use wharf_state::{OpenError, ScopePolicy, SqliteOptions, SqliteStore, StateChange, StateError, StateStore as _};
use wharf_test_support::soon;

const ROLE: &str = "WHARF_TEST_ROLE";
const DIRECTORY: &str = "WHARF_TEST_DIRECTORY";
const INCREMENTS: u64 = 200;
/// User and group `nobody`: root ignores file permissions.
const NOBODY: u32 = 65_534;

#[test]
fn processes_that_count_by_compare_and_swap_lose_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    // Opening is part of it: all of them make the store at once.
    let children: Vec<_> = (0..3).map(|_| start("count", directory.path())).collect();
    children.into_iter().for_each(finish);
    let store = open(directory.path());
    let count = block_on(get(&store, "count")).expect("a count");
    assert_eq!(count, (3 * INCREMENTS).to_le_bytes());
}

#[test]
fn no_acknowledged_write_is_lost_to_a_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut acknowledged = HashSet::new();
    for round in 0..5 {
        let mut child = start("stream", directory.path());
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        // Each round is killed elsewhere in its stream.
        for line in lines.by_ref().take(20 + 97 * round) {
            acknowledged.extend(acknowledgement(&line.expect("a line")));
        }
        child.kill().expect("a kill");
        child.wait().expect("its end");
        acknowledged.extend(lines.map_while(Result::ok).filter_map(|line| acknowledgement(&line)));

        let store = open(directory.path());
        for key in &acknowledged {
            // A batch of two: neither is ever there without the other.
            assert!(block_on(get(&store, key)).is_some(), "round {round} lost {key}");
            assert!(block_on(get(&store, &format!("{key}/twin"))).is_some(), "round {round} lost half of {key}");
        }
        let usage = block_on(store.usage(&scope())).expect("usage");
        assert_eq!(usage.entries % 2, 0, "half of a batch is there");
    }
    assert!(acknowledged.len() > 400, "{} writes prove little", acknowledged.len());
}

#[test]
fn a_read_only_directory_is_read_and_refuses_writes() {
    let directory = shared_directory();
    let data = directory.path().join("data");
    block_on(put(&open(&data), "key", b"value")).expect("a put");
    let log = data.join("state.sqlite3-wal");
    assert!(!log.exists(), "the last store to close leaves no log");
    lock_out(&data);
    finish(start_as_nobody("read-only", directory.path(), &data));
}

#[test]
fn an_empty_read_only_directory_is_refused_with_the_reason() {
    let directory = shared_directory();
    let data = directory.path().join("data");
    fs::create_dir(&data).expect("a directory");
    lock_out(&data);
    finish(start_as_nobody("read-only-empty", directory.path(), &data));
}

#[test]
fn a_disk_that_is_full_refuses_writes_and_serves_reads() {
    let directory = tempfile::tempdir().expect("a directory");
    // A limit on the size of files stands for the end of the disk. The shell
    // sets it, and has the write fail instead of killing the process.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""]).arg(env::current_exe().expect("itself"));
    finish(start_with(command, "full", directory.path()));

    let store = open(directory.path());
    block_on(put(&store, "after", b"there is room again")).expect("a put");
    assert!(block_on(get(&store, "0")).is_some());
}

/// What a child does. Does nothing when the tests themselves are run.
#[test]
fn child() {
    let (Ok(role), Some(directory)) = (env::var(ROLE), env::var_os(DIRECTORY).map(PathBuf::from)) else { return };
    match role.as_str() {
        "count" => {
            let store = open(&directory);
            (0..INCREMENTS).for_each(|_| block_on(increment(&store)));
        }
        "stream" => {
            let store = open(&directory);
            for number in 0..1_000_000 {
                let key = format!("{}-{number}", std::process::id());
                let twin = StateChange { key: format!("{key}/twin"), value: Some(vec![7; 300]), if_revision: None };
                let batch = vec![StateChange { key: key.clone(), ..twin.clone() }, twin];
                block_on(store.apply(&scope(), &policy(), batch, soon())).expect("a write");
                writeln!(std::io::stdout().lock(), "written {key}").expect("a reader");
            }
        }
        "read-only" => {
            let store = open(&directory);
            assert_eq!(block_on(get(&store, "key")).as_deref(), Some(b"value".as_slice()));
            let error = block_on(put(&store, "key", b"other")).expect_err("read-only");
            assert!(matches!(error, StateError::ReadOnly), "{error:?}");
            assert_eq!(block_on(get(&store, "key")).as_deref(), Some(b"value".as_slice()));
        }
        "read-only-empty" => {
            let error = SqliteStore::open(&directory, SqliteOptions::default()).expect_err("nothing to read");
            assert!(matches!(error, OpenError::Storage { source: StateError::ReadOnly, .. }), "{error:?}");
        }
        "full" => fill(&open(&directory)),
        other => panic!("no role {other}"),
    }
}

fn fill(store: &SqliteStore) {
    let value = [7; 64 << 10];
    let mut written = 0;
    let error = loop {
        match block_on(put(store, &written.to_string(), &value)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1_000, "the disk never fills");
    };
    assert!(matches!(error, StateError::Disk { .. } | StateError::Full), "{error:?}");
    assert!(written > 0);
    let error = wharf_core::Error::from(error);
    assert_eq!((error.code, error.retryable), (wharf_core::Code::Unavailable, true));
    for number in 0..written {
        assert_eq!(block_on(get(store, &number.to_string())).as_deref(), Some(value.as_slice()), "{number}");
    }
    assert_eq!(block_on(get(store, &written.to_string())), None);
    assert_eq!(block_on(store.usage(&scope())).expect("usage").entries, written);
}

async fn increment(store: &SqliteStore) {
    loop {
        let keys = ["count".to_owned()];
        let read = store.get_many(&scope(), &policy(), &keys, 100).await.expect("a read").remove(0);
        let (count, revision) = read
            .map_or((0, 0), |entry| (u64::from_le_bytes(entry.value.try_into().expect("eight bytes")), entry.revision));
        let value = Some((count + 1).to_le_bytes().to_vec());
        let change = StateChange { key: "count".into(), value, if_revision: Some(revision) };
        match store.apply(&scope(), &policy(), vec![change], soon()).await {
            Ok(_) => return,
            Err(StateError::Conflict { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

fn start(role: &str, directory: &Path) -> Child {
    start_with(Command::new(env::current_exe().expect("itself")), role, directory)
}

fn start_with(mut command: Command, role: &str, directory: &Path) -> Child {
    command.args(["--exact", "child", "--nocapture"]).env(ROLE, role).env(DIRECTORY, directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child")
}

/// Starts a child for which permissions count: from a copy in `shared` that
/// `nobody` may run where this is root, else as ourselves.
fn start_as_nobody(role: &str, shared: &Path, directory: &Path) -> Child {
    let program = shared.join("program");
    fs::copy(env::current_exe().expect("itself"), &program).expect("a copy");
    let mut command = Command::new(program);
    if is_root(shared) {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    start_with(command, role, directory)
}

fn finish(child: Child) {
    let output = child.wait_with_output().expect("its end");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the child failed:\n{out}\n{err}");
    assert!(out.contains("1 passed"), "the child did nothing:\n{out}");
}

fn acknowledgement(line: &str) -> Option<String> {
    // The test harness writes to the same line before the first one.
    line.split_once("written ").map(|(_, key)| key.to_owned())
}

/// A directory that other users may enter.
fn shared_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("its mode");
    directory
}

/// Leaves the directory and its files readable only, and to `nobody` where
/// this is root.
fn lock_out(data: &Path) {
    let root = is_root(data);
    let files = fs::read_dir(data).expect("a listing").map(|file| file.expect("a file").path());
    for (path, mode) in files.map(|path| (path, 0o400)).chain([(data.to_path_buf(), 0o500)]) {
        if root {
            chown(&path, Some(NOBODY), Some(NOBODY)).expect("its owner");
        }
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its mode");
    }
}

/// Whether we are root, told by the owner of a directory that we made.
fn is_root(ours: &Path) -> bool {
    fs::metadata(ours).expect("our own directory").uid() == 0
}

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, SqliteOptions::default()).expect("a store")
}

async fn get(store: &SqliteStore, key: &str) -> Option<Vec<u8>> {
    let found = store.get_many(&scope(), &policy(), &[key.to_owned()], 4 << 20).await.expect("a read").remove(0);
    found.map(|entry| entry.value)
}

async fn put(store: &SqliteStore, key: &str, value: &[u8]) -> Result<(), StateError> {
    let change = StateChange { key: key.into(), value: Some(value.into()), if_revision: None };
    store.apply(&scope(), &policy(), vec![change], soon()).await.map(|_| ())
}

fn scope() -> ScopeKey {
    ScopeKey {
        tenant: "local".parse().expect("legal"),
        plugin: "planning".parse().expect("legal"),
        kind: ScopeKind::Plugin,
        session: None,
        assistant: None,
        thread: None,
        bucket: "main".parse().expect("legal"),
    }
}

fn policy() -> ScopePolicy {
    ScopePolicy { quota_bytes: 1 << 30, quota_entries: 1 << 30, idle_expiry: None }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}
