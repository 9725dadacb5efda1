//! Backups of a data directory that stores, plugins, sessions and the audit have written, and
//! archives that nobody should restore.

mod hostile;

use std::{
    fs, io,
    time::{Instant, SystemTime},
};

use tempfile::TempDir;
use wharf_core::{Digest, ScopeKey, ScopeKind, TenantId, WorkspaceKey};
use wharf_state::{ScopePolicy, SqliteOptions, SqliteStore, StateChange, StateStore as _};
use wharf_workspace::Workspaces;

use super::*;
use crate::added::{AddedPlugins, InstalledChange, tests::receipt};

const AMPLE: std::time::Duration = std::time::Duration::from_secs(60);

pub(crate) fn scope() -> ScopeKey {
    ScopeKey {
        tenant: TenantId::local(),
        plugin: "planning".parse().expect("legal"),
        kind: ScopeKind::Session,
        session: Some("s".parse().expect("legal")),
        assistant: None,
        thread: None,
        bucket: "main".parse().expect("legal"),
    }
}

pub(crate) fn policy() -> ScopePolicy {
    ScopePolicy { quota_bytes: 1 << 20, quota_entries: 100, idle_expiry: None }
}

async fn write(data: &Path, value: &str) {
    let store = SqliteStore::open(data, SqliteOptions::default()).expect("a store");
    let change = StateChange { key: "key".to_owned(), value: Some(value.into()), if_revision: None };
    store.apply(&scope(), &policy(), vec![change], Instant::now() + AMPLE).await.expect("written");
}

async fn value(data: &Path) -> String {
    let store = SqliteStore::open(data, SqliteOptions::default()).expect("a store");
    let found = store.get_many(&scope(), &policy(), &["key".to_owned()], 1 << 20).await.expect("read").remove(0);
    String::from_utf8(found.expect("is there").value).expect("text")
}

fn workspaces(data: &Path) -> Workspaces {
    crate::backends::workspaces(&Configuration::default(), data)
}

fn session() -> WorkspaceKey {
    WorkspaceKey::restored(TenantId::local(), "s".parse().expect("legal"))
}

/// A data directory with something of everything, also of what no backup has.
async fn filled() -> TempDir {
    let data = tempfile::tempdir().expect("a directory");
    write(data.path(), "kept").await;
    let added = AddedPlugins::of(data.path());
    let component = b"component";
    added.apply(InstalledChange::Add { receipt: &receipt("greeter", component), component }).expect("added");
    let files = workspaces(data.path()).create(&session()).expect("made").files;
    fs::create_dir(files.join("src")).expect("made");
    fs::write(files.join("src/main.rs"), "fn main() {}").expect("written");
    for (path, content) in [
        ("audit/20260102T030405-1.jsonl", "{}\n"),
        ("audit/notes.txt", "no audit"),
        ("recordings/20260102-x.cast", "{}\n"),
        ("cache/x.code", "compiled"),
        ("http-token", "secret"),
        ("hosts/1/secret", "secret"),
        ("processes/1/out", "output"),
    ] {
        let path = data.path().join(path);
        fs::create_dir_all(path.parent().expect("one")).expect("made");
        fs::write(path, content).expect("written");
    }
    data
}

fn without(parts: &[BackupPart]) -> BTreeSet<BackupPart> {
    parts.iter().copied().collect()
}

fn backed_up(data: &Path, parts: &[BackupPart]) -> (Vec<u8>, BackupReport) {
    let mut archive = Vec::new();
    let made = back_up(&Configuration::default(), data, &without(parts), &mut archive, &mut |_| {});
    let report = made.expect("a backup");
    assert_eq!(report.archive_bytes, archive.len() as u64);
    (archive, report)
}

fn restored(archive: &[u8]) -> (TempDir, RestoreReport) {
    let place = tempfile::tempdir().expect("a directory");
    let report = restore(&Configuration::default(), &place.path().join("below/data"), &mut &*archive, &mut |_| {})
        .expect("restored");
    (place, report)
}

/// Everything below a directory, with the content of files.
fn tree(directory: &Path) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("listed").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("known"));
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            if kind.is_dir() {
                open.push(path);
                found.push((name, String::new()));
            } else if kind.is_symlink() {
                found.push((name, format!("-> {}", fs::read_link(path).expect("read").display())));
            } else {
                found.push((name, String::from_utf8_lossy(&fs::read(path).expect("read")).into_owned()));
            }
        }
    }
    found.sort();
    found
}

/// That a restore refuses, says this, and leaves nothing where it is to make something.
#[track_caller]
fn refused(archive: &[u8], word: &str) {
    for is_there in [false, true] {
        let place = tempfile::tempdir().expect("a directory");
        let data = place.path().join("data");
        if is_there {
            fs::create_dir(&data).expect("made");
        }
        let error = restore(&Configuration::default(), &data, &mut &*archive, &mut |_| {}).expect_err("refused");
        let text = wharf_core::text::with_causes(&error);
        assert!(text.contains(word) && text.contains("nothing was restored"), "{word}: {text}");
        assert_eq!(data.exists(), is_there, "{word}");
        assert_eq!(tree(place.path()).len(), usize::from(is_there), "{word}: {:?}", tree(place.path()));
    }
}

