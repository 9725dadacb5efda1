//! Making, changing and removing playbooks.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, id_of, report, step};

#[test]
fn a_playbook_is_answered_and_kept_with_all_its_fields() {
    let agent = Agent::new();
    let mut playbook = agent.create(&report());
    let id = id_of(&playbook);
    assert_eq!(agent.ok("get_playbook", &json!({ "id": id }))["playbook"], playbook);
    assert!(id.starts_with("pb_") && id.len() == 35, "{id}");
    assert_eq!(playbook["createdAt"], playbook["updatedAt"]);
    let created = playbook["createdAt"].as_str().expect("a time");
    assert!(created.len() == 24 && created.starts_with("20") && created.ends_with('Z'), "{created}");
    let mut expected = report();
    for (index, step) in ["step-1", "step-2"].into_iter().enumerate() {
        expected["workflow"][index]["stepId"] = json!(step);
    }
    for index in [0, 2] {
        expected["workflow"][index]["requiredData"] = json!([]);
    }
    for field in ["id", "agentId", "ownedBy", "createdAt", "updatedAt"] {
        playbook.as_object_mut().expect("an object").remove(field).expect("the field is there");
    }
    assert_eq!(playbook, expected);
}

#[test]
fn only_goal_and_workflow_are_needed() {
    let playbook = Agent::new().create(&json!({ "goal": "g", "workflow": [step("a")] }));
    assert_eq!((playbook.get("initialCommand"), playbook.get("successCriteria")), (None, None));
}

#[test]
fn an_update_replaces_what_is_given_and_keeps_the_rest() {
    let agent = Agent::new();
    let before = agent.create(&report());
    let id = id_of(&before);
    let update =
        |change: Value| agent.ok("update_playbook", &json!({ "id": id, "playbook": change }))["playbook"].clone();
    let after = update(json!({ "goal": "A monthly report" }));
    assert_eq!(after["goal"], "A monthly report");
    for field in ["id", "agentId", "ownedBy", "createdAt", "workflow", "initialCommand", "successCriteria"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert!(after["updatedAt"].as_str() >= before["updatedAt"].as_str());
    assert_eq!(update(json!({ "initialCommand": "" })).get("initialCommand"), None);
    assert_eq!(update(json!({ "successCriteria": { "description": "" } })).get("successCriteria"), None);
    let criteria = json!({ "description": "d", "requiredArtifacts": [] });
    assert_eq!(update(json!({ "successCriteria": criteria }))["successCriteria"], criteria);
    assert_eq!(update(json!({ "workflow": [step("only")] }))["workflow"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_update_of_nothing_is_refused() {
    let agent = Agent::new();
    let id = agent.report();
    let refusal = agent.refused("update_playbook", &json!({ "id": id, "playbook": {} }));
    assert!(refusal.starts_with("invalid: `playbook` changes nothing"), "{refusal}");
}

#[test]
fn an_update_that_is_refused_changes_nothing() {
    let agent = Agent::new();
    let id = agent.report();
    let before = agent.ok("get_playbook", &json!({ "id": id }));
    let change = json!({ "goal": "new", "workflow": [step("{{nothing}}")] });
    agent.refused("update_playbook", &json!({ "id": id, "playbook": change }));
    assert_eq!(agent.ok("get_playbook", &json!({ "id": id })), before);
}

#[test]
fn a_deleted_playbook_is_gone_for_every_tool() {
    let agent = Agent::new();
    let (id, other) = (agent.report(), agent.report());
    assert_eq!(agent.ok("delete_playbook", &json!({ "id": id })), json!({ "deletedId": id }));
    for tool in ["get_playbook", "select_playbook", "delete_playbook"] {
        assert!(agent.refused(tool, &json!({ "id": id })).starts_with("not-found: "), "{tool}");
    }
    let list = agent.ok("list_playbooks", &json!({}));
    assert_eq!((&list["total"], &list["playbooks"][0]["id"]), (&json!(1), &json!(other)));
}

#[test]
fn updates_at_the_same_time_lose_nothing() {
    let agent = Agent::new();
    let id = agent.report();
    std::thread::scope(|scope| {
        for change in [json!({ "goal": "new goal" }), json!({ "initialCommand": "new command" })] {
            let (agent, id) = (&agent, &id);
            scope.spawn(move || agent.ok("update_playbook", &json!({ "id": id, "playbook": change })));
        }
    });
    let playbook = agent.ok("get_playbook", &json!({ "id": id }))["playbook"].clone();
    assert_eq!((&playbook["goal"], &playbook["initialCommand"]), (&json!("new goal"), &json!("new command")));
}
