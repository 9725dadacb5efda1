//! Rounds of input with clients of 2026-07-28: they are told what is asked, and make the
//! request again with the responses and a state that they cannot change.

use serde_json::{Value, json};
use wharf_core::ContextRules;

use crate::{
    shelf::{Shelf, able, filled, form},
    support::{Client, modern},
};

fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})
}

/// A call of the tool that asks for each of these in turn.
fn dialogue(rounds: &Value) -> Value {
    json!({"name": "test__dialogue", "arguments": {"rounds": rounds}, "_meta": able(everything())})
}

/// The same request once more, with what was given and the state that came with the question.
fn again(request: &Value, asked: &Value, responses: Value) -> Value {
    let mut request = request.clone();
    request["inputResponses"] = responses;
    if let Some(state) = asked["result"].get("requestState") {
        request["requestState"] = state.clone();
    }
    request
}

async fn refused(client: &mut Client, request: &Value) {
    let answer = client.ask(99, "tools/call", request.clone()).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|told| told.contains("`requestState`")), "{answer}");
}

#[tokio::test]
async fn a_tool_asks_in_rounds_and_answers_when_it_has_what_it_needs() {
    let mut client = Shelf::new().connect();
    let sample = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Why?"}}], "maxTokens": 9});
    let many = json!({"who": form("name"), "why": {"method": "sampling/createMessage", "params": sample},
                      "where": {"method": "roots/list"}});
    let request = dialogue(&json!([many, {"color": form("color")}]));
    let first = client.ask(1, "tools/call", request.clone()).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let asked = &first["result"]["inputRequests"];
    assert_eq!(asked.as_object().map(serde_json::Map::len), Some(3));
    assert_eq!(asked["who"]["params"]["requestedSchema"], form("name")["params"]["requestedSchema"]);
    assert_eq!((&asked["why"]["params"], &asked["where"]["method"]), (&sample, &json!("roots/list")));

    let second =
        client.ask(2, "tools/call", again(&request, &first, json!({"who": filled(json!({"name": "Ada"}))}))).await;
    assert_eq!(second["result"]["inputRequests"]["color"]["method"], "elicitation/create", "{second}");
    assert_ne!(first["result"]["requestState"], second["result"]["requestState"]);

    let responses = json!({"color": {"action": "decline"}, "unasked": {"x": 1}});
    let last = client.ask(3, "tools/call", again(&request, &second, responses.clone())).await;
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(last["result"]["structuredContent"], json!({"responses": responses, "state": "2", "rounds": 2}));
}

