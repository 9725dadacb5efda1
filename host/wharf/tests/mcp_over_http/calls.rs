//! Calls over HTTP: what ends them, what keeps them, and how many there are.

use http_body_util::BodyExt;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use wharf::limit::HttpLimits;

use crate::{
    protocol::{Stream, legacy_call, message, modern, modern_call, request},
    support::{quick, start, start_with},
};

#[tokio::test]
async fn a_client_of_the_newer_era_that_goes_away_takes_its_call_back() {
    let served = start();
    let client = served.client.modern("tools/call", "test__wait");
    let call = modern_call(1, "test__wait", json!({}), json!({}));
    let calling = tokio::spawn(async move { client.open("POST", "/mcp", Some(call)).await });
    served.tools.until("started").await;
    calling.abort();
    served.tools.until("cancelled").await;

    // Also where its answer is a stream already.
    let client = served.client.modern("tools/call", "test__talk");
    let call = modern_call(1, "test__talk", json!({}), json!({"progressToken": "p"}));
    let mut stream = Stream::new(client.open("POST", "/mcp", Some(call)).await);
    let said = stream.message().await.expect("progress");
    assert_eq!(said["method"], "notifications/progress");
    drop(stream);
    // The place of the call is given back with it.
    served.tools.until("started").await;
    served.tools.release();
}

#[tokio::test]
async fn a_long_silent_call_keeps_its_stream_alive_in_both_eras() {
    let served = start_with(quick);
    let modern = served.client.modern("tools/call", "test__stubborn");
    let legacy = served.client.legacy().await;
    for (client, call) in [
        (modern, modern_call(7, "test__stubborn", json!({}), json!({}))),
        (legacy, legacy_call(7, "test__stubborn", json!({}), json!({}))),
    ] {
        let mut stream = Stream::new(client.open("POST", "/mcp", Some(call)).await);
        stream.comment().await;
        stream.comment().await;
        served.tools.until("started").await;
        served.tools.release();
        let answer = stream.message().await.expect("the answer");
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("late")), "{answer}");
        assert_eq!(stream.message().await, None);
    }
}

