//! How full the files of a session may get, and what is told where they are.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, time::Duration};

use serde_json::{Value, json};
use wharf_tests::{Data, Fixture, Setup, context};

use super::{refusal, setup, told};

const LIMIT: u64 = 8 << 20;
const PIECE: u64 = 20_000_000;

fn limited() -> Setup {
    setup().process_limit("workspace_bytes", LIMIT)
}

/// What the files of all sessions take.
fn taken(data: &Data) -> u64 {
    fn below(directory: &Path) -> u64 {
        let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.expect("is there"));
        let sizes = entries.map(|entry| match entry.metadata().expect("is there") {
            metadata if metadata.is_dir() => below(&entry.path()),
            metadata => metadata.blocks() * 512,
        });
        sizes.sum()
    }
    below(&data.path().join("workspaces"))
}

fn fill(number: u64) -> Value {
    json!({"command": format!("head -c {PIECE} /dev/zero > big{number}")})
}

fn assert_names(limit: &str, whose: &str, refused: &str) {
    assert!(refused.starts_with("limit: "), "{refused}");
    assert!(refused.contains(&format!("`{limit}`")) && refused.contains(whose), "{refused}");
}

#[tokio::test]
async fn short_commands_one_after_the_other_stop_where_the_workspace_is_full() {
    let fixture = limited().open().await;
    let _first = fixture.call("workspace__execute_shell", fill(0)).await;
    for number in 1..5 {
        let refused = refusal(fixture.call("workspace__execute_shell", fill(number)).await);
        assert_names("workspace_bytes", "this session", &refused);
        assert!(refused.contains("wharf sessions"), "it says what to do: {refused}");
    }
    assert!(taken(&fixture.data) < 2 * PIECE, "{} bytes", taken(&fixture.data));
    // Another session has room of its own.
    let other = context("local", "other");
    let run = fixture.call_in(&other, "workspace__execute_shell", json!({"command": "true"})).await;
    assert_eq!(told(run).structured["exit_code"], 0);
}

#[tokio::test]
async fn short_commands_each_in_a_host_of_its_own_stop_where_the_workspace_is_full() {
    let mut fixture = limited().open().await;
    let _first = fixture.call("workspace__execute_shell", fill(0)).await;
    for number in 1..4 {
        let Fixture { host, data } = fixture;
        host.shut_down(Duration::from_secs(10)).await;
        drop(host);
        fixture = limited().open_in(data).await;
        let refused = refusal(fixture.call("workspace__execute_shell", fill(number)).await);
        assert_names("workspace_bytes", "this session", &refused);
    }
    assert!(taken(&fixture.data) < 2 * PIECE, "{} bytes", taken(&fixture.data));
}

#[tokio::test]
async fn a_tenant_that_holds_more_than_it_may_costs_no_other_tenant_anything() {
    let setup = setup().process_limit("workspace_total_bytes", 30 << 20);
    let fixture = setup.process_limit("workspace_total_bytes_per_tenant", 20 << 20).open().await;
    for number in 0..3 {
        let alice = context("alice", &format!("s{number}"));
        let _filled = fixture.call_in(&alice, "workspace__execute_shell", fill(number)).await;
    }
    let refused = fixture.call_in(&context("alice", "s0"), "workspace__execute_shell", fill(9)).await;
    assert_names("workspace_total_bytes_per_tenant", "this tenant", &refusal(refused));
    let bob = context("bob", "s");
    // Long enough to be measured more than once.
    let slept = fixture.call_in(&bob, "workspace__execute_shell", json!({"command": "sleep 3; echo > little"})).await;
    assert_eq!(told(slept).structured["exit_code"], 0);
    let small = json!({"path": "file", "content": "x".repeat(100_000)});
    told(fixture.call_in(&bob, "workspace__write_file", small).await);
}

#[tokio::test]
async fn a_write_that_does_not_fit_is_told_with_its_limit_and_whose_it_is() {
    let piece = |name: &str| json!({"path": name, "content": "x".repeat(3_000_000)});
    let fixture = limited().open().await;
    for name in ["f0", "f1"] {
        told(fixture.call("workspace__write_file", piece(name)).await);
    }
    for name in ["f2", "f3"] {
        let refused = refusal(fixture.call("workspace__write_file", piece(name)).await);
        assert_names("workspace_bytes", "this session", &refused);
        assert!(refused.contains(name), "what was tried: {refused}");
    }
    // What is over already takes not even an entry.
    told(fixture.call("workspace__execute_shell", fill(0)).await);
    refusal(fixture.call("workspace__execute_shell", fill(1)).await);
    let refused = refusal(fixture.call("workspace__write_file", json!({"path": "f4", "content": "x"})).await);
    assert_names("workspace_bytes", "this session", &refused);

    let fixture = setup().process_limit("workspace_total_bytes_per_tenant", LIMIT).open().await;
    for session in ["a", "b"] {
        told(fixture.call_in(&context("local", session), "workspace__write_file", piece("f")).await);
    }
    let refused = refusal(fixture.call_in(&context("local", "c"), "workspace__write_file", piece("f")).await);
    assert_names("workspace_total_bytes_per_tenant", "this tenant", &refused);
}
