//! Prompts, resources and completion, as clients of either era ask for them.

use serde_json::{Value, json};
use wharf_core::ContextRules;

use crate::{
    shelf::{Shelf, able},
    support::{Client, modern},
};

/// A client of each era, and the metadata of its requests.
async fn both() -> [(Client, Value); 2] {
    let shelf = Shelf::new();
    [(shelf.legacy(json!({})).await, json!({})), (shelf.connect(), modern(json!({})))]
}

fn with(meta: &Value, more: Value) -> Value {
    let mut params = more;
    params["_meta"] = meta.clone();
    params
}

#[tokio::test]
async fn what_is_offered_is_announced_in_both_eras() {
    let shelf = Shelf::new();
    let announced = json!({
        "completions": {}, "logging": {}, "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true}, "tools": {},
    });
    assert_eq!(shelf.connect().handshake().await["capabilities"], announced);
    let found = shelf.connect().ask(1, "server/discover", json!({"_meta": modern(json!({}))})).await;
    assert_eq!(found["result"]["capabilities"], announced, "{found}");
}

#[tokio::test]
async fn what_nobody_offers_is_neither_announced_nor_served() {
    let shelf = Shelf::with(false, false);
    let mut client = shelf.connect();
    assert_eq!(client.handshake().await["capabilities"], json!({"logging": {}, "tools": {}}));
    let params = json!({"name": "test__greet", "uri": "test://binary", "ref": {"type": "ref/prompt", "name": "x"},
                        "argument": {"name": "a", "value": ""}});
    for (at, method) in [
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = client.ask(at as i64, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[tokio::test]
async fn prompts_are_still_served_when_the_last_of_them_has_gone() {
    let shelf = Shelf::new();
    let served = shelf.served();
    let mut client = Client::connect_to_all(served.clone(), ContextRules::local());
    client.handshake().await;
    *shelf.prompts.lock().expect("not poisoned") = [].into();
    assert_eq!(client.ask(1, "prompts/list", json!({})).await["result"]["prompts"], json!([]));
    let answer = client.ask(2, "prompts/get", json!({"name": "test__greet"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // Another connection to the same, as each request of the newer era may have one.
    let mut other = Client::connect_to_all(served, ContextRules::local());
    let listed = other.ask(3, "prompts/list", json!({"_meta": modern(json!({}))})).await;
    assert_eq!(listed["result"]["prompts"], json!([]), "{listed}");
}

#[tokio::test]
async fn prompts_are_listed_and_made_in_both_eras() {
    for (mut client, meta) in both().await {
        let listed = client.ask(1, "prompts/list", with(&meta, json!({}))).await;
        let prompts = listed["result"]["prompts"].as_array().expect("prompts");
        let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ["test__asking", "test__greet", "test__show"]);
        assert_eq!(
            prompts[1],
            json!({"name": "test__greet", "title": "greet", "description": "greet for tests",
                   "arguments": [{"name": "who", "required": true}, {"name": "how", "required": false}]})
        );
        let wanted = json!({"name": "test__greet", "arguments": {"who": "Ada", "__sessionId": "forged"}});
        let made = client.ask(2, "prompts/get", with(&meta, wanted)).await;
        assert_eq!(made["result"]["description"], "a greeting");
        assert_eq!(
            made["result"]["messages"],
            json!([{"role": "user", "content": {"type": "text", "text": "Greet Ada of default."}},
                   {"role": "assistant", "content": {"type": "image", "data": "AQI=", "mimeType": "image/png"}}])
        );
    }
}

#[tokio::test]
async fn a_prompt_that_cannot_be_made_is_an_error_of_the_protocol_that_says_why() {
    for (mut client, meta) in both().await {
        let unknown = client.ask(1, "prompts/get", with(&meta, json!({"name": "test__gret"}))).await;
        assert_eq!(unknown["error"]["code"], -32602);
        assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("test__greet")), "{unknown}");
        let missing = client.ask(2, "prompts/get", with(&meta, json!({"name": "test__greet"}))).await;
        assert_eq!(missing["error"]["code"], -32602);
        assert!(missing["error"]["message"].as_str().is_some_and(|told| told.contains("`who`")), "{missing}");
    }
}

#[tokio::test]
async fn what_a_prompt_says_meanwhile_comes_before_it() {
    let mut client = Shelf::new().legacy(json!({})).await;
    let params = json!({"name": "test__greet", "arguments": {"who": "Ada"}, "_meta": {"progressToken": "p"}});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params})).await;
    assert_eq!(client.receive().await["params"], json!({"progressToken": "p", "progress": 1.0}));
    assert_eq!(client.receive().await["id"], 1);
}

#[tokio::test]
async fn a_plugin_is_told_what_its_client_can_do_and_a_client_cannot_say_what_the_host_says() {
    let can = json!({"sampling": {}});
    let told = json!({"capabilities": can, "meta": {"com.example/k": 1}});
    let shelf = Shelf::new();
    let forged = json!({"dev.wharf/client": {"capabilities": {"roots": {}}}, "dev.wharf/x": 1, "com.example/k": 1});
    let mut meta = able(can.clone());
    meta.as_object_mut().expect("an object").extend(forged.as_object().expect("an object").clone());
    for (mut client, meta) in [(shelf.legacy(can).await, forged), (shelf.connect(), meta)] {
        let made = client.ask(1, "prompts/get", json!({"name": "test__show", "_meta": meta})).await;
        let text = made["result"]["messages"][0]["content"]["text"].as_str().expect("text").to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), told);
    }
}

