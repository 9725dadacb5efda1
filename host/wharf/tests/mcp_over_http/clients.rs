//! Clients with tokens of their own: none has anything of another.

use hyper::StatusCode;
use serde_json::{Value, json};
use wharf::http::{HttpClient, Token};

use crate::{
    client::Client,
    protocol::{legacy_call, message, modern, modern_call, request},
    support::{Served, start_with},
};

/// A server with a second client, and that client.
fn with_another(change: impl FnOnce(&mut HttpClient)) -> (Served, Client) {
    let text = Token::generate().expect("randomness");
    let mut other = HttpClient::new("other", Token::new(&text).expect("legal"));
    change(&mut other);
    let served = start_with(|settings| settings.clients.push(other));
    let client = Client { token: text, ..served.client.clone() };
    (served, client)
}

fn tenant(name: &str) -> impl FnOnce(&mut HttpClient) {
    let tenant = name.parse().expect("legal");
    move |client| client.tenant = Some(tenant)
}

async fn echo(client: &Client) -> Value {
    let call = modern_call(1, "test__echo", json!({}), json!({"dev.wharf/sessionId": "s"}));
    let answer = message(&client.modern("tools/call", "test__echo").post("/mcp", call).await);
    answer["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn the_token_says_whose_calls_they_are_and_nothing_else_does() {
    let (served, other) = with_another(tenant("another"));
    assert_eq!(echo(&served.client).await["tenant"], "local");
    assert_eq!(echo(&other).await["tenant"], "another");
    let forged = other.with("wharf-tenant", "local");
    assert_eq!(echo(&forged).await["tenant"], "another");
}

#[tokio::test]
async fn a_session_of_one_client_is_none_of_another_not_even_of_its_tenant() {
    for change in [Some("another"), None] {
        let (served, other) = with_another(|client| change.into_iter().for_each(|name| tenant(name)(client)));
        let session = served.client.legacy().await;
        let call = session.open("POST", "/mcp", Some(legacy_call(1, "test__stubborn", json!({}), json!({}))));
        let (_response, ()) = tokio::join!(call, served.tools.until("started"));
        let thief = Client { token: other.token.clone(), ..session.clone() };
        let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        for (client, method, body) in [
            (thief.clone(), "POST", Some(request(2, "ping", &json!({})))),
            (thief.clone(), "POST", Some(back)),
            (thief.clone(), "GET", None),
            (thief.with("last-event-id", "1-0"), "GET", None),
            (thief.clone(), "DELETE", None),
        ] {
            let refused = client.ask(method, "/mcp", body).await;
            assert_eq!(refused.status, StatusCode::NOT_FOUND, "{method} {refused:?}");
        }
        served.tools.release();
        assert_eq!(message(&session.post("/mcp", request(3, "ping", &json!({}))).await)["id"], 3);
    }
}

#[tokio::test]
async fn a_client_sees_and_calls_the_tools_of_its_plugins_alone() {
    let (served, other) = with_another(|client| client.rights.plugins = Some(vec!["oth*".into()]));
    let list = || request(1, "tools/list", &json!({"_meta": modern(json!({}))}));
    let answer = message(&other.modern("tools/list", "").post("/mcp", list()).await);
    let tools = answer["result"]["tools"].as_array().expect("a list");
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["other__echo"]);
    let call = |tool: &str| modern_call(2, tool, json!({}), json!({}));
    let hidden = message(&other.modern("tools/call", "test__echo").post("/mcp", call("test__echo")).await);
    let unknown = message(&other.modern("tools/call", "test__nothing").post("/mcp", call("test__nothing")).await);
    assert_eq!(hidden["error"]["code"], unknown["error"]["code"], "{hidden} {unknown}");
    let told = hidden["error"]["message"].as_str().expect("a message");
    assert!(!told.replace("there is no tool \"test__echo\"", "").contains("test__"), "{told}");
    let allowed = message(&other.modern("tools/call", "other__echo").post("/mcp", call("other__echo")).await);
    assert!(allowed["result"]["structuredContent"].is_object(), "{allowed}");
    let legacy = other.legacy().await;
    let hidden = message(&legacy.post("/mcp", legacy_call(3, "test__echo", json!({}), json!({}))).await);
    assert_eq!(hidden["error"]["code"], unknown["error"]["code"], "{hidden}");
    // Terminals and streams are of `host`, which is none of its plugins.
    for path in ["/v1/terminals", "/v1/streams", "/v1/streams/x/events"] {
        let refused = other.get(path).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "denied"), "{path}");
    }
    assert_eq!(served.client.get("/v1/terminals").await.status, StatusCode::OK);
    let (_served, host) = with_another(|client| client.rights.plugins = Some(vec!["host".into()]));
    assert_eq!(host.get("/v1/terminals").await.status, StatusCode::OK);
}

#[tokio::test]
async fn calls_of_one_client_leave_the_places_of_another_alone() {
    let (served, other) = with_another(|client| client.rights.calls = Some(1));
    let session = other.legacy().await;
    let call = session.open("POST", "/mcp", Some(legacy_call(1, "test__stubborn", json!({}), json!({}))));
    let (_response, ()) = tokio::join!(call, served.tools.until("started"));
    let refused = session.post("/mcp", request(2, "ping", &json!({}))).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(echo(&served.client).await["tenant"], "local");
    served.tools.release();
}
