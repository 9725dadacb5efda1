//! The files of a workspace as an archive.

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Write},
    os::unix::fs::{PermissionsExt as _, symlink},
};

use wharf_core::{ProcessLimits, TenantId, WorkspaceKey};
use wharf_workspace::{Workspace, WorkspaceOptions, Workspaces};

struct Place {
    directory: tempfile::TempDir,
    workspaces: Workspaces,
    key: WorkspaceKey,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let options = WorkspaceOptions::new(&ProcessLimits::default(), None);
        let workspaces = Workspaces::new(&directory.path().join("workspaces"), options);
        let key = WorkspaceKey::restored(TenantId::local(), "a".parse().expect("legal"));
        Self { directory, workspaces, key }
    }

    fn create(&self) -> Workspace {
        self.workspaces.create(&self.key).expect("is made")
    }

    /// What is in the archive: the content of files, the target of links, nothing of directories.
    fn archived(&self) -> BTreeMap<String, String> {
        let mut bytes = Vec::new();
        assert!(self.workspaces.archive(&self.key, &mut bytes).expect("an archive"));
        let mut archive = tar::Archive::new(bytes.as_slice());
        let entries = archive.entries().expect("entries").map(|entry| {
            let mut entry = entry.expect("an entry");
            let path = entry.path().expect("a path").display().to_string();
            let mut content = String::new();
            entry.read_to_string(&mut content).expect("a text");
            let target = entry.link_name().expect("legal").map(|target| target.display().to_string());
            (path, target.unwrap_or(content))
        });
        entries.collect()
    }
}

fn entries(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn files_directories_and_links_are_in_it_as_they_are() {
    let place = Place::new();
    assert!(!place.workspaces.archive(&place.key, &mut Vec::new()).expect("no workspace, no archive"));
    let files = place.create().files;
    assert_eq!(place.archived(), BTreeMap::new());
    let long = "n".repeat(200);
    fs::create_dir_all(files.join("deep").join(&long)).expect("made");
    fs::write(files.join("deep").join(&long).join("file"), "inner").expect("written");
    fs::write(files.join("run.sh"), "true").expect("written");
    fs::set_permissions(files.join("run.sh"), fs::Permissions::from_mode(0o700)).expect("set");
    symlink("/etc/passwd", files.join("outside")).expect("made");
    symlink("run.sh", files.join("inside")).expect("made");
    let nested = format!("deep/{long}/");
    let expected = entries(&[
        ("deep/", ""),
        (&nested, ""),
        (&format!("{nested}file"), "inner"),
        ("inside", "run.sh"),
        ("outside", "/etc/passwd"),
        ("run.sh", "true"),
    ]);
    let trimmed = |all: BTreeMap<String, String>| -> BTreeMap<String, String> {
        all.into_iter().map(|(path, content)| (path.trim_end_matches('/').to_owned(), content)).collect()
    };
    assert_eq!(trimmed(place.archived()), trimmed(expected));
}

#[test]
fn a_pipe_holds_nothing_up_and_is_named_at_the_end() {
    let place = Place::new();
    let files = place.create().files;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        files.join("pipe\n"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a pipe");
    fs::write(files.join("kept"), "text").expect("written");
    let archived = place.archived();
    assert_eq!(archived["kept"], "text");
    assert!(archived["wharf-left-out.txt"].ends_with("\npipe\\n\n"), "{archived:?}");
}

/// Changes a workspace when the first bytes of an archive arrive.
struct Meddling<F: FnMut()>(Option<F>, Vec<u8>);

impl<F: FnMut()> Write for Meddling<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(mut meddle) = self.0.take() {
            meddle();
        }
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn names_that_become_links_meanwhile_lead_nowhere() {
    let place = Place::new();
    let files = place.create().files;
    let outside = place.directory.path().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("secret"), "of the host").expect("written");
    fs::write(files.join("a"), "first").expect("written");
    for name in ["b", "c"] {
        fs::create_dir(files.join(name)).expect("made");
        fs::write(files.join(name).join("secret"), "own").expect("written");
    }
    fs::write(files.join("d"), "own").expect("written");
    let meddle = || {
        fs::remove_dir_all(files.join("b")).expect("removed");
        symlink(&outside, files.join("b")).expect("made");
        fs::remove_file(files.join("d")).expect("removed");
        symlink(outside.join("secret"), files.join("d")).expect("made");
    };
    let mut out = Meddling(Some(meddle), Vec::new());
    assert!(place.workspaces.archive(&place.key, &mut out).expect("an archive"));
    let text = String::from_utf8_lossy(&out.1);
    assert!(text.contains("first") && text.contains("own") && !text.contains("of the host"), "{text}");
}

#[test]
fn a_reader_that_has_gone_ends_it() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = Place::new();
    fs::write(place.create().files.join("kept"), "text").expect("written");
    place.workspaces.archive(&place.key, &mut Gone).expect_err("it fails");
}
