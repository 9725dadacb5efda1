//! A host that is killed between two writes leaves nothing that is half there.
//! Each test puts up what was written until then.

use serde_json::json;
use wharf_sdk::{Bucket, Call, Scope};

use crate::{Agent, TestAgent as _, report};

fn playbooks(call: &Call) -> Bucket<'_> {
    call.state(Scope::Assistant, "playbooks").expect("state is granted")
}

fn owners(call: &Call) -> Bucket<'_> {
    call.state(Scope::Plugin, "owners").expect("state is granted")
}

fn entries(bucket: &Bucket<'_>) -> u64 {
    bucket.usage().expect("usage").entries
}

/// The index alone: as after a kill within create, before the playbook was
/// written, and within delete, after it was removed.
fn only_the_index() -> (Agent, String) {
    let agent = Agent::new();
    let id = agent.report();
    let call = agent.0.call();
    let bucket = playbooks(&call);
    for key in ["catalog".to_owned(), format!("playbook/{id}")] {
        bucket.delete(&key).expect("it can be deleted");
    }
    (agent, id)
}

#[test]
fn an_index_that_leads_to_nothing_is_in_no_list_and_reads_as_gone() {
    let (agent, id) = only_the_index();
    assert_eq!(agent.ok("list_playbooks", &json!({}))["total"], 0);
    for tool in ["get_playbook", "select_playbook"] {
        assert!(agent.refused(tool, &json!({ "id": id })).starts_with("gone: "), "{tool}");
    }
    let update = json!({ "id": id, "playbook": { "goal": "new" } });
    assert!(agent.refused("update_playbook", &update).starts_with("gone: "));
    assert_eq!(agent.active(), json!(null));
    let other = Agent(agent.0.clone().assistant("other"));
    assert!(other.refused("get_playbook", &json!({ "id": id })).starts_with("denied: "));
    agent.report();
    assert_eq!(agent.ok("list_playbooks", &json!({}))["total"], 1);
}

#[test]
fn deleting_again_after_a_kill_clears_the_index_and_another_owner_cannot() {
    let (agent, id) = only_the_index();
    let call = agent.0.call();
    let other = Agent(agent.0.clone().assistant("other"));
    assert!(other.refused("delete_playbook", &json!({ "id": id })).starts_with("denied: "));
    assert_eq!(entries(&owners(&call)), 1);
    assert!(agent.refused("delete_playbook", &json!({ "id": id })).starts_with("gone: "));
    assert_eq!(entries(&owners(&call)), 0);
    assert!(agent.refused("delete_playbook", &json!({ "id": id })).starts_with("not-found: "));
}

#[test]
fn deleting_leaves_nothing_behind_but_the_empty_catalog() {
    let agent = Agent::new();
    let id = agent.report();
    let call = agent.0.call();
    assert_eq!((entries(&playbooks(&call)), entries(&owners(&call))), (2, 1));
    agent.ok("delete_playbook", &json!({ "id": id }));
    assert_eq!((entries(&playbooks(&call)), entries(&owners(&call))), (1, 0));
}

#[test]
fn a_playbook_that_is_refused_leaves_nothing_in_the_index() {
    let agent = Agent::new();
    let call = agent.0.call();
    agent.refused("create_playbook", &json!({ "goal": "x", "workflow": [] }));
    // The index is written, then the catalog turns out to be unreadable.
    playbooks(&call).put("catalog", "no JSON").expect("it can be written");
    assert!(agent.refused("create_playbook", &report()).starts_with("internal: "));
    assert_eq!((entries(&playbooks(&call)), entries(&owners(&call))), (1, 0));
}

#[test]
fn a_playbook_of_a_newer_plugin_is_kept_and_one_that_is_broken_can_be_deleted() {
    let agent = Agent::new();
    let id = agent.report();
    let call = agent.0.call();
    let key = format!("playbook/{id}");
    playbooks(&call).put(&key, r#"{"version":2,"content":{}}"#).expect("it can be written");
    let refusal = agent.refused("get_playbook", &json!({ "id": id }));
    assert!(refusal.starts_with("unavailable: ") && refusal.contains("newer playbook plugin"), "{refusal}");
    playbooks(&call).put(&key, "broken").expect("it can be written");
    let other = agent.report();
    let (list, text) = agent.answer("list_playbooks", &json!({}));
    assert_eq!((&list["total"], list["playbooks"].as_array().map(Vec::len)), (&json!(2), Some(1)));
    assert_eq!((&list["playbooks"][0]["id"], &list["unreadable"][0]["id"]), (&json!(other), &json!(id)));
    assert!(text.contains(&format!("{id} cannot be read: ")) && text.contains("delete_playbook"), "{text}");
    assert_eq!(agent.ok("get_playbook_page", &json!({ "page": 1 }))["unreadable"][0]["id"], json!(id));
    agent.ok("delete_playbook", &json!({ "id": id }));
    agent.ok("delete_playbook", &json!({ "id": other }));
    assert_eq!(agent.ok("list_playbooks", &json!({}))["total"], 0);
}

#[test]
fn playbooks_of_a_session_that_expired_are_gone_and_the_list_says_so() {
    let agent = Agent(wharf_sdk::testing::TestCall::new().session("a"));
    let id = agent.report();
    agent.0.expire(Scope::Session);
    let (list, text) = agent.answer("list_playbooks", &json!({}));
    assert_eq!(list["total"], 0);
    assert!(text.contains("expired at 2026-01-01T00:00:00Z"), "{text}");
    assert!(agent.refused("get_playbook", &json!({ "id": id })).starts_with("gone: "));
    agent.refused("delete_playbook", &json!({ "id": id }));
    assert_eq!(entries(&owners(&agent.0.call())), 0);
}