#[tokio::test]
async fn one_call_too_many_is_refused_until_another_one_ends() {
    for (limits, limit, status) in [
        (HttpLimits { calls: 1, ..HttpLimits::default() }, "`calls`", StatusCode::SERVICE_UNAVAILABLE),
        (
            HttpLimits { calls_per_tenant: 1, ..HttpLimits::default() },
            "`calls_per_tenant`",
            StatusCode::TOO_MANY_REQUESTS,
        ),
        (
            HttpLimits { calls_per_client: 1, ..HttpLimits::default() },
            "`calls_per_client`",
            StatusCode::TOO_MANY_REQUESTS,
        ),
    ] {
        let served = start_with(|settings| settings.limits = limits);
        let legacy = served.client.legacy().await;
        let call = legacy.open("POST", "/mcp", Some(legacy_call(1, "test__stubborn", json!({}), json!({}))));
        let (response, ()) = tokio::join!(call, served.tools.until("started"));
        // It runs on without its connection, and has its place.
        drop(response);
        let modern = served.client.modern("tools/call", "test__echo");
        let echo = || modern_call(2, "test__echo", json!({}), json!({}));
        for _ in 0..3 {
            let refused = modern.post("/mcp", echo()).await;
            assert_eq!(refused.status, status, "{refused:?}");
            assert!(refused.headers.contains_key("retry-after") && refused.body.contains(limit), "{refused:?}");
        }
        // What is no request needs no place.
        let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        assert_eq!(legacy.post("/mcp", back).await.status, StatusCode::ACCEPTED);
        served.tools.until("cancelled").await;
        assert_eq!(modern.post("/mcp", echo()).await.status, StatusCode::OK);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_read_an_answer_finds_its_place_free() {
    let limits = HttpLimits { calls_per_client: 1, requests_per_second: 100_000, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits);
    let (echo, talk) =
        (served.client.modern("tools/call", "test__echo"), served.client.modern("tools/call", "test__murmur"));
    let legacy = served.client.legacy().await;
    let telling = || json!({"progressToken": "p"});
    for id in 0..100 {
        for (client, call) in [
            (&echo, modern_call(id, "test__echo", json!({}), json!({}))),
            (&talk, modern_call(id, "test__murmur", json!({}), telling())),
            (&legacy, legacy_call(2 * id, "test__echo", json!({}), json!({}))),
            (&legacy, legacy_call(2 * id + 1, "test__murmur", json!({}), telling())),
        ] {
            let response = client.open("POST", "/mcp", Some(call)).await;
            assert_eq!(response.status(), StatusCode::OK);
            if response.headers()["content-type"] == "application/json" {
                // The whole of it is one frame; its end is not waited for.
                let frame = response.into_body().frame().await.expect("an answer").expect("readable");
                assert!(frame.into_data().is_ok_and(|json| json.ends_with(b"}")));
            } else {
                let mut stream = Stream::new(response);
                while stream.message().await.expect("an answer").get("result").is_none() {}
            }
        }
    }
}

#[tokio::test]
async fn a_host_that_stops_lets_calls_finish_and_follows_nothing_any_more() {
    let served = start();
    let legacy = served.client.legacy().await;
    let mut following = Stream::new(legacy.open("GET", "/mcp", None).await);
    let modern = served.client.modern("tools/call", "test__stubborn");
    let first =
        tokio::spawn(async move { modern.post("/mcp", modern_call(1, "test__stubborn", json!({}), json!({}))).await });
    served.tools.until("started").await;
    let second = tokio::spawn(async move {
        let call = legacy_call(2, "test__stubborn", json!({}), json!({}));
        message(&legacy.post("/mcp", call).await)
    });
    served.tools.until("started").await;
    served.shutdown.cancel();
    while following.next().await.is_some() {}
    served.tools.release();
    assert_eq!(message(&first.await.expect("answered"))["id"], 1);
    assert_eq!(second.await.expect("answered")["id"], 2);
    served.serving.await.expect("it ends");
}

#[tokio::test]
async fn a_subscription_is_a_stream_and_ends_with_the_host() {
    let served = start();
    let client = served.client.modern("subscriptions/listen", "");
    let wanted = json!({"notifications": {"toolsListChanged": true}, "_meta": modern(json!({}))});
    let listen = request(1, "subscriptions/listen", &wanted);
    let mut stream = Stream::new(client.open("POST", "/mcp", Some(listen)).await);
    let said = stream.message().await.expect("it was taken up");
    assert_eq!(said["method"], "notifications/subscriptions/acknowledged", "{said}");
    served.tools.changes.send_modify(|changes| *changes += 1);
    assert_eq!(stream.message().await.expect("a change")["method"], "notifications/tools/list_changed");
    served.shutdown.cancel();
    while stream.next().await.is_some() {}
    served.serving.await.expect("it ends");
}

#[tokio::test]
async fn a_session_hears_of_changes_where_it_listens() {
    let served = start();
    let client = served.client.legacy().await;
    served.tools.changes.send_modify(|changes| *changes += 1);
    let mut stream = Stream::new(client.open("GET", "/mcp", None).await);
    assert_eq!(stream.message().await.expect("a change")["method"], "notifications/tools/list_changed");
    // Two listen: what is said is said to the newer one alone.
    let mut newer = Stream::new(client.open("GET", "/mcp", None).await);
    served.tools.changes.send_modify(|changes| *changes += 1);
    assert_eq!(newer.message().await.expect("a change")["method"], "notifications/tools/list_changed");
    client.ask("DELETE", "/mcp", None).await;
    assert_eq!((stream.message().await, newer.message().await), (None, None));
}

#[tokio::test]
async fn what_is_no_message_is_answered_in_the_words_of_the_protocol() {
    let served = start();
    let client = served.client.modern("tools/list", "");
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (body, code) in [
        ("{".to_owned(), -32_700),
        ("\"text\"".to_owned(), -32_600),
        ("[]".to_owned(), -32_600),
        (r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#.to_owned(), -32_600),
        ("{}".to_owned(), -32_600),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#.to_owned(), -32_600),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#.to_owned(), -32_600),
        (r#"{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}"#.to_owned(), -32_600),
        (format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {deep}}}"#), -32_600),
    ] {
        let mut stream = TcpStream::connect(client.address).await.expect("connects");
        let head = format!(
            "POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            client.token,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.expect("answered");
        let (head, sent) = answer.split_once("\r\n\r\n").expect("a head");
        let sent: Value = serde_json::from_str(sent).unwrap_or_else(|_| panic!("{answer}"));
        assert!(head.starts_with("HTTP/1.0 400"), "{answer}");
        assert_eq!(sent["error"]["code"], code, "{answer}");
    }
}

#[tokio::test]
async fn what_the_client_sends_and_takes_has_to_be_said() {
    let served = start();
    let client = served.client.modern("tools/list", "");
    let list = || request(1, "tools/list", &json!({"_meta": modern(json!({}))}));
    for accept in ["", "application/json", "text/event-stream", "*/*"] {
        let refused = client.with("accept", accept).post("/mcp", list()).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::NOT_ACCEPTABLE, "invalid"), "{accept}");
    }
    let refused = client.with("content-type", "text/plain").post("/mcp", list()).await;
    assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(client.with("mcp-method", "tools/call").post("/mcp", list()).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(client.with("origin", "https://evil.test").post("/mcp", list()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(client.with("host", "evil.test").post("/mcp", list()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(client.ask("GET", "/mcp", None).await.status, StatusCode::METHOD_NOT_ALLOWED);
    let limits = HttpLimits { message_bytes: 1_000, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits);
    let client = served.client.modern("tools/call", "test__echo");
    let long = modern_call(1, "test__echo", json!({"text": "x".repeat(1_000)}), json!({}));
    let refused = client.post("/mcp", long).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(refused.body.contains("`message_bytes`"), "{refused:?}");
}
