//! The limits on the number of workspaces and on what they hold, by tenant and in all.

#![cfg(unix)]

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use wharf_core::{Code, Error, ProcessLimits, TenantId, WorkspaceKey};
use wharf_workspace::{FileNumber, SpaceChange, WorkspaceError, WorkspaceOptions, Workspaces};

fn key(tenant: &str, session: &str) -> WorkspaceKey {
    WorkspaceKey::restored(tenant.parse().expect("legal"), session.parse().expect("legal"))
}

fn host(directory: &Path, limits: &ProcessLimits) -> Workspaces {
    Workspaces::new(&directory.join("workspaces"), WorkspaceOptions::new(limits, None))
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
    let message = limit_of(workspaces.create(&key("few", "c")));
    assert!(message.contains("`workspaces`"), "{message}");
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
    // A workspace counts for its own tenant in each case.
    let by = TenantId::local();
    first.take(&by, 100_000, 10).expect("all of it");
    assert_eq!(limit(first.take(&by, 1, 0)), "workspace_bytes");
    assert_eq!(limit(first.take(&by, 0, 1)), "workspace_entries");
    second.take(&by, 50_000, 5).expect("what its tenant has left");
    assert_eq!(limit(second.take(&by, 1, 0)), "workspace_total_bytes_per_tenant");
    assert_eq!(limit(second.take(&by, 0, 1)), "workspace_total_entries_per_tenant");
    third.take(&by, 50_000, 5).expect("what all have left");
    assert_eq!(limit(third.take(&by, 1, 0)), "workspace_total_bytes");
    assert_eq!(limit(third.take(&by, 0, 1)), "workspace_total_entries");
    first.changed(&by, 0, SpaceChange { freed_bytes: 60_000, gone: 6, ..SpaceChange::default() });
    third.take(&by, 1, 1).expect("there is room again");
    // What was taken was never written.
    let measured = first.measure().expect("measures");
    assert!(measured.excess.is_none() && first.take(&by, 80_000, 8).is_ok(), "{measured:?}");
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
    let by = TenantId::local();
    assert_eq!(folder.take(&by, 600_000, 1).expect_err("too much").bound.0, "exchange_bytes");
    folder.take(&by, 300_000, 1).expect("what is left");
    let again = workspaces.folder(&fs::File::open(directory.path()).expect("opens")).expect("is there");
    assert_eq!(again.take(&by, 300_000, 1).expect_err("the same folder").bound.0, "exchange_bytes");
}

#[test]
fn a_tenant_has_a_share_of_an_exchange_folder_by_what_its_calls_wrote_and_is_still_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let limits = ProcessLimits {
        exchange_bytes_per_tenant: 1 << 20,
        exchange_entries_per_tenant: 2,
        exchange_bytes: 3 << 20,
        ..ProcessLimits::default()
    };
    let workspaces = host(directory.path(), &limits);
    fs::write(at("there"), vec![1; 900_000]).expect("writes");
    let folder = workspaces.folder(&fs::File::open(directory.path()).expect("opens")).expect("is there");
    folder.measure_first().expect("measures");
    let (one, other) = (TenantId::local(), "other".parse().expect("legal"));
    let write = |by: &TenantId, name: &str, bytes: usize| {
        folder.take(by, bytes as u64, 1)?;
        fs::write(at(name), vec![1; bytes]).expect("writes");
        let about = fs::metadata(at(name)).expect("is there");
        let number = FileNumber { device: about.dev(), inode: about.ino() };
        folder.changed(by, 1, SpaceChange { file: Some(number), made: 1, ..SpaceChange::default() });
        folder.wrote(by, number, bytes as u64, about.blocks() * 512, 0);
        Ok::<_, wharf_core::QuotaFull>(())
    };
    write(&one, "first", 900_000).expect("what was there is nobody's");
    assert_eq!(write(&one, "second", 200_000).expect_err("too much").bound.0, "exchange_bytes_per_tenant");
    write(&other, "third", 900_000).expect("another tenant has a share of its own");
    assert_eq!(write(&"last".parse().expect("legal"), "fourth", 900_000).expect_err("full").bound.0, "exchange_bytes");
    assert_eq!(folder.excess_of(&one), None);
    // A measurement leaves each what it wrote, and finds what the operator took.
    folder.measure().expect("measures");
    assert_eq!(write(&one, "second", 200_000).expect_err("too much").bound.0, "exchange_bytes_per_tenant");
    fs::rename(at("third"), at("moved")).expect("renames");
    fs::remove_file(at("first")).expect("removes");
    folder.measure().expect("measures");
    assert_eq!(write(&other, "fourth", 200_000).expect_err("it has another name").bound.0, "exchange_bytes_per_tenant");
    write(&one, "first", 500_000).expect("there is room again");
    write(&one, "second", 100).expect("its second file");
    assert_eq!(write(&one, "third", 100).expect_err("a third file").bound.0, "exchange_entries_per_tenant");
}

