//! Listing contents.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, id_of};

#[test]
fn pages_are_newest_first_and_say_truly_whether_there_is_more() {
    let agent = Agent::new();
    let ids: Vec<String> = (0..7).map(|number| agent.add(&format!("content {number}"))).collect();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut arguments = json!({ "limit": 3 });
        if let Some(after) = &after {
            arguments["after"] = json!(after);
        }
        let page = agent.ok("list_contents", &arguments);
        assert_eq!(page["total"], 7);
        let contents: Vec<String> = page["contents"].as_array().expect("contents").iter().map(id_of).collect();
        seen.extend(contents);
        assert_eq!(page["has_more"], json!(seen.len() < 7), "after {}", seen.len());
        if page["has_more"] == false {
            break;
        }
        after = seen.last().cloned();
    }
    let newest: Vec<String> = ids.into_iter().rev().collect();
    assert_eq!(seen, newest);
}

#[test]
fn a_full_last_page_has_nothing_more() {
    let agent = Agent::new();
    for _ in 0..4 {
        agent.add("words");
    }
    let page = agent.ok("list_contents", &json!({ "limit": 4 }));
    assert_eq!((&page["has_more"], page["contents"].as_array().map(Vec::len)), (&json!(false), Some(4)));
}

#[test]
fn a_page_goes_on_behind_a_content_that_was_deleted_meanwhile() {
    let agent = Agent::new();
    let ids: Vec<String> = (0..4).map(|number| agent.add(&format!("content {number}"))).collect();
    agent.ok("delete_content", &json!({ "content_id": ids[2] }));
    let page = agent.ok("list_contents", &json!({ "after": ids[2] }));
    let rest: Vec<Value> = page["contents"].as_array().expect("contents").clone();
    assert_eq!(rest.iter().map(id_of).collect::<Vec<_>>(), [ids[1].clone(), ids[0].clone()]);
}

#[test]
fn nothing_is_listed_as_nothing_and_an_expiry_is_named() {
    let agent = Agent::new();
    let (page, text) = agent.answer("list_contents", &json!({}));
    assert_eq!((&page["total"], &page["has_more"]), (&json!(0), &json!(false)));
    assert_eq!(text, "There is no content yet.");
    agent.add("words");
    agent.0.expire(wharf_sdk::Scope::Default);
    let (page, text) = agent.answer("list_contents", &json!({}));
    assert!(page["notice"].as_str().is_some_and(|notice| notice.contains("expired at")), "{page}");
    assert!(text.contains("expired at"), "{text}");
    assert!(agent.hits("words").is_empty());
}