#[tokio::test]
async fn a_restored_directory_has_what_the_backup_had_and_nothing_else() {
    let data = filled().await;
    let files = workspaces(data.path()).find(&session()).expect("is there").files;
    #[cfg(unix)]
    std::os::unix::fs::symlink("/usr/bin/env", files.join("program")).expect("linked");
    let long = files.join("l".repeat(120)).join("m".repeat(120));
    fs::create_dir_all(&long).expect("made");
    fs::write(long.join("n".repeat(120)), vec![0; 300_000]).expect("written");
    let before = tree(data.path());
    let (archive, report) = backed_up(data.path(), &[]);
    assert_eq!(tree(data.path()), before, "a backup leaves nothing and changes nothing");
    assert_eq!(report.manifest.contains, BackupPart::ALL[1..], "all but the keys, since nothing is encrypted");
    assert_eq!(report.files_left_out, 0, "{report:?}");
    for what in ["cache/", "hosts/", "http-token"] {
        assert!(report.manifest.left_out.iter().any(|left_out| left_out.what.contains(what)), "{report:?}");
    }

    let (place, report) = restored(&archive);
    let to = place.path().join("below/data");
    assert_eq!(report.workspaces, 1);
    let after = tree(&to);
    let is_in_it = |name: &str| {
        let parts = BackupPart::ALL.map(BackupPart::name);
        parts.iter().any(|part| name.starts_with(part))
            && !name.starts_with("state.sqlite3")
            && !name.ends_with("lock")
            && name != "audit/notes.txt"
    };
    let kept = |tree: &[(String, String)]| tree.iter().filter(|(name, _)| is_in_it(name)).cloned().collect::<Vec<_>>();
    assert_eq!(kept(&after), kept(&before));
    let others: Vec<_> = after.iter().filter(|(name, _)| !is_in_it(name)).map(|(name, _)| name.as_str()).collect();
    assert_eq!(others, ["state.sqlite3"]);

    assert_eq!(value(&to).await, "kept");
    let added = AddedPlugins::of(&to);
    let greeter = "greeter".parse().expect("legal");
    assert_eq!(added.receipt(&greeter).expect("read"), Some(receipt("greeter", b"component")));
    assert_eq!(added.list().expect("read")[&greeter], Digest::of(b"component"));
    assert!(workspaces(&to).find(&session()).is_some_and(|found| found.files.join("src/main.rs").exists()));
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_restored_is_its_users_alone_and_has_the_times_it_had() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = filled().await;
    let files = workspaces(data.path()).find(&session()).expect("is there").files;
    fs::set_permissions(files.join("src/main.rs"), fs::Permissions::from_mode(0o4755)).expect("changed");
    let audit = data.path().join("audit/20260102T030405-1.jsonl");
    let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_400);
    fs::File::options().write(true).open(&audit).and_then(|file| file.set_modified(time)).expect("set");
    let (archive, _) = backed_up(data.path(), &[]);
    let (place, _) = restored(&archive);
    let to = place.path().join("below/data");
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o7777;
    assert_eq!(mode(&to), 0o700);
    for name in ["state.sqlite3", "audit/20260102T030405-1.jsonl", "plugins/installed.json"] {
        assert_eq!(mode(&to.join(name)), 0o600, "{name}");
    }
    let files = workspaces(&to).find(&session()).expect("is there").files;
    assert_eq!(mode(&files.join("src/main.rs")), 0o755, "it runs, and as nobody else");
    let found = fs::metadata(to.join("audit/20260102T030405-1.jsonl")).and_then(|about| about.modified());
    let seconds = found.expect("known").duration_since(SystemTime::UNIX_EPOCH).expect("later").as_secs();
    assert_eq!(seconds, 1_700_000_001, "never earlier than it was");
}

#[tokio::test]
async fn parts_are_left_out_as_asked_and_the_backup_says_so() {
    let data = filled().await;
    let (archive, report) = backed_up(data.path(), &[BackupPart::Workspaces, BackupPart::Audit]);
    let says = |report: &BackupManifest, what: &str| {
        let found = report.left_out.iter().find(|left_out| left_out.what == what);
        found.is_some_and(|left_out| left_out.why.contains("as asked"))
    };
    assert!(says(&report.manifest, "workspaces") && says(&report.manifest, "audit"), "{report:?}");
    let (place, report) = restored(&archive);
    assert!(says(&report.manifest, "workspaces"), "{report:?}");
    let to = place.path().join("below/data");
    assert!(!to.join("workspaces").exists() && !to.join("audit").exists());
    assert_eq!(value(&to).await, "kept");
}

