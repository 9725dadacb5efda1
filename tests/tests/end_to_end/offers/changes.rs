//! What plugins say has changed.

use serde_json::json;
use tokio::sync::broadcast::error::TryRecvError;
use wharf::{Code, OfferService, TenantId, ToolService, offer::Change, service::Audience};
use wharf_tests::{Data, Setup, component, context};

use super::{attacker, offering, open};

#[tokio::test]
async fn a_change_reaches_whoever_listens_with_the_context_that_it_is_for() {
    let fixture = open().await;
    let mut changes = OfferService::changes(&*fixture.host);
    let here = context("local", "here");
    for tool in ["test_trigger_prompt_change", "test_trigger_resource_change", "test_trigger_resource_update"] {
        fixture.call_in(&here, &format!("conformance__{tool}"), json!({})).await.expect("told");
    }
    let uri = "test://watched-resource".to_owned();
    let plugin = "conformance".parse().expect("legal");
    let reach = || Audience::of_call(&here, &plugin);
    for expected in [
        Change::Prompts(reach()),
        Change::Resources(reach()),
        Change::Resource { context: here.clone(), uri, plugin: plugin.clone() },
    ] {
        assert_eq!(changes.try_recv(), Ok(expected));
    }
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[tokio::test]
async fn a_plugin_says_of_its_tools_what_its_tenant_alone_hears() {
    let fixture = open().await;
    let (mut changes, lists) =
        (OfferService::changes(&*fixture.host), ToolService::changes(&*fixture.host, &TenantId::local()));
    let here = context("some", "here");
    fixture.call_in(&here, "conformance__test_trigger_tool_change", json!({})).await.expect("told");
    let reach = Audience::of_call(&here, &"conformance".parse().expect("legal"));
    assert_eq!(changes.try_recv(), Ok(Change::Tools(reach)));
    let changed = lists.expect("the list may change").has_changed();
    assert!(!changed.expect("the host lives"), "the list is the same for everybody");
}

#[tokio::test]
async fn without_the_grant_nothing_is_told() {
    let setup = Setup::new().plugin("conformance", &component("guest-conformance"), "");
    let fixture = setup.open().await;
    let mut changes = OfferService::changes(&*fixture.host);
    for tool in ["test_trigger_prompt_change", "test_trigger_resource_update"] {
        let answer = fixture.call(&format!("conformance__{tool}"), json!({})).await.expect("an answer");
        assert!(answer.is_error && answer.content[0].as_text().is_some_and(|text| text.starts_with("denied")));
    }
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[tokio::test]
async fn a_plugin_tells_changes_of_its_own_addresses_alone_and_not_more_than_it_may() {
    let files = Data::alone();
    let grant = "[plugin.attack.grants.events]\nreason = \"a test\"";
    let setup = offering().plugin("attack", &attacker(&files, "none"), grant).limit("events", 1);
    let fixture = setup.open().await;
    let mut changes = OfferService::changes(&*fixture.host);
    let updated = async |uri: &str| fixture.call("attack__updated", json!({"text": uri})).await;
    for uri in ["test://static-text", "", &format!("attack://{}", "x".repeat(2_048))] {
        assert_eq!(updated(uri).await.expect_err(uri).code, Code::Invalid);
    }
    let word = fixture.call("attack__changed", json!({"text": "roots"})).await.expect_err("no list");
    assert_eq!(word.code, Code::Invalid);
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
    updated("attack://mine").await.expect("told");
    assert!(matches!(changes.try_recv(), Ok(Change::Resource { .. })));
}

#[tokio::test]
async fn one_who_listens_too_slowly_is_told_what_was_lost() {
    let files = Data::alone();
    let grant = "[plugin.attack.grants.events]\nreason = \"a test\"";
    let fixture = Setup::new().plugin("attack", &attacker(&files, "none"), grant).open().await;
    let mut changes = OfferService::changes(&*fixture.host);
    for _ in 0..300 {
        fixture.call("attack__updated", json!({"text": "attack://mine"})).await.expect("told");
    }
    assert_eq!(changes.try_recv(), Err(TryRecvError::Lagged(44)));
}
