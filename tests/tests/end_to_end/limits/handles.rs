//! Limits of handles of files that are open.

use serde_json::{Value, json};
use wharf::{Code, Context};
use wharf_tests::{Fixture, Setup, context, found, until_async};

use super::assert_ended_by;

async fn hold(fixture: &Fixture, context: &Context, handles: u64) -> Result<Value, wharf::Error> {
    let arguments = json!({"path": "/workspace/file", "handles": handles});
    fixture.call_in(context, "hostile__hold_files", arguments).await.map(|answer| found(Ok(answer)))
}

async fn with_files(limit: &str, tenants: &[&str]) -> Fixture {
    let fixture = Setup::new().workspace("").host_limit(limit, 20).open().await;
    for tenant in tenants {
        let context = context(tenant, "test");
        fixture.call_in(&context, "hostile__ask_workspace", json!({"function": "create"})).await.expect("made");
        let written = fixture.call_in(&context, "hostile__write_file", json!({"path": "/workspace/file"})).await;
        assert_eq!(found(written)["reached"], true);
    }
    fixture
}

#[tokio::test]
pub(super) async fn one_handle_of_a_session_too_many_ends_the_call() {
    let fixture = with_files("file_handles_per_session", &["local"]).await;
    let test = context("local", "test");
    assert_eq!(hold(&fixture, &test, 15).await.expect("what is allowed")["found"], 15);
    for tool in ["hold_files", "hold_listings"] {
        let path = if tool == "hold_files" { "/workspace/file" } else { "/workspace" };
        let held = fixture.call(&format!("hostile__{tool}"), json!({"path": path, "handles": 21})).await;
        assert_ended_by("file_handles_per_session", Code::Limit, held);
    }
    assert_eq!(hold(&fixture, &test, 15).await.expect("all were given back")["found"], 15);
}

#[tokio::test]
pub(super) async fn handles_of_one_tenant_leave_those_of_another_one() {
    let fixture = with_files("file_handles_per_tenant", &["local", "other"]).await;
    let test = context("local", "test");
    let arguments = json!({"path": "/workspace/file", "handles": 12, "milliseconds": 25_000});
    let begin = || fixture.start(&test, "hostile__hold_files", arguments.clone());
    let mut holding = begin();
    let refused = until_async("a second call of the tenant is refused", async || {
        // While both open files, either may be one too many.
        if holding.is_over() {
            holding = begin();
        }
        hold(&fixture, &test, 12).await.err()
    })
    .await;
    assert!(refused.message.contains("file_handles_per_tenant"), "{refused}");
    assert_eq!(hold(&fixture, &context("other", "test"), 12).await.expect("its own")["found"], 12);
    holding.drop_it().await;
    until_async("they are given back", async || hold(&fixture, &test, 12).await).await;
}

#[tokio::test]
pub(super) async fn one_handle_of_all_too_many_ends_the_call() {
    let fixture = with_files("file_handles", &["local"]).await;
    let test = context("local", "test");
    assert_eq!(hold(&fixture, &test, 15).await.expect("what is allowed")["found"], 15);
    let error = hold(&fixture, &test, 21).await.expect_err("one too many");
    assert!(error.code == Code::Limit && error.message.contains("`file_handles`"), "{error}");
}
