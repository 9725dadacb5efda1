//! Limits of HTTP requests.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};
use wharf_tests::{Fixture, Setup, Upstream, blocking, context, found, object, until, until_async};

use super::Tested;

pub(super) const TESTED: Tested = &[
    ("in_flight", one_request_too_many_at_once_is_refused),
    ("in_flight_per_tenant", a_tenant_with_too_many_requests_at_once_keeps_nobody_else_from_theirs),
    ("per_call", one_request_of_a_call_too_many_is_refused),
    ("connect_milliseconds", a_server_that_does_not_finish_connecting_is_given_up),
    ("first_byte_milliseconds", a_server_that_does_not_answer_is_given_up),
    ("between_bytes_milliseconds", an_answer_that_pauses_is_ended),
    ("total_milliseconds", an_answer_that_drips_for_ever_is_ended),
    ("head_bytes", a_head_of_one_byte_too_many_is_refused_either_way),
    ("sent_bytes", a_body_of_one_byte_too_many_is_not_sent),
    ("answer_bytes", an_answer_of_one_byte_too_many_is_ended),
];

async fn open(name: &str, value: u64) -> Fixture {
    let grant = ["* http://127.0.0.1:*", "* https://127.0.0.1:*"];
    Setup::new().requests(&grant, "private_addresses = true").request_limit(name, value).open().await
}

async fn ask(fixture: &Fixture, upstream: &Upstream, more: Value) -> Value {
    let mut arguments = json!({"authority": upstream.authority()});
    arguments.as_object_mut().expect("an object").extend(object(more));
    found(fixture.call("hostile__ask_http", arguments).await)
}

fn refuses(answer: &Value, limit: &str) {
    let told = answer["refused"].as_str().or(answer["broken"].as_str()).unwrap_or_default();
    assert!(told.contains(&format!("limit `{limit}` of [request.limits]")), "{answer}");
}

#[tokio::test]
async fn one_request_too_many_at_once_is_refused() {
    let (upstream, fixture) = (Upstream::echo(), open("in_flight", 2).await);
    refuses(&ask(&fixture, &upstream, json!({"silent": 2})).await, "in_flight");
    // What a call leaves in flight ends behind it.
    until_async("the places are free again", async || {
        ask(&fixture, &upstream, json!({"silent": 1})).await["status"] == 200
    })
    .await;
}

#[tokio::test]
async fn a_tenant_with_too_many_requests_at_once_keeps_nobody_else_from_theirs() {
    let (upstream, fixture) = (Upstream::echo(), open("in_flight_per_tenant", 2).await);
    let arguments = json!({"authority": upstream.authority(), "silent": 1, "path": "/silence"});
    let greedy = fixture.start(&context("greedy", "s"), "hostile__ask_http", arguments);
    until("both requests are there", || upstream.asked().len() == 2).await;
    let one_more = || json!({"authority": upstream.authority()});
    let refused = fixture.call_in(&context("greedy", "t"), "hostile__ask_http", one_more()).await;
    refuses(&found(refused), "in_flight_per_tenant");
    let other = fixture.call_in(&context("other", "s"), "hostile__ask_http", one_more()).await;
    assert_eq!(found(other)["status"], 200);
    greedy.drop_it().await;
}

#[tokio::test]
async fn one_request_of_a_call_too_many_is_refused() {
    let (upstream, fixture) = (Upstream::echo(), open("per_call", 3).await);
    assert_eq!(ask(&fixture, &upstream, json!({"times": 3})).await["status"], 200);
    refuses(&ask(&fixture, &upstream, json!({"times": 4})).await, "per_call");
    assert_eq!(upstream.asked().len(), 6);
}

