//! Limits of workspaces and exchange folders, which stand in the table of processes.

use serde_json::{Value, json};
use wharf_tests::{Data, Fixture, Setup, context, found};

use super::process::limited;

/// Asks for the workspace of a session, and says why it was not made.
async fn workspace(fixture: &Fixture, tenant: &str, session: &str) -> Result<(), Value> {
    let asked = json!({"function": "create"});
    let mut made = found(fixture.call_in(&context(tenant, session), "hostile__ask_workspace", asked).await);
    if made["ok"].is_object() { Ok(()) } else { Err(made["refused"].take()) }
}

/// Whether so many bytes were written to a new file of a session.
async fn writes(fixture: &Fixture, tenant: &str, session: &str, path: &str, bytes: u64) -> bool {
    let arguments = json!({"path": path, "bytes": bytes});
    found(fixture.call_in(&context(tenant, session), "hostile__write_much", arguments).await)["reached"] == true
}

#[tokio::test]
pub(super) async fn one_byte_of_all_workspaces_of_a_tenant_too_many_is_not_written() {
    let fixture = limited("workspace_total_bytes_per_tenant", 4 << 20).open().await;
    for (tenant, session) in [("local", "a"), ("local", "b"), ("other", "a")] {
        workspace(&fixture, tenant, session).await.expect("made");
    }
    assert!(writes(&fixture, "local", "a", "/workspace/file", 3 << 20).await);
    assert!(!writes(&fixture, "local", "b", "/workspace/file", 3 << 20).await);
    assert!(writes(&fixture, "other", "a", "/workspace/file", 3 << 20).await, "another tenant has room of its own");
}

#[tokio::test]
pub(super) async fn one_byte_of_all_workspaces_too_many_is_not_written() {
    let fixture = limited("workspace_total_bytes", 4 << 20).open().await;
    for tenant in ["local", "other"] {
        workspace(&fixture, tenant, "a").await.expect("made");
    }
    assert!(writes(&fixture, "local", "a", "/workspace/file", 3 << 20).await);
    assert!(!writes(&fixture, "other", "a", "/workspace/file", 3 << 20).await);
}

/// How many of so many directories were made.
async fn directories(fixture: &Fixture, tenant: &str, session: &str, number: u64) -> usize {
    workspace(fixture, tenant, session).await.expect("made");
    let mut made = 0;
    for number in 0..number {
        let arguments = json!({"path": format!("/workspace/d{number}")});
        let report = fixture.call_in(&context(tenant, session), "hostile__make_directory", arguments).await;
        made += usize::from(found(report)["reached"] == true);
    }
    made
}

// The temporary directory of each home is one more.
#[tokio::test]
pub(super) async fn one_directory_of_all_workspaces_of_a_tenant_too_many_is_not_made() {
    let fixture = limited("workspace_total_entries_per_tenant", 20).open().await;
    assert_eq!(directories(&fixture, "local", "a", 12).await, 12);
    assert!(matches!(directories(&fixture, "local", "b", 12).await, 6..=8));
    assert_eq!(directories(&fixture, "other", "a", 12).await, 12, "another tenant has room of its own");
}

#[tokio::test]
pub(super) async fn one_directory_of_all_workspaces_too_many_is_not_made() {
    let fixture = limited("workspace_total_entries", 20).open().await;
    assert_eq!(directories(&fixture, "local", "a", 12).await, 12);
    assert!(matches!(directories(&fixture, "other", "a", 12).await, 6..=8));
}

async fn refused_by(limit: &str, fixture: &Fixture, tenant: &str, session: &str) {
    let refusal = workspace(fixture, tenant, session).await.expect_err("one too many");
    assert_eq!(refusal["code"], "limit", "{refusal}");
    let told = refusal["message"].as_str().expect("a text");
    assert!(told.contains(&format!("`{limit}`")) && told.contains("wharf sessions"), "{told}");
}

#[tokio::test]
pub(super) async fn one_workspace_of_a_tenant_too_many_is_not_made() {
    let fixture = limited("workspaces_per_tenant", 2).open().await;
    for (tenant, session) in [("local", "a"), ("local", "b"), ("other", "a")] {
        workspace(&fixture, tenant, session).await.expect("made");
    }
    refused_by("workspaces_per_tenant", &fixture, "local", "c").await;
    // A process needs one as well.
    let started = fixture.call_in(&context("local", "d"), "hostile__start_process", json!({"shell": "true"})).await;
    assert_eq!(found(started)["refused"]["code"], "limit");
    workspace(&fixture, "local", "a").await.expect("one that is there is found");
    assert_eq!(fixture.data.workspaces(), 3);
}

#[tokio::test]
pub(super) async fn one_workspace_of_all_too_many_is_not_made() {
    let fixture = limited("workspaces", 2).open().await;
    for tenant in ["local", "other"] {
        workspace(&fixture, tenant, "a").await.expect("made");
    }
    refused_by("workspaces", &fixture, "third", "a").await;
}

