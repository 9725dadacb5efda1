//! Snapshots of a store that hosts use, and stores that were made of them.

use std::fs;

use super::*;
use crate::{InventoryError, snapshot, take_over_snapshot};

/// The snapshot of a directory as the store of another one.
fn restored(from: &Path) -> TempDir {
    let to = temporary();
    assert!(snapshot(&from.into(), &to.path().join("state.sqlite3")).expect("a snapshot"));
    take_over_snapshot(&to.path().into()).expect("a store");
    to
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_has_all_that_was_acknowledged_before_it_while_writes_go_on() {
    let directory = temporary();
    let store = Arc::new(open(directory.path()));
    let scope = scope("local", "s");
    let acknowledged = Arc::new(AtomicU32::new(0));
    let (ending, ended) = tokio::sync::watch::channel(false);
    let writing = tokio::spawn({
        let (store, scope, acknowledged) = (Arc::clone(&store), scope.clone(), Arc::clone(&acknowledged));
        async move {
            let mut number = 0_u32;
            while !*ended.borrow() {
                store.apply(&scope, &policy(), put(&number.to_string(), &[7; 2_000]), soon()).await.expect("a put");
                number += 1;
                acknowledged.store(number, Ordering::Release);
            }
        }
    });
    while acknowledged.load(Ordering::Acquire) < 50 {
        tokio::task::yield_now().await;
    }
    for _ in 0..5 {
        let before = acknowledged.load(Ordering::Acquire);
        let directory = directory.path().to_owned();
        let to = tokio::task::spawn_blocking(move || restored(&directory)).await.expect("restored");
        let raw = raw(to.path());
        let whole: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check");
        assert_eq!(whole, "ok");
        let (entries, last): (u32, u32) = raw
            .query_row("SELECT count(*), max(CAST(key AS INTEGER)) FROM kv", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("a count");
        assert!(entries >= before && last + 1 == entries, "{entries} entries up to {last}, {before} acknowledged");
    }
    ending.send(true).expect("the writer listens");
    writing.await.expect("it ends");
}

#[tokio::test]
async fn a_store_made_of_a_snapshot_is_as_any_other_and_gives_no_revision_again() {
    let directory = temporary();
    let scope = scope("local", "s");
    let store = open(directory.path());
    let first = store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put")[0];
    let to = restored(directory.path());
    // The host goes on with the original.
    let later = store.apply(&scope, &policy(), put("key", b"later"), soon()).await.expect("a put")[0];

    let names: Vec<_> = fs::read_dir(to.path()).expect("listed").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["state.sqlite3"], "no log is left");
    for (pragma, expected) in [("journal_mode", "wal"), ("auto_vacuum", "2"), ("user_version", "2")] {
        let sql = format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}");
        let found: String = raw(to.path()).query_row(&sql, [], |row| row.get(0)).expect("a value");
        assert_eq!(found, expected, "{pragma}");
    }
    let copy = open(to.path());
    let entry = copy.get_many(&scope, &policy(), &["key".to_owned()], 4 << 20).await.expect("read").remove(0);
    let entry = entry.expect("it is there");
    assert_eq!((entry.value.as_slice(), entry.revision), (b"value".as_slice(), first));
    let next = copy.apply(&scope, &policy(), put("key", b"other"), soon()).await.expect("a put")[0];
    assert!(next > later && next > 1_600_000_000_000, "{next} was never given, unlike {later}");
    let other = super::scope("local", "new");
    let fresh = copy.apply(&other, &policy(), put("key", b"other"), soon()).await.expect("a put")[0];
    assert!(fresh > 1_600_000_000_000, "{fresh}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_snapshot_is_its_owners_alone_and_takes_no_other_files_place() {
    use std::os::unix::fs::PermissionsExt as _;
    let (directory, to) = (temporary(), temporary());
    let path = to.path().join("copy");
    assert!(!snapshot(&directory.path().into(), &path).expect("no store"), "there is none");
    assert!(!path.exists());
    drop(open(directory.path()));
    assert!(snapshot(&directory.path().into(), &path).expect("a snapshot"));
    assert_eq!(fs::metadata(&path).expect("is there").permissions().mode() & 0o777, 0o600);
    let before = fs::read(&path).expect("read");
    snapshot(&directory.path().into(), &path).expect_err("the name is taken");
    assert_eq!(fs::read(&path).expect("read"), before);
}

#[test]
fn what_is_no_store_of_this_version_is_neither_copied_nor_taken_over() {
    let (directory, to) = (temporary(), temporary());
    drop(open(directory.path()));
    raw(directory.path()).pragma_update(None, "user_version", 99).expect("a later version");
    let newer = |error: &InventoryError| matches!(error, InventoryError::Open(OpenError::Newer { found: 99, .. }));
    let error = snapshot(&directory.path().into(), &to.path().join("copy")).expect_err("newer");
    assert!(newer(&error), "{error:?}");
    let error = take_over_snapshot(&directory.path().into()).expect_err("newer");
    assert!(newer(&error), "{error:?}");
    fs::write(directory.path().join("state.sqlite3"), "no database, whatever it is called. ".repeat(100))
        .expect("written");
    let error = take_over_snapshot(&directory.path().into()).expect_err("no database");
    assert!(matches!(error, InventoryError::Open(OpenError::NotADatabase { .. })), "{error:?}");
}

#[test]
fn a_snapshot_leaves_an_older_layout_as_it_is() {
    let (directory, to) = (temporary(), temporary());
    raw(directory.path()).execute_batch(include_str!("layout-1.sql")).expect("a store of layout 1");
    assert!(snapshot(&directory.path().into(), &to.path().join("state.sqlite3")).expect("a snapshot"));
    take_over_snapshot(&to.path().into()).expect("taken over");
    for place in [directory.path(), to.path()] {
        let layout: i64 = raw(place).pragma_query_value(None, "user_version", |row| row.get(0)).expect("a number");
        assert_eq!(layout, 1);
    }
    open(to.path());
}
