//! Migrations from layout to layout. The layouts after the released ones are made up: the
//! tests are about the migration itself.

use std::{
    env, fs,
    process::{Child, Command, Stdio},
};
use wharf_test_support::blocking;

use super::*;

/// A migration of several statements.
const NEXT: &str = "ALTER TABLE kv ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    UPDATE kv SET changed = revision;
    CREATE TABLE note (text TEXT NOT NULL) STRICT;
    INSERT INTO note VALUES ('migrated');";
/// The same, without an end.
const ENDLESS: &str = "ALTER TABLE kv ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    UPDATE kv SET changed = revision;
    CREATE TABLE note AS WITH RECURSIVE step (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step)
        SELECT max(n) AS text FROM step;";
const BROKEN: &str = "CREATE TABLE note (text TEXT NOT NULL) STRICT; INSERT INTO nowhere VALUES (1);";
const ROLE: &str = "WHARF_TEST_MIGRATION";
const DIRECTORY: &str = "WHARF_TEST_DIRECTORY";

/// A directory with a store that the first version made.
fn of_the_first_version() -> TempDir {
    let directory = temporary();
    let database = raw(directory.path());
    database.execute_batch(include_str!("layout-1.sql")).expect("a store of layout 1");
    directory
}

fn layouts(next: &'static str) -> Vec<&'static str> {
    schema::LAYOUTS.iter().copied().chain([next]).collect()
}

fn version(directory: &Path) -> i64 {
    raw(directory).pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
}

fn notes(directory: &Path) -> i64 {
    raw(directory).query_row("SELECT count(*) FROM note", [], |row| row.get(0)).unwrap_or(-1)
}

/// The statements that made the database.
fn made_of(database: &Connection) -> Vec<String> {
    let mut statement =
        database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").expect("");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

#[test]
fn the_first_layout_is_what_it_was_when_it_was_released() {
    let (stored, now) = (of_the_first_version(), temporary());
    drop(schema::open_with(&now.path().into(), &schema::LAYOUTS[..1]).expect("a new store"));
    assert_eq!(made_of(&raw(now.path())), made_of(&raw(stored.path())));
}

#[tokio::test]
async fn a_store_of_the_first_version_opens_with_all_that_it_holds() {
    let directory = of_the_first_version();
    let store = open(directory.path());
    assert_eq!(version(directory.path()), schema::LAYOUTS.len() as i64);
    let (session, expired) = (scope("local", "s"), scope("local", "expired"));
    assert_eq!(value(&store, &session, "goal").await.as_deref(), Some(b"ship it".as_slice()));
    assert_eq!(value(&store, &session, "raw").await.as_deref(), Some([0xff, 0, 0xfe].as_slice()));
    assert_eq!(store.usage(&session).await.expect("usage"), ScopeUsage { entries: 2, bytes: 17 });
    assert!(store.expired_at(&expired).await.expect("expired-at").is_some());
    let revision = store.apply(&session, &policy(), put("goal", b"x"), soon()).await.expect("a put")[0];
    assert_eq!(revision, 3);
    store.sweep(SystemTime::now()).await.expect("a sweep");
    let left = "SELECT count(*) FROM kv WHERE scope = 4";
    assert_eq!(raw(directory.path()).query_row(left, [], |row| row.get::<_, i64>(0)).expect("a count"), 0);
}

#[tokio::test]
async fn a_store_is_brought_to_the_next_layout_with_all_that_it_holds() {
    let directory = of_the_first_version();
    drop(schema::open_with(&directory.path().into(), &layouts(NEXT)).expect("a migration"));
    assert_eq!((version(directory.path()), notes(directory.path())), (schema::LAYOUTS.len() as i64 + 1, 1));
    let changed = "SELECT count(*) FROM kv WHERE changed = revision";
    assert_eq!(raw(directory.path()).query_row(changed, [], |row| row.get::<_, i64>(0)).expect("a count"), 3);
    // Opening again does nothing, and the version before refuses it.
    drop(schema::open_with(&directory.path().into(), &layouts(NEXT)).expect("opened"));
    assert_eq!(notes(directory.path()), 1);
    let error = SqliteStore::open(directory.path(), SqliteOptions::default()).expect_err("newer");
    assert!(matches!(error, OpenError::Newer { .. }), "{error:?}");
}

#[tokio::test]
async fn a_migration_that_fails_leaves_the_store_to_the_version_before() {
    let directory = of_the_first_version();
    drop(open(directory.path()));
    assert!(schema::open_with(&directory.path().into(), &layouts(BROKEN)).is_err());
    assert_eq!((version(directory.path()), notes(directory.path())), (schema::LAYOUTS.len() as i64, -1));
    let store = open(directory.path());
    assert!(value(&store, &scope("local", "s"), "goal").await.is_some());
}

#[tokio::test]
async fn a_migration_that_is_killed_in_the_middle_has_not_happened() {
    let directory = of_the_first_version();
    drop(open(directory.path()));
    let mut child = start("endless", directory.path());
    let database = raw(directory.path());
    database.busy_timeout(Duration::ZERO).expect("a setting");
    // The child holds the write lock once it has begun, and writes for as long as it lives.
    blocking::until("the child writes", || {
        assert!(child.try_wait().expect("a child").is_none());
        database.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err()
    });
    blocking::let_time_pass(Duration::from_millis(50), "it goes on writing, where nobody else may look");
    child.kill().expect("a kill");
    child.wait().expect("its end");
    drop(database);
    assert_eq!((version(directory.path()), notes(directory.path())), (schema::LAYOUTS.len() as i64, -1));
    assert!(value(&open(directory.path()), &scope("local", "s"), "goal").await.is_some());
    drop(schema::open_with(&directory.path().into(), &layouts(NEXT)).expect("a migration"));
    assert_eq!(notes(directory.path()), 1);
}

#[test]
fn processes_that_migrate_at_once_do_it_once() {
    let directory = of_the_first_version();
    let children: Vec<Child> = (0..4).map(|_| start("next", directory.path())).collect();
    for child in children {
        let output = child.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!((version(directory.path()), notes(directory.path())), (schema::LAYOUTS.len() as i64 + 1, 1));
}

#[cfg(unix)]
#[test]
fn the_file_stays_its_owners_alone_through_a_migration() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = of_the_first_version();
    drop(schema::open_with(&directory.path().into(), &layouts(NEXT)).expect("a migration"));
    let mode = fs::metadata(directory.path().join(schema::FILE_NAME)).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn start(role: &str, directory: &Path) -> Child {
    let mut command = Command::new(env::current_exe().expect("itself"));
    command.args(["--exact", "sqlite::tests::migrations::child", "--nocapture"]);
    command.env(ROLE, role).env(DIRECTORY, directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child")
}

/// The program of a child. Does nothing when the tests themselves run.
#[test]
fn child() {
    let (Ok(role), Some(directory)) = (env::var(ROLE), env::var_os(DIRECTORY)) else { return };
    let layouts = layouts(if role == "endless" { ENDLESS } else { NEXT });
    drop(schema::open_with(&Path::new(&directory).into(), &layouts).expect("a migration"));
}
