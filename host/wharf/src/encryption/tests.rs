use std::{
    fs,
    time::{Duration, Instant},
};

use wharf_files::private_files;
use wharf_state::{SqliteOptions, SqliteStore, StateChange, StateStore as _};

use super::*;
use crate::backup::{
    back_up, restore,
    tests::{policy, scope},
};

const SECRET: &str = "hunter2";
const RECORDING: &str = "recordings/20260102T030405.000Z-bash.cast";
const OUTPUT: &str = "processes/host-1/process-1/stdout";
const RECORD: &str = "terminals/host-1/terminal-1/record.json";

/// A configuration with the keys in these files, the current one first.
fn configured(keys: &[&Path]) -> Configuration {
    let tables: String = ["key", "previous_key"]
        .iter()
        .zip(keys)
        .map(|(table, path)| format!("[encryption.{table}]\nfile = \"{}\"\n", path.display()))
        .collect();
    Configuration::parse(&tables, Path::new("/")).expect("parses")
}

fn key(directory: &Path, letter: char) -> PathBuf {
    let path = directory.join(letter.to_string());
    private_files::replace(&path, letter.to_string().repeat(64).as_bytes()).expect("written");
    path
}

fn store(configuration: &Configuration, data: &Path) -> SqliteStore {
    let opened = open(configuration, data).expect("keys");
    SqliteStore::open(opened.state, SqliteOptions::default()).expect("a store")
}

async fn kept(configuration: &Configuration, data: &Path) -> String {
    let found = store(configuration, data).get_many(&scope(), &policy(), &["a".to_owned()], 1 << 20).await;
    String::from_utf8(found.expect("read").remove(0).expect("there").value).expect("text")
}

/// A data directory with a secret in everything.
async fn filled(configuration: &Configuration) -> tempfile::TempDir {
    let data = tempfile::tempdir().expect("a directory");
    let change = StateChange { key: "a".into(), value: Some(SECRET.into()), if_revision: None };
    let until = Instant::now() + Duration::from_secs(60);
    store(configuration, data.path()).apply(&scope(), &policy(), vec![change], until).await.expect("written");
    let at_rest = open(configuration, data.path()).expect("keys").at_rest;
    for path in [RECORDING, OUTPUT, RECORD] {
        let path = data.path().join(path);
        private_files::make_directory(path.parent().expect("above")).expect("made");
        if path.ends_with(RECORD) {
            at_rest.replace(&path, SECRET.as_bytes()).expect("written");
        } else {
            let file = private_files::options().read(true).write(true).create_new(true).open(&path).expect("made");
            at_rest.begin(file).expect("begun").append(SECRET.as_bytes(), 0).expect("written");
        }
    }
    data
}

/// The files that show the secret.
fn showing(directory: &Path) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read(&path).expect("read").windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
                found.push(path.strip_prefix(directory).expect("below").display().to_string());
            }
        }
    }
    found.sort();
    found
}

async fn holds(configuration: &Configuration, data: &Path) {
    assert_eq!(kept(configuration, data).await, SECRET);
    let at_rest = look(configuration, data).expect("keys").at_rest;
    assert_eq!(at_rest.read(&data.join(RECORD), 100).expect("read"), SECRET.as_bytes());
    if at_rest.is_encrypted() {
        for path in [RECORDING, OUTPUT] {
            let mut out = Vec::new();
            assert_eq!(read_file(configuration, data, &data.join(path), &mut out).expect("read"), 7);
            assert_eq!(out, SECRET.as_bytes());
        }
    }
}

#[tokio::test]
async fn a_data_directory_is_encrypted_gets_another_master_key_and_is_decrypted() {
    let keys = tempfile::tempdir().expect("a directory");
    let (a, b) = (key(keys.path(), 'a'), key(keys.path(), 'b'));
    let clear = Configuration::default();
    let directory = filled(&clear).await;
    let data = directory.path();
    assert_eq!(showing(data), [OUTPUT, RECORDING, "state.sqlite3", RECORD]);

    let with_a = configured(&[&a]);
    let refused = open(&with_a, data).map(drop).map_err(|error| wharf_core::text::with_causes(&error));
    assert!(refused.expect_err("in the clear").contains("wharf state rekey"));
    assert!(!data.join(KEYRING).exists(), "nothing is done by halves");
    let report = rekey(&with_a, data, &mut |_| {}).expect("encrypted");
    assert_eq!((report.state, report.files, report.bytes), (true, 3, 21));
    assert_eq!(showing(data), [""; 0]);
    holds(&with_a, data).await;
    assert!(matches!(open(&clear, data), Err(EncryptionError::KeyNeeded { .. })));

    let only_b = open(&configured(&[&b]), data).map(drop).map_err(|error| error.to_string());
    assert!(only_b.expect_err("another key").contains("needs the master key"));
    let both = configured(&[&b, &a]);
    holds(&both, data).await;
    let before = fs::read(data.join(OUTPUT)).expect("read");
    rekey(&both, data, &mut |_| {}).expect("encrypted anew");
    assert_ne!(fs::read(data.join(OUTPUT)).expect("read"), before);
    holds(&configured(&[&b]), data).await;
    assert!(open(&configured(&[&a]), data).is_err(), "the key before opens nothing");

    decrypt(&configured(&[&b]), data, &mut |_| {}).expect("decrypted");
    assert_eq!(showing(data), [OUTPUT, RECORDING, "state.sqlite3", RECORD]);
    holds(&clear, data).await;
    assert!(matches!(decrypt(&clear, data, &mut |_| {}), Err(EncryptionError::NoKey)));
}

