//! Rounds of input with clients of 2025-11-25: the host asks them, and makes the call again.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    shelf::{Shelf, filled, form},
    support::Client,
};

fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

impl Client {
    async fn start(&mut self, id: i64, rounds: Value) {
        let params = json!({"name": "test__dialogue", "arguments": {"rounds": rounds}});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }

    /// What the host asks.
    async fn asked(&mut self) -> Value {
        let asked = self.receive().await;
        assert!(asked["method"].is_string() && asked["id"].is_i64(), "{asked}");
        asked
    }

    async fn give(&mut self, asked: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    }
}

#[tokio::test]
async fn all_of_a_round_is_asked_at_once_and_the_call_made_again_with_what_was_given() {
    let mut client = Shelf::new().legacy(everything()).await;
    let sample = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Why?"}}], "maxTokens": 9});
    let many = json!({"who": form("name"), "why": {"method": "sampling/createMessage", "params": sample},
                      "where": {"method": "roots/list"}});
    client.start(1, json!([many, {"color": form("color")}])).await;
    // All three are there before any is answered.
    let mut asked = [client.asked().await, client.asked().await, client.asked().await];
    asked.sort_by_key(|asked| asked["method"].as_str().map(str::to_owned));
    let [who, place, why] = asked;
    assert_eq!(who["params"]["requestedSchema"], form("name")["params"]["requestedSchema"]);
    assert_eq!((&place["method"], &why["method"]), (&json!("roots/list"), &json!("sampling/createMessage")));
    assert_eq!((&why["params"]["messages"], &why["params"]["maxTokens"]), (&sample["messages"], &json!(9)));
    let said =
        json!({"role": "assistant", "content": {"type": "text", "text": "So."}, "model": "m", "stopReason": "endTurn"});
    client.give(&why, said).await;
    client.give(&place, json!({"roots": [{"uri": "file:///a", "name": "a"}]})).await;
    client.give(&who, filled(json!({"name": "Ada"}))).await;

    let color = client.asked().await;
    client.give(&color, filled(json!({"color": "red"}))).await;
    let answer = client.receive().await;
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"responses": {"color": {"action": "accept", "content": {"color": "red"}}}, "state": "2", "rounds": 2})
    );
}

#[tokio::test]
async fn what_the_client_gave_reaches_the_tool_whatever_it_is() {
    let mut client = Shelf::new().legacy(everything()).await;
    let said =
        json!({"role": "assistant", "content": {"type": "text", "text": "So."}, "model": "m", "stopReason": "endTurn"});
    for (id, result) in [
        (1, filled(json!({"a": "b"}))),
        (2, json!({"action": "decline"})),
        (3, json!({"action": "cancel"})),
        (4, said),
        (5, json!({"roots": [{"uri": "file:///a"}]})),
        (6, json!({"what": ["is", "this"]})),
    ] {
        client.start(id, json!([{"it": form("a")}])).await;
        let asked = client.asked().await;
        client.give(&asked, result.clone()).await;
        let answer = client.receive().await;
        assert_eq!(answer["result"]["structuredContent"]["responses"]["it"], result, "{answer}");
    }
    client.start(7, json!([{"it": form("a")}])).await;
    let asked = client.asked().await;
    let error = json!({"code": -1, "message": "the person has left", "data": {"x": 1}});
    client.send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["structuredContent"]["responses"], json!({"it": {"error": error}}));
}

#[tokio::test]
async fn a_call_that_is_taken_back_takes_its_questions_back() {
    let mut client = Shelf::new().legacy(everything()).await;
    client.start(1, json!([{"it": form("a")}])).await;
    let asked = client.asked().await;
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], asked["id"]);
    client.give(&asked, filled(json!({"a": "too late"}))).await;
    assert!(client.ask(2, "tools/list", json!({})).await["result"].is_object(), "and the call is not answered");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_is_not_waited_for_for_ever() {
    let mut client = Shelf::new().legacy(everything()).await;
    client.start(1, json!([{"it": form("a")}])).await;
    let asked = client.asked().await;
    tokio::time::advance(Duration::from_secs(10 * 60 + 1)).await;
    let (mut told, mut answer) = (None, None);
    while told.is_none() || answer.is_none() {
        let message = client.receive().await;
        if message["method"] == "notifications/cancelled" { told = Some(message) } else { answer = Some(message) }
    }
    assert_eq!(told.expect("told")["params"]["requestId"], asked["id"]);
    let answer = answer.expect("answered");
    let error = &answer["result"]["structuredContent"]["responses"]["it"]["error"];
    assert!(error["message"].as_str().is_some_and(|told| told.contains("10 minutes")), "{answer}");
}

