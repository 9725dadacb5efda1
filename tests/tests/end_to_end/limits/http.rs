//! Limits of HTTP, broken by clients of the real binary.

use std::{
    cell::RefCell,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wharf_tests::{Reply, Server, Setup, blocking, replied};

use super::{
    Tested,
    connections::{
        a_stranger_that_takes_too_long_is_not_waited_for, guesses_of_an_address_lock_out_its_guesses_alone,
        one_connection_of_a_tenant_too_many_is_refused, one_connection_too_many_is_refused,
        one_stranger_of_an_address_too_many_costs_its_own_oldest,
        one_stranger_too_many_costs_the_oldest_its_connection, until_served,
    },
};
use crate::http_mcp::with_tokens;

pub(super) const TESTED: Tested = &[
    ("connections", one_connection_too_many_is_refused),
    ("connections_per_tenant", one_connection_of_a_tenant_too_many_is_refused),
    ("connections_without_token", one_stranger_too_many_costs_the_oldest_its_connection),
    ("wrong_tokens_per_address", guesses_of_an_address_lock_out_its_guesses_alone),
    ("connections_without_token_per_address", one_stranger_of_an_address_too_many_costs_its_own_oldest),
    ("arrival_without_token_milliseconds", a_stranger_that_takes_too_long_is_not_waited_for),
    ("readers", one_reader_too_many_is_refused),
    ("readers_per_tenant", one_reader_of_a_tenant_too_many_is_refused_and_another_tenant_follows),
    ("body_bytes", one_byte_of_a_body_too_many_is_refused),
    ("wait_milliseconds", a_request_that_waits_for_nothing_is_answered),
    ("heartbeat_milliseconds", a_silent_stream_is_kept_alive_by_comments),
    ("arrival_milliseconds", what_takes_too_long_to_arrive_is_not_waited_for),
    ("stall_milliseconds", a_client_that_takes_nothing_is_let_go),
    ("grace_milliseconds", a_request_that_runs_when_the_host_stops_has_so_long_and_no_longer),
    ("message_bytes", one_byte_of_a_message_too_many_is_refused),
    ("calls", one_call_of_all_too_many_is_refused),
    ("calls_per_tenant", one_call_of_a_tenant_too_many_is_refused_and_another_tenant_calls),
    ("calls_per_client", one_call_of_a_client_too_many_is_refused),
    ("requests_per_second", who_asks_too_often_is_refused),
    ("sessions", one_session_too_many_is_refused_where_all_are_used),
    (
        "sessions_per_tenant",
        one_session_of_a_tenant_too_many_is_refused_where_all_are_used_and_another_tenant_opens_one,
    ),
    ("session_idle_seconds", a_session_that_nobody_uses_ends),
    ("session_bytes", what_was_read_makes_room_for_what_was_not),
];

/// A token of the tenant `a`, and one of `b`.
pub(super) const TENANTS: [&[&str]; 2] = [&["--name", "a", "--tenant", "a"], &["--name", "b", "--tenant", "b"]];

pub(super) fn limited(name: &str, value: u64) -> Setup {
    Setup::bare().own_terminals("shell = true\nprograms = [\"sh\"]").http_limit(name, value)
}

/// Reads the head of an answer that keeps its connection.
pub(super) fn head(stream: &TcpStream) -> std::io::Result<String> {
    let (mut lines, mut head) = (BufReader::new(stream), String::new());
    while lines.read_line(&mut head)? > 2 {}
    Ok(head)
}

/// A connection that stays.
pub(super) fn staying(server: &Server) -> TcpStream {
    let mut stream = server.connect();
    let request = format!("{}\r\n", server.head("HTTP/1.1", "GET", "/v1/health", "s"));
    stream.write_all(request.as_bytes()).expect("the server reads");
    stream
}

pub(super) fn names(reply: &Reply, limit: &str) {
    let message = reply.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains(&format!("`{limit}`")), "it does not name the limit: {message}");
}