#[tokio::test]
async fn what_a_killed_command_left_can_be_used_and_the_next_completes_it() {
    let keys = tempfile::tempdir().expect("a directory");
    let a = key(keys.path(), 'a');
    let with_a = configured(&[&a]);
    let directory = filled(&with_a).await;
    let data = directory.path();
    // As where it is killed before it has stored the state anew, and as where it is killed behind that.
    let masters = || masters(with_a.encryption.as_ref().expect("there")).expect("a key");
    for stores_state in [false, true] {
        let keys = DataKeys::open(data, &masters()).expect("opened").expect("there").with_new_key().expect("random");
        keys.save(data, &masters()[0]).expect("saved");
        if stores_state {
            let all = state_keys(&keys);
            wharf_state::reencrypt(&StatePlace::encrypted(data, all.clone()), all.first()).expect("stored anew");
        }
        fs::write(data.join(format!("{OUTPUT}.new")), "half").expect("written");
        holds(&with_a, data).await;
        rekey(&with_a, data, &mut |_| {}).expect("completed");
        holds(&with_a, data).await;
        assert!(!data.join(format!("{OUTPUT}.new")).exists());
        assert_eq!(fs::read_to_string(data.join(KEYRING)).expect("text").matches("\"wrapped\"").count(), 1);
    }
}

#[tokio::test]
async fn a_backup_of_an_encrypted_directory_is_restored_with_its_master_key_alone() {
    let keys = tempfile::tempdir().expect("a directory");
    let (a, b) = (key(keys.path(), 'a'), key(keys.path(), 'b'));
    let with_a = configured(&[&a]);
    let data = filled(&with_a).await;
    let mut archive = Vec::new();
    let report = back_up(&with_a, data.path(), &Default::default(), &mut archive, &mut |_| {}).expect("a backup");
    assert!(report.manifest.notes.iter().any(|note| note.contains("master key")), "{report:?}");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let to = elsewhere.path().join("data");
    for without in [Configuration::default(), configured(&[&b])] {
        let error = restore(&without, &to, &mut &*archive, &mut |_| {}).expect_err("no key");
        let told = wharf_core::text::with_causes(&error);
        assert!(told.contains("nothing was restored") && told.contains("master key"), "{told}");
        assert!(!to.exists());
    }
    restore(&with_a, &to, &mut &*archive, &mut |_| {}).expect("restored");
    assert_eq!(showing(&to), [""; 0]);
    assert_eq!(kept(&with_a, &to).await, SECRET);
    assert!(back_up(&Configuration::default(), &to, &Default::default(), &mut Vec::new(), &mut |_| {}).is_err());
}

#[test]
fn root_writes_nothing_into_the_data_directory_of_another_user() {
    use std::os::unix::fs::MetadataExt as _;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let keys = tempfile::tempdir().expect("a directory");
    let a = key(keys.path(), 'a');
    let data = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::chown(data.path(), Some(61_234), None).expect("given");
    let refused = rekey(&configured(&[&a]), data.path(), &mut |_| {}).expect_err("another's");
    assert!(matches!(refused, EncryptionError::Owner { owner: 61_234, .. }), "{refused}");
    assert_eq!(fs::metadata(data.path()).expect("there").uid(), 61_234);
    assert!(!data.path().join(KEYRING).exists());
}

#[tokio::test]
async fn a_keyring_that_is_gone_is_missed_and_no_other_takes_its_place() {
    let keys = tempfile::tempdir().expect("a directory");
    let with_a = configured(&[&key(keys.path(), 'a')]);
    let directory = filled(&with_a).await;
    let data = directory.path();
    let keyring = fs::read(data.join(KEYRING)).expect("read");
    fs::remove_file(data.join(KEYRING)).expect("removed");
    let missed = [open(&with_a, data).map(drop), rekey(&with_a, data, &mut |_| {}).map(drop)];
    assert!(missed.iter().all(|one| matches!(one, Err(EncryptionError::NoKeyring { .. }))), "{missed:?}");
    assert!(!data.join(KEYRING).exists());
    fs::write(data.join(KEYRING), keyring).expect("written");
    holds(&with_a, data).await;
    let refused = read_file(&with_a, data, &data.join(RECORD), &mut Vec::new())
        .map_err(|error| wharf_core::text::with_causes(&error));
    assert!(refused.expect_err("a record").contains("encrypted as one piece"));
}
