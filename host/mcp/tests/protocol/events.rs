//! Progress and messages of a running call.

use serde_json::{Value, json};

use crate::support::{Client, modern};

/// Everything up to the answer with `id`: what came before, and the answer.
async fn until_answer(client: &mut Client, id: i64) -> (Vec<Value>, Value) {
    let mut before = Vec::new();
    loop {
        let message = client.receive().await;
        if message["id"] == id {
            return (before, message);
        }
        before.push(message);
    }
}

async fn talk(client: &mut Client, id: i64, meta: Value) -> Vec<Value> {
    client
        .send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                     "params": {"name": "test__talk", "_meta": meta}}))
        .await;
    until_answer(client, id).await.0
}

fn messages(events: &[Value]) -> Vec<(&str, &str)> {
    events
        .iter()
        .filter(|event| event["method"] == "notifications/message")
        .map(|event| {
            let params = &event["params"];
            (params["level"].as_str().expect("a level"), params["data"].as_str().expect("data"))
        })
        .collect()
}

#[tokio::test]
async fn progress_grows_carries_the_token_and_comes_before_the_answer() {
    for (mut client, meta) in [
        (Client::legacy().await, json!({"progressToken": "p"})),
        (Client::connect(), modern(json!({"progressToken": "p"}))),
    ] {
        let events = talk(&mut client, 1, meta).await;
        let progress: Vec<_> = events.iter().filter(|event| event["method"] == "notifications/progress").collect();
        let done: Vec<_> =
            progress.iter().map(|event| event["params"]["progress"].as_f64().expect("a number")).collect();
        assert_eq!(done, [0.0, 50.0, 100.0]);
        let params = &progress[2]["params"];
        assert_eq!(params["progressToken"], "p");
        assert_eq!((&params["total"], &params["message"]), (&json!(100.0), &json!("on the way")));
    }
}

/// The clock of these tests goes on by itself while everybody waits.
#[tokio::test(start_paused = true)]
async fn a_call_that_says_nothing_is_said_to_run_before_a_client_takes_it_for_lost() {
    for (mut client, meta) in [
        (Client::legacy().await, json!({"progressToken": "p"})),
        (Client::connect(), modern(json!({"progressToken": "p"}))),
    ] {
        let params = json!({"name": "test__stubborn", "arguments": {}, "_meta": meta});
        client.send(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})).await;
        client.until("started").await;
        let began = tokio::time::Instant::now();
        let mut last = -1.0;
        for told in 1..=5_u32 {
            let event = client.receive().await;
            assert_eq!(
                (&event["method"], &event["params"]["progressToken"]),
                (&json!("notifications/progress"), &json!("p"))
            );
            let done = event["params"]["progress"].as_f64().expect("a number");
            assert!(done > last && done < 1.0, "{done} after {last}: a tool's own first step is more");
            last = done;
            assert!(began.elapsed() <= std::time::Duration::from_secs(5) * told, "{told} after {:?}", began.elapsed());
            assert!(
                event["params"]["message"].as_str().is_some_and(|said| said.starts_with("still running")),
                "{event}"
            );
        }
        client.release.cancel();
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "late");
    }
}

#[tokio::test(start_paused = true)]
async fn who_asked_for_no_progress_hears_nothing_of_a_call_that_waits() {
    let mut client = Client::legacy().await;
    let params = json!({"name": "test__stubborn", "arguments": {}});
    client.send(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})).await;
    client.until("started").await;
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    client.release.cancel();
    assert_eq!(client.receive().await["id"], 3);
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let mut client = Client::legacy().await;
    let events = talk(&mut client, 1, json!({})).await;
    assert!(events.iter().all(|event| event["method"] == "notifications/message"), "{events:?}");
}

#[tokio::test]
async fn a_client_of_2025_gets_messages_from_the_level_it_set() {
    let mut client = Client::legacy().await;
    let events = talk(&mut client, 1, json!({})).await;
    let levels: Vec<_> = messages(&events).into_iter().map(|(level, _)| level).collect();
    assert_eq!(levels, ["info", "warning", "error", "info"], "info is where it starts; unknown words are info");
    assert_eq!(client.ask(2, "logging/setLevel", json!({"level": "error"})).await["result"], json!({}));
    let events = talk(&mut client, 3, json!({})).await;
    assert_eq!(messages(&events), [("error", "said as error")]);
}

#[tokio::test]
async fn a_client_of_2026_gets_messages_where_the_request_asks_for_them() {
    let mut client = Client::connect();
    let meta = modern(json!({"io.modelcontextprotocol/logLevel": "warning"}));
    let events = talk(&mut client, 1, meta).await;
    assert_eq!(messages(&events), [("warning", "said as warn"), ("error", "said as error")]);
    let events = talk(&mut client, 2, modern(json!({"progressToken": 1}))).await;
    assert_eq!(messages(&events), []);
}

#[tokio::test]
async fn a_client_of_2026_sets_no_level_for_its_connection() {
    let mut client = Client::connect();
    let answer = client.ask(1, "logging/setLevel", json!({"level": "debug", "_meta": modern(json!({}))})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}
