//! Clients that send what they should not. The connection lives on.

use serde_json::json;
use wharf_mcp::MAX_MESSAGE_BYTES;

use crate::support::{Client, modern};

async fn still_serves(client: &mut Client) {
    let answer = client.call(99, "test__echo", json!({"text": "alive"}), json!({})).await;
    assert_eq!(answer["result"]["structuredContent"]["arguments"]["text"], "alive");
}

#[tokio::test]
async fn a_line_that_is_not_json_is_answered_and_the_server_lives_on() {
    let mut client = Client::legacy().await;
    for line in ["not json", "{", "\u{0}", "{\"jsonrpc\":\"2.0\",\"id\":"] {
        client.send_line(line.as_bytes()).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], -32700, "{line}");
    }
    client.send_line(&[0xff, 0xfe, 0x00]).await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    client.send_line(b"").await;
    still_serves(&mut client).await;
}

#[tokio::test]
async fn junk_is_answered_even_where_nothing_else_comes() {
    let mut client = Client::connect();
    client.send_line(b"junk").await;
    client.hang_up().await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    assert_eq!(client.receive_or_end().await, None);
}

#[tokio::test]
async fn a_malformed_call_is_answered_under_its_id() {
    let mut client = Client::legacy().await;
    for (id, params) in [(1, json!({"name": "test__echo", "arguments": [1]})), (2, json!({})), (3, json!([]))] {
        let answer = client.ask(id, "tools/call", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    still_serves(&mut client).await;
}

#[tokio::test]
async fn notifications_and_answers_before_the_opening_are_ignored() {
    let mut client = Client::connect();
    client.send_line(b"junk").await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.send(json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await;
    let early = client.ask(1, "tools/list", json!({})).await;
    assert_eq!(early["error"]["code"], -32602, "neither handshake nor metadata: {early}");
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert!(client.ask(2, "server/discover", json!({"_meta": modern(json!({}))})).await["result"].is_object());
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.handshake().await;
    still_serves(&mut client).await;
}

#[tokio::test]
async fn arguments_of_ten_megabytes_reach_the_service_whole() {
    let mut client = Client::legacy().await;
    let answer = client.call(1, "test__size", json!({"text": "x".repeat(10_000_000)}), json!({})).await;
    assert_eq!(answer["result"]["structuredContent"]["bytes"], 10_000_000);
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_refused_under_its_id() {
    let mut client = Client::legacy().await;
    let frame = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "test__size", "arguments": {"text": ""}}, "id": 1})
        .to_string();
    let (before, after) = frame.split_once("\"\"").expect("an empty text");
    for (text, refused) in
        [(MAX_MESSAGE_BYTES - frame.len(), false), (MAX_MESSAGE_BYTES - frame.len() + 1, true), (40_000_000, true)]
    {
        let text = "x".repeat(text);
        client.send_line(format!("{before}\"{text}\"{after}").as_bytes()).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"]["code"] == -32600, refused, "{}", text.len());
    }
    still_serves(&mut client).await;
}

#[tokio::test]
async fn a_client_that_sends_much_before_it_reads_loses_no_answer() {
    let mut client = Client::legacy().await;
    // More answers than fit into the stream between the two, all unread.
    for id in 0..2_000 {
        client
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                           "params": {"name": "test__echo", "arguments": {"text": "x".repeat(200)}}}))
            .await;
    }
    let mut answered: Vec<i64> = Vec::new();
    while answered.len() < 2_000 {
        answered.push(client.receive().await["id"].as_i64().expect("an id"));
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..2_000).collect::<Vec<_>>());
    still_serves(&mut client).await;
}
