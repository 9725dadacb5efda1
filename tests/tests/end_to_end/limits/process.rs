//! Limits of child processes.

use std::time::Duration;

use serde_json::{Value, json};
use wharf_tests::{Fixture, Setup, context, found, let_time_pass, until_async};

use super::{Tested, workspace};

pub(super) const TESTED: Tested = &[
    ("running_per_session", one_process_of_a_session_too_many_is_refused),
    ("running_per_tenant", one_process_of_a_tenant_too_many_is_refused_whatever_its_session),
    ("running", one_process_of_all_tenants_too_many_is_refused),
    ("ended_per_session", one_ended_process_too_many_is_forgotten),
    ("ended_per_tenant", one_ended_process_of_a_tenant_too_many_makes_way_and_none_of_another),
    ("ended", one_ended_process_of_all_tenants_too_many_makes_no_other_tenant_forget),
    ("tombstone_seconds", an_ended_process_is_kept_as_long_as_that_and_no_longer),
    ("lifetime_seconds", a_process_that_runs_too_long_is_killed),
    ("output_kept_bytes", the_oldest_output_is_evicted),
    ("output_disk_bytes_per_session", the_output_of_a_session_takes_no_more_of_the_disk),
    ("output_disk_bytes_per_tenant", the_output_of_a_tenant_takes_no_more_of_the_disk),
    ("output_disk_bytes", the_output_of_all_tenants_takes_no_more_of_the_disk),
    ("output_total_bytes", one_byte_of_output_too_many_kills),
    ("wait_milliseconds", a_wait_ends_though_nothing_happened),
    ("cpu_seconds", a_process_that_computes_too_long_is_ended),
    ("memory_bytes", an_allocation_of_too_much_fails),
    ("open_files", one_open_file_too_many_fails),
    ("processes", one_process_of_a_tree_too_many_is_not_forked),
    ("file_size_bytes", one_byte_of_a_file_too_many_is_not_written),
    ("workspace_bytes", a_workspace_of_too_many_bytes_ends_its_processes),
    ("workspace_entries", a_workspace_of_too_many_files_ends_its_processes),
    ("workspace_total_bytes_per_tenant", workspace::one_byte_of_all_workspaces_of_a_tenant_too_many_is_not_written),
    ("workspace_total_bytes", workspace::one_byte_of_all_workspaces_too_many_is_not_written),
    ("workspace_total_entries_per_tenant", workspace::one_directory_of_all_workspaces_of_a_tenant_too_many_is_not_made),
    ("workspace_total_entries", workspace::one_directory_of_all_workspaces_too_many_is_not_made),
    ("workspaces_per_tenant", workspace::one_workspace_of_a_tenant_too_many_is_not_made),
    ("workspaces", workspace::one_workspace_of_all_too_many_is_not_made),
    ("exchange_bytes", workspace::an_exchange_folder_of_too_many_bytes_takes_no_more),
    ("exchange_bytes_per_tenant", workspace::one_tenant_that_fills_its_share_of_a_folder_leaves_room_for_another),
    ("exchange_entries", workspace::an_exchange_folder_of_too_many_files_takes_no_more),
    ("exchange_entries_per_tenant", workspace::one_tenant_makes_no_more_files_in_a_folder_than_its_share),
];

pub(super) fn limited(name: &str, value: u64) -> Setup {
    Setup::new().processes("shell = true").workspace("").process_limit(name, value)
}

async fn start(fixture: &Fixture, text: &str) -> Result<String, Value> {
    let mut started = found(fixture.call("hostile__start_process", json!({"shell": text})).await);
    started["ok"]["id"].as_str().map(str::to_owned).ok_or_else(|| started["refused"].take())
}

async fn ask(fixture: &Fixture, function: &str, id: &str, number: u64) -> Value {
    let arguments = json!({"function": function, "id": id, "number": number});
    found(fixture.call("hostile__ask_process", arguments).await)
}