#[test]
fn one_reader_too_many_is_refused() {
    let server = Server::start(&limited("readers", 1));
    let path = format!("/v1/streams/{}", server.shell("s")["stream"].as_str().expect("a stream"));
    let following = server.follow("GET", &format!("{path}/events"), "s", "");
    let refused = server.ask("GET", &format!("{path}/events"), "s", None);
    assert_eq!((refused.status, refused.head.contains("retry-after")), (429, true), "{refused:?}");
    names(&refused, "readers");
    names(&server.ask("GET", &format!("{path}?wait_ms=60000"), "s", None), "readers");
    assert_eq!(server.ask("GET", &path, "s", None).status, 200, "who does not wait is no reader");
    drop(following);
    // The server sees that at its next write.
    blocking::until("the place is given back", || {
        server.ask("GET", &format!("{path}?wait_ms=1"), "s", None).status != 429
    });
}

#[test]
fn one_reader_of_a_tenant_too_many_is_refused_and_another_tenant_follows() {
    let (mut server, tokens) = with_tokens(limited("readers_per_tenant", 1), TENANTS);
    let mut streams = Vec::new();
    for token in &tokens {
        server.token.clone_from(token);
        let stream = server.shell("s")["stream"].as_str().expect("a stream").to_owned();
        streams.push(format!("/v1/streams/{stream}/events"));
    }
    server.token.clone_from(&tokens[0]);
    let _following = server.follow("GET", &streams[0], "s", "");
    let refused = server.ask("GET", &streams[0], "s", None);
    assert_eq!(refused.status, 429, "{refused:?}");
    names(&refused, "readers_per_tenant");
    server.token.clone_from(&tokens[1]);
    assert!(server.follow("GET", &streams[1], "s", "").event().is_some(), "another tenant follows its own");
}

#[test]
fn one_byte_of_a_body_too_many_is_refused() {
    let server = Server::start(&limited("body_bytes", 1_000));
    let body = |bytes: usize| format!("{{\"columns\": 501{}}}", " ".repeat(bytes - 16));
    assert_eq!(body(1_000).len(), 1_000);
    let sized = |bytes| replied(server.send("POST", "/v1/terminals", "s", "", &body(bytes)));
    assert_eq!(sized(1_000).status, 400, "it is read");
    let refused = sized(1_001);
    assert_eq!(refused.status, 413);
    names(&refused, "body_bytes");
}

#[test]
fn a_request_that_waits_for_nothing_is_answered() {
    let server = Server::start(&limited("wait_milliseconds", 50));
    let terminal = server.shell("s");
    let began = Instant::now();
    let stream = terminal["stream"].as_str().expect("a stream");
    let page = server.ask("GET", &format!("/v1/streams/{stream}?from=1&wait_ms=600000"), "s", None);
    assert_eq!(page.json()["events"], serde_json::json!([]), "{page:?}");
    let terminal = terminal["terminal"].as_str().expect("an id");
    let path = format!("/v1/terminals/{terminal}/output?from=1000000&wait_ms=600000");
    assert_eq!(server.ask("GET", &path, "s", None).json()["content"], "");
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
}

#[test]
fn a_silent_stream_is_kept_alive_by_comments() {
    let server = Server::start(&limited("heartbeat_milliseconds", 50));
    let path = format!("/v1/streams/{}/events", server.shell("s")["stream"].as_str().expect("a stream"));
    let mut following = server.follow("GET", &path, "s", "");
    for _ in 0..3 {
        assert_eq!(following.event().map(|event| event.kind).as_deref(), Some(":"));
    }
}

