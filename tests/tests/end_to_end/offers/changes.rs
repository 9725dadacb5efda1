//! What plugins say has changed.

use serde_json::json;
use tokio::sync::broadcast::error::TryRecvError;
use wharf::{Code, OfferService, ToolService, offer::Change};
use wharf_tests::{Data, Setup, component, context};

use super::{attacker, offering, open};

#[tokio::test]
async fn a_change_reaches_whoever_listens_with_the_context_that_it_is_for() {
    let fixture = open().await;
    let mut changes = OfferService::changes(&fixture.host);
    let here = context("local", "here");
    for tool in ["test_trigger_prompt_change", "test_trigger_resource_change", "test_trigger_resource_update"] {
        fixture.call_in(&here, &format!("conformance__{tool}"), json!({})).await.expect("told");
    }
    let uri = "test://watched-resource".to_owned();
    for expected in [Change::Prompts, Change::Resources, Change::Resource { context: here, uri }] {
        assert_eq!(changes.try_recv(), Ok(expected));
    }
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[tokio::test]
async fn a_change_of_tools_is_one_of_the_list_of_tools() {
    let fixture = open().await;
    let mut changes = ToolService::changes(&fixture.host).expect("the list may change");
    assert!(!changes.has_changed().expect("the host lives"));
    fixture.call("conformance__test_trigger_tool_change", json!({})).await.expect("told");
    assert!(changes.has_changed().expect("the host lives"));
    changes.mark_unchanged();
    fixture.call("conformance__test_simple_text", json!({})).await.expect("an answer");
    assert!(!changes.has_changed().expect("the host lives"));
}

#[tokio::test]
async fn without_the_grant_nothing_is_told() {
    let setup = Setup::new().plugin("conformance", &component("guest-conformance"), "");
    let fixture = setup.open().await;
    let mut changes = OfferService::changes(&fixture.host);
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
    let mut changes = OfferService::changes(&fixture.host);
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
    let mut changes = OfferService::changes(&fixture.host);
    for _ in 0..300 {
        fixture.call("attack__updated", json!({"text": "attack://mine"})).await.expect("told");
    }
    assert_eq!(changes.try_recv(), Err(TryRecvError::Lagged(44)));
}