/// Starts something for a session of a tenant.
async fn start_of(fixture: &Fixture, (tenant, session): (&str, &str), text: &str) -> Result<String, Value> {
    let here = context(tenant, session);
    let mut started = found(fixture.call_in(&here, "hostile__start_process", json!({"shell": text})).await);
    started["ok"]["id"].as_str().map(str::to_owned).ok_or_else(|| started["refused"].take())
}

async fn ask_of(fixture: &Fixture, (tenant, session): (&str, &str), function: &str, id: &str) -> Value {
    let arguments = json!({"function": function, "id": id, "number": 20_000});
    found(fixture.call_in(&context(tenant, session), "hostile__ask_process", arguments).await)
}

async fn ended_of(fixture: &Fixture, owner: (&str, &str), text: &str) -> String {
    let id = start_of(fixture, owner, text).await.expect("starts");
    while ask_of(fixture, owner, "wait", &id).await["ok"]["reason"] != "exit" {}
    id
}

fn assert_refused_by(limit: &str, refused: &Value) {
    assert_eq!((refused["code"].as_str(), &refused["retryable"]), (Some("limit"), &json!(true)), "{refused}");
    assert!(refused["message"].as_str().is_some_and(|said| said.contains(&format!("`{limit}`"))), "{refused}");
}

/// What of the output of these processes is still kept.
async fn kept_of(fixture: &Fixture, processes: &[((&str, &str), String)]) -> Vec<u64> {
    let mut kept = Vec::new();
    for (owner, id) in processes {
        let polled = ask_of(fixture, *owner, "poll", id).await;
        let process = &polled["ok"]["process"];
        let number = |name: &str| process[name].as_u64().unwrap_or_else(|| panic!("{name}: {polled}"));
        kept.push(number("stdout") - number("evicted"));
    }
    kept
}

const MIB: u64 = 1 << 20;
const ONE_MIB: &str = "head -c 1048576 /dev/zero";

/// What became of it, and what it printed last.
async fn end_of(fixture: &Fixture, text: &str) -> (Value, String) {
    let id = start(fixture, text).await.expect("starts");
    loop {
        let waited = ask(fixture, "wait", &id, 20_000).await;
        if waited["ok"]["reason"] == "exit" {
            break;
        }
    }
    let polled = ask(fixture, "poll", &id, 4_096).await;
    (polled["ok"]["process"].clone(), polled["ok"]["stdout"].as_str().expect("a text").to_owned())
}

fn killed_for(process: &Value) -> &str {
    process["outcome"]["reason"].as_str().unwrap_or_else(|| panic!("not killed: {process}"))
}

#[tokio::test]
async fn one_process_of_a_session_too_many_is_refused() {
    let fixture = limited("running_per_session", 2).open().await;
    let first = start(&fixture, "sleep 1000").await.expect("has a place");
    start(&fixture, "sleep 1000").await.expect("has a place");
    let refused = start(&fixture, "true").await.expect_err("no place");
    assert_eq!((refused["code"].as_str(), &refused["retryable"]), (Some("limit"), &json!(true)), "{refused}");
    ask(&fixture, "stop", &first, 0).await;
    start(&fixture, "true").await.expect("has its place");
}

#[tokio::test]
async fn one_process_of_a_tenant_too_many_is_refused_whatever_its_session() {
    let fixture = limited("running_per_tenant", 2).open().await;
    let first = start_of(&fixture, ("a", "one"), "sleep 1000").await.expect("has a place");
    start_of(&fixture, ("a", "two"), "sleep 1000").await.expect("has a place");
    let refused = start_of(&fixture, ("a", "three"), "true").await.expect_err("no place");
    assert_refused_by("running_per_tenant", &refused);
    start_of(&fixture, ("b", "one"), "sleep 1000").await.expect("another tenant has its places");
    ask_of(&fixture, ("a", "one"), "stop", &first).await;
    start_of(&fixture, ("a", "three"), "true").await.expect("has its place");
}