#[test]
fn what_takes_too_long_to_arrive_is_not_waited_for() {
    let server = Server::start(&limited("arrival_milliseconds", 1_000));
    let mut stream = server.connect();
    stream.write_all(server.head("HTTP/1.1", "POST", "/v1/terminals", "s").as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server closes");
    assert_eq!(answer, "", "half a head is not answered");
    let mut stream = server.connect();
    let head = server.head("HTTP/1.0", "POST", "/v1/terminals", "s");
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let refused = replied(stream);
    assert_eq!(refused.status, 408);
    names(&refused, "arrival_milliseconds");
}

#[test]
fn a_client_that_takes_nothing_is_let_go() {
    let setup =
        limited("stall_milliseconds", 3_000).http_limit("connections", 1).http_limit("arrival_milliseconds", 600_000);
    let server = Server::start(&setup.terminal_limit("history_bytes", 4 << 20));
    let text = "head -c 3000000 /dev/zero | tr '\\0' x; exec sleep 1000";
    let body = serde_json::json!({"program": "sh", "arguments": ["-c", text]});
    let started = server.ask("POST", "/v1/terminals", "s", Some(body)).json();
    let terminal = format!("/v1/terminals/{}", started["terminal"].as_str().expect("an id"));
    blocking::until("it is printed", || server.ask("GET", &terminal, "s", None).json()["raw_bytes"] == 3_000_000);
    // More than all that the system keeps between the two.
    let path = format!("{terminal}/output?view=raw&from=1000000&max_bytes=1048576");
    let whole = server.ask("GET", &path, "s", None);
    assert!(whole.json()["content"].as_str().is_some_and(|content| content.len() > 1_300_000));
    let mut stalled = server.send("GET", &path, "s", "", "");
    // There is one place, which that one has now...
    blocking::until("it has its place", || server.ask("GET", "/v1/health", "s", None).status != 200);
    // ...and which is free once it has been let go.
    until_served(&server);
    let mut taken = Vec::new();
    // It may be a reset, too.
    let _ = stalled.read_to_end(&mut taken);
    assert!(taken.len() < whole.body.len(), "{} of {}", taken.len(), whole.body.len());
}

#[test]
fn a_request_that_runs_when_the_host_stops_has_so_long_and_no_longer() {
    for (grace, answered) in [(600_000, true), (200, false)] {
        let setup = limited("grace_milliseconds", grace).http_limit("arrival_milliseconds", 600_000);
        let mut server = Server::start(&setup);
        let mut stream = server.connect();
        let head = server.head("HTTP/1.0", "POST", "/v1/terminals", "s");
        let request = format!("{head}Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{{\"columns\": ");
        stream.write_all(request.as_bytes()).expect("the server reads");
        // It has been taken up once a later one has been answered.
        assert_eq!(server.ask("GET", "/v1/health", "s", None).status, 200);
        server.terminate();
        blocking::until("it no longer listens", || TcpStream::connect(server.address).is_err());
        if answered {
            stream.write_all(b"501}").expect("the server reads");
            assert_eq!(replied(stream).status, 400, "it ran to its end");
        } else {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            assert_eq!(rest, b"", "it was not answered");
        }
        assert_eq!(server.ended(), Some(0), "{}", server.log());
    }
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// Asks until the answer has this status.
fn until(status: u16, what: &str, ask: impl Fn() -> Reply) -> Reply {
    blocking::until(what, || {
        let reply = ask();
        if reply.status == status { Ok(reply) } else { Err(reply) }
    })
}

#[test]
fn one_byte_of_a_message_too_many_is_refused() {
    let server = Server::start(&limited("message_bytes", 1_000));
    let message = |bytes: usize| {
        let empty = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": ""}}).to_string().len();
        json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": "x".repeat(bytes - empty)}})
    };
    let session = server.handshake().expect("a session");
    assert_eq!(replied(server.say(&session, &message(1_000))).status, 202);
    let refused = replied(server.say(&session, &message(1_001)));
    assert_eq!(refused.status, 413);
    names(&refused, "message_bytes");
}

/// One call runs, a second one is refused, and there is room again when the first has ended.
/// `meanwhile` is what a client of another tenant finds while the first one runs.
fn one_call_too_many(limit: &str, status: u16, meanwhile: impl FnOnce(&mut Server)) {
    let (mut server, tokens) = with_tokens(Setup::new().http_limit(limit, 1), TENANTS);
    server.token.clone_from(&tokens[0]);
    let session = server.handshake().expect("a session");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hostile__sleep_forever"}});
    // What was answered just now may have its place for a moment: a call that came
    // too early was refused.
    let running = RefCell::new(Vec::new());
    let refused = until(status, "it is refused", || {
        running.borrow_mut().push(server.say(&session, &call));
        replied(server.say(&session, &ping(2)))
    });
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    names(&refused, limit);
    server.token.clone_from(&tokens[1]);
    meanwhile(&mut server);
    server.token.clone_from(&tokens[0]);
    assert!(replied(server.send("DELETE", "/mcp", "s", &session, "")).status < 300);
    until(200, "there is room again", || {
        server.handshake().err().unwrap_or_else(|| server.ask("GET", "/v1/health", "s", None))
    });
}

/// What a client of the tenant `b` is answered while one of `a` has all that it may.
fn another_tenant_is_served(server: &mut Server) {
    let session = server.handshake().expect("another tenant has its own");
    assert_eq!(replied(server.say(&session, &ping(1))).status, 200, "another tenant has its own");
}

fn another_tenant_is_refused(server: &mut Server, limit: &str, status: u16) {
    let refused = server.handshake().expect_err("all have it together");
    assert_eq!(refused.status, status, "{refused:?}");
    names(&refused, limit);
}

#[test]
fn one_call_of_all_too_many_is_refused() {
    one_call_too_many("calls", 503, |server| another_tenant_is_refused(server, "calls", 503));
}

#[test]
fn one_call_of_a_tenant_too_many_is_refused_and_another_tenant_calls() {
    one_call_too_many("calls_per_tenant", 429, another_tenant_is_served);
}

#[test]
fn one_call_of_a_client_too_many_is_refused() {
    one_call_too_many("calls_per_client", 429, another_tenant_is_served);
}

#[test]
fn who_asks_too_often_is_refused() {
    let server = Server::start(&limited("requests_per_second", 1));
    let ask = || server.ask("GET", "/v1/streams", "s", None);
    assert_eq!(ask().status, 200);
    let refused = until(429, "it is refused", ask);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    names(&refused, "requests_per_second");
    until(200, "it is let in again", || {
        blocking::let_time_pass(Duration::from_secs(1), "to ask is what is counted");
        ask()
    });
}

fn one_session_too_many(limit: &str, meanwhile: impl FnOnce(&mut Server)) {
    let (mut server, tokens) = with_tokens(limited(limit, 1), TENANTS);
    server.token.clone_from(&tokens[0]);
    let first = server.handshake().expect("a session");
    // Nobody uses it: it makes room.
    let second = server.handshake().expect("another session");
    assert_eq!(replied(server.say(&first, &ping(1))).status, 404);
    let listening = server.listen(&second);
    // It is in use once it is answered.
    assert!(head(&listening).expect("an answer").contains("200"));
    let refused = server.handshake().expect_err("a session in use made room");
    assert_eq!(refused.status, 503);
    names(&refused, limit);
    server.token.clone_from(&tokens[1]);
    meanwhile(&mut server);
    server.token.clone_from(&tokens[0]);
    assert_eq!(replied(server.say(&second, &ping(1))).status, 200);
}

#[test]
fn one_session_too_many_is_refused_where_all_are_used() {
    one_session_too_many("sessions", |server| another_tenant_is_refused(server, "sessions", 503));
}

#[test]
fn one_session_of_a_tenant_too_many_is_refused_where_all_are_used_and_another_tenant_opens_one() {
    one_session_too_many("sessions_per_tenant", another_tenant_is_served);
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let server = Server::start(&limited("session_idle_seconds", 1));
    let session = server.handshake().expect("a session");
    assert_eq!(replied(server.say(&session, &ping(1))).status, 200);
    until(404, "it ends", || {
        blocking::let_time_pass(Duration::from_millis(1_500), "to ask is a use");
        replied(server.say(&session, &ping(2)))
    });
}

#[test]
fn what_was_read_makes_room_for_what_was_not() {
    for (bytes, kept) in [(1, false), (100_000, true)] {
        let server = Server::start(&Setup::new().http_limit("session_bytes", bytes));
        let session = server.handshake().expect("a session");
        let answers = [1, 2].map(|id| {
            let params = json!({"name": "hostile__sleep", "arguments": {"milliseconds": 1_000}});
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            let reply = replied(server.say(&session, &call));
            assert_eq!((reply.status, &reply.message()["id"]), (200, &json!(id)), "{reply:?}");
            let first = reply.body.lines().find_map(|line| line.strip_prefix("id: ")).expect("a stream").to_owned();
            (first, reply.message())
        });
        let again = |(id, _): &(String, Value)| {
            let headers = format!("{session}Accept: text/event-stream\r\nLast-Event-ID: {id}\r\n");
            replied(server.send("GET", "/mcp", "s", &headers, ""))
        };
        assert_eq!(again(&answers[1]).message(), answers[1].1, "an answer may be asked for again");
        assert_eq!(again(&answers[0]).body.contains("\"result\""), kept, "with {bytes} bytes");
    }
}
