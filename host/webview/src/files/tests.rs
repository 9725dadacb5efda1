use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::*;
use crate::{PageWorkspace, WebViewError};

/// A workspace, a place where a browser stores, and something that neither may reach.
struct Room {
    directory: TempDir,
    place: PageWorkspace,
}

impl Room {
    fn new() -> Self {
        let directory = TempDir::new().expect("a directory");
        for name in ["files", "browser", "outside", "staging"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        let place = PageWorkspace { files: directory.path().join("files"), user: None, stay: None };
        fs::write(directory.path().join("outside/secret"), "secret").expect("a file");
        Self { directory, place }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn staged(&self, text: &str) -> PathBuf {
        let staged = self.at("browser/1");
        fs::write(&staged, text).expect("a file");
        staged
    }

    fn kept(&self, name: &str) -> Result<String, String> {
        keep(&self.place, &self.staged(name), name, 1_000, None)
    }

    /// What is in the directory of downloads, sorted.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.at("files/downloads")).expect("a directory");
        let mut names: Vec<_> =
            names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_download_goes_to_the_workspace_under_a_name_that_is_free() {
    let room = Room::new();
    assert_eq!(room.kept("a.txt"), Ok("downloads/a.txt".into()));
    assert_eq!(room.kept("../a.txt"), Ok("downloads/a (2).txt".into()));
    assert_eq!(room.kept("a.txt"), Ok("downloads/a (3).txt".into()));
    assert_eq!(read(&room.at("files/downloads/a (2).txt")), "../a.txt");
    assert_eq!(room.names(), ["a (2).txt", "a (3).txt", "a.txt"], "nothing else is left");
    let staged = room.staged("x");
    discard(&staged);
    assert!(!staged.exists());
    discard(&staged);
}

#[test]
fn a_download_that_is_too_large_leaves_nothing() {
    let room = Room::new();
    let staged = room.staged(&"x".repeat(1_001));
    let refused = keep(&room.place, &staged, "a", 1_000, None).expect_err("too large");
    assert!(refused.contains("download_bytes"), "{refused}");
    assert!(room.names().is_empty());
    let staged = room.staged(&"x".repeat(1_000));
    assert_eq!(keep(&room.place, &staged, "a", 1_000, None), Ok("downloads/a".into()));
}

#[test]
fn no_link_that_a_workspace_holds_leads_a_download_elsewhere() {
    let room = Room::new();
    symlink(room.at("outside"), room.at("files/downloads")).expect("a link");
    room.kept("a.txt").expect_err("the directory is a link");
    assert!(!room.at("outside/a.txt").exists());
    fs::remove_file(room.at("files/downloads")).expect("a link");
    fs::create_dir(room.at("files/downloads")).expect("a directory");
    // A link where the file would go, and one that leads to nothing yet.
    symlink(room.at("outside/secret"), room.at("files/downloads/a.txt")).expect("a link");
    symlink(room.at("outside/new"), room.at("files/downloads/b.txt")).expect("a link");
    assert_eq!(room.kept("a.txt"), Ok("downloads/a (2).txt".into()));
    assert_eq!(room.kept("b.txt"), Ok("downloads/b (2).txt".into()));
    assert_eq!(read(&room.at("outside/secret")), "secret");
    assert!(!room.at("outside/new").exists());
    // A file where the directory would be.
    fs::remove_dir_all(room.at("files/downloads")).expect("a directory");
    fs::write(room.at("files/downloads"), "in the way").expect("a file");
    room.kept("a.txt").expect_err("no directory");
}

#[test]
fn what_a_browser_stored_is_read_only_if_it_is_its_own_file() {
    let room = Room::new();
    let link = room.at("browser/link");
    symlink(room.at("outside/secret"), &link).expect("a link");
    keep(&room.place, &link, "a", 1_000, None).expect_err("a link");
    keep(&room.place, &room.at("browser"), "a", 1_000, None).expect_err("a directory");
    let own = rustix::process::geteuid().as_raw();
    let staged = room.staged("x");
    assert_eq!(keep(&room.place, &staged, "a", 1_000, Some(own)), Ok("downloads/a".into()));
    keep(&room.place, &staged, "a", 1_000, Some(own + 1)).expect_err("a file of somebody else");
}

#[test]
fn files_of_a_workspace_are_copied_to_where_a_browser_reads_them() {
    let room = Room::new();
    fs::create_dir(room.at("files/sub")).expect("a directory");
    fs::write(room.at("files/a.txt"), "one").expect("a file");
    fs::write(room.at("files/sub/a.txt"), "two").expect("a file");
    let staged = open(&room.place, &["a.txt".into(), "sub/a.txt".into()]).expect("files");
    assert_eq!(staged.bytes, 6);
    // What happens to the names now changes nothing.
    fs::remove_file(room.at("files/a.txt")).expect("a file");
    symlink(room.at("outside/secret"), room.at("files/a.txt")).expect("a link");
    let paths = stage(&room.at("staging"), "page", 7, None, staged).expect("copies");
    assert_eq!(paths.iter().map(|path| read(path)).collect::<Vec<_>>(), ["one", "two"]);
    assert!(paths.iter().all(|path| path.ends_with("a.txt") && path.starts_with(room.at("staging/page/7"))));
    assert_eq!(fs::metadata(&paths[0]).expect("a file").permissions().mode() & 0o777, 0o400);
    assert_eq!(fs::metadata(room.at("staging/page")).expect("a directory").permissions().mode() & 0o777, 0o711);
}

#[test]
fn nothing_outside_of_the_workspace_is_given_to_a_page() {
    let room = Room::new();
    fs::create_dir(room.at("files/sub")).expect("a directory");
    fs::write(room.at("files/a.txt"), "one").expect("a file");
    symlink(room.at("outside/secret"), room.at("files/link")).expect("a link");
    symlink(room.at("outside"), room.at("files/folder")).expect("a link");
    symlink("a.txt", room.at("files/within")).expect("a link");
    fs::write(room.at("files/sub/b.txt"), "two").expect("a file");
    symlink("sub", room.at("files/inner")).expect("a link");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        room.at("files/fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a fifo");
    let secret = room.at("outside/secret").to_string_lossy().into_owned();
    for (path, expected) in [
        ("../outside/secret", "leads out of the workspace"),
        ("sub/../../outside/secret", "leads out of the workspace"),
        (secret.as_str(), "leads out of the workspace"),
        ("link", "through a link"),
        ("within", "through a link"),
        ("folder/secret", "through a link"),
        ("inner/b.txt", "through a link"),
        ("sub", "no regular file"),
        ("fifo", "no regular file"),
        ("..", "no regular file"),
        ("/", "no regular file"),
        ("none", "there is no file `none`"),
        ("a.txt/none", "there is no file"),
        ("a\0b", "no regular file"),
    ] {
        match open(&room.place, &[path.into()]) {
            Err(WebViewError::Invalid { problem }) => assert!(problem.contains(expected), "{path}: {problem}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_grows_is_copied_no_further_than_it_was_counted() {
    let room = Room::new();
    fs::write(room.at("files/a"), "12345").expect("a file");
    let staged = open(&room.place, &["a".into()]).expect("a file");
    fs::write(room.at("files/a"), "1234567890").expect("a file");
    let paths = stage(&room.at("staging"), "page", 1, None, staged).expect("a copy");
    assert_eq!(read(&paths[0]), "12345");
}

#[test]
fn a_host_that_is_root_gives_files_to_whom_they_belong() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let room = Room::new();
    let place = PageWorkspace { user: Some(54_321), ..room.place.clone() };
    assert_eq!(keep(&place, &room.staged("x"), "a", 1_000, None), Ok("downloads/a".into()));
    for path in ["files/downloads", "files/downloads/a"] {
        assert_eq!(fs::metadata(room.at(path)).expect("it is there").uid(), 54_321, "{path}");
    }
    fs::write(room.at("files/b"), "x").expect("a file");
    let staged = open(&place, &["b".into()]).expect("a file");
    let paths = stage(&room.at("staging"), "page", 1, Some(54_322), staged).expect("a copy");
    assert_eq!(fs::metadata(&paths[0]).expect("a file").uid(), 54_322);
    assert_eq!(fs::metadata(room.at("staging/page")).expect("a directory").uid(), 0, "nobody else writes there");
}
