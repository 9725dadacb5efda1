//! Which workflows are legal.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, step};

fn with(mut step: Value, field: &str, value: &str) -> Value {
    step[field] = json!(value);
    step
}

fn create(workflow: &Value) -> Value {
    Agent::new().create(&json!({ "goal": "g", "workflow": workflow }))["workflow"].clone()
}

#[track_caller]
fn refused(workflow: &Value, expected: &str) {
    let agent = Agent::new();
    let refusal = agent.refused("create_playbook", &json!({ "goal": "g", "workflow": workflow }));
    assert_eq!(refusal, format!("invalid: {expected}"));
    assert_eq!(agent.ok("list_playbooks", &json!({}))["total"], 0);
    // An update is checked as well.
    let id = agent.report();
    let update = json!({ "id": id, "playbook": { "workflow": workflow } });
    assert_eq!(agent.refused("update_playbook", &update), format!("invalid: {expected}"));
}

fn ids(workflow: &Value) -> Vec<&str> {
    workflow.as_array().into_iter().flatten().filter_map(|step| step["stepId"].as_str()).collect()
}

#[test]
fn steps_without_an_id_get_one_that_no_other_step_has() {
    assert_eq!(ids(&create(&json!([step("a"), step("b")]))), ["step-1", "step-2"]);
    let given = json!([step("a"), with(step("b"), "stepId", "step-2"), step("c")]);
    assert_eq!(ids(&create(&given)), ["step-1", "step-2", "step-3"]);
}

#[test]
fn an_id_of_a_step_is_never_given_to_another_one() {
    let agent = Agent::new();
    let id = agent.report();
    let change = |workflow: Value| {
        let changed = agent.ok("update_playbook", &json!({ "id": id, "playbook": { "workflow": workflow } }));
        changed["playbook"]["workflow"].clone()
    };
    assert_eq!(ids(&change(json!([step("new"), with(step("kept"), "stepId", "step-2")]))), ["step-3", "step-2"]);
    assert_eq!(ids(&change(json!([step("newer")]))), ["step-4"]);
}

#[test]
fn a_step_keeps_all_its_fields() {
    let step = json!({
        "stepId": "a", "description": "d", "action": { "toolName": "t", "purpose": "p" }, "requiredData": ["x"],
        "outputVariable": "o",
    });
    assert_eq!(create(&json!([step])), json!([step]));
}

#[test]
fn step_ids_are_legal_and_occur_once() {
    let twice = json!([with(step("a"), "stepId", "x"), step("b"), with(step("c"), "stepId", "x")]);
    refused(&twice, "`workflow[2].stepId` is `x`, as that of an earlier step; every step needs its own");
    for illegal in ["", "a b", "가", &"x".repeat(65)] {
        let message = "`workflow[0].stepId` is no legal id: it needs 1 to 64 of letters, digits, `.`, `_` and `-`";
        refused(&json!([with(step("a"), "stepId", illegal)]), message);
    }
}

#[test]
fn outputs_have_legal_names_that_occur_once() {
    let twice = json!([with(step("a"), "outputVariable", "x"), with(step("b"), "outputVariable", "x")]);
    refused(&twice, "`workflow[1].outputVariable` is `x`, as that of an earlier step; every output needs its own name");
    for illegal in ["", "1", "a-b", "{{a}}", "a b", &"x".repeat(65)] {
        refused(
            &json!([with(step("a"), "outputVariable", illegal)]),
            "`workflow[0].outputVariable` is no legal name: it needs a letter or `_`, then letters, digits and `_`, 64 \
             in all at most, without braces",
        );
    }
}

#[test]
fn a_reference_to_what_no_earlier_step_yields_is_refused_wherever_it_stands() {
    refused(
        &json!([step("use {{x}}")]),
        "`workflow[0].description` refers to {{x}}, which no step yields; earlier steps yield: nothing",
    );
    refused(
        &json!([with(step("a"), "outputVariable", "x"), step("use {{ X }}")]),
        "`workflow[1].description` refers to {{X}}, which no step yields; earlier steps yield: x",
    );
    refused(
        &json!([step("use {{x}}"), with(with(step("b"), "stepId", "late"), "outputVariable", "x")]),
        "`workflow[0].description` refers to {{x}}, which step `late` yields, which does not come earlier; earlier \
         steps yield: nothing",
    );
    refused(
        &json!([with(with(step("{{x}}"), "stepId", "self"), "outputVariable", "x")]),
        "`workflow[0].description` refers to {{x}}, which step `self` yields, which does not come earlier; earlier \
         steps yield: nothing",
    );
    let mut purpose = step("a");
    purpose["action"]["purpose"] = json!("for {{user-name}}");
    refused(
        &json!([purpose]),
        "`workflow[0].action.purpose` refers to {{user-name}}, which no step yields; earlier steps yield: nothing",
    );
    let mut data = step("a");
    data["requiredData"] = json!(["fine", "{{y}}"]);
    refused(
        &json!([data]),
        "`workflow[0].requiredData[1]` refers to {{y}}, which no step yields; earlier steps yield: nothing",
    );
}

#[test]
fn braces_that_are_no_reference_are_text() {
    let text = "send {\"a\": {}} as {{\"b\": 1}} or {{}} or {{ two words }}";
    assert_eq!(create(&json!([step(text)]))[0]["description"], text);
}

#[test]
fn a_workflow_has_at_least_one_step_and_at_most_fifty() {
    refused(&json!([]), "`workflow` is empty; it needs at least one step");
    let steps = |count: usize| (0..count).map(|_| step("a")).collect::<Value>();
    assert_eq!(create(&steps(50)).as_array().map(Vec::len), Some(50));
    refused(&steps(51), "`workflow` has 51 entries; at most 50 are kept");
}

#[test]
fn a_workflow_has_at_most_a_hundred_references() {
    let workflow = |count: usize| json!([with(step("a"), "outputVariable", "x"), step(&"{{x}}".repeat(count))]);
    create(&workflow(100));
    refused(&workflow(101), "`workflow` has 101 references in double braces; at most 100 are resolved");
}
