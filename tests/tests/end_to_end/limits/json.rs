//! Limits of the JSON of requests, broken over HTTP and over standard input.

use std::cell::RefCell;

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Reply, Server, Setup, blocking, replied, wharf};

use super::http::TENANTS;
use crate::http_mcp::with_tokens;

fn names(reply: &Reply, limit: &str) {
    let message = reply.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains(&format!("`{limit}`")), "it does not name the limit: {message}");
}

/// A request with so many numbers beside it, of which each is worth 64 bytes.
fn with_numbers(id: u64, tool: &str, numbers: usize) -> Value {
    let params = json!({"name": tool, "arguments": {}, "_meta": {"numbers": vec![1; numbers]}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
pub(super) fn a_request_that_takes_too_much_memory_is_refused() {
    let setup = Setup::new().host_limit("request_json_bytes", 100_000);
    let server = Server::start(&setup);
    let session = server.handshake().expect("a session");
    let answered = replied(server.say(&session, &with_numbers(1, "echo__echo", 1_000)));
    assert_eq!(answered.status, 200, "{answered:?}");
    let refused = replied(server.say(&session, &with_numbers(1, "echo__echo", 2_000)));
    assert_eq!(refused.status, 413, "{refused:?}");
    names(&refused, "request_json_bytes");

    let data = Data::new();
    let config = data.write("wharf.toml", setup.text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let mut ask = |numbers| client.request("tools/call", with_numbers(0, "echo__echo", numbers)["params"].take());
    assert_eq!(ask(1_000).get("error"), None);
    let refused = ask(2_000);
    let told = refused["error"]["message"].as_str().expect("an error");
    assert!(told.contains("`request_json_bytes`") && refused["error"]["data"]["code"] == "limit", "{refused}");
    assert_eq!(ask(1_000).get("error"), None, "the connection goes on");
}

/// While one request runs that takes most of it, there is no room for another one: of its
/// tenant, and of another tenant where all share the limit.
fn two_requests(limit: &str, is_shared: bool) {
    let (mut server, tokens) = with_tokens(Setup::new().host_limit(limit, 200_000), TENANTS);
    let sessions = tokens.clone().map(|token| {
        server.token = token;
        server.handshake().expect("a session")
    });
    server.token.clone_from(&tokens[0]);
    let running = RefCell::new(Vec::new());
    let refused = until(429, || {
        // One that came too early was refused.
        running.borrow_mut().push(server.say(&sessions[0], &with_numbers(1, "hostile__sleep_forever", 2_000)));
        replied(server.say(&sessions[0], &with_numbers(2, "echo__echo", 2_000)))
    });
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    names(&refused, limit);
    server.token.clone_from(&tokens[1]);
    let other = replied(server.say(&sessions[1], &with_numbers(2, "echo__echo", 2_000)));
    assert_eq!(other.status, if is_shared { 429 } else { 200 }, "{other:?}");
    server.token.clone_from(&tokens[0]);
    assert!(replied(server.send("DELETE", "/mcp", "s", &sessions[0], "")).status < 300);
    let session = server.handshake().expect("another session");
    until(200, || replied(server.say(&session, &with_numbers(3, "echo__echo", 2_000))));
}

fn until(status: u16, mut ask: impl FnMut() -> Reply) -> Reply {
    blocking::until(format_args!("the status is {status}"), || {
        let reply = ask();
        if reply.status == status { Ok(reply) } else { Err(reply) }
    })
}

#[test]
pub(super) fn requests_of_a_tenant_that_take_too_much_memory_together_are_refused_and_anothers_are_not() {
    two_requests("request_json_bytes_per_tenant", false);
}

#[test]
pub(super) fn requests_of_all_that_take_too_much_memory_together_are_refused() {
    two_requests("request_json_total_bytes", true);
}