#[tokio::test]
async fn no_call_asks_for_ever() {
    let mut client = Shelf::new().legacy(everything()).await;
    client
        .send(json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "test__endless"}}))
        .await;
    for _ in 0..32 {
        let asked = client.asked().await;
        client.give(&asked, json!({"roots": []})).await;
    }
    let answer = client.receive().await;
    assert_eq!(answer["result"]["_meta"]["dev.wharf/error"]["code"], "limit", "{answer}");
}

#[tokio::test]
async fn a_client_is_asked_for_nothing_that_it_cannot_do() {
    let mut client = Shelf::new().legacy(json!({"roots": {}})).await;
    client.start(1, json!([{"it": form("a"), "where": {"method": "roots/list"}}])).await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(
        answer["result"]["content"][0]["text"].as_str().is_some_and(|told| told.contains("`elicitation`")),
        "{answer}"
    );
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_asked_ends_its_call() {
    let mut client = Shelf::new().legacy(everything()).await;
    client.start(1, json!([{"it": form("a")}])).await;
    client.asked().await;
    client.hang_up().await;
    while client.receive_or_end().await.is_some() {}
    client.ended().await.expect("served to the end");
}

#[tokio::test]
async fn calls_that_wait_for_their_client_are_bounded() {
    let mut client = Shelf::new().legacy(everything()).await;
    let mut first = None;
    for id in 0..64 {
        client.start(id, json!([{"it": form("a")}])).await;
        let asked = client.asked().await;
        first.get_or_insert(asked);
    }
    client.start(64, json!([{"it": form("a")}])).await;
    let refused = client.receive().await;
    assert_eq!(refused["id"], 64, "{refused}");
    assert_eq!(refused["result"]["_meta"]["dev.wharf/error"]["code"], "limit", "{refused}");
    client.give(&first.expect("asked"), filled(json!({"a": "b"}))).await;
    assert_eq!(client.receive().await["id"], 0);
    client.start(65, json!([{"it": form("a")}])).await;
    client.asked().await;
}

#[tokio::test]
async fn what_a_client_can_do_is_told_in_few_words() {
    let mut client = Shelf::new().connect();
    let capabilities = json!({"sampling": {}, "experimental": {"x": {"y": "z".repeat(16 << 10)}}});
    client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
                       "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}}}))
        .await;
    assert_eq!(client.receive().await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_tool_that_waits_for_something_else_is_called_again_after_a_pause() {
    let mut client = Shelf::new().legacy(json!({})).await;
    client.start(1, json!([{}, {}])).await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["structuredContent"], json!({"responses": {}, "state": "2", "rounds": 2}), "{answer}");
}

#[tokio::test]
async fn a_prompt_asks_as_a_tool_does() {
    let mut client = Shelf::new().legacy(everything()).await;
    let params = json!({"name": "test__asking"});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params})).await;
    let asked = client.asked().await;
    client.give(&asked, filled(json!({"context": "here"}))).await;
    let made = client.receive().await;
    assert_eq!(made["result"]["messages"][0]["content"]["text"], "\"here\" as Some(\"kept\")", "{made}");
    let mut unable = Shelf::new().legacy(json!({})).await;
    assert_eq!(unable.ask(2, "prompts/get", params).await["error"]["code"], -32603);
}

#[tokio::test]
async fn what_a_client_of_the_older_era_gives_unasked_is_not_believed() {
    let mut client = Shelf::new().legacy(everything()).await;
    let params = json!({"name": "test__insist", "inputResponses": {"user_name": filled(json!({"name": "Eve"}))},
                        "requestState": "7"});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let asked = client.asked().await;
    client.give(&asked, filled(json!({"name": "Ada"}))).await;
    assert_eq!(client.receive().await["result"]["content"][0]["text"], "Hello, Ada!");
}
