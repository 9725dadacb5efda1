//! Sessions of the older era: what they keep, and how they end.

use hyper::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use wharf::limit::HttpLimits;
use wharf_test_support::{let_time_pass, until_async};

use crate::{
    protocol::{Stream, legacy_call, message, request},
    support::{Served, start, start_with},
};

fn limited(limits: HttpLimits) -> Served {
    start_with(|settings| settings.limits = limits)
}

#[tokio::test]
async fn an_answer_is_not_lost_with_the_connection_that_it_was_for() {
    let served = start();
    let client = served.client.legacy().await;
    let call = legacy_call(1, "test__stubborn", json!({}), json!({}));
    let mut first = Stream::new(client.open("POST", "/mcp", Some(call)).await);
    // It begins with where to go on.
    let primed = first.next().await.expect("open");
    assert_eq!(primed.data, None);
    served.tools.until("started").await;
    drop(first);
    served.tools.release();
    let again = client.with("last-event-id", primed.id.expect("an id"));
    let mut second = Stream::new(again.open("GET", "/mcp", None).await);
    let mut said = second.next().await.expect("open");
    if said.data.is_none() {
        said = second.next().await.expect("open");
    }
    let answer = said.data.expect("the answer");
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("late")), "{answer}");
    assert!(second.next().await.is_none(), "it ends with the answer");
    // It can be had again, but not by another session.
    let mut third = Stream::new(again.open("GET", "/mcp", None).await);
    while third.next().await.is_some_and(|said| said.data.is_none()) {}
    let other = served.client.legacy().await.with("last-event-id", "1-0");
    assert!(Stream::new(other.open("GET", "/mcp", None).await).next().await.is_none());
}

