//! The directory and file of a store: creation, permissions, refusals and freed space.

use std::fs;

use super::*;

#[tokio::test]
async fn entries_and_revisions_outlive_the_store() {
    let directory = temporary();
    let scope = scope("local", "s");
    let first = {
        let store = open(directory.path());
        store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put")[0]
    };
    let store = open(directory.path());
    assert_eq!(value(&store, &scope, "key").await.as_deref(), Some(b"value".as_slice()));
    let second = store.apply(&scope, &policy(), put("key", b"value"), soon()).await.expect("a put")[0];
    assert!(second > first);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_stored_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = temporary();
    let directory = parent.path().join("data").join("wharf");
    let store = open(&directory);
    store.apply(&scope("local", "s"), &policy(), put("key", b"value"), soon()).await.expect("a put");
    let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let files: Vec<_> = fs::read_dir(&directory).expect("a listing").map(|file| file.expect("a file").path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let directory = temporary();
    let path = directory.path().join("state.sqlite3");
    let content = b"not a database, but long enough to be looked at as one: ".repeat(100);
    fs::write(&path, &content).expect("a file");
    let error = SqliteStore::open(directory.path(), SqliteOptions::default()).expect_err("no database");
    assert!(matches!(error, OpenError::NotADatabase { .. }), "{error:?}");
    assert!(error.to_string().contains("move it away"), "{error}");
    assert_eq!(fs::read(&path).expect("the file"), content);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let directory = temporary();
    fs::write(directory.path().join("state.sqlite3"), b"").expect("a file");
    open(directory.path());
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let directory = temporary();
    raw(directory.path()).execute_batch("CREATE TABLE theirs (x)").expect("a table");
    let before = fs::read(directory.path().join("state.sqlite3")).expect("the file");
    let error = SqliteStore::open(directory.path(), SqliteOptions::default()).expect_err("foreign");
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read(directory.path().join("state.sqlite3")).expect("the file"), before);
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let directory = temporary();
    drop(open(directory.path()));
    raw(directory.path()).pragma_update(None, "user_version", 99).expect("a later version");
    let error = SqliteStore::open(directory.path(), SqliteOptions::default()).expect_err("newer");
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error:?}");
}

#[tokio::test]
async fn damage_is_reported_and_does_not_end_the_store() {
    let directory = temporary();
    let scope = scope("local", "s");
    {
        let store = open(directory.path());
        for number in 0..100 {
            store.apply(&scope, &policy(), put(&number.to_string(), &[7; 3_000]), soon()).await.expect("a put");
        }
    }
    let path = directory.path().join("state.sqlite3");
    let mut content = fs::read(&path).expect("the file");
    let middle = content.len() / 4;
    content[middle..].fill(0xa5);
    fs::write(&path, &content).expect("damage");

    let store = open(directory.path());
    let keys: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let error = store.get_many(&scope, &policy(), &keys, 4 << 20).await.expect_err("damaged");
    assert!(matches!(error, StateError::Damaged { .. }), "{error:?}");
    let error = wharf_core::Error::from(error);
    assert_eq!((error.code, error.retryable), (wharf_core::Code::Unavailable, true));
    assert!(error.message.contains("backup"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_refused_with_its_path() {
    let parent = temporary();
    let blocked = parent.path().join("file");
    fs::write(&blocked, b"").expect("a file");
    let error = SqliteStore::open(&blocked.join("data"), SqliteOptions::default()).expect_err("no directory");
    assert!(matches!(error, OpenError::Directory { .. }), "{error:?}");
    assert!(error.to_string().contains("--data"), "{error}");
}

#[tokio::test]
async fn the_space_of_expired_scopes_is_given_back() {
    let directory = temporary();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::UNIX_EPOCH));
    let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let store = SqliteStore::open(directory.path(), options).expect("a new store");
    for number in 0..32_u32 {
        let scope = scope("local", &number.to_string());
        store.apply(&scope, &policy(), put("large", &[7; 1 << 20]), soon()).await.expect("a put");
    }
    let pages =
        || raw(directory.path()).query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0)).expect("a count");
    let full = pages();
    clock.advance(Duration::from_secs(1_000));
    assert_eq!(store.sweep(clock.now()).await.expect("a sweep").scopes, 32);
    assert!(pages() < full / 4, "{} pages of {full} stay", pages());
}
