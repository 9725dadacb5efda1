//! Sessions, and where they go.

use serde_json::json;

use crate::{Agent, SHOP, TestAgent as _};

#[test]
fn an_address_opens_a_session_where_there_is_none_and_tells_where_it_led() {
    let agent = Agent::new();
    let (moved, text) = agent.answer("navigate", &json!({ "url": SHOP }));
    assert_eq!(
        (&moved["session"], &moved["http_status"], &moved["redirects"]),
        (&json!("page-1"), &json!(200), &json!(1))
    );
    assert!(
        text.starts_with("Loaded: HTTP 200, after 1 redirects\nPage: http://shop.test/ \"Shop \\\"A\\\"\""),
        "{text}"
    );
    // The next one uses it, too.
    assert_eq!(agent.ok("navigate", &json!({ "url": SHOP }))["session"], "page-1");
    let named = agent.ok("create_session", &json!({ "width": 800, "height": 600, "dialogs": "accept" }));
    assert_eq!(
        (&named["session"], &named["width"], &named["url"]),
        (&json!("page-2"), &json!(800), &json!("about:blank"))
    );
    let listed = agent.ok("list_sessions", &json!({}));
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(agent.ok("close_session", &json!({ "session": "page-2" }))["left"], 1);
    let closed = agent.refused("back", &json!({ "session": "page-2" }));
    assert!(closed.starts_with("gone") && closed.contains("(owner)") && closed.contains("create_session"), "{closed}");
}

#[test]
fn what_may_not_be_reached_is_told_and_leaves_no_session_that_nobody_knows_of() {
    let agent = Agent::new();
    let refused = agent.refused("navigate", &json!({ "url": "far.test" }));
    assert!(refused.starts_with("denied") && refused.contains("list_sessions"), "{refused}");
    assert_eq!(agent.ok("list_sessions", &json!({}))["sessions"], json!([]));
    let (listed, text) = agent.answer("list_sessions", &json!({}));
    assert_eq!((&listed["rules"]["origins"], &listed["rules"]["maximum"]), (&json!(["*"]), &json!(4)));
    assert!(text.contains("Pages may reach *, no private addresses"), "{text}");
    let none = agent.refused("get_snapshot", &json!({}));
    assert!(none.starts_with("not-found") && none.contains("navigate opens one"), "{none}");
}

#[test]
fn an_address_that_is_a_download_says_so_and_where_the_file_is() {
    let agent = Agent::at_the_shop();
    let (moved, text) = agent.answer("navigate", &json!({ "url": "http://file.test/a.csv" }));
    assert_eq!((&moved["download"], &moved["url"]), (&json!(true), &json!(SHOP)));
    assert!(text.contains("12 bytes, in the workspace as \"downloads/a.csv\""), "{text}");
    let (listed, text) = agent.answer("list_downloads", &json!({ "wait_seconds": 5 }));
    assert_eq!((&listed["entries"][0]["name"], &listed["next_after"]), (&json!("a.csv"), &json!(1)));
    assert!(text.contains("1 Downloaded \"a.csv\""), "{text}");
    let none = agent.ok("list_downloads", &json!({ "after": 1, "wait_seconds": 1 }));
    assert_eq!(none["entries"], json!([]));
}

#[test]
fn history_and_snapshots_come_in_one_step() {
    let agent = Agent::at_the_shop();
    let (moved, text) = agent.answer("back", &json!({ "snapshot": true }));
    assert_eq!((&moved["url"], &moved["http_status"]), (&json!("http://shop.test/old"), &json!(304)));
    assert!(moved["snapshot"].as_str().is_some_and(|shown| shown.contains("[ref=k3e7]")), "{moved}");
    assert!(text.contains("get_snapshot with cursor k3t1.69"), "{text}");
    assert_eq!(agent.ok("forward", &json!({}))["download"], false);
    assert_eq!(agent.ok("reload", &json!({}))["status"], "ready");
}

#[test]
fn an_owner_sees_nothing_of_the_pages_of_another() {
    let agent = Agent::at_the_shop();
    let other = Agent(agent.0.clone().session("other"));
    assert_eq!(other.ok("list_sessions", &json!({}))["sessions"], json!([]));
    let refused = other.refused("get_snapshot", &json!({ "session": "page-1" }));
    assert!(refused.starts_with("not-found") && refused.contains("list_sessions"), "{refused}");
}
