//! Whose a playbook is, and what anybody else is told.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, id_of, report};

/// Every tool that takes an id, with arguments that would do.
fn tools(id: &str) -> [(&'static str, Value); 4] {
    [
        ("get_playbook", json!({ "id": id })),
        ("select_playbook", json!({ "id": id })),
        ("update_playbook", json!({ "id": id, "playbook": { "goal": "stolen" } })),
        ("delete_playbook", json!({ "id": id })),
    ]
}

#[test]
fn every_tool_refuses_another_assistant_with_an_error_that_says_permission_denied() {
    let mine = Agent::new();
    let id = mine.report();
    let before = mine.ok("get_playbook", &json!({ "id": id }));
    let others = [
        Agent(mine.0.clone().assistant("other")),
        Agent(mine.0.clone().session("elsewhere").assistant("other")),
        // Called as the session is in which it was made.
        Agent(mine.0.clone().assistant("session")),
    ];
    for other in &others {
        for (tool, arguments) in tools(&id) {
            let refusal = other.refused(tool, &arguments);
            assert!(refusal.starts_with("denied: Permission denied: "), "{tool}: {refusal}");
            assert!(!refusal.contains("assistant") && !refusal.contains("weekly"), "{tool} tells too much: {refusal}");
        }
        assert_eq!(other.ok("list_playbooks", &json!({}))["total"], 0);
        assert_eq!(other.ok("get_playbook_page", &json!({ "page": 1 }))["total"], 0);
        assert_eq!(other.active(), json!(null));
        assert!(other.refused("complete_step", &json!({ "stepId": "step-1" })).starts_with("not-found: "));
    }
    assert_eq!(mine.ok("get_playbook", &json!({ "id": id })), before, "nobody changed it");
}

#[test]
fn a_playbook_is_reachable_from_all_sessions_of_its_assistant() {
    let here = Agent::new();
    let id = here.report();
    let there = Agent(here.0.clone().session("another").thread("another"));
    for (tool, arguments) in tools(&id) {
        there.ok(tool, &arguments);
    }
    assert!(here.refused("get_playbook", &json!({ "id": id })).starts_with("not-found: "));
}

#[test]
fn without_an_assistant_a_playbook_belongs_to_the_session() {
    let host = wharf_sdk::testing::TestCall::new();
    let here = Agent(host.clone().session("a"));
    let playbook = here.create(&report());
    assert_eq!((&playbook["agentId"], &playbook["ownedBy"]), (&json!("a"), &json!("session")));
    let id = id_of(&playbook);
    assert_eq!(Agent(here.0.clone().thread("t")).ok("get_playbook", &json!({ "id": id }))["playbook"], playbook);
    // Another session, an assistant within the session, and one that is called like it.
    for other in [host.clone().session("b"), here.0.clone().assistant("x"), here.0.clone().assistant("a")] {
        for (tool, arguments) in tools(&id) {
            let refusal = Agent(other.clone()).refused(tool, &arguments);
            assert!(refusal.starts_with("denied: Permission denied: "), "{tool}: {refusal}");
        }
    }
}

#[test]
fn the_owner_comes_from_the_call_and_cannot_be_changed() {
    let mine = Agent::new();
    let playbook = mine.create(&report());
    assert_eq!((&playbook["agentId"], &playbook["ownedBy"]), (&json!("assistant"), &json!("assistant")));
    let id = id_of(&playbook);
    for field in ["agentId", "ownedBy", "id", "createdAt"] {
        let mut update = json!({ "id": id, "playbook": { "goal": "new" } });
        update["playbook"][field] = json!("other");
        assert!(!crate::accepts("update_playbook", &update), "{field}");
        let refusal = mine.refused("update_playbook", &update);
        assert!(refusal.starts_with("invalid: ") && refusal.contains(field), "{refusal}");
        let mut create = report();
        create[field] = json!("other");
        assert!(!crate::accepts("create_playbook", &create), "{field}");
        mine.refused("create_playbook", &create);
    }
    assert_eq!(mine.ok("get_playbook", &json!({ "id": id }))["playbook"], playbook);
}

#[test]
fn an_id_that_was_never_given_is_not_found_and_names_no_other() {
    let mine = Agent::new();
    let id = mine.report();
    for unknown in ["pb_00000000000000000000000000000000", "1", "../owners", "playbook/x", "가"] {
        for (tool, arguments) in tools(unknown) {
            let refusal = Agent(mine.0.clone().assistant("other")).refused(tool, &arguments);
            assert_eq!(refusal, format!("not-found: there is no playbook `{unknown}`; list_playbooks shows yours"));
            assert!(!mine.refused(tool, &arguments).contains(&id));
        }
    }
}

#[test]
fn without_state_every_tool_says_what_is_missing() {
    let agent = Agent(Agent::new().0.without_state());
    assert_eq!(agent.refused("list_playbooks", &json!({})), "denied: state is not granted to this plugin");
    assert_eq!(agent.refused("create_playbook", &report()), "denied: state is not granted to this plugin");
}

#[test]
fn calls_of_many_assistants_at_the_same_time_lose_nothing_and_see_only_their_own() {
    let host = Agent::new();
    std::thread::scope(|scope| {
        for assistant in 0..4 {
            for _ in 0..4 {
                let agent = Agent(host.0.clone().assistant(format!("a{assistant}")));
                scope.spawn(move || (0..10).for_each(|_| drop(agent.report())));
            }
        }
    });
    for assistant in 0..4 {
        let agent = Agent(host.0.clone().assistant(format!("a{assistant}")));
        let page = agent.ok("list_playbooks", &json!({ "pageSize": 50 }));
        assert_eq!((&page["total"], page["playbooks"].as_array().map(Vec::len)), (&json!(40), Some(40)));
    }
}
