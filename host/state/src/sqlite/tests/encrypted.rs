//! Stores that are encrypted, and what writes them anew.

use std::fs;

use zeroize::Zeroizing;

use super::*;
use crate::{Inventory as _, InventoryError, SqliteInventory, StateKey, reencrypt, snapshot, take_over_snapshot};

fn key(byte: u8) -> StateKey {
    StateKey::new(Zeroizing::new([byte; 32]))
}

fn place(directory: &Path, keys: &[u8]) -> StatePlace {
    StatePlace::encrypted(directory, keys.iter().copied().map(key).collect())
}

fn open_encrypted(directory: &Path, keys: &[u8]) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(place(directory, keys), SqliteOptions::default())
}

/// Whether a file of the directory has this text somewhere.
fn shows(directory: &Path, text: &str) -> bool {
    fs::read_dir(directory).expect("listed").any(|entry| {
        let bytes = fs::read(entry.expect("an entry").path()).expect("read");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_store_keeps_the_contract() {
    let directory = temporary();
    let stores = AtomicU32::new(0);
    contract::check(|ceilings, clock| {
        let path = directory.path().join(stores.fetch_add(1, Ordering::Relaxed).to_string());
        let options = SqliteOptions { ceilings, clock, ..SqliteOptions::default() };
        Arc::new(SqliteStore::open(place(&path, &[1]), options).expect("a new store"))
    })
    .await;
}

#[tokio::test]
async fn an_encrypted_store_shows_nothing_and_one_of_its_keys_alone_opens_it() {
    let directory = temporary();
    let s = scope("local", "secretive-session");
    let store = open_encrypted(directory.path(), &[1]).expect("a new store");
    store.apply(&s, &policy(), put("the-key", b"hunter2"), soon()).await.expect("written");
    assert_eq!(value(&store, &s, "the-key").await.as_deref(), Some(b"hunter2".as_slice()));
    // The log is encrypted, too.
    assert!(directory.path().join("state.sqlite3-wal").exists());
    for text in ["hunter2", "the-key", "secretive-session", "CREATE TABLE", "SQLite format"] {
        assert!(!shows(directory.path(), text), "{text}");
    }
    let second = open_encrypted(directory.path(), &[2, 1]).expect("one of the keys opens it");
    assert_eq!(value(&second, &s, "the-key").await.as_deref(), Some(b"hunter2".as_slice()));
    drop((store, second));
    assert!(!shows(directory.path(), "hunter2"));
    let other = open_encrypted(directory.path(), &[2]).map(drop);
    assert!(matches!(other, Err(OpenError::OtherKey { .. })), "{other:?}");
    let none = SqliteStore::open(directory.path(), SqliteOptions::default()).map(drop);
    assert!(matches!(none, Err(OpenError::NotADatabase { .. })), "{none:?}");
    let shown = format!("{:?}", place(directory.path(), &[7]));
    assert!(!shown.contains("07") && !shown.contains("7, 7"), "{shown}");
}

#[tokio::test]
async fn a_store_in_the_clear_is_not_taken_for_an_encrypted_one() {
    let directory = temporary();
    drop(open(directory.path()));
    let refused = open_encrypted(directory.path(), &[1]).map(drop);
    assert!(matches!(&refused, Err(error @ OpenError::InClear { .. }) if error.to_string().contains("rekey")));
    assert!(shows(directory.path(), "SQLite format"), "and stays as it is");
}

#[tokio::test]
async fn a_store_is_written_anew_under_another_key_and_in_the_clear() {
    let directory = temporary();
    let s = scope("local", "s");
    let store = open(directory.path());
    store.apply(&s, &policy(), put("a", b"hunter2"), soon()).await.expect("written");
    let revision = store.apply(&s, &policy(), put("b", &[9; 100_000]), soon()).await.expect("written")[0];
    let at = directory.path();
    let busy = reencrypt(&at.into(), Some(&key(1)));
    assert!(matches!(busy, Err(InventoryError::Open(OpenError::InUse { .. }))), "{busy:?}");
    drop(store);
    for (from, to) in [(&[][..], Some(1)), (&[1], Some(2)), (&[2, 1], Some(3)), (&[3], None)] {
        assert!(reencrypt(&place(at, from), to.map(key).as_ref()).expect("written anew"));
        assert_eq!(shows(at, "hunter2"), to.is_none());
        assert!(!at.join("state.sqlite3-new").exists());
        let keys: Vec<u8> = to.into_iter().collect();
        let store = open_encrypted(at, &keys).expect("it opens");
        assert_eq!(value(&store, &s, "a").await.as_deref(), Some(b"hunter2".as_slice()));
        assert_eq!(value(&store, &s, "b").await, Some(vec![9; 100_000]));
        let usage = store.usage(&s).await.expect("counted");
        assert_eq!((usage.entries, usage.bytes), (2, 100_009));
        let next = store.apply(&s, &policy(), put("c", b"1"), soon()).await.expect("written")[0];
        assert!(next > revision);
        store
            .apply(&s, &policy(), vec![StateChange { key: "c".into(), value: None, if_revision: None }], soon())
            .await
            .expect("removed");
    }
    assert_eq!(raw(at).query_row("PRAGMA auto_vacuum", [], |row| row.get(0)), Ok(2));
    let empty = temporary();
    assert!(!reencrypt(&place(empty.path(), &[1]), Some(&key(2))).expect("no store"));
}

#[tokio::test]
async fn what_a_killed_command_left_is_no_obstacle_and_nobody_writes_to_the_old_file() {
    let directory = temporary();
    let s = scope("local", "s");
    let store = open(directory.path());
    store.apply(&s, &policy(), put("a", b"hunter2"), soon()).await.expect("written");
    drop(store);
    fs::write(directory.path().join("state.sqlite3-new"), "half").expect("written");
    // A command that has opened the file, and not yet read it.
    let other = raw(directory.path());
    assert!(reencrypt(&directory.path().into(), Some(&key(1))).expect("written anew"));
    other.execute("DELETE FROM kv", []).expect_err("the file has no name any more");
    let store = open_encrypted(directory.path(), &[1]).expect("it opens");
    assert_eq!(value(&store, &s, "a").await.as_deref(), Some(b"hunter2".as_slice()));
}

#[tokio::test]
async fn a_snapshot_of_an_encrypted_store_is_encrypted_and_becomes_one() {
    let (directory, to) = (temporary(), temporary());
    let s = scope("local", "s");
    let store = open_encrypted(directory.path(), &[1]).expect("a new store");
    store.apply(&s, &policy(), put("a", b"hunter2"), soon()).await.expect("written");
    assert!(snapshot(&place(directory.path(), &[1]), &to.path().join("state.sqlite3")).expect("a snapshot"));
    assert!(!shows(to.path(), "hunter2") && !shows(to.path(), "SQLite format"));
    take_over_snapshot(&place(to.path(), &[1])).expect("a store");
    let restored = open_encrypted(to.path(), &[1]).expect("it opens");
    assert_eq!(value(&restored, &s, "a").await.as_deref(), Some(b"hunter2".as_slice()));
    let inventory = SqliteInventory::open(place(to.path(), &[1])).expect("it opens");
    assert_eq!(inventory.totals(&crate::BucketSelection::default()).expect("counted").entries, 1);
}
