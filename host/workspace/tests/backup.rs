//! Workspaces that are handed out to a backup, and made of one.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use wharf_core::{ProcessLimits, TenantId, WorkspaceKey};
use wharf_workspace::{
    BackupContent, BackupEntry, FilesLeftOut, WorkspaceOptions, WorkspaceRefusal, WorkspaceRestore, Workspaces,
};

/// An entry that outlives its backup.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

fn workspaces(data: &Path) -> Workspaces {
    Workspaces::new(&data.join("workspaces"), WorkspaceOptions::new(&ProcessLimits::default(), None))
}

fn key(session: &str) -> WorkspaceKey {
    WorkspaceKey::restored(TenantId::local(), session.parse().expect("legal"))
}

fn backed_up(of: &Workspaces) -> (Vec<(PathBuf, u32, Kept)>, FilesLeftOut) {
    let mut kept = Vec::new();
    let left_out = of.back_up(&mut |entry| {
        let content = match entry.content {
            BackupContent::Directory => Kept::Directory,
            BackupContent::Link(target) => Kept::Link(target.to_owned()),
            BackupContent::File(bytes, content) => {
                let mut read = Vec::new();
                content.read_to_end(&mut read)?;
                assert_eq!(read.len() as u64, bytes, "as long as was said");
                Kept::File(read)
            }
        };
        kept.push((entry.path.to_owned(), entry.mode, content));
        Ok(())
    });
    (kept, left_out.expect("handed out"))
}

fn restored(entries: &[(PathBuf, u32, Kept)], data: &Path) -> Result<u64, WorkspaceRefusal> {
    let mut restore = WorkspaceRestore::new(&data.join("workspaces")).expect("begun");
    for (path, mode, kept) in entries {
        let mut content = match kept {
            Kept::File(content) => content.as_slice(),
            _ => &[],
        };
        let content = match kept {
            Kept::Directory => BackupContent::Directory,
            Kept::Link(target) => BackupContent::Link(target),
            Kept::File(bytes) => BackupContent::File(bytes.len() as u64, &mut content),
        };
        restore.add(BackupEntry { path, mode: *mode, changed: 1_000_000_000, content })?;
    }
    restore.finish()
}