#[tokio::test]
async fn one_process_of_all_tenants_too_many_is_refused() {
    let fixture = limited("running", 2).open().await;
    let first = start_of(&fixture, ("a", "one"), "sleep 1000").await.expect("has a place");
    start_of(&fixture, ("b", "one"), "sleep 1000").await.expect("has a place");
    assert_refused_by("running", &start_of(&fixture, ("c", "one"), "true").await.expect_err("no place"));
    ask_of(&fixture, ("a", "one"), "stop", &first).await;
    start_of(&fixture, ("c", "one"), "true").await.expect("has its place");
}

#[tokio::test]
async fn one_ended_process_of_a_tenant_too_many_makes_way_and_none_of_another() {
    let fixture = limited("ended_per_tenant", 2).open().await;
    let other = ended_of(&fixture, ("b", "one"), "true").await;
    let mut ids = Vec::new();
    for session in ["one", "two", "three", "four"] {
        ids.push((("a", session), ended_of(&fixture, ("a", session), "true").await));
    }
    // It is asked when the next one starts.
    start_of(&fixture, ("a", "five"), "true").await.expect("starts");
    assert_eq!(ask_of(&fixture, ids[0].0, "poll", &ids[0].1).await["refused"]["code"], "not-found");
    assert!(ask_of(&fixture, ids[3].0, "poll", &ids[3].1).await["ok"].is_object());
    assert!(ask_of(&fixture, ("b", "one"), "poll", &other).await["ok"].is_object());
}

#[tokio::test]
async fn one_ended_process_of_all_tenants_too_many_makes_no_other_tenant_forget() {
    let fixture = limited("ended", 1).open().await;
    let kept = ended_of(&fixture, ("a", "one"), "true").await;
    let newer = ended_of(&fixture, ("a", "two"), "true").await;
    assert_refused_by("ended", &start_of(&fixture, ("b", "one"), "true").await.expect_err("no room"));
    assert!(ask_of(&fixture, ("a", "one"), "poll", &kept).await["ok"].is_object(), "it is another tenant's");
    // Its own tenant makes room by what is its own.
    start_of(&fixture, ("a", "three"), "sleep 1000").await.expect("starts");
    assert_eq!(ask_of(&fixture, ("a", "one"), "poll", &kept).await["refused"]["code"], "not-found");
    assert!(ask_of(&fixture, ("a", "two"), "poll", &newer).await["ok"].is_object());
}

/// Prints a mebibyte in each of these, one after the other.
async fn print_in(
    fixture: &Fixture,
    owners: &[(&'static str, &'static str)],
) -> Vec<((&'static str, &'static str), String)> {
    let mut processes = Vec::new();
    for owner in owners {
        processes.push((*owner, ended_of(fixture, *owner, ONE_MIB).await));
    }
    processes
}

