//! Several stores on one directory, as several hosts open them, and writes that
//! do not get their turn.

use super::*;

/// Holds the lock for writing, as a busy host does.
fn lock(directory: &Path) -> Connection {
    let other = raw(directory);
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    other
}

#[tokio::test]
async fn a_store_opens_and_reads_while_another_process_writes() {
    let directory = temporary();
    let scope = scope("local", "s");
    open(directory.path()).apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put");
    let _writing = lock(directory.path());
    let store = open(directory.path());
    assert_eq!(value(&store, &scope, "key").await.as_deref(), Some(b"value".as_slice()));
}

#[tokio::test]
async fn what_one_store_reads_often_is_what_another_has_just_written() {
    let directory = temporary();
    let scope = scope("local", "s");
    let (writer, reader) = (open(directory.path()), open(directory.path()));
    for round in 0_u8..50 {
        writer.apply(&scope, &policy(), put("key", &[round]), soon()).await.expect("a put");
        for _ in 0..3 {
            assert_eq!(value(&reader, &scope, "key").await, Some(vec![round]));
        }
    }
}

#[tokio::test]
async fn a_write_that_does_not_get_its_turn_in_time_is_refused_and_never_happens() {
    let directory = temporary();
    let scope = scope("local", "s");
    let store = open(directory.path());
    let writing = lock(directory.path());
    let late = Instant::now() + Duration::from_millis(30);
    let error = store.apply(&scope, &policy(), put("late", b""), late).await.expect_err("busy");
    assert!(matches!(error, StateError::Busy), "{error:?}");
    let error = wharf_core::Error::from(error);
    assert_eq!((error.code, error.retryable), (wharf_core::Code::Timeout, true));

    drop(writing);
    let error = store.apply(&scope, &policy(), put("late", b""), Instant::now()).await.expect_err("no time at all");
    assert!(matches!(error, StateError::Busy), "{error:?}");
    store.apply(&scope, &policy(), put("next", b""), soon()).await.expect("a put");
    assert_eq!(value(&store, &scope, "late").await, None);
}

#[tokio::test]
async fn a_write_waits_for_another_process_to_finish() {
    let directory = temporary();
    let scope = scope("local", "s");
    let store = open(directory.path());
    let writing = lock(directory.path());
    let policy = policy();
    let write = store.apply(&scope, &policy, put("key", b"value"), soon());
    let release = async move {
        tokio::task::yield_now().await;
        drop(writing);
    };
    let (written, ()) = tokio::join!(write, release);
    written.expect("its turn came");
    assert!(value(&store, &scope, "key").await.is_some());
}

#[tokio::test]
async fn a_write_whose_caller_went_away_while_it_waited_never_happens() {
    let directory = temporary();
    let scope = scope("local", "s");
    let store = open(directory.path());
    let writing = lock(directory.path());
    let policy = policy();
    let mut abandoned = store.apply(&scope, &policy, put("abandoned", b""), soon());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(abandoned.as_mut().poll(&mut context).is_pending());
    drop(abandoned);
    drop(writing);
    store.apply(&scope, &policy, put("next", b""), soon()).await.expect("a put");
    assert_eq!(value(&store, &scope, "abandoned").await, None);
}

#[tokio::test]
async fn no_store_sweeps_what_another_one_used_since() {
    let directory = temporary();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::UNIX_EPOCH));
    let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let one = SqliteStore::open(directory.path(), options.clone()).expect("a store");
    let two = SqliteStore::open(directory.path(), options).expect("a store");
    let (read, written, idle) = (scope("local", "read"), scope("local", "written"), scope("local", "idle"));
    for scope in [&read, &written, &idle] {
        one.apply(scope, &policy(), put("key", b"value"), soon()).await.expect("a put");
    }
    clock.advance(Duration::from_secs(600));
    assert!(value(&two, &read, "key").await.is_some());
    two.apply(&written, &policy(), put("other", b"value"), soon()).await.expect("a put");
    clock.advance(Duration::from_secs(600));
    assert_eq!(one.sweep(clock.now()).await.expect("a sweep").scopes, 1);
    for scope in [&read, &written] {
        assert!(value(&one, scope, "key").await.is_some(), "{scope:?} was swept");
    }
    assert_eq!(two.usage(&idle).await.expect("usage"), ScopeUsage::default());
}

#[tokio::test]
async fn a_read_that_was_recorded_too_late_brings_nothing_back() {
    let directory = temporary();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::UNIX_EPOCH));
    let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let store = SqliteStore::open(directory.path(), options).expect("a store");
    let scope = scope("local", "s");
    store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put");
    let seen = store.readers.read(|connection| read::scope_row(connection, &scope)).expect("a read").expect("a row");
    clock.advance(Duration::from_secs(1_000));
    store.sweep(clock.now()).await.expect("a sweep");
    let late = crate::rules::ScopeUse { scope: seen.id, seen: seen.expires, expires: Some(i64::MAX) };
    store.writer.touch(Touch::new(late, Arc::clone(&store.pending), soon()));
    store.apply(&self::scope("local", "other"), &policy(), put("key", b""), soon()).await.expect("a put");
    assert!(store.expired_at(&scope).await.expect("expired-at").is_some());
    assert_eq!(value(&store, &scope, "key").await, None);
}

#[tokio::test]
async fn a_store_that_is_dropped_records_the_last_reads() {
    let directory = temporary();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::UNIX_EPOCH));
    let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let scope = scope("local", "s");
    let store = SqliteStore::open(directory.path(), options.clone()).expect("a store");
    store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put");
    clock.advance(Duration::from_secs(600));
    assert!(value(&store, &scope, "key").await.is_some());
    drop(store);
    clock.advance(Duration::from_secs(600));
    let store = SqliteStore::open(directory.path(), options).expect("a store");
    assert!(value(&store, &scope, "key").await.is_some());
}

#[tokio::test]
async fn a_scope_that_was_emptied_leaves_nothing_behind() {
    let directory = temporary();
    let store = open(directory.path());
    for number in 0..10 {
        let scope = scope("local", &number.to_string());
        store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put");
        let deletion = vec![StateChange { key: "key".into(), value: None, if_revision: None }];
        store.apply(&scope, &policy(), deletion, soon()).await.expect("a deletion");
    }
    let rows = "SELECT (SELECT count(*) FROM scope) + (SELECT count(*) FROM kv) + (SELECT count(*) FROM total)";
    assert_eq!(raw(directory.path()).query_row(rows, [], |row| row.get::<_, i64>(0)).expect("a count"), 0);
}
