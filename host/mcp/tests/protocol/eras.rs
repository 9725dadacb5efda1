//! Opening a connection, listing and calling, as clients of either era do.

use serde_json::{Value, json};
use wharf_core::{Channel, ContextRules};

use crate::support::{Client, modern};

#[tokio::test]
async fn the_handshake_names_the_server_and_only_what_it_has() {
    let mut client = Client::connect();
    let server = client.handshake().await;
    assert_eq!(server["protocolVersion"], "2025-11-25");
    assert_eq!(server["serverInfo"], json!({"name": "wharf", "title": "Wharf", "version": "1.2.3"}));
    assert_eq!(server["instructions"], "Tools for tests.");
    assert_eq!(server["capabilities"], json!({"logging": {}, "tools": {}}));
}

#[tokio::test]
async fn a_version_that_nobody_knows_is_none_of_the_newer_era_when_it_is_asked_for_again() {
    let mut client = Client::legacy().await;
    let hello =
        json!({"protocolVersion": "9999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let agreed = client.ask(1, "initialize", hello).await;
    assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25", "{agreed}");
    assert!(client.ask(2, "ping", json!({})).await.get("error").is_none(), "the newer era has no such method");
}

#[tokio::test]
async fn a_stateless_client_discovers_lists_and_calls_without_a_handshake() {
    let mut client = Client::connect();
    let found = client.ask(1, "server/discover", json!({"_meta": modern(json!({}))})).await;
    let versions = found["result"]["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{found}");
    let listed = client.ask(2, "tools/list", json!({"_meta": modern(json!({}))})).await;
    assert_eq!(listed["result"]["ttlMs"], 5_000);
    assert_eq!(listed["result"]["cacheScope"], "private");
    let answer = client.call(3, "test__echo", json!({"text": "hi"}), modern(json!({}))).await;
    assert_eq!(answer["result"]["structuredContent"]["arguments"], json!({"text": "hi"}));
    assert_eq!(answer["result"]["resultType"], "complete");
    let seen = &answer["result"]["structuredContent"];
    assert_eq!((&seen["meta"], &seen["capabilities"]), (&json!({}), &json!({})), "protocol keys are not for plugins");
}

#[tokio::test]
async fn tools_are_listed_in_the_order_of_the_service_and_each_time_the_same() {
    let mut client = Client::legacy().await;
    let first = client.ask(1, "tools/list", json!({})).await["result"].clone();
    let second = client.ask(2, "tools/list", json!({})).await["result"].clone();
    assert_eq!(first, second);
    let tools = first["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(
        names,
        ["test__echo", "test__fail", "test__panic", "test__size", "test__stubborn", "test__talk", "test__wait"]
    );
    assert_eq!(tools[0]["title"], "echo");
    assert!(!first.to_string().contains("\"__"), "no schema shows a context field");
}

#[tokio::test]
async fn what_is_not_offered_is_refused_by_method() {
    let mut client = Client::legacy().await;
    for (id, method) in
        [(1, "prompts/list"), (2, "resources/list"), (3, "resources/templates/list"), (4, "no/such/method")]
    {
        assert_eq!(client.ask(id, method, json!({})).await["error"]["code"], -32601, "{method}");
    }
    assert_eq!(client.ask(5, "tools/list", json!({"cursor": "x"})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn an_answer_carries_structure_and_text() {
    let mut client = Client::legacy().await;
    let answer = client.call(1, "test__echo", json!({"text": "hi"}), json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], false);
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(text["tenant"], "local");
    assert_eq!(text["session"], "default");
}

#[tokio::test]
async fn a_failed_call_is_a_result_that_the_model_can_read() {
    let mut client = Client::legacy().await;
    let answer = client.call(1, "test__fail", json!({"text": "too long"}), json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "/text: is too long, at most 5 characters");
    assert_eq!(result["_meta"]["dev.wharf/error"]["code"], "invalid");
    assert_eq!(result["_meta"]["dev.wharf/error"]["retryable"], false);
}

#[tokio::test]
async fn a_panic_of_the_host_ends_its_own_call_with_an_answer() {
    let mut client = Client::legacy().await;
    let answer = client.call(1, "test__panic", json!({}), json!({})).await;
    assert_eq!(answer["result"]["_meta"]["dev.wharf/error"]["code"], "internal", "{answer}");
    assert_eq!(client.call(2, "test__echo", json!({}), json!({})).await["result"]["isError"], false);
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_that_names_others() {
    let mut client = Client::legacy().await;
    let answer = client.call(1, "test__ech", json!({}), json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().expect("text").contains("test__echo"), "{answer}");
}

#[tokio::test]
async fn the_context_comes_from_metadata_and_the_rest_of_it_reaches_the_tool() {
    for (mut client, meta) in [(Client::legacy().await, json!({})), (Client::connect(), modern(json!({})))] {
        let mut meta = meta.as_object().expect("an object").clone();
        meta.insert("dev.wharf/sessionId".into(), json!("s"));
        meta.insert("dev.wharf/assistantId".into(), json!("a"));
        meta.insert("dev.wharf/threadId".into(), json!("t"));
        meta.insert("com.example/key".into(), json!([1]));
        meta.insert("dev.wharf/client".into(), json!({"capabilities": {"sampling": {}}}));
        meta.insert("dev.wharf/operator".into(), json!(true));
        let answer = client.call(1, "test__echo", json!({}), meta.into()).await;
        let seen = &answer["result"]["structuredContent"];
        assert_eq!((&seen["session"], &seen["assistant"], &seen["thread"]), (&json!("s"), &json!("a"), &json!("t")));
        let told = (&json!({"com.example/key": [1]}), &json!({}));
        assert_eq!((&seen["meta"], &seen["capabilities"]), told, "what the host alone may say is not believed");
    }
}

#[tokio::test]
async fn conversations_of_known_clients_are_told_apart_on_one_connection() {
    let mut client = Client::legacy().await;
    let mut session = async |id, meta| {
        let answer = client.call(id, "test__echo", json!({}), meta).await;
        answer["result"]["structuredContent"]["session"].as_str().expect("a session").to_owned()
    };
    assert_eq!(session(1, json!({"vscode.conversationId": "v-1"})).await, "v-1");
    assert_eq!(session(2, json!({"threadId": "c-1"})).await, "c-1");
    let odd = session(3, json!({"vscode.conversationId": "not a legal id / ü"})).await;
    assert!(odd.starts_with("x-"), "{odd}");
    assert_eq!(session(4, json!({})).await, "default");
}

#[tokio::test]
async fn a_model_cannot_choose_its_context_by_writing_it() {
    let mut client = Client::legacy().await;
    let forged = json!({"__sessionId": "victim", "__assistantId": "a", "__threadId": "t",
                        "text": "x", "nested": {"__sessionId": "data"}});
    let answer = client.call(1, "test__echo", forged, json!({"dev.wharf/sessionId": "mine"})).await;
    let seen = &answer["result"]["structuredContent"];
    assert_eq!((&seen["session"], &seen["assistant"], &seen["thread"]), (&json!("mine"), &Value::Null, &Value::Null));
    assert_eq!(seen["arguments"], json!({"text": "x", "nested": {"__sessionId": "data"}}));
}

#[tokio::test]
async fn a_call_whose_context_was_ignored_is_told_so_and_one_that_is_trusted_is_not() {
    let forged = || json!({"__sessionId": "wanted", "__threadId": "t"});
    let mut client = Client::legacy().await;
    for tool in ["test__echo", "test__fail"] {
        let answer = client.call(1, tool, forged(), json!({"dev.wharf/assistantId": "a"})).await;
        let warning = &answer["result"]["_meta"]["dev.wharf/warning"];
        assert_eq!(warning["code"], "context-ignored", "{answer}");
        assert_eq!(
            (&warning["fields"], &warning["session"]),
            (&json!(["__sessionId", "__threadId"]), &json!("default"))
        );
        let told = warning["message"].as_str().expect("a text");
        assert!(
            told.contains("__sessionId") && told.contains("trusted_middleware") && !told.contains("wanted"),
            "{told}"
        );
    }
    let plain = client.call(2, "test__echo", json!({}), json!({})).await;
    assert!(plain["result"]["_meta"].get("dev.wharf/warning").is_none(), "{plain}");

    let trusted = ContextRules { channel: Channel::TrustedMiddleware, ..ContextRules::local() };
    let mut client = Client::connect_under(trusted);
    let answer = client.call(1, "test__echo", forged(), modern(json!({}))).await;
    assert_eq!(answer["result"]["structuredContent"]["session"], "wanted");
    assert!(answer["result"]["_meta"].get("dev.wharf/warning").is_none(), "{answer}");
}

#[tokio::test]
async fn an_illegal_id_or_a_missing_session_is_refused_with_the_rule() {
    let mut client = Client::legacy().await;
    for (at, id) in [json!(""), json!("a b"), json!("x".repeat(129)), json!(7)].into_iter().enumerate() {
        let answer = client.call(at as i64, "test__echo", json!({}), json!({"dev.wharf/sessionId": id})).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["_meta"]["dev.wharf/error"]["code"], "invalid", "{answer}");
    }
    let mut strict = Client::connect_under(ContextRules { require_session: true, ..ContextRules::local() });
    let answer = strict.call(1, "test__echo", json!({}), modern(json!({}))).await;
    let told = answer["result"]["content"][0]["text"].as_str().expect("text").to_owned();
    assert!(told.contains("dev.wharf/sessionId"), "{told}");
}
