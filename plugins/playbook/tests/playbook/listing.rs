//! Pages of playbooks.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, step};

fn numbered(count: usize) -> Agent {
    let agent = Agent::new();
    for number in 1..=count {
        agent.create(&json!({ "goal": format!("goal {number}"), "workflow": [step("work")] }));
    }
    agent
}

fn goals(page: &Value) -> Vec<&str> {
    page["playbooks"].as_array().into_iter().flatten().filter_map(|playbook| playbook["goal"].as_str()).collect()
}

#[test]
fn pages_are_newest_first_with_true_totals_and_an_end() {
    let agent = numbered(5);
    let page = |page: u32| agent.ok("list_playbooks", &json!({ "page": page, "pageSize": 2 }));
    for (number, expected, has_more) in
        [(1, vec!["goal 5", "goal 4"], true), (2, vec!["goal 3", "goal 2"], true), (3, vec!["goal 1"], false)]
    {
        let page = page(number);
        assert_eq!((goals(&page), &page["hasMore"]), (expected, &json!(has_more)));
        assert_eq!((&page["total"], &page["totalPages"], &page["page"]), (&json!(5), &json!(3), &json!(number)));
    }
    let (beyond, text) = agent.answer("list_playbooks", &json!({ "page": 4, "pageSize": 2 }));
    assert_eq!((goals(&beyond), &beyond["hasMore"], &beyond["total"]), (vec![], &json!(false), &json!(5)));
    assert_eq!(text, "Page 4 is empty: 5 playbooks fill 3 pages.");
}

#[test]
fn a_full_last_page_has_no_more_and_totals_follow_deletions() {
    let agent = numbered(4);
    let arguments = json!({ "page": 2, "pageSize": 2 });
    assert_eq!(agent.ok("list_playbooks", &arguments)["hasMore"], false);
    let newest = agent.ok("list_playbooks", &json!({}))["playbooks"][0]["id"].clone();
    agent.ok("delete_playbook", &json!({ "id": newest }));
    let page = agent.ok("list_playbooks", &arguments);
    assert_eq!((goals(&page), &page["total"]), (vec!["goal 1"], &json!(3)));
}

#[test]
fn a_list_is_short_and_a_page_has_whole_playbooks() {
    let agent = Agent::new();
    let id = agent.report();
    let (list, text) = agent.answer("list_playbooks", &json!({}));
    assert_eq!((&list["playbooks"][0]["steps"], &list["pageSize"]), (&json!(3), &json!(20)));
    assert_eq!(list["playbooks"][0].get("workflow"), None);
    assert_eq!(text, format!("Page 1 of 1, 1 playbooks in all:\n{id}: A weekly report (3 steps)"));
    let page = agent.ok("get_playbook_page", &json!({ "page": 1 }));
    assert_eq!(page["playbooks"][0], agent.ok("get_playbook", &json!({ "id": id }))["playbook"]);
    assert_eq!(page["pageSize"], 10);
}

#[test]
fn an_empty_list_is_no_error() {
    let (list, text) = Agent::new().answer("list_playbooks", &json!({}));
    assert_eq!((&list["total"], &list["hasMore"], &list["playbooks"]), (&json!(0), &json!(false), &json!([])));
    assert_eq!(text, "There is no playbook yet.");
}

#[test]
fn pages_out_of_range_are_refused() {
    let agent = Agent::new();
    for (tool, arguments) in [
        ("list_playbooks", json!({ "page": 0 })),
        ("list_playbooks", json!({ "page": 501 })),
        ("list_playbooks", json!({ "pageSize": 0 })),
        ("list_playbooks", json!({ "pageSize": 51 })),
        ("get_playbook_page", json!({ "page": 0 })),
        ("get_playbook_page", json!({ "page": 1, "pageSize": 11 })),
        ("get_playbook_page", json!({})),
    ] {
        assert!(!crate::accepts(tool, &arguments), "the schema of {tool} lets {arguments} through");
        assert!(agent.refused(tool, &arguments).starts_with("invalid: "));
    }
}