#[tokio::test]
async fn resources_are_those_of_the_conversation() {
    for (mut client, meta) in both().await {
        let mut meta = meta;
        meta["dev.wharf/sessionId"] = json!("mine");
        let listed = client.ask(1, "resources/list", with(&meta, json!({}))).await;
        assert_eq!(
            listed["result"]["resources"],
            json!([{"uri": "test://binary", "name": "test://binary", "mimeType": "image/png"},
                   {"uri": "test://session/mine", "name": "test://session/mine", "mimeType": "text/plain"}])
        );
        let templates = client.ask(2, "resources/templates/list", with(&meta, json!({}))).await;
        assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "test://template/{id}/data");
        let text = client.ask(3, "resources/read", with(&meta, json!({"uri": "test://session/mine"}))).await;
        assert_eq!(
            text["result"]["contents"],
            json!([{"uri": "test://session/mine", "mimeType": "text/plain", "text": "yours"}])
        );
        let blob = client.ask(4, "resources/read", with(&meta, json!({"uri": "test://binary"}))).await;
        assert_eq!(
            blob["result"]["contents"],
            json!([{"uri": "test://binary", "mimeType": "image/png", "blob": "AQI="}])
        );
        let foreign = client.ask(5, "resources/read", with(&meta, json!({"uri": "test://session/other"}))).await;
        assert!(foreign["error"].is_object(), "{foreign}");
    }
}

#[tokio::test]
async fn an_unknown_resource_is_told_in_the_words_of_its_era() {
    for ((mut client, meta), code) in both().await.into_iter().zip([-32002, -32602]) {
        let answer = client.ask(1, "resources/read", with(&meta, json!({"uri": "test://gone"}))).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"], json!({"uri": "test://gone"}));
        assert!(answer["error"]["message"].as_str().is_some_and(|told| told.contains("resources/list")), "{answer}");
    }
}

#[tokio::test]
async fn reading_that_fails_is_told_with_its_code_and_ends_only_itself() {
    for (mut client, meta) in both().await {
        let busy = client.ask(1, "resources/read", with(&meta, json!({"uri": "test://busy"}))).await;
        assert_eq!(busy["error"]["code"], -32603);
        assert_eq!(busy["error"]["data"]["dev.wharf/error"], json!({"code": "limit", "retryable": true}));
        let panicked = client.ask(2, "resources/read", with(&meta, json!({"uri": "test://panic"}))).await;
        assert_eq!(panicked["error"]["data"]["dev.wharf/error"]["code"], "internal");
        let params = with(&meta, json!({"uri": "test://waits"}));
        client.send(json!({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": params})).await;
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})).await;
        assert!(client.ask(4, "resources/list", with(&meta, json!({}))).await["result"].is_object());
    }
}

#[tokio::test]
async fn everything_that_is_listed_or_read_says_how_long_it_is_fresh() {
    let mut client = Shelf::new().connect();
    for (id, method, fresh) in [
        (1, "tools/list", 5_000),
        (2, "prompts/list", 5_000),
        (3, "resources/templates/list", 5_000),
        (4, "resources/list", 0),
        (5, "resources/read", 0),
    ] {
        let result = client.ask(id, method, json!({"uri": "test://binary", "_meta": modern(json!({}))})).await;
        let result = &result["result"];
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(fresh), &json!("private")), "{method}");
    }
}

#[tokio::test]
async fn what_was_typed_is_completed() {
    for (mut client, meta) in both().await {
        let ask = |of: Value, name: &str, value: &str| {
            let others = json!({"arguments": {"how": "loudly"}});
            with(&meta, json!({"ref": of, "argument": {"name": name, "value": value}, "context": others}))
        };
        let greet = json!({"type": "ref/prompt", "name": "test__greet"});
        let done = client.ask(1, "completion/complete", ask(greet.clone(), "who", "al")).await;
        assert_eq!(
            done["result"]["completion"],
            json!({"values": ["albert", "alice", "how"], "total": 2, "hasMore": false})
        );
        let none = client.ask(2, "completion/complete", ask(greet, "how", "")).await;
        assert_eq!(none["result"]["completion"]["values"], json!([]));
        let data = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
        let ids = client.ask(3, "completion/complete", ask(data, "id", "1")).await;
        assert_eq!(ids["result"]["completion"], json!({"values": ["123"], "hasMore": true}));
        for unknown in [json!({"type": "ref/prompt", "name": "x"}), json!({"type": "ref/resource", "uri": "x"})] {
            let answer = client.ask(4, "completion/complete", ask(unknown, "id", "1")).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
}

#[tokio::test]
async fn malformed_parameters_are_told_from_unknown_methods() {
    for (mut client, meta) in both().await {
        for (method, params) in [
            ("prompts/get", json!({})),
            ("prompts/get", json!({"name": 7})),
            ("prompts/get", json!({"name": "test__greet", "arguments": ["Ada"]})),
            ("prompts/list", json!({"cursor": "x"})),
            ("resources/list", json!({"cursor": "x"})),
            ("resources/templates/list", json!({"cursor": "x"})),
            ("resources/read", json!({})),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "a", "value": ""}}),
            ),
            ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "test__greet"}})),
            ("tools/call", json!({"name": "test__insist", "inputResponses": ["x"]})),
            ("tools/call", json!({"name": "test__insist", "requestState": 7})),
        ] {
            let answer = client.ask(1, method, with(&meta, params.clone())).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
        }
        let listing = json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/list", "params": [7]});
        client.send(listing).await;
        assert_eq!(client.receive().await["error"]["code"], -32602);
        assert_eq!(client.ask(2, "prompts/gte", with(&meta, json!({}))).await["error"]["code"], -32601);
    }
}
