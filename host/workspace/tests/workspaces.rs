//! Workspaces on a real disk.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{chown, symlink},
    time::{Duration, SystemTime},
};

use wharf_core::{ProcessLimits, SessionId, TenantId, WorkspaceKey};
use wharf_workspace::{WorkspaceOptions, Workspaces};

const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

fn key(session: &str) -> WorkspaceKey {
    WorkspaceKey::restored(TenantId::local(), session.parse::<SessionId>().expect("legal"))
}

fn workspaces(quota_bytes: u64) -> (tempfile::TempDir, Workspaces) {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits { workspace_bytes: quota_bytes, ..ProcessLimits::default() };
    let options = WorkspaceOptions::new(&limits, Some(MONTH));
    let workspaces = Workspaces::new(&directory.path().join("workspaces"), options);
    (directory, workspaces)
}

#[test]
fn looking_for_a_workspace_makes_nothing() {
    let (directory, workspaces) = workspaces(1 << 20);
    assert_eq!(workspaces.find(&key("a")), None);
    assert_eq!(workspaces.usage(&key("a")).expect("measures").entries, 0);
    assert!(workspaces.list().expect("lists").workspaces.is_empty());
    assert_eq!(fs::read_dir(directory.path()).expect("is there").count(), 0);
}

#[test]
fn each_session_has_one_and_finds_it_again() {
    let (_directory, workspaces) = workspaces(1 << 20);
    let one = workspaces.create(&key("a")).expect("is made");
    let other = workspaces.create(&key("A")).expect("is made");
    assert_ne!(one.files, other.files, "also where a file system takes a and A for the same");
    fs::write(one.files.join("kept"), "text").expect("writes");
    assert_eq!(workspaces.create(&key("a")).expect("is there"), one);
    assert_eq!(
        fs::read_to_string(workspaces.find(&key("a")).expect("is there").files.join("kept")).expect("reads"),
        "text"
    );
    assert!(!other.files.join("kept").exists());
}

#[test]
fn sixteen_calls_that_make_it_at_once_get_the_same() {
    let (directory, workspaces) = workspaces(1 << 20);
    let made: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| workspaces.create(&key("a")))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic").expect("is made").files).collect()
    });
    assert!(made.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(fs::read_dir(directory.path().join("workspaces")).expect("is there").count(), 1, "nothing half done");
}

#[test]
fn what_it_holds_is_what_it_takes_on_disk_and_links_are_not_followed() {
    let (_directory, workspaces) = workspaces(1 << 20);
    let workspace = workspaces.create(&key("a")).expect("is made");
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("large"), vec![1; 4 << 20]).expect("writes");
    symlink(outside.path(), workspace.files.join("out")).expect("links");
    symlink(outside.path().join("large"), workspace.files.join("file")).expect("links");
    let sparse = fs::File::create(workspace.files.join("sparse")).expect("makes");
    sparse.set_len(1 << 40).expect("grows");
    fs::create_dir_all(workspace.files.join("a/b/c")).expect("makes");
    fs::write(workspace.home.join("in the home"), vec![1; 100_000]).expect("writes");
    let usage = workspaces.usage(&key("a")).expect("measures");
    assert_eq!(usage.entries, 8, "the two links, the sparse file, three directories, the large file, and tmp");
    assert!((100_000..300_000).contains(&usage.bytes), "{usage:?}");
    assert!(!usage.incomplete && !workspaces.is_full(&key("a")));
}

#[test]
fn one_that_holds_more_than_it_may_is_full_until_files_go() {
    let (_directory, workspaces) = workspaces(1 << 20);
    let workspace = workspaces.create(&key("a")).expect("is made");
    assert!(!workspaces.is_over_quota(&key("a")).expect("measures"));
    fs::write(workspace.files.join("large"), vec![1; 2 << 20]).expect("writes");
    assert!(workspaces.is_over_quota(&key("a")).expect("measures"));
    assert!(workspaces.is_full(&key("a")) && !workspaces.is_full(&key("b")));
    fs::remove_file(workspace.files.join("large")).expect("removes");
    assert!(!workspaces.is_over_quota(&key("a")).expect("measures"));
    assert!(!workspaces.is_full(&key("a")));
}

