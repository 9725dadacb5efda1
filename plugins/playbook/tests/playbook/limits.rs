//! What is too much.

use serde_json::{Value, json};
use wharf_playbook::WharfPlugin;

use crate::{Agent, TestAgent as _, accepts, report, step};

/// Where a text stands in what create_playbook takes, how an error calls it,
/// and how many characters it may have.
const TEXTS: [(&str, &str, usize); 8] = [
    ("/goal", "goal", 1_000),
    ("/initialCommand", "initialCommand", 2_000),
    ("/workflow/0/description", "workflow[0].description", 2_000),
    ("/workflow/0/action/toolName", "workflow[0].action.toolName", 128),
    ("/workflow/0/action/purpose", "workflow[0].action.purpose", 1_000),
    ("/workflow/1/requiredData/1", "workflow[1].requiredData[1]", 500),
    ("/successCriteria/description", "successCriteria.description", 2_000),
    ("/successCriteria/requiredArtifacts/0", "successCriteria.requiredArtifacts[0]", 500),
];

fn with(pointer: &str, value: Value) -> Value {
    let mut playbook = report();
    *playbook.pointer_mut(pointer).expect("the report has the field") = value;
    playbook
}

#[test]
fn a_text_has_as_many_characters_as_it_may_and_not_one_more() {
    let agent = Agent::new();
    for (pointer, field, longest) in TEXTS {
        agent.create(&with(pointer, json!("가".repeat(longest))));
        let longer = with(pointer, json!("가".repeat(longest + 1)));
        assert!(!accepts("create_playbook", &longer), "the schema lets a longer `{field}` through");
        let refusal = agent.refused("create_playbook", &longer);
        assert_eq!(refusal, format!("invalid: `{field}` has {} characters; at most {longest} are kept", longest + 1));
    }
}

#[test]
fn a_text_that_says_nothing_is_refused_where_one_is_needed() {
    let agent = Agent::new();
    for (pointer, field, longest) in TEXTS {
        let refused = agent.0.run::<WharfPlugin>("create_playbook", &with(pointer, json!(" \n")));
        match field {
            "initialCommand" => assert!(!refused.is_error),
            "successCriteria.description" => assert!(refused.as_text().contains("erases the criteria, and yet")),
            _ => assert_eq!(
                refused.as_text(),
                format!("invalid: `{field}` is empty; it needs 1 to {longest} characters")
            ),
        }
    }
}

#[test]
fn a_list_has_as_many_entries_as_it_may_and_not_one_more() {
    let agent = Agent::new();
    for (pointer, field) in [
        ("/workflow/1/requiredData", "workflow[1].requiredData"),
        ("/successCriteria/requiredArtifacts", "successCriteria.requiredArtifacts"),
    ] {
        agent.create(&with(pointer, json!(vec!["x"; 20])));
        let longer = with(pointer, json!(vec!["x"; 21]));
        assert!(!accepts("create_playbook", &longer), "{field}");
        let refusal = agent.refused("create_playbook", &longer);
        assert_eq!(refusal, format!("invalid: `{field}` has 21 entries; at most 20 are kept"));
    }
}

#[test]
fn an_output_is_bounded_where_it_is_handed_in_and_not_where_it_stands_in_for_a_name() {
    let agent = Agent::new();
    let id = agent.report();
    agent.ok("select_playbook", &json!({ "id": id }));
    agent.ok("complete_step", &json!({ "stepId": "step-1", "output": "가".repeat(4_000) }));
    for (tool, arguments, field) in [
        ("complete_step", json!({ "stepId": "step-1", "output": "x".repeat(4_001) }), "output"),
        ("complete_step", json!({ "stepId": "x".repeat(65) }), "stepId"),
        ("get_playbook", json!({ "id": "x".repeat(65) }), "id"),
    ] {
        assert!(!accepts(tool, &arguments), "{tool}");
        let refusal = agent.refused(tool, &arguments);
        assert!(refusal.starts_with(&format!("invalid: `{field}` has ")), "{refusal}");
    }
}

#[test]
fn a_playbook_that_is_too_large_in_all_says_so() {
    let agent = Agent::new();
    let workflow: Value = (0..50).map(|_| step(&"가".repeat(2_000))).collect();
    let refusal = agent.refused("create_playbook", &json!({ "goal": "g", "workflow": workflow }));
    assert!(refusal.starts_with("limit: this playbook would take "), "{refusal}");
    assert!(refusal.contains("at most 65536 are kept"), "{refusal}");
}

#[test]
fn five_hundred_playbooks_fit_and_another_one_says_what_makes_room() {
    let agent = Agent::new();
    let playbook = json!({ "goal": "g", "workflow": [step("a")] });
    let ids: Vec<Value> = (0..500).map(|_| agent.create(&playbook)["id"].clone()).collect();
    let refusal = agent.refused("create_playbook", &playbook);
    assert!(refusal.starts_with("limit: there are 500 playbooks") && refusal.contains("delete_playbook"), "{refusal}");
    Agent(agent.0.clone().assistant("other")).create(&playbook);
    agent.ok("delete_playbook", &json!({ "id": ids[7] }));
    agent.create(&playbook);
    assert_eq!(agent.ok("list_playbooks", &json!({}))["total"], 500);
}

/// Bytes of an answer, text and structure.
fn size(agent: &Agent, tool: &str, arguments: &Value) -> usize {
    let answer = agent.0.run::<WharfPlugin>(tool, arguments);
    answer.as_text().len() + answer.structured.map_or(0, |structured| structured.len())
}

#[test]
fn the_largest_answers_stay_below_what_a_call_may_answer() {
    let agent = Agent::new();
    // One output, as large as it gets as JSON, in a hundred places of the next step and of others.
    let mut workflow = vec![step("begin")];
    workflow[0]["outputVariable"] = json!("x");
    workflow.push(step(&"{{x}}".repeat(100)));
    workflow.extend((0..12).map(|_| step(&"\u{1}".repeat(700))));
    let playbook = json!({ "goal": "g", "workflow": workflow });
    let ids: Vec<Value> = (0..10).map(|_| agent.create(&playbook)["id"].clone()).collect();
    let largest = size(&agent, "get_playbook_page", &json!({ "page": 1 }));
    assert!((500_000..1_000_000).contains(&largest), "{largest}");

    agent.ok("select_playbook", &json!({ "id": ids[0] }));
    let output = "\u{1}".repeat(4_000);
    let mut completed = 0;
    for number in 1..=14 {
        let arguments = json!({ "stepId": format!("step-{number}"), "output": output });
        let answer = agent.0.run::<WharfPlugin>("complete_step", &arguments);
        if answer.is_error {
            assert!(answer.as_text().starts_with("limit: the outputs of this thread's steps"), "{}", answer.as_text());
            break;
        }
        completed += 1;
        if number == 1 {
            let after_one = size(&agent, "complete_step", &arguments);
            assert!((100_000..1_000_000).contains(&after_one), "{after_one}");
        }
        let largest = size(&agent, "get_active_playbook", &json!({}));
        assert!((100_000..1_000_000).contains(&largest), "{largest}");
    }
    assert_eq!(completed, 5, "128 KiB of outputs fit");
    agent.ok("select_playbook", &json!({ "id": ids[0] }));
    assert_eq!(agent.active()["stepsDone"], json!([]));
}
