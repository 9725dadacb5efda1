//! What clients of each era get.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::{
    protocol::{legacy_call, message, modern, modern_call, request},
    support::start,
};

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn a_client_of_the_newer_era_lists_and_calls_without_a_session() {
    let served = start();
    let client = served.client.modern("server/discover", "");
    let found =
        message(&client.post("/mcp", request(1, "server/discover", &json!({"_meta": modern(json!({}))}))).await);
    assert_eq!(found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "wharf", "{found}");
    let client = served.client.modern("tools/list", "");
    let listed = client.post("/mcp", request(2, "tools/list", &json!({"_meta": modern(json!({}))}))).await;
    assert_eq!(listed.headers["content-type"], "application/json");
    assert!(!listed.headers.contains_key("mcp-session-id"));
    assert!(names(&message(&listed)).contains(&"test__echo"));
    let client = served.client.modern("tools/call", "test__echo");
    let call = modern_call(3, "test__echo", json!({"a": 1}), json!({"dev.wharf/sessionId": "mine"}));
    let called = client.post("/mcp", call).await;
    assert_eq!(called.headers["content-type"], "application/json");
    let shown = message(&called)["result"]["structuredContent"].clone();
    assert_eq!((&shown["arguments"], &shown["session"]), (&json!({"a": 1}), &json!("mine")), "{shown}");
}

#[tokio::test]
async fn a_client_of_the_older_era_has_a_session_until_it_ends_it() {
    let served = start();
    let client = served.client.legacy().await;
    let listed = message(&client.post("/mcp", request(1, "tools/list", &json!({}))).await);
    assert!(names(&listed).contains(&"test__echo"));
    let called = message(&client.post("/mcp", legacy_call(2, "test__echo", json!({"a": 1}), json!({}))).await);
    assert_eq!(called["result"]["structuredContent"]["arguments"], json!({"a": 1}), "{called}");
    assert!(client.ask("DELETE", "/mcp", None).await.status.is_success());
    let gone = client.post("/mcp", request(3, "tools/list", &json!({}))).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND, "{gone:?}");
}

#[tokio::test]
async fn nobody_is_served_without_the_token() {
    let served = start();
    let mut client = served.client.modern("tools/list", "");
    client.token.clear();
    let body = request(1, "tools/list", &json!({"_meta": modern(json!({}))}));
    for method in ["POST", "GET", "DELETE"] {
        let refused = client.ask(method, "/mcp", Some(body.clone())).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{method}");
    }
}