#[test]
fn a_tree_that_is_nested_without_end_is_measured_to_a_depth_and_is_too_much() {
    let (_directory, workspaces) = workspaces(1 << 20);
    let files = workspaces.create(&key("a")).expect("is made").files;
    let deep = "d/".repeat(300);
    fs::create_dir_all(files.join(deep)).expect("makes");
    assert!(workspaces.usage(&key("a")).expect("measures").incomplete);
    assert!(workspaces.is_over_quota(&key("a")).expect("measures"), "what is not looked at may hold anything");
    assert!(workspaces.remove(&key("a")).expect("removes"), "and removed whole");
}

#[test]
fn idle_ones_expire_and_busy_or_fresh_ones_stay() {
    let (_directory, workspaces) = workspaces(1 << 20);
    workspaces.create(&key("idle")).expect("is made");
    let _busy = workspaces.create(&key("busy")).expect("is made");
    let now = SystemTime::now();
    assert_eq!(workspaces.sweep(now).expect("sweeps"), 0);
    let later = now + MONTH + Duration::from_secs(1);
    assert_eq!(workspaces.sweep(later).expect("sweeps"), 1);
    assert!(workspaces.find(&key("idle")).is_none() && workspaces.find(&key("busy")).is_some());
}

#[test]
fn the_user_of_a_session_is_drawn_by_chance_kept_by_its_directory_and_nobody_elses() {
    if !rustix::process::geteuid().is_root() {
        let (_directory, workspaces) = workspaces(1 << 20);
        assert_eq!(workspaces.create(&key("a")).expect("is made").user, None, "children are the host's own user");
        return;
    }
    let (directory, one) = workspaces(1 << 20);
    let (_directory, other) = workspaces(1 << 20);
    let user = |workspaces: &Workspaces, session: &str| workspaces.create(&key(session)).expect("is made").user;
    let first = user(&one, "a").expect("a user of its own");
    assert_ne!(user(&other, "a"), Some(first), "the names of tenant and session do not lead to it");
    assert_ne!(user(&one, "b"), Some(first));
    // The next host finds it, also where an earlier version had chosen it otherwise.
    let options = WorkspaceOptions::new(&ProcessLimits::default(), None);
    let next = Workspaces::new(&directory.path().join("workspaces"), options);
    let files = next.find(&key("a")).expect("is there").files;
    assert_eq!(next.of(&key("a")).user, Some(first));
    chown(&files, Some(1_900_000_000), Some(1_900_000_000)).expect("is given away");
    assert_eq!(next.find(&key("a")).expect("is there").user, Some(1_900_000_000));
    // What belongs to a user of the machine is not run as that user.
    for user in [0, 1_000] {
        chown(&files, Some(user), Some(user)).expect("is given away");
        let found = next.find(&key("a")).expect("is there").user.expect("never the host's own");
        assert!(found > 1_900_000_000, "{found}");
    }
}

#[test]
fn the_operator_sees_whose_they_are_and_how_large() {
    let (_directory, workspaces) = workspaces(1 << 30);
    let files = workspaces.create(&key("first")).expect("is made").files;
    fs::write(files.join("x"), vec![1; 1 << 20]).expect("writes");
    workspaces.create(&key("second")).expect("is made");
    let listed = workspaces.list().expect("lists").workspaces;
    let of_first = listed.iter().find(|listed| listed.key == key("first")).expect("is there");
    assert_eq!(listed.len(), 2);
    assert_eq!((of_first.usage.entries, of_first.usage.bytes >= 1 << 20), (2, true));
    assert!(workspaces.remove(&key("first")).expect("removes"));
    assert!(!workspaces.remove(&key("first")).expect("nothing left"));
    assert_eq!(workspaces.list().expect("lists").workspaces.len(), 1);
}