#[tokio::test]
async fn a_call_that_says_something_is_answered_by_a_stream_and_others_by_json() {
    let served = start();
    let client = served.client.legacy().await;
    let quick = client.post("/mcp", legacy_call(1, "test__echo", json!({}), json!({}))).await;
    assert_eq!(quick.headers["content-type"], "application/json");
    let call = legacy_call(2, "test__talk", json!({}), json!({"progressToken": "p"}));
    let mut stream = Stream::new(client.open("POST", "/mcp", Some(call)).await);
    let said = stream.message().await.expect("progress");
    assert_eq!((&said["method"], &said["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p")));
    served.tools.until("started").await;
    // What others ask is answered meanwhile.
    assert_eq!(message(&client.post("/mcp", request(3, "ping", &json!({}))).await)["id"], 3);
    served.tools.release();
    assert_eq!(stream.message().await.expect("the answer")["id"], 2);
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn what_a_call_asks_of_its_client_is_on_the_stream_of_the_call() {
    let served = start();
    let client = served.client.legacy().await;
    // Nobody follows what the server says unasked.
    let call = legacy_call(1, "test__ask", json!({}), json!({}));
    let mut stream = Stream::new(client.open("POST", "/mcp", Some(call)).await);
    let asked = stream.message().await.expect("a question");
    assert_eq!(asked["method"], "roots/list");
    let given = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///project"}]}});
    assert_eq!(client.post("/mcp", given).await.status, StatusCode::ACCEPTED);
    let answered = stream.message().await.expect("the answer");
    assert_eq!(answered["id"], 1);
    assert!(answered.to_string().contains("file:///project"), "{answered}");
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn a_session_that_is_ended_takes_its_calls_with_it() {
    let served = start();
    let client = served.client.legacy().await;
    let call = client.open("POST", "/mcp", Some(legacy_call(1, "test__wait", json!({}), json!({}))));
    let (response, ()) = tokio::join!(call, served.tools.until("started"));
    assert_eq!(client.ask("DELETE", "/mcp", None).await.status, StatusCode::ACCEPTED);
    served.tools.until("cancelled").await;
    assert_eq!(Stream::new(response).message().await, None);
    for (method, body) in [("POST", Some(request(2, "ping", &json!({})))), ("GET", None), ("DELETE", None)] {
        let gone = client.ask(method, "/mcp", body).await;
        assert_eq!(gone.status, StatusCode::NOT_FOUND, "{method}");
        assert!(gone.body.contains("`initialize`"), "{gone:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_ends_and_its_id_can_be_used_again() {
    let served = start();
    let client = served.client.legacy().await;
    let call = client.open("POST", "/mcp", Some(legacy_call(1, "test__wait", json!({}), json!({}))));
    let (response, ()) = tokio::join!(call, served.tools.until("started"));
    let twice = client.post("/mcp", legacy_call(1, "test__echo", json!({}), json!({}))).await;
    assert_eq!(twice.status, StatusCode::BAD_REQUEST, "{twice:?}");
    let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(client.post("/mcp", back).await.status, StatusCode::ACCEPTED);
    served.tools.until("cancelled").await;
    assert_eq!(Stream::new(response).message().await, None);
    let again = client.post("/mcp", legacy_call(1, "test__echo", json!({}), json!({}))).await;
    assert_eq!(message(&again)["id"], 1);
}

#[tokio::test]
async fn only_a_session_that_nobody_uses_expires() {
    let served = limited(HttpLimits { session_idle_seconds: 1, ..HttpLimits::default() });
    let (idle, busy) = (served.client.legacy().await, served.client.legacy().await);
    let listening = served.client.legacy().await;
    let _following = listening.open("GET", "/mcp", None).await;
    let call = busy.open("POST", "/mcp", Some(legacy_call(1, "test__stubborn", json!({}), json!({}))));
    let (response, ()) = tokio::join!(call, served.tools.until("started"));
    let ping = || request(2, "ping", &json!({}));
    until_async("it expires", async || {
        let_time_pass(Duration::from_millis(1_500), "to ask is a use").await;
        idle.post("/mcp", ping()).await.status == StatusCode::NOT_FOUND
    })
    .await;
    assert_eq!(listening.post("/mcp", ping()).await.status, StatusCode::OK);
    served.tools.release();
    let mut stream = Stream::new(response);
    assert_eq!(stream.message().await.expect("the answer")["id"], 1);
    assert_eq!(busy.post("/mcp", ping()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn one_session_too_many_ends_the_one_unused_for_longest_and_none_in_use() {
    for limits in [
        HttpLimits { sessions: 2, ..HttpLimits::default() },
        HttpLimits { sessions_per_tenant: 2, ..HttpLimits::default() },
    ] {
        let limit = if limits.sessions == 2 { "`sessions`" } else { "`sessions_per_tenant`" };
        let served = limited(limits);
        let (first, second) = (served.client.legacy().await, served.client.legacy().await);
        let _following = first.open("GET", "/mcp", None).await;
        let third = served.client.legacy().await;
        let ping = || request(1, "ping", &json!({}));
        assert_eq!(first.post("/mcp", ping()).await.status, StatusCode::OK);
        assert_eq!(second.post("/mcp", ping()).await.status, StatusCode::NOT_FOUND);
        let _following = third.open("GET", "/mcp", None).await;
        let refused = served.client.initialize().await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{refused:?}");
        assert!(refused.headers.contains_key("retry-after") && refused.body.contains(limit), "{refused:?}");
    }
}

#[tokio::test]
async fn a_session_is_the_context_of_calls_that_name_none() {
    let served = start();
    let client = served.client.legacy().await;
    let context = |answer: &Value| answer["result"]["structuredContent"].clone();
    let plain = context(&message(&client.post("/mcp", legacy_call(1, "test__echo", json!({}), json!({}))).await));
    assert_eq!((&plain["session"], &plain["tenant"]), (&json!(client.session()), &json!("local")), "{plain}");
    let header = client.with("wharf-session", "of-the-header").with("wharf-assistant", "a").with("wharf-thread", "t");
    let named = context(&message(&header.post("/mcp", legacy_call(2, "test__echo", json!({}), json!({}))).await));
    assert_eq!(
        (&named["session"], &named["assistant"], &named["thread"]),
        (&json!("of-the-header"), &json!("a"), &json!("t"))
    );
    for (meta, session) in [
        (json!({"vscode.conversationId": "of-the-client"}), "of-the-client"),
        (json!({"dev.wharf/sessionId": "own", "vscode.conversationId": "of-the-client"}), "own"),
    ] {
        let named = context(&message(&header.post("/mcp", legacy_call(3, "test__echo", json!({}), meta)).await));
        assert_eq!(named["session"], session);
    }
    let mut twice = client.clone();
    twice.headers.extend([("wharf-session", "a".to_owned()), ("wharf-session", "b".to_owned())]);
    let refused = message(&twice.post("/mcp", legacy_call(4, "test__echo", json!({}), json!({}))).await);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}