#[tokio::test]
async fn the_output_of_a_session_takes_no_more_of_the_disk() {
    let fixture = limited("output_disk_bytes_per_session", 3 * MIB).open().await;
    let processes = print_in(&fixture, &[("a", "one"), ("a", "two"), ("a", "one"), ("a", "one"), ("a", "one")]).await;
    let kept = kept_of(&fixture, &processes).await;
    assert_eq!((kept[0], kept[1], kept[4]), (0, MIB, MIB), "the oldest of the session went: {kept:?}");
    assert!(kept.iter().sum::<u64>() <= 4 * MIB, "{kept:?}");
    // What runs keeps the end of what it prints, and a start finds no room.
    let loud = start_of(&fixture, ("a", "one"), "head -c 9000000 /dev/zero; sleep 1000").await.expect("starts");
    while kept_of(&fixture, &[(("a", "one"), loud.clone())]).await[0] < MIB {}
    let mut refused = None;
    for _ in 0..8 {
        match start_of(&fixture, ("a", "one"), "head -c 1000000 /dev/zero; sleep 1000").await {
            Ok(_) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    assert_refused_by("output_disk_bytes_per_session", &refused.expect("no room"));
}

#[tokio::test]
async fn the_output_of_a_tenant_takes_no_more_of_the_disk() {
    let fixture = limited("output_disk_bytes_per_tenant", 3 * MIB).open().await;
    let processes =
        print_in(&fixture, &[("b", "one"), ("a", "one"), ("a", "two"), ("a", "three"), ("a", "four")]).await;
    let kept = kept_of(&fixture, &processes).await;
    assert_eq!((kept[0], kept[1], kept[4]), (MIB, 0, MIB), "the oldest of the tenant went: {kept:?}");
    assert!(kept[1..].iter().sum::<u64>() <= 3 * MIB, "{kept:?}");
}

#[tokio::test]
async fn the_output_of_all_tenants_takes_no_more_of_the_disk() {
    let fixture = limited("output_disk_bytes", 3 * MIB).open().await;
    let processes = print_in(&fixture, &[("b", "one"), ("a", "one"), ("a", "two"), ("a", "three")]).await;
    let kept = kept_of(&fixture, &processes).await;
    assert_eq!((kept[0], kept[1], kept[3]), (MIB, 0, MIB), "the oldest of the tenant that printed went: {kept:?}");
    assert!(kept.iter().sum::<u64>() <= 3 * MIB, "{kept:?}");
}

#[tokio::test]
async fn one_ended_process_too_many_is_forgotten() {
    let fixture = limited("ended_per_session", 2).open().await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(start(&fixture, "true").await.expect("starts"));
        while ask(&fixture, "wait", ids.last().expect("one"), 20_000).await["ok"]["reason"] != "exit" {}
    }
    // It is asked when the next one starts.
    start(&fixture, "true").await.expect("starts");
    assert_eq!(ask(&fixture, "poll", &ids[0], 1).await["refused"]["code"], "not-found");
    assert!(ask(&fixture, "poll", &ids[3], 1).await["ok"].is_object());
}

#[tokio::test]
async fn an_ended_process_is_kept_as_long_as_that_and_no_longer() {
    // A host sweeps when it starts, and hourly: what ended in an earlier one
    // is found by the next, or is gone.
    for (kept, seconds) in [(true, 3_600), (false, 1)] {
        let setup = limited("tombstone_seconds", seconds);
        let fixture = setup.open().await;
        let id = start(&fixture, "true").await.expect("starts");
        while ask(&fixture, "wait", &id, 20_000).await["ok"]["reason"] != "exit" {}
        let Fixture { host, data } = fixture;
        drop(host);
        let_time_pass(Duration::from_millis(1_100), "no host runs whose clock could be moved").await;
        let next = setup.open_in(data).await;
        until_async(format_args!("it is kept: {kept}"), async || {
            let found = ask(&next, "poll", &id, 1).await;
            if found["ok"].is_object() == kept { Ok(()) } else { Err(found) }
        })
        .await;
    }
}

#[tokio::test]
async fn a_process_that_runs_too_long_is_killed() {
    let fixture = limited("lifetime_seconds", 1).open().await;
    assert_eq!(killed_for(&end_of(&fixture, "sleep 1000").await.0), "time-limit");
    assert_eq!(end_of(&fixture, "exit 0").await.0["status"], "finished");
}

#[tokio::test]
async fn the_oldest_output_is_evicted() {
    let fixture = limited("output_kept_bytes", 1 << 20).open().await;
    let (process, _) = end_of(&fixture, "head -c 1048576 /dev/zero").await;
    assert_eq!((&process["stdout"], &process["evicted"]), (&json!(1 << 20), &json!(0)));
    let (process, _) = end_of(&fixture, "head -c 1048577 /dev/zero").await;
    assert_eq!(process["stdout"], (1 << 20) + 1);
    assert!(process["evicted"].as_u64().is_some_and(|evicted| evicted > 0), "{process}");
}

#[tokio::test]
async fn one_byte_of_output_too_many_kills() {
    let fixture = limited("output_total_bytes", 300_000).open().await;
    let (process, _) = end_of(&fixture, "head -c 300000 /dev/zero").await;
    assert_eq!((&process["status"], &process["stdout"]), (&json!("finished"), &json!(300_000)));
    let (process, _) = end_of(&fixture, "head -c 300001 /dev/zero; sleep 1000").await;
    assert_eq!((killed_for(&process), &process["stdout"]), ("quota", &json!(300_000)));
}

#[tokio::test]
async fn a_wait_ends_though_nothing_happened() {
    let fixture = limited("wait_milliseconds", 50).open().await;
    let id = start(&fixture, "sleep 1000").await.expect("starts");
    // Far below what the call itself may take.
    let began = std::time::Instant::now();
    assert_eq!(ask(&fixture, "wait", &id, 1_000_000).await["ok"]["reason"], "time-up");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_process_that_computes_too_long_is_ended() {
    let fixture = limited("cpu_seconds", 1).open().await;
    let (process, _) = end_of(&fixture, "while :; do :; done").await;
    assert_eq!((&process["outcome"]["kind"], &process["outcome"]["signal"]), (&json!("signaled"), &json!(24)));
}

#[tokio::test]
async fn an_allocation_of_too_much_fails() {
    let fixture = limited("memory_bytes", 64 << 20).open().await;
    let allocate = |megabytes| format!("head -c {megabytes}000000 /dev/zero | tail -n 1 | wc -c");
    assert_eq!(end_of(&fixture, &allocate(16)).await.1.trim(), "16000000");
    assert_ne!(end_of(&fixture, &allocate(128)).await.1.trim(), "128000000");
}

#[tokio::test]
async fn one_open_file_too_many_fails() {
    let fixture = limited("open_files", 12).open().await;
    let open = |last| format!("for i in $(seq 3 {last}); do eval \"exec $i< /dev/null\" || exit 7; done; echo all");
    assert_eq!(end_of(&fixture, &open(9)).await.1, "all\n");
    assert_ne!(end_of(&fixture, &open(12)).await.1, "all\n");
}

#[tokio::test]
async fn one_process_of_a_tree_too_many_is_not_forked() {
    let fixture = limited("processes", 20).open().await;
    let fork =
        "n=0; for i in $(seq 60); do sleep 1000 & n=$((n+1)); echo $n; done 2>/dev/null; kill $(jobs -p) 2>/dev/null";
    let (_, printed) = end_of(&fixture, fork).await;
    let most = printed.lines().filter_map(|line| line.parse::<u32>().ok()).max().unwrap_or_default();
    assert!((5..=20).contains(&most), "{most} of 60 were forked");
}

#[tokio::test]
async fn one_byte_of_a_file_too_many_is_not_written() {
    let fixture = limited("file_size_bytes", 100_000).open().await;
    let write = |bytes| format!("head -c {bytes} /dev/zero > file; echo $?; wc -c < file");
    assert_eq!(end_of(&fixture, &write(100_000)).await.1, "0\n100000\n");
    let (_, printed) = end_of(&fixture, &write(100_001)).await;
    assert!(!printed.starts_with("0\n") && printed.ends_with("\n100000\n"), "{printed}");
}

#[tokio::test]
async fn a_workspace_of_too_many_bytes_ends_its_processes() {
    let fixture = limited("workspace_bytes", 4 << 20).open().await;
    let (process, _) = end_of(&fixture, "head -c 3000000 /dev/zero > file").await;
    assert_eq!(process["status"], "finished", "{process}");
    let (process, _) = end_of(&fixture, "head -c 3000000 /dev/zero > other; sleep 1000").await;
    assert_eq!(killed_for(&process), "quota");
}

#[tokio::test]
async fn a_workspace_of_too_many_files_ends_its_processes() {
    let fixture = limited("workspace_entries", 100).open().await;
    let (process, _) = end_of(&fixture, "for i in $(seq 90); do : > file$i; done").await;
    assert_eq!(process["status"], "finished", "{process}");
    let (process, _) = end_of(&fixture, "for i in $(seq 20); do : > other$i; done; sleep 1000").await;
    assert_eq!(killed_for(&process), "quota");
}