#[tokio::test]
pub(super) async fn an_exchange_folder_of_too_many_bytes_takes_no_more() {
    let folder = Data::alone();
    folder.write("there", vec![1; 300_000]);
    let grant = format!("exchange = [{{name = \"out\", path = \"{}\", access = \"write\"}}]", folder.path().display());
    let setup = Setup::new().workspace(&grant).process_limit("exchange_bytes", 1 << 20);
    let fixture = setup.open().await;
    assert!(writes(&fixture, "local", "a", "/exchange/out/first", 500_000).await);
    assert!(!writes(&fixture, "local", "a", "/exchange/out/second", 500_000).await);
    assert!(!writes(&fixture, "other", "b", "/exchange/out/third", 500_000).await, "all share the folder");
    workspace(&fixture, "local", "a").await.expect("made");
    assert!(writes(&fixture, "local", "a", "/workspace/file", 500_000).await, "the workspace has room of its own");
    let held: u64 = std::fs::read_dir(folder.path())
        .expect("is there")
        .map(|entry| entry.and_then(|entry| entry.metadata()).expect("is there").len())
        .sum();
    assert!(held <= 1 << 20, "{held} bytes");
}

#[tokio::test]
pub(super) async fn an_exchange_folder_of_too_many_files_takes_no_more() {
    let (folder, fixture) = with_folder("exchange_entries", 3).await;
    folder.write("there", "the operator's");
    for (tool, path) in [("make_directory", "one"), ("write_file", "one/two")] {
        assert!(changes(&fixture, "local", tool, path).await, "{path}");
    }
    for tenant in ["local", "other"] {
        assert!(!changes(&fixture, tenant, "write_file", "three").await, "{tenant}: no tenant has room left");
    }
    assert!(changes(&fixture, "other", "remove_file", "there").await);
    assert!(changes(&fixture, "other", "write_file", "three").await, "there is room again");
}

/// A host with a folder for export, and that folder.
async fn with_folder(limit: &str, value: u64) -> (Data, Fixture) {
    let folder = Data::alone();
    let grant = format!("exchange = [{{name = \"out\", path = \"{}\", access = \"write\"}}]", folder.path().display());
    let fixture = Setup::new().workspace(&grant).process_limit(limit, value).open().await;
    (folder, fixture)
}

/// Whether a tool changed a path of a folder.
async fn changes(fixture: &Fixture, tenant: &str, tool: &str, path: &str) -> bool {
    let arguments = json!({"path": format!("/exchange/out/{path}")});
    let tool = format!("hostile__{tool}");
    found(fixture.call_in(&context(tenant, "a"), &tool, arguments).await)["reached"] == true
}

#[tokio::test]
pub(super) async fn one_tenant_that_fills_its_share_of_a_folder_leaves_room_for_another() {
    let (folder, fixture) = with_folder("exchange_bytes_per_tenant", 1 << 20).await;
    folder.write("there", vec![1; 900_000]);
    assert!(writes(&fixture, "local", "a", "/exchange/out/first", 600_000).await, "what was there is nobody's");
    assert!(!writes(&fixture, "local", "b", "/exchange/out/second", 600_000).await, "its sessions share it");
    assert!(writes(&fixture, "other", "b", "/exchange/out/third", 600_000).await, "another tenant has its own");
    // What was written of the second one is there, too.
    assert!(changes(&fixture, "local", "remove_file", "second").await);
    assert!(changes(&fixture, "other", "remove_file", "first").await, "another tenant removes it");
    assert!(writes(&fixture, "local", "a", "/exchange/out/first", 600_000).await, "there is room again");
    // A call that goes on hears the name of the limit.
    let going_on = json!({"path": "/exchange/out/more", "bytes": 600_000, "times": 1_000});
    let error = fixture.call("hostile__write_over", going_on).await.expect_err("it is stopped");
    assert!(error.code == wharf::Code::Limit && error.message.contains("`exchange_bytes_per_tenant`"), "{error}");
}

#[tokio::test]
pub(super) async fn one_tenant_makes_no_more_files_in_a_folder_than_its_share() {
    let (_folder, fixture) = with_folder("exchange_entries_per_tenant", 3).await;
    for (tool, path) in [("make_directory", "one"), ("write_file", "one/two"), ("write_file", "three")] {
        assert!(changes(&fixture, "local", tool, path).await, "{path}");
    }
    assert!(
        !changes(&fixture, "local", "write_file", "four").await
            && !changes(&fixture, "local", "make_directory", "four").await
    );
    assert!(changes(&fixture, "local", "write_file", "three").await, "it is there already");
    assert!(changes(&fixture, "other", "make_directory", "four").await, "another tenant has its own");
    assert!(changes(&fixture, "local", "remove_file", "three").await);
    assert!(changes(&fixture, "local", "write_file", "five").await, "there is room again");
}