#[tokio::test]
async fn what_is_missing_or_makes_no_sense_is_for_the_tool_to_judge() {
    let mut client = Shelf::new().connect();
    let request = json!({"name": "test__insist", "arguments": {}, "_meta": able(everything())});
    let first = client.ask(1, "tools/call", request.clone()).await;
    for (at, responses) in
        [json!({}), json!({"wrong": 1}), json!({"user_name": "x"}), json!({"user_name": null})].into_iter().enumerate()
    {
        let asked = client.ask(2 + at as i64, "tools/call", again(&request, &first, responses)).await;
        assert!(asked["result"]["inputRequests"]["user_name"].is_object(), "{asked}");
    }
    let responses = json!({"user_name": filled(json!({"name": "Ada"}))});
    let done = client.ask(9, "tools/call", again(&request, &first, responses.clone())).await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada!");
    // A client that knows beforehand what is asked needs no state.
    let mut unasked = request.clone();
    unasked["inputResponses"] = responses;
    assert_eq!(client.ask(10, "tools/call", unasked).await["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn a_state_is_worth_nothing_where_it_was_changed_or_belongs_to_another_request() {
    let shelf = Shelf::new();
    let served = shelf.served();
    let connect = |rules| Client::connect_to_all(served.clone(), rules);
    let mut client = connect(ContextRules::local());
    let request = dialogue(&json!([{"a": form("a")}]));
    let asked = client.ask(1, "tools/call", request.clone()).await;
    let retry = again(&request, &asked, json!({}));
    let state = retry["requestState"].as_str().expect("a state").to_owned();

    for changed in
        [format!("{state}-TAMPERED"), state[1..].to_owned(), String::new(), "1".to_owned(), "x".repeat(1 << 20)]
    {
        let mut request = retry.clone();
        request["requestState"] = json!(changed);
        refused(&mut client, &request).await;
    }
    let mut other_arguments = retry.clone();
    other_arguments["arguments"]["rounds"] = json!([]);
    refused(&mut client, &other_arguments).await;
    let mut other_tool = retry.clone();
    other_tool["name"] = json!("test__insist");
    refused(&mut client, &other_tool).await;
    for (key, id) in [("sessionId", "other"), ("assistantId", "a"), ("threadId", "t")] {
        let mut other_context = retry.clone();
        other_context["_meta"][format!("dev.wharf/{key}")] = json!(id);
        refused(&mut client, &other_context).await;
    }
    let stranger = ContextRules { tenant: "stranger".parse().expect("legal"), ..ContextRules::local() };
    refused(&mut connect(stranger), &retry).await;
    refused(&mut shelf.connect(), &retry).await;

    // It was good all the while, on whatever connection to the same.
    let mut other_connection = connect(ContextRules::local());
    let done = other_connection.ask(2, "tools/call", retry).await;
    assert_eq!(done["result"]["structuredContent"]["rounds"], 1, "{done}");
}

#[tokio::test]
async fn no_call_asks_for_ever() {
    let mut client = Shelf::new().connect();
    let request = json!({"name": "test__endless", "arguments": {}, "_meta": able(everything())});
    let mut asked = client.ask(0, "tools/call", request.clone()).await;
    for round in 1..32 {
        asked = client.ask(round, "tools/call", again(&request, &asked, json!({}))).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{round}: {asked}");
    }
    let ended = client.ask(32, "tools/call", again(&request, &asked, json!({}))).await;
    assert_eq!(ended["result"]["_meta"]["dev.wharf/error"]["code"], "limit", "{ended}");
    assert!(ended["result"]["content"][0]["text"].as_str().is_some_and(|told| told.contains("32 rounds")), "{ended}");
}

#[tokio::test]
async fn a_client_is_asked_for_nothing_that_it_cannot_do() {
    let mut client = Shelf::new().connect();
    let page = json!({"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": "https://example.com"}});
    let rounds = json!([{"form": form("a"), "page": page, "roots": {"method": "roots/list"}}]);
    for (at, (can, lacking)) in [
        (json!({}), json!({"elicitation": {"form": {}, "url": {}}, "roots": {}})),
        (json!({"elicitation": {}}), json!({"elicitation": {"url": {}}, "roots": {}})),
        (json!({"elicitation": {"form": {}, "url": {}}}), json!({"roots": {}})),
    ]
    .into_iter()
    .enumerate()
    {
        let mut request = dialogue(&rounds);
        request["_meta"] = able(can);
        let answer = client.ask(at as i64, "tools/call", request).await;
        assert_eq!(answer["error"]["code"], -32021, "{answer}");
        assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": lacking}));
    }
    assert_eq!(client.ask(9, "tools/call", dialogue(&rounds)).await["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn what_the_protocol_does_not_know_is_not_asked() {
    let mut client = Shelf::new().connect();
    let odd = json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "array"}}});
    let answer = client.ask(1, "tools/call", dialogue(&json!([{"odd": odd}]))).await;
    assert_eq!(answer["result"]["_meta"]["dev.wharf/error"]["code"], "internal", "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|told| told.contains("`odd`")), "{answer}");
}

#[tokio::test]
async fn a_tool_that_waits_for_something_else_gives_its_client_a_state_alone() {
    let mut client = Shelf::new().connect();
    let request = dialogue(&json!([{}]));
    let asked = client.ask(1, "tools/call", request.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert!(asked["result"].get("inputRequests").is_none() && asked["result"]["requestState"].is_string(), "{asked}");
    let mut retry = again(&request, &asked, json!({}));
    retry.as_object_mut().expect("an object").remove("inputResponses");
    assert_eq!(client.ask(2, "tools/call", retry).await["result"]["structuredContent"]["rounds"], 1);
}

#[tokio::test]
async fn a_prompt_asks_as_a_tool_does_and_reading_asks_for_nothing() {
    let mut client = Shelf::new().connect();
    let request = json!({"name": "test__asking", "_meta": able(everything())});
    let asked = client.ask(1, "prompts/get", request.clone()).await;
    assert_eq!(asked["result"]["inputRequests"]["user_context"]["method"], "elicitation/create", "{asked}");
    let given = json!({"user_context": filled(json!({"context": "here"}))});
    let made = client.ask(2, "prompts/get", again(&request, &asked, given.clone())).await;
    assert_eq!(made["result"]["messages"][0]["content"]["text"], "\"here\" as Some(\"kept\")", "{made}");

    let mut forged = again(&request, &asked, given);
    forged["requestState"] = json!("x");
    assert_eq!(client.ask(3, "prompts/get", forged).await["error"]["code"], -32602);
    let state = asked["result"]["requestState"].clone();
    let reading = json!({"uri": "test://binary", "requestState": state, "_meta": modern(json!({}))});
    assert_eq!(client.ask(4, "resources/read", reading).await["error"]["code"], -32602);
    let mut unable = request;
    unable["_meta"] = able(json!({}));
    let answer = client.ask(5, "prompts/get", unable).await;
    assert_eq!(answer["error"]["data"]["requiredCapabilities"], json!({"elicitation": {"form": {}}}), "{answer}");
}