#[tokio::test]
async fn a_server_that_does_not_finish_connecting_is_given_up() {
    // It never answers what begins an encrypted connection.
    let (upstream, fixture) = (Upstream::echo(), open("connect_milliseconds", 300).await);
    refuses(&ask(&fixture, &upstream, json!({"scheme": "https"})).await, "connect_milliseconds");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let (upstream, fixture) = (Upstream::echo(), open("first_byte_milliseconds", 300).await);
    refuses(&ask(&fixture, &upstream, json!({"path": "/silence"})).await, "first_byte_milliseconds");
    refuses(
        &ask(&fixture, &upstream, json!({"path": "/silence", "patience": 600_000})).await,
        "first_byte_milliseconds",
    );
    // A plugin may have less patience, and no more.
    let (upstream, fixture) = (Upstream::echo(), open("first_byte_milliseconds", 600_000).await);
    refuses(&ask(&fixture, &upstream, json!({"path": "/silence", "patience": 300})).await, "first_byte_milliseconds");
}

/// Sends the head of a long answer, and three bytes of it.
fn begin(connection: &mut TcpStream) {
    let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nabc");
}

#[tokio::test]
async fn an_answer_that_pauses_is_ended() {
    let upstream = Upstream::start(|_, connection| {
        begin(connection);
        let _ = std::io::copy(connection, &mut std::io::sink());
    });
    let fixture = open("between_bytes_milliseconds", 300).await;
    let answer = ask(&fixture, &upstream, json!({})).await;
    refuses(&answer, "between_bytes_milliseconds");
    assert_eq!(answer["bytes"], 3, "{answer}");
}

#[tokio::test]
async fn an_answer_that_drips_for_ever_is_ended() {
    let upstream = Upstream::start(|_, connection| {
        begin(connection);
        while connection.write_all(b".").is_ok() {
            blocking::let_time_pass(Duration::from_millis(10), "it answers slowly");
        }
    });
    let fixture = open("total_milliseconds", 1_000).await;
    refuses(&ask(&fixture, &upstream, json!({})).await, "total_milliseconds");
}

#[tokio::test]
async fn a_head_of_one_byte_too_many_is_refused_either_way() {
    let upstream = Upstream::start(|head, connection| {
        let length: usize =
            head.split("/answer").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or(0);
        // With `content-length: 0` and `connection: close`, which count 19 each.
        let line = if length == 0 { String::new() } else { format!("x: {}\r\n", "x".repeat(length - 43)) };
        Upstream::send(connection, &line, b"");
    });
    let fixture = open("head_bytes", 10_000).await;
    assert_eq!(ask(&fixture, &upstream, json!({"path": "/answer10000"})).await["status"], 200);
    refuses(&ask(&fixture, &upstream, json!({"path": "/answer10001"})).await, "head_bytes");
    refuses(&ask(&fixture, &upstream, json!({"path": "/answer100000"})).await, "head_bytes");
    // The name, what stands around it, and the path.
    let header = |length: usize| json!({"headers": [format!("x: {}", "x".repeat(length - 6))]});
    assert_eq!(ask(&fixture, &upstream, header(10_000)).await["status"], 200);
    let asked = upstream.asked().len();
    refuses(&ask(&fixture, &upstream, header(10_001)).await, "head_bytes");
    assert_eq!(upstream.asked().len(), asked, "it was not sent");
}

#[tokio::test]
async fn a_body_of_one_byte_too_many_is_not_sent() {
    let upstream = Upstream::start(|head, connection| {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if connection.read_exact(&mut body).is_ok() {
            Upstream::send(connection, "", b"thanks");
        }
    });
    let fixture = open("sent_bytes", 10_000).await;
    let post =
        |length: u64| json!({"method": "POST", "padding": length, "headers": [format!("content-length: {length}")]});
    assert_eq!(ask(&fixture, &upstream, post(10_000)).await["body"], "thanks");
    refuses(&ask(&fixture, &upstream, post(10_001)).await, "sent_bytes");
}

#[tokio::test]
async fn an_answer_of_one_byte_too_many_is_ended() {
    let upstream = Upstream::start(|head, connection| {
        let length = head.split(['/', ' ']).nth(2).and_then(|length| length.parse().ok()).unwrap_or(0);
        Upstream::send(connection, "", &vec![b'x'; length]);
    });
    let fixture = open("answer_bytes", 5_000).await;
    assert_eq!(ask(&fixture, &upstream, json!({"path": "/5000"})).await["bytes"], 5_000);
    refuses(&ask(&fixture, &upstream, json!({"path": "/5001"})).await, "answer_bytes");
}