#[tokio::test]
async fn state_on_a_database_is_left_to_its_server_and_recordings_elsewhere_to_the_operator() {
    let data = filled().await;
    let text =
        "[state]\ndatabase_file = \"database\"\n[terminal.recording]\nenabled = true\ndirectory = \"/elsewhere\"\n";
    let configuration = Configuration::parse(text, Path::new("/")).expect("parses");
    let made = back_up(&configuration, data.path(), &BTreeSet::new(), &mut Vec::new(), &mut |_| {});
    let manifest = made.expect("a backup").manifest;
    assert_eq!(manifest.contains, [BackupPart::Plugins, BackupPart::Workspaces, BackupPart::Audit]);
    let why = |what: &str| manifest.left_out.iter().find(|left_out| left_out.what == what).map(|one| one.why.as_str());
    assert!(why("state.sqlite3").is_some_and(|why| why.contains("pg_dump")), "{manifest:?}");
    assert!(why("recordings").is_some_and(|why| why.contains("elsewhere")), "{manifest:?}");
}

#[test]
fn a_directory_that_no_host_used_is_no_data_directory_or_an_empty_one() {
    let place = tempfile::tempdir().expect("a directory");
    let absent = place.path().join("absent");
    let made = back_up(&Configuration::default(), &absent, &BTreeSet::new(), &mut Vec::new(), &mut |_| {});
    assert!(matches!(made, Err(BackupError::Absent { .. })), "{made:?}");
    assert!(!absent.exists());
    let (archive, report) = backed_up(place.path(), &[]);
    assert_eq!(report.manifest.contains, []);
    let (to, _) = restored(&archive);
    assert_eq!(tree(&to.path().join("below/data")), []);
}

#[tokio::test]
async fn a_restore_takes_the_place_of_nothing() {
    let data = filled().await;
    let (archive, _) = backed_up(data.path(), &[]);
    let place = tempfile::tempdir().expect("a directory");
    fs::write(place.path().join("file"), "theirs").expect("written");
    for occupied in [place.path().to_owned(), place.path().join("file")] {
        let error = restore(&Configuration::default(), &occupied, &mut &*archive, &mut |_| {}).expect_err("occupied");
        assert!(matches!(error, RestoreError::Occupied { .. }), "{error:?}");
        assert!(error.to_string().contains("--data"), "{error}");
    }
    assert_eq!(tree(place.path()), [("file".to_owned(), "theirs".to_owned())]);
    // An empty file system has a directory of its own.
    let mounted = tempfile::tempdir().expect("a directory");
    fs::create_dir(mounted.path().join("lost+found")).expect("made");
    restore(&Configuration::default(), mounted.path(), &mut &*archive, &mut |_| {}).expect("restored");
    assert_eq!(value(mounted.path()).await, "kept");
    let names = fs::read_dir(mounted.path())
        .expect("listed")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(names.count(), 0, "nothing is left of the staging");
}

#[tokio::test]
async fn a_restore_makes_room_for_itself_after_one_that_was_killed() {
    let data = filled().await;
    let (archive, _) = backed_up(data.path(), &[]);
    let to = tempfile::tempdir().expect("a directory");
    let killed = to.path().join(".wharf-restore-killed");
    fs::create_dir(&killed).expect("made");
    fs::write(killed.join("lock"), "").expect("written");
    restore(&Configuration::default(), to.path(), &mut &*archive, &mut |_| {}).expect("restored");
    assert!(!killed.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_is_named_and_nothing_waits_for_it() {
    let data = filled().await;
    let files = workspaces(data.path()).find(&session()).expect("is there").files;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        files.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe");
    let holes = fs::File::create(files.join("holes")).expect("made");
    holes.set_len(1 << 40).expect("a terabyte that takes no room");
    std::os::unix::fs::symlink("/etc/passwd", data.path().join("audit/20260101T000000-1.jsonl")).expect("linked");
    let (archive, report) = backed_up(data.path(), &[]);
    let named = report.files_left_out_named.join("\n");
    assert_eq!(report.files_left_out, 3, "{named}");
    for name in ["/files/pipe", "/files/holes", "audit/20260101T000000-1.jsonl"] {
        assert!(named.contains(name), "{named}");
    }
    let (place, _) = restored(&archive);
    assert!(!place.path().join("below/data/audit/20260101T000000-1.jsonl").exists());
}

#[tokio::test]
async fn an_archive_that_cannot_be_written_is_told_from_a_directory_that_cannot_be_read() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let data = filled().await;
    let files = workspaces(data.path()).find(&session()).expect("is there").files;
    let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(1 << 20).collect();
    fs::write(files.join("noise"), noise).expect("written");
    let made = back_up(&Configuration::default(), data.path(), &BTreeSet::new(), &mut Full, &mut |_| {});
    assert!(matches!(made, Err(BackupError::Write(_))), "{made:?}");
    let left = tree(data.path());
    assert!(!left.iter().any(|(name, _)| name.starts_with(".backup-")), "{left:?}");
}