#[test]
fn nothing_is_started_where_a_session_its_tenant_or_all_hold_too_much_and_nothing_is_made_for_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits {
        workspace_bytes: 1 << 20,
        workspace_total_bytes_per_tenant: 2 << 20,
        workspace_total_bytes: 3 << 20,
        ..ProcessLimits::default()
    };
    let workspaces = host(directory.path(), &limits);
    let started = |tenant, session| workspaces.create_to_run(&key(tenant, session));
    // As a host does by itself, the sooner the smaller the volume is.
    let measure = |tenant, session| {
        workspaces.volume(&key(tenant, session)).expect("is there").measure().expect("measures");
    };
    let write = |tenant, session, bytes: usize| {
        let files = started(tenant, session).expect("there is room").files;
        fs::write(files.join("file"), vec![1; bytes]).expect("writes");
        measure(tenant, session);
        files
    };
    let first = write("t", "a", 1_500_000);
    let message = limit_of(started("t", "a"));
    assert!(message.contains("`workspace_bytes`") && message.contains("this session"), "{message}");
    write("t", "b", 1_000_000);
    let message = limit_of(started("t", "b"));
    assert!(message.contains("`workspace_total_bytes_per_tenant`") && message.contains("this tenant"), "{message}");
    limit_of(started("t", "c"));
    write("u", "a", 500_000);
    write("u", "b", 700_000);
    let message = limit_of(started("u", "b"));
    assert!(message.contains("`workspace_total_bytes`") && message.contains("all tenants together"), "{message}");
    limit_of(started("v", "a"));
    assert_eq!(fs::read_dir(directory.path().join("workspaces")).expect("is there").count(), 4);
    fs::remove_file(first.join("file")).expect("removes");
    measure("t", "a");
    for (tenant, session) in [("t", "a"), ("t", "c"), ("u", "b"), ("v", "a")] {
        started(tenant, session).expect("there is room again");
    }
}

#[test]
fn what_an_earlier_host_left_is_measured_before_anything_starts() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits {
        workspace_bytes: 1 << 20,
        workspace_total_bytes_per_tenant: 2 << 20,
        ..ProcessLimits::default()
    };
    for (session, bytes) in [("a", 1_500_000), ("b", 900_000)] {
        let earlier = host(directory.path(), &limits);
        let files = earlier.create_to_run(&key("t", session)).expect("there is room").files;
        fs::write(files.join("file"), vec![1; bytes]).expect("writes");
    }
    for (session, limit) in [("a", "workspace_bytes"), ("b", "per_tenant"), ("c", "per_tenant")] {
        let message = limit_of(host(directory.path(), &limits).create_to_run(&key("t", session)));
        assert!(message.contains(limit), "{message}");
    }
    host(directory.path(), &limits).create_to_run(&key("u", "a")).expect("another tenant has room of its own");
}

#[test]
fn a_first_measure_is_no_growth_and_a_tenant_pays_for_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = ProcessLimits {
        workspace_total_bytes_per_tenant: 2 << 20,
        workspace_total_bytes: 3 << 20,
        ..ProcessLimits::default()
    };
    let earlier = host(directory.path(), &limits);
    for (tenant, bytes) in [("greedy", 30_000_000), ("modest", 500_000), ("third", 1_000_000)] {
        let files = earlier.create(&key(tenant, "a")).expect("is made").files;
        fs::write(files.join("file"), vec![1; bytes]).expect("writes");
    }
    let workspaces = host(directory.path(), &limits);
    assert!(!workspaces.is_over_quota(&key("greedy", "a")).expect("measures"), "what is old has not grown");
    assert!(workspaces.is_full(&key("greedy", "a")));
    let modest = workspaces.create_to_run(&key("modest", "a")).expect("nobody pays for another's excess");
    workspaces
        .volume(&key("modest", "a"))
        .expect("is there")
        .take(&TenantId::local(), 100_000, 1)
        .expect("there is room");
    // All together hold too much from here on.
    workspaces.count().expect("counts");
    assert!(workspaces.is_full(&key("modest", "a")));
    assert!(!workspaces.is_over_quota(&key("modest", "a")).expect("measures"), "it has not grown");
    // Just made, and as empty as it was made.
    workspaces.create(&key("fourth", "a")).expect("is made");
    assert!(!workspaces.is_over_quota(&key("fourth", "a")).expect("measures"));
    fs::write(modest.files.join("more"), vec![1; 100_000]).expect("writes");
    assert!(workspaces.is_over_quota(&key("modest", "a")).expect("measures"), "it grows while all are full");
}

#[test]
fn what_cannot_be_read_is_named_and_hides_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let workspaces = host(directory.path(), &ProcessLimits::default());
    let broken = workspaces.create(&key("t", "broken")).expect("is made").files;
    workspaces.create(&key("t", "whole")).expect("is made");
    fs::remove_dir(&broken).expect("removes");
    fs::write(&broken, "no directory").expect("writes");
    let listing = workspaces.list().expect("lists");
    assert_eq!(listing.workspaces.iter().map(|one| &one.key).collect::<Vec<_>>(), [&key("t", "whole")]);
    assert_eq!(listing.unreadable.iter().map(|(key, _)| key).collect::<Vec<_>>(), [&key("t", "broken")]);
    let refused = Error::from(workspaces.create_to_run(&key("t", "broken")).expect_err("nothing can run there"));
    assert_eq!(refused.code, Code::Unavailable, "{refused}");
    assert!(workspaces.remove(&key("t", "broken")).expect("removes"));
}
