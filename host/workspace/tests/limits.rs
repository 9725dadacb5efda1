//! How many workspaces there may be, and how much they may hold, by tenant and in all.

#![cfg(unix)]

use std::{fs, path::Path};

use wharf_core::{Code, Error, ProcessLimits, WorkspaceKey};
use wharf_workspace::{Settings, WorkspaceError, Workspaces};

fn key(tenant: &str, session: &str) -> WorkspaceKey {
    WorkspaceKey::restored(tenant.parse().expect("legal"), session.parse().expect("legal"))
}

fn host(directory: &Path, limits: &ProcessLimits) -> Workspaces {
    Workspaces::new(&directory.join("workspaces"), Settings::new(limits, None))
}

fn limit_of(outcome: Result<wharf_workspace::Workspace, WorkspaceError>) -> String {
    let error = Error::from(outcome.expect_err("one too many"));
    assert_eq!(error.code, Code::Limit, "{error}");
    assert!(error.message.contains("wharf sessions"), "it says what to do: {error}");
    error.message
}

#[test]
fn ten_thousand_invented_sessions_make_as_many_directories_as_a_tenant_may_have() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits { workspaces_per_tenant: 10, workspaces: 12, ..ProcessLimits::default() };
    let workspaces = host(directory.path(), &limits);
    let made = (0..10_000).filter(|session| workspaces.create(&key("many", &format!("s{session}"))).is_ok()).count();
    assert_eq!(made, 10);
    assert!(limit_of(workspaces.create(&key("many", "more"))).contains("workspaces_per_tenant"));
    workspaces.create(&key("many", "s0")).expect("one that is there is found");
    for session in ["a", "b"] {
        workspaces.create(&key("few", session)).expect("another tenant has room");
    }
    let told = limit_of(workspaces.create(&key("few", "c")));
    assert!(told.contains("`workspaces`"), "{told}");
    assert_eq!(fs::read_dir(directory.path().join("workspaces")).expect("is there").count(), 12);
    assert!(workspaces.remove(&key("many", "s0")).expect("removes"));
    workspaces.create(&key("few", "c")).expect("there is room again");
}

#[test]
fn workspaces_of_an_earlier_host_and_of_another_one_are_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits { workspaces_per_tenant: 3, ..ProcessLimits::default() };
    let earlier = host(directory.path(), &limits);
    for session in ["a", "b"] {
        earlier.create(&key("t", session)).expect("is made");
    }
    let (one, other) = (host(directory.path(), &limits), host(directory.path(), &limits));
    one.create(&key("t", "c")).expect("a third");
    assert!(limit_of(one.create(&key("t", "d"))).contains("workspaces_per_tenant"));
    assert!(limit_of(other.create(&key("t", "e"))).contains("workspaces_per_tenant"));
}

#[test]
fn bytes_and_entries_are_counted_by_session_by_tenant_and_in_all_as_they_are_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits {
        workspace_bytes: 100_000,
        workspace_total_bytes_per_tenant: 150_000,
        workspace_total_bytes: 200_000,
        workspace_entries: 10,
        workspace_total_entries_per_tenant: 15,
        workspace_total_entries: 20,
        ..ProcessLimits::default()
    };
    let workspaces = host(directory.path(), &limits);
    let volume = |tenant, session| {
        workspaces.create(&key(tenant, session)).expect("is made");
        workspaces.volume(&key(tenant, session)).expect("is there")
    };
    let (first, second, third) = (volume("t", "a"), volume("t", "b"), volume("u", "a"));
    let limit = |taken: Result<(), wharf_core::QuotaFull>| taken.expect_err("one too many").bound.0;
    first.take(100_000, 10).expect("all of it");
    assert_eq!(limit(first.take(1, 0)), "workspace_bytes");
    assert_eq!(limit(first.take(0, 1)), "workspace_entries");
    second.take(50_000, 5).expect("what its tenant has left");
    assert_eq!(limit(second.take(1, 0)), "workspace_total_bytes_per_tenant");
    assert_eq!(limit(second.take(0, 1)), "workspace_total_entries_per_tenant");
    third.take(50_000, 5).expect("what all have left");
    assert_eq!(limit(third.take(1, 0)), "workspace_total_bytes");
    assert_eq!(limit(third.take(0, 1)), "workspace_total_entries");
    first.give_back(60_000, 6);
    third.take(1, 1).expect("there is room again");
    // What was taken was never written.
    let measured = first.measure().expect("measures");
    assert!(measured.excess.is_none() && first.take(80_000, 9).is_ok(), "{measured:?}");
}

#[test]
fn what_processes_wrote_fills_a_tenant_and_ends_those_that_go_on_writing() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits { workspace_total_bytes_per_tenant: 1 << 20, ..ProcessLimits::default() };
    let workspaces = host(directory.path(), &limits);
    let (still, busy, other) = (key("t", "still"), key("t", "busy"), key("u", "other"));
    let files = [&still, &busy, &other].map(|key| workspaces.create(key).expect("is made").files);
    for (files, bytes) in files.iter().zip([600_000, 100_000, 2_000_000]) {
        fs::write(files.join("file"), vec![1; bytes]).expect("writes");
    }
    assert!(!workspaces.is_over_quota(&still).expect("measures"));
    assert!(!workspaces.is_over_quota(&busy).expect("measures"));
    fs::write(files[1].join("more"), vec![1; 500_000]).expect("writes");
    assert!(workspaces.is_over_quota(&busy).expect("measures"), "it grows, and its tenant is full");
    assert!(!workspaces.is_over_quota(&still).expect("measures"), "it does not grow");
    assert!(workspaces.is_full(&still), "and takes nothing more");
    assert!(workspaces.is_over_quota(&other).is_ok_and(|over| over), "the same limit holds for every tenant");
    fs::remove_file(files[1].join("more")).expect("removes");
    assert!(!workspaces.is_over_quota(&busy).expect("measures") && !workspaces.is_full(&still));
}

#[test]
fn an_exchange_folder_has_a_quota_of_its_own_that_what_lies_there_counts_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits { exchange_bytes: 1 << 20, ..ProcessLimits::default() };
    let workspaces = host(directory.path(), &limits);
    fs::write(directory.path().join("there"), vec![1; 600_000]).expect("writes");
    let folder = workspaces.folder(&fs::File::open(directory.path()).expect("opens")).expect("is there");
    assert!(!folder.is_measured());
    folder.measure_first().expect("measures");
    assert_eq!(folder.take(600_000, 1).expect_err("too much").bound.0, "exchange_bytes");
    folder.take(300_000, 1).expect("what is left");
    let again = workspaces.folder(&fs::File::open(directory.path()).expect("opens")).expect("is there");
    assert_eq!(again.take(300_000, 1).expect_err("the same folder").bound.0, "exchange_bytes");
}