#[test]
fn sessions_find_their_files_again_with_what_may_run_and_links_as_they_were() {
    let (from, to) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let original = workspaces(from.path());
    for session in ["one", "two"] {
        let files = original.create(&key(session)).expect("made").files;
        fs::create_dir_all(files.join("deep/er")).expect("made");
        fs::write(files.join("deep/er/run"), session).expect("written");
        fs::set_permissions(files.join("deep/er/run"), fs::Permissions::from_mode(0o6750)).expect("changed");
        symlink("/usr/bin/env", files.join("out")).expect("linked");
        symlink("deep", files.join("in")).expect("linked");
    }
    let (entries, left_out) = backed_up(&original);
    assert_eq!(left_out, FilesLeftOut::default());
    assert_eq!(restored(&entries, to.path()).expect("restored"), 2);
    let copy = workspaces(to.path());
    let mut users = Vec::new();
    for session in ["one", "two"] {
        let found = copy.find(&key(session)).expect("is there");
        let run = found.files.join("deep/er/run");
        assert_eq!(fs::read_to_string(&run).expect("read"), session);
        let about = fs::metadata(&run).expect("is there");
        assert_eq!((about.mode() & 0o7777, about.mtime()), (0o750, 1_000_000_000), "nothing but permissions");
        assert_eq!(fs::read_link(found.files.join("out")).expect("a link"), Path::new("/usr/bin/env"));
        assert_eq!(fs::read_link(found.files.join("in")).expect("a link"), Path::new("deep"));
        let owners = ["files", "files/deep/er", "files/deep/er/run", "files/out", "home", "home/tmp"].map(|part| {
            let path = found.files.parent().expect("one").join(part);
            fs::symlink_metadata(path).expect("is there").uid()
        });
        let own = found.user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
        assert_eq!(owners, [own; 6], "{session}");
        users.extend(found.user);
    }
    assert!(users.is_empty() || users[0] != users[1], "no two sessions have one user");
    let (again, _) = backed_up(&copy);
    let names = |entries: &[(PathBuf, u32, Kept)]| {
        entries.iter().map(|(path, _, kept)| (path.clone(), kept.clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&again), names(&entries));
}

#[test]
fn a_backup_is_no_use_and_an_old_one_expires_nothing() {
    let (from, to) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let original = workspaces(from.path());
    let files = original.create(&key("one")).expect("made").files;
    let used = files.parent().expect("one").join("used");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
    fs::File::options().write(true).open(&used).and_then(|file| file.set_modified(long_ago)).expect("set");
    let (entries, _) = backed_up(&original);
    assert_eq!(fs::metadata(&used).and_then(|about| about.modified()).expect("known"), long_ago);
    restored(&entries, to.path()).expect("restored");
    let month = Some(std::time::Duration::from_secs(30 * 24 * 3_600));
    let options = WorkspaceOptions::new(&ProcessLimits::default(), month);
    let copy = Workspaces::new(&to.path().join("workspaces"), options);
    assert_eq!(copy.sweep(std::time::SystemTime::now()).expect("swept"), 0);
    assert!(copy.find(&key("one")).is_some());
}

#[test]
fn a_file_of_holes_stays_one() {
    let (from, to) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let original = workspaces(from.path());
    let files = original.create(&key("one")).expect("made").files;
    let mut content = vec![0; 900_000];
    content[500_000] = 7;
    fs::write(files.join("sparse"), &content).expect("written");
    let (entries, _) = backed_up(&original);
    restored(&entries, to.path()).expect("restored");
    let restored = workspaces(to.path()).find(&key("one")).expect("is there").files.join("sparse");
    assert_eq!(fs::read(&restored).expect("read"), content);
    let about = fs::metadata(&restored).expect("is there");
    assert!(about.blocks() * 512 < 500_000, "{} blocks", about.blocks());
}

#[test]
fn what_would_go_through_a_link_or_out_of_a_workspace_is_refused() {
    let from = tempfile::tempdir().expect("a directory");
    let original = workspaces(from.path());
    original.create(&key("one")).expect("made");
    let (entries, _) = backed_up(&original);
    let base = entries[0].0.clone();
    let at = |below: &str| base.join(below);
    for (more, why) in [
        (vec![(at("files/l"), Kept::Link("/etc".into())), (at("files/l/x"), Kept::File(vec![1]))], "above it"),
        (vec![(at("files/l"), Kept::Link(".".into())), (at("files/l/x"), Kept::File(vec![1]))], "above it"),
        (vec![(at("files/../../x"), Kept::File(vec![1]))], "above it"),
        (vec![(at("../x"), Kept::File(vec![1]))], "no such file"),
        (vec![("../x".into(), Kept::Directory)], "not below a workspace"),
        (vec![("/x".into(), Kept::Directory)], "not below a workspace"),
        (vec![(at("lock"), Kept::File(vec![1]))], "no such file"),
        (vec![(at("files"), Kept::Link("/etc".into()))], "no directory"),
        (vec![(at("session.json"), Kept::File(b"{}".to_vec()))], "another session"),
        (vec![("x".into(), Kept::Directory)], "no directory of a workspace"),
    ] {
        let to = tempfile::tempdir().expect("a directory");
        let mut entries = entries.clone();
        entries.extend(more.clone().into_iter().map(|(path, kept)| (path, 0o700, kept)));
        let refusal = restored(&entries, to.path()).expect_err("refused");
        assert!(refusal.to_string().contains(why), "{more:?}: {refusal}");
    }
    let mut other = entries.clone();
    for (path, _, kept) in &mut other {
        if path.ends_with("session.json") {
            *kept = Kept::File(br#"{"tenant":"local","session":"two"}"#.to_vec());
        }
    }
    let to = tempfile::tempdir().expect("a directory");
    let refusal = restored(&other, to.path()).expect_err("refused");
    assert!(refusal.to_string().contains("another session"), "no session gets the files of another one: {refusal}");
    for missing in ["session.json", "used", "files", "home"] {
        let to = tempfile::tempdir().expect("a directory");
        let rest: Vec<_> = entries.iter().filter(|(path, ..)| !path.starts_with(at(missing))).cloned().collect();
        let refusal = restored(&rest, to.path()).expect_err("refused");
        assert!(refusal.to_string().contains("not whole"), "{missing}: {refusal}");
    }
}
