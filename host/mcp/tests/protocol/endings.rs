//! Calls that are taken back, clients that leave, hosts that stop.

use serde_json::json;

use crate::support::{Client, modern};

async fn start(client: &mut Client, id: i64, tool: &str, meta: serde_json::Value) {
    client
        .send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "_meta": meta}}))
        .await;
    client.until("started").await;
}

#[tokio::test]
async fn a_cancellation_reaches_the_call_and_the_call_is_not_answered() {
    for (mut client, meta) in [(Client::legacy().await, json!({})), (Client::connect(), modern(json!({})))] {
        start(&mut client, 1, "test__wait", meta.clone()).await;
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
        client.until("cancelled").await;
        // `call` takes the next message for its answer: nothing came for 1.
        let answer = client.call(2, "test__echo", json!({}), meta).await;
        assert_eq!(answer["result"]["isError"], false);
    }
}

#[tokio::test]
async fn a_cancellation_ends_its_own_call_only() {
    let mut client = Client::legacy().await;
    start(&mut client, 1, "test__stubborn", json!({})).await;
    start(&mut client, 2, "test__wait", json!({})).await;
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})).await;
    client.until("cancelled").await;
    client.release.cancel();
    let answer = client.receive().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("late")));
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_calls_with_it() {
    let mut client = Client::legacy().await;
    start(&mut client, 1, "test__wait", json!({})).await;
    client.hang_up().await;
    client.until("cancelled").await;
    client.ended().await.expect("leaving is no error");
}

#[tokio::test]
async fn a_call_that_is_nearly_done_is_answered_after_the_client_closed_its_end() {
    let mut client = Client::legacy().await;
    start(&mut client, 1, "test__stubborn", json!({})).await;
    client.hang_up().await;
    client.release.cancel();
    assert_eq!(client.receive().await["result"]["content"][0]["text"], "late");
    assert_eq!(client.receive_or_end().await, None);
    client.ended().await.expect("leaving is no error");
}

#[tokio::test]
async fn requests_in_a_pipe_that_ends_are_all_answered() {
    let mut client = Client::connect();
    let meta = modern(json!({}));
    for id in 1..=20 {
        client
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                         "params": {"name": "test__echo", "_meta": meta}}))
            .await;
    }
    client
        .send_bytes(
            json!({"jsonrpc": "2.0", "id": 21, "method": "tools/list", "params": {"_meta": meta}})
                .to_string()
                .as_bytes(),
        )
        .await;
    client.hang_up().await;
    let mut answered = Vec::new();
    while let Some(answer) = client.receive_or_end().await {
        answered.push(answer["id"].as_i64().expect("an id"));
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=21).collect::<Vec<_>>(), "the last line has no line break");
}

#[tokio::test]
async fn a_client_that_leaves_before_it_said_anything_is_no_error() {
    let mut client = Client::connect();
    client.hang_up().await;
    client.ended().await.expect("leaving is no error");
}

#[tokio::test]
async fn a_host_that_stops_cancels_calls_and_ends_the_connection() {
    let mut client = Client::legacy().await;
    start(&mut client, 1, "test__wait", json!({})).await;
    client.shutdown.cancel();
    client.until("cancelled").await;
    client.ended().await.expect("stopping is no error");
    let unopened = Client::connect();
    unopened.shutdown.cancel();
    unopened.ended().await.expect("stopping is no error");
}
