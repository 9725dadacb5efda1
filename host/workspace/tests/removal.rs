//! Removing workspaces whose owners are at work in them.

#![cfg(unix)]

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, SystemTime},
};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, symlinkat, unlinkat};
use wharf_core::{ProcessLimits, TenantId, WorkspaceKey};
use wharf_workspace::{WorkspaceError, WorkspaceOptions, Workspaces};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn key(session: &str) -> WorkspaceKey {
    WorkspaceKey::restored(TenantId::local(), session.parse().expect("legal"))
}

/// A host on this directory.
fn host(directory: &Path) -> Workspaces {
    Workspaces::new(&directory.join("workspaces"), WorkspaceOptions::new(&ProcessLimits::default(), Some(DAY)))
}

/// Swaps a directory with files for a link out and back, below an open directory. A process
/// of the session can do that: it keeps its working directory wherever that is moved.
fn swap(files: &File, victim: &Path) {
    let _ = mkdirat(files, "swapped", Mode::RWXU);
    let _ = openat(files, "swapped/file", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU);
    let _ = renameat(files, "swapped", files, "aside");
    let _ = symlinkat(victim, files, "swapped");
    let _ = unlinkat(files, "swapped", AtFlags::empty());
    let _ = renameat(files, "aside", files, "swapped");
}

#[test]
fn a_directory_that_is_swapped_for_a_link_while_it_is_removed_changes_nothing_elsewhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::create_dir(&victim).expect("makes");
    fs::write(victim.join("kept"), "kept").expect("writes");
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o751)).expect("sets");
    let workspaces = host(directory.path());
    for round in 0..200 {
        // Without its stay, which would keep it.
        let place = workspaces.create(&key("a")).expect("is made").files;
        for filler in 0..20 {
            fs::create_dir_all(place.join(format!("filler{filler}/below"))).expect("makes");
        }
        let files = File::open(&place).expect("opens");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        swap(&files, &victim);
                    }
                });
            }
            // A swap that outruns the removal keeps a part of the tree, out of sight.
            if round % 2 == 0 {
                let _ = workspaces.remove(&key("a"));
            } else {
                let _ = workspaces.sweep(SystemTime::now() + 2 * DAY);
            }
            done.store(true, Relaxed);
        });
        let mode = fs::metadata(&victim).expect("is there").permissions().mode() & 0o7777;
        assert_eq!(mode, 0o751, "the mode of a directory elsewhere was changed");
        assert_eq!(fs::read_to_string(victim.join("kept")).expect("is there"), "kept");
        assert!(workspaces.find(&key("a")).is_none(), "it is out of sight");
    }
}

#[test]
fn what_is_nested_deeper_than_descriptors_and_stacks_allow_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let workspaces = host(directory.path());
    let files = workspaces.create(&key("a")).expect("is made").files;
    let mut inner = File::open(files).expect("opens");
    for _ in 0..3_000 {
        mkdirat(&inner, "d", Mode::RWXU).expect("makes");
        inner = openat(&inner, "d", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("opens").into();
    }
    drop(inner);
    assert!(workspaces.remove(&key("a")).expect("removes"));
    let left = fs::read_dir(directory.path().join("workspaces")).expect("is there").count();
    assert_eq!(left, 0, "nothing is left");
}

#[test]
fn directories_that_are_closed_to_their_owner_are_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let workspaces = host(directory.path());
    let files = workspaces.create(&key("a")).expect("is made").files;
    for closed in ["none", "read"] {
        let path = files.join(closed);
        fs::create_dir_all(path.join("below/further")).expect("makes");
        fs::write(path.join("below/file"), "text").expect("writes");
        let mode = if closed == "none" { 0 } else { 0o500 };
        for closed in [path.join("below"), path] {
            fs::set_permissions(closed, fs::Permissions::from_mode(mode)).expect("sets");
        }
    }
    assert!(workspaces.remove(&key("a")).expect("removes"));
    assert_eq!(fs::read_dir(directory.path().join("workspaces")).expect("is there").count(), 0);
}

#[test]
fn a_workspace_that_another_host_uses_is_neither_removed_nor_swept() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (host(directory.path()), host(directory.path()));
    let files = one.create(&key("a")).expect("is made").files;
    fs::write(files.join("kept"), "kept").expect("writes");
    let error = other.remove(&key("a")).expect_err("the other host uses it");
    assert!(matches!(error, WorkspaceError::InUse), "{error}");
    assert!(wharf_core::Error::from(error).message.contains("try again"));
    assert_eq!(other.sweep(SystemTime::now() + 2 * DAY).expect("sweeps"), 0);
    assert_eq!(fs::read_to_string(files.join("kept")).expect("is there"), "kept");
    // A host's lock goes with it, however the host ended.
    drop(one);
    assert!(other.remove(&key("a")).expect("removes"));
}

#[test]
fn a_workspace_in_which_something_stays_is_removed_by_no_host() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (host(directory.path()), host(directory.path()));
    let stay = one.create(&key("a")).expect("is made").stay.expect("a stay");
    let again = stay.clone();
    drop(stay);
    for host in [&one, &other] {
        assert!(matches!(host.remove(&key("a")), Err(WorkspaceError::InUse)));
        assert_eq!(host.sweep(SystemTime::now() + 2 * DAY).expect("sweeps"), 0);
        let _ = one.due();
    }
    assert!(one.of(&key("a")).stay.is_none(), "naming it is no stay");
    drop(again);
    assert!(one.remove(&key("a")).expect("removes"));
}

#[test]
fn a_stay_keeps_its_lock_from_the_first_moment_however_many_other_sessions_are_used() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (host(directory.path()), host(directory.path()));
    one.create(&key("idle")).expect("is made");
    let stay = one.create(&key("stays")).expect("is made").stay;
    for session in 0..300 {
        one.create(&key(&format!("s{session}"))).expect("is made");
    }
    assert!(matches!(other.remove(&key("stays")), Err(WorkspaceError::InUse)));
    assert!(other.remove(&key("idle")).expect("removes"), "its lock was given up for others");
    drop(stay);
    one.create(&key("last")).expect("is made");
    assert!(other.remove(&key("stays")).expect("removes"), "it was used before the others");
}

#[test]
fn sessions_that_come_and_go_while_others_remove_them_always_find_a_whole_workspace() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (host(directory.path()), host(directory.path()));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let remover = scope.spawn(|| {
            while !done.load(Relaxed) {
                let _ = other.remove(&key("a"));
            }
        });
        for _ in 0..300 {
            let workspace = one.create(&key("a")).expect("is made");
            fs::write(workspace.files.join("file"), "text").expect("it is held, so it stays");
            drop(workspace);
            let _ = one.remove(&key("a"));
        }
        done.store(true, Relaxed);
        remover.join().expect("no panic");
    });
}
