//! The routes of terminals, with a real shell behind them.

use hyper::{StatusCode, header};
use serde_json::json;

use crate::{events::Events, support::start};

#[tokio::test]
async fn a_turn_is_followed_from_its_input_to_its_end_and_no_further() {
    let served = start();
    let client = &served.client;
    let started = client.post("/v1/terminals", json!({})).await;
    assert_eq!(started.status, StatusCode::CREATED);
    let terminal = started.json();
    let place = started.headers[header::LOCATION].to_str().expect("ASCII").to_owned();
    assert_eq!(place, format!("/v1/terminals/{}", terminal["terminal"].as_str().expect("a handle")));
    assert_eq!((&terminal["columns"], &terminal["replaced"]), (&json!(80), &json!([])));

    let taking_events = client.with("accept", "application/json;q=0.1, text/event-stream");
    for (text, code) in [("echo one; echo two", 0), ("false", 1)] {
        let turns = format!("{place}/turns");
        let mut events = Events::new(taking_events.open("POST", &turns, Some(json!({"text": text}))).await);
        assert_eq!(events.head.headers["wharf-stream"], terminal["stream"].as_str().expect("a handle"));
        let sent = events.rest().await;
        let said: String = sent.iter().filter_map(|sent| sent.data["text"].as_str()).collect();
        assert_eq!(said, if code == 0 { "one\ntwo\n" } else { "" });
        let complete = sent.last().expect("an end");
        assert_eq!((complete.kind.as_str(), &complete.data["exit_code"]), ("complete", &json!(code)));
        assert_eq!(
            (&complete.data["reason"], &complete.data["confidence"]),
            (&json!("command-ended"), &json!("certain"))
        );
    }
}

#[tokio::test]
async fn a_client_without_events_begins_a_turn_and_reads_the_stream_by_number() {
    let served = start();
    let client = &served.client;
    let terminal = client.post("/v1/terminals", json!({})).await.json()["terminal"].as_str().expect("one").to_owned();
    let begun = client.post(&format!("/v1/terminals/{terminal}/turns"), json!({"text": "echo hello"})).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED);
    let begun = begun.json();
    assert_eq!((&begun["turn"], &begun["first"]), (&json!(1), &json!(1)));
    let (stream, mut from, mut said) = (begun["stream"].as_str().expect("a handle").to_owned(), 1, String::new());
    loop {
        let page = client.get(&format!("/v1/streams/{stream}?from={from}&wait_ms=30000")).await.json();
        let events = page["events"].as_array().expect("a list").clone();
        said.extend(events.iter().filter_map(|event| event["data"]["text"].as_str()));
        from = page["next"].as_u64().expect("a number");
        if events.iter().any(|event| event["event"] == "complete") {
            break;
        }
    }
    assert_eq!(said, "hello\n");
    let output = client.get(&format!("/v1/terminals/{terminal}/output?from=2&max_bytes=3&wait_ms=1000")).await.json();
    assert_eq!((&output["content"], &output["next"]), (&json!("llo"), &json!(5)));
}

#[tokio::test]
async fn a_terminal_is_resized_pressed_cancelled_seen_and_closed_and_so_is_its_stream() {
    let served = start();
    let client = &served.client;
    let started = client.post("/v1/terminals", json!({"columns": 100, "rows": 30})).await.json();
    let place = format!("/v1/terminals/{}", started["terminal"].as_str().expect("a handle"));
    let post = async |path: &str, body| client.post(&format!("{place}/{path}"), body).await;
    assert_eq!(post("resize", json!({"columns": 120, "rows": 40})).await.status, StatusCode::NO_CONTENT);
    assert_eq!(post("keys", json!({"keys": ["C-c"]})).await.status, StatusCode::NO_CONTENT);
    assert_eq!(client.get(&place).await.json()["columns"], 120);
    assert_eq!(client.get(&format!("{place}/screen?history_lines=5")).await.json()["rows"], 40);

    // Nobody ends this one.
    assert_eq!(post("turns", json!({"text": "read line"})).await.status, StatusCode::ACCEPTED);
    let busy = post("turns", json!({"text": "true"})).await;
    assert_eq!((busy.status, busy.code().as_str()), (StatusCode::CONFLICT, "conflict"));
    assert_eq!(client.ask("POST", &format!("{place}/cancel"), None).await.status, StatusCode::NO_CONTENT);
    let stream = format!("/v1/streams/{}", started["stream"].as_str().expect("a handle"));
    let mut events = client.follow(&format!("{stream}/events")).await;
    let cancelled = events.next().await.expect("an end");
    assert_eq!((&cancelled.data["reason"], &cancelled.data["layer"]), (&json!("cancelled"), &json!(null)));

    let held = client.ask("DELETE", &stream, None).await;
    assert_eq!((held.status, held.code().as_str()), (StatusCode::CONFLICT, "conflict"));
    assert_eq!(client.get("/v1/terminals").await.json()["terminals"].as_array().map(Vec::len), Some(1));
    let closed = client.ask("DELETE", &format!("{place}?grace_ms=10"), None).await;
    assert_eq!(closed.json()["status"], "closed");
    let end = events.next().await.expect("an end");
    assert_eq!((end.id, end.kind.as_str(), &end.data["reason"]), (None, "end", &json!("closed")));
    assert!(events.next().await.is_none());
    assert_eq!(client.ask("DELETE", &stream, None).await.status, StatusCode::OK);
    assert_eq!(client.get(&stream).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn refusals_of_the_service_come_with_their_code_and_a_fitting_status() {
    let served = start();
    let denied = served.client.post("/v1/terminals", json!({"program": "rm"})).await;
    assert_eq!((denied.status, denied.code().as_str()), (StatusCode::FORBIDDEN, "denied"));
    assert!(denied.json()["error"]["message"].as_str().is_some_and(|message| message.contains("`rm`")));
    let none = served.client.get("/v1/terminals/unknown").await;
    assert_eq!((none.status, none.code().as_str()), (StatusCode::NOT_FOUND, "not-found"));
}

#[tokio::test]
async fn what_belongs_to_another_session_or_assistant_is_not_there() {
    let served = start();
    let client = &served.client;
    let started = client.post("/v1/terminals", json!({})).await.json();
    let [terminal, stream] = ["terminal", "stream"].map(|name| started[name].as_str().expect("a handle").to_owned());
    for other in [client.with("wharf-session", "t"), client.with("wharf-assistant", "a")] {
        for (method, path) in [
            ("GET", format!("/v1/terminals/{terminal}")),
            ("DELETE", format!("/v1/terminals/{terminal}")),
            ("GET", format!("/v1/terminals/{terminal}/screen")),
            ("GET", format!("/v1/terminals/{terminal}/output")),
            ("GET", format!("/v1/streams/{stream}")),
            ("GET", format!("/v1/streams/{stream}/events")),
            ("DELETE", format!("/v1/streams/{stream}")),
        ] {
            let answered = other.ask(method, &path, None).await;
            assert_eq!((answered.status, answered.code().as_str()), (StatusCode::NOT_FOUND, "not-found"), "{path}");
        }
        let turn = other.post(&format!("/v1/terminals/{terminal}/turns"), json!({"text": "true"})).await;
        assert_eq!(turn.status, StatusCode::NOT_FOUND);
        assert_eq!(other.get("/v1/terminals").await.json(), json!({"terminals": []}));
        assert_eq!(other.get("/v1/streams").await.json(), json!({"streams": []}));
    }
    assert_eq!(client.get(&format!("/v1/terminals/{terminal}")).await.status, StatusCode::OK);
}
