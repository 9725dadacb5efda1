//! The workspace: which paths name something of it, and which do not.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use wharf_sdk::testing::TestCall;
use wharf_sdk::workspace::Directory;
use wharf_sdk::{ErrorCode, ToolError};

fn workspace() -> (tempfile::TempDir, Directory) {
    let folder = tempfile::tempdir().expect("a directory");
    let call = TestCall::new().workspace(folder.path().join("files")).workspace_shown_as("/home/agent/work").call();
    let directory = call.workspace().create().expect("granted");
    (folder, directory)
}

fn relative(directory: &Directory, path: &str) -> String {
    directory.find(path).unwrap_or_else(|error| panic!("{path}: {error}")).relative
}

fn refused(directory: &Directory, path: &str) -> ToolError {
    match directory.find(path) {
        Ok(found) => panic!("{path} was taken for {found:?}"),
        Err(error) => error,
    }
}

#[test]
fn nothing_is_there_before_it_is_created_and_asking_makes_nothing() -> Result<(), ToolError> {
    let folder = tempfile::tempdir().expect("a directory");
    let call = TestCall::new().workspace(folder.path().join("files")).call();
    let before = call.workspace().files()?;
    assert!(!before.exists && before.writable);
    assert!(before.find("a/b")?.metadata.is_none());
    assert_eq!(call.workspace().usage()?.entries, 0);
    assert!(!before.path.exists(), "asking made it");
    assert!(call.workspace().create()?.exists);
    assert!(call.workspace().files()?.exists);
    fs::write(before.path.join("a"), "four").expect("written");
    assert_eq!((call.workspace().usage()?.bytes, call.workspace().usage()?.entries), (4, 1));
    Ok(())
}

#[test]
fn without_the_grant_everything_is_denied_and_one_for_reading_makes_nothing() {
    let call = TestCall::new().call();
    assert_eq!(call.workspace().files().map_err(|error| error.code), Err(ErrorCode::Denied));
    assert_eq!(call.workspace().exchange().map_err(|error| error.code), Err(ErrorCode::Denied));
    let folder = tempfile::tempdir().expect("a directory");
    let call = TestCall::new().workspace(folder.path().join("files")).workspace_read_only().call();
    assert_eq!(call.workspace().create().map_err(|error| error.code), Err(ErrorCode::Denied));
    assert!(!folder.path().join("files").exists());
}

#[test]
fn relative_paths_and_absolute_ones_below_the_workspace_name_the_same() {
    let (folder, directory) = workspace();
    let real = folder.path().join("files/src/a.rs").display().to_string();
    for path in ["src/a.rs", "./src//a.rs", "src/x/../a.rs", "/home/agent/work/src/a.rs", &real, "src/a.rs/"] {
        assert_eq!(relative(&directory, path), "src/a.rs", "{path}");
    }
    for path in [".", "./", "src/..", "/home/agent/work", "/home/agent/work/"] {
        assert_eq!(relative(&directory, path), ".", "{path}");
    }
}

#[test]
fn paths_that_leave_are_refused_with_what_is_accepted() {
    let (_folder, directory) = workspace();
    for path in
        ["..", "../files/a", "a/../../b", "/etc/passwd", "/", "/home/agent/workshop", "/home/agent/work/../x", ""]
    {
        let error = refused(&directory, path);
        assert_eq!(error.code, ErrorCode::Invalid, "{path}");
        assert!(error.message.contains("relative to `/home/agent/work`"), "{path}: {error}");
    }
    for path in ["a\0b", &"x/".repeat(3_000), &"x".repeat(256)] {
        assert_eq!(refused(&directory, path).code, ErrorCode::Invalid);
    }
}

#[test]
fn links_are_followed_inside_and_never_outside() {
    let (folder, directory) = workspace();
    fs::create_dir_all(directory.path.join("src/deep")).expect("made");
    fs::write(directory.path.join("src/a.rs"), "inside").expect("written");
    fs::write(folder.path().join("secret"), "outside").expect("written");
    let link = |target: &str, name: &str| symlink(target, directory.path.join(name)).expect("linked");
    link("src", "sources");
    link("../src/./deep/../a.rs", "src/again");
    link("/home/agent/work/src", "absolute");
    link("../secret", "out");
    link("src/../../secret", "out-again");
    link("/etc", "etc");
    link("loop", "loop");
    link("src/nothing", "dangling");
    assert_eq!(relative(&directory, "sources/a.rs"), "src/a.rs");
    assert_eq!(relative(&directory, "sources/again"), "src/a.rs");
    assert_eq!(relative(&directory, "absolute/a.rs"), "src/a.rs");
    assert_eq!(directory.read("sources/again", 100).expect("read"), b"inside");
    assert_eq!(relative(&directory, "dangling"), "src/nothing");
    for (path, reason) in [
        ("out", "`out` is a symbolic link"),
        ("out-again", "`out-again` is a symbolic link"),
        ("etc/passwd", "`etc` is a symbolic link"),
        ("loop", "in circles"),
    ] {
        let error = refused(&directory, path);
        assert!(error.code == ErrorCode::Invalid && error.message.contains(reason), "{path}: {error}");
    }
}

#[test]
fn what_is_no_regular_file_is_named_and_not_opened() {
    let (_folder, directory) = workspace();
    fs::create_dir(directory.path.join("folder")).expect("made");
    fs::write(directory.path.join("file"), "12345").expect("written");
    let _socket = UnixListener::bind(directory.path.join("socket")).expect("bound");
    for (path, code, reason) in [
        ("folder", ErrorCode::Invalid, "is a directory"),
        ("socket", ErrorCode::Invalid, "socket or a device"),
        ("nothing", ErrorCode::NotFound, "there is no `nothing`"),
        ("file/below", ErrorCode::Invalid, "`file` is no directory"),
    ] {
        let error = directory.read(path, 100).expect_err("refused");
        assert!(error.code == code && error.message.contains(reason), "{path}: {error}");
    }
    assert_eq!(directory.read("file", 5).expect("read"), b"12345");
    assert_eq!(directory.read("file", 4).map_err(|error| error.code), Err(ErrorCode::Limit));
}

#[test]
fn processes_say_that_they_run_in_the_host_only() {
    let call = TestCall::new().call();
    let error = call.processes().spawn_shell("true", &wharf_sdk::process::Launch::new()).expect_err("refused");
    assert!(error.code == ErrorCode::Unavailable && error.message.contains("in the host only"), "{error}");
}
