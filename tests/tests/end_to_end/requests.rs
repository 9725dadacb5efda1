//! HTTP requests of plugins, against real servers: what is granted is sent, nothing
//! else is, and secrets stay the host's.

mod encrypted;
mod plugin;
mod secrets;
mod sources;

use std::{
    fs,
    io::{Read as _, Write as _},
    time::Duration,
};

use serde_json::{Value, json};
use wharf::audit::{AuditEntry, AuditReader, directory};
use wharf_tests::{Fixture, Setup, Upstream, found, object, until_async};

async fn ask(fixture: &Fixture, authority: &str, more: Value) -> Value {
    let mut arguments = json!({"authority": authority});
    arguments.as_object_mut().expect("an object").extend(object(more));
    found(fixture.call("hostile__ask_http", arguments).await)
}

fn refused<'a>(answer: &'a Value, code: &str) -> &'a str {
    let told = answer["refused"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(told.starts_with(&format!("{code}: ")), "{told}");
    told
}

const PRIVATE: &str = "private_addresses = true";

fn granting(patterns: &[String]) -> Setup {
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    Setup::new().requests(&patterns, PRIVATE)
}

#[tokio::test]
async fn a_request_without_a_grant_is_denied_with_the_line_that_would_allow_it() {
    let upstream = Upstream::echo();
    let authority = upstream.authority();
    let fixture = Setup::new().open().await;
    let answer = ask(&fixture, &authority, json!({})).await;
    assert!(refused(&answer, "denied").contains("add [plugin.hostile.grants.http]"), "{answer}");

    let fixture = granting(&[format!("GET,POST http://{authority}/v1/*")]).open().await;
    assert_eq!(ask(&fixture, &authority, json!({"path": "/v1/a?q=1"})).await["status"], 200);
    assert_eq!(ask(&fixture, &authority, json!({"path": "/v1/a", "method": "POST"})).await["status"], 200);
    for (more, line) in [
        (json!({"path": "/v2/a"}), format!("add \"GET http://{authority}/v2/a\" to `requests`")),
        (json!({"path": "/v1/a", "method": "DELETE"}), format!("add \"DELETE http://{authority}/v1/a\"")),
        (json!({"path": "/v1/a", "method": "get"}), "change `requests`".to_owned()),
        (json!({"path": "/v1/../v2"}), "change `requests`".to_owned()),
        (json!({"path": "/v1/%2e%2e/v2"}), "change `requests`".to_owned()),
        (json!({"path": "/v1/a", "scheme": "https"}), format!("add \"GET https://{authority}/v1/a\"")),
        (json!({"path": "/v1/a", "authority": "localhost"}), "add \"GET http://localhost/v1/a\"".to_owned()),
        (json!({"path": "/v1/a", "method": "TRACE"}), "TRACE".to_owned()),
        (json!({"path": "/v1/a", "method": "CONNECT"}), "CONNECT".to_owned()),
    ] {
        let answer = ask(&fixture, &authority, more).await;
        assert!(refused(&answer, "denied").contains(&line), "{answer}");
    }
    assert_eq!(upstream.asked().len(), 2, "nothing else was sent");
}

#[tokio::test]
async fn private_and_metadata_addresses_are_refused_however_they_are_written() {
    let upstream = Upstream::echo();
    let port = upstream.authority().rsplit(':').next().expect("a port").to_owned();
    let fixture = Setup::new().requests(&["GET *"], "").open().await;
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "localhost",
        "localhost.",
        "any.localhost",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "168.63.129.16",
        "10.0.0.1",
        "100.64.0.1",
        "224.0.0.1",
    ] {
        let answer = ask(&fixture, &format!("{host}:{port}"), json!({})).await;
        assert!(refused(&answer, "denied").contains("is a private address"), "{host}: {answer}");
    }
    assert!(upstream.asked().is_empty());
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_to_follow_it_is_another_request() {
    let elsewhere = Upstream::echo();
    let target = format!("http://{}/secret-place", elsewhere.authority());
    let upstream = Upstream::start(move |_, connection| {
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
        let _ = connection.write_all(head.as_bytes());
    });
    let fixture = granting(&[format!("http://{}", upstream.authority())]).open().await;
    let answer = ask(&fixture, &upstream.authority(), json!({})).await;
    assert_eq!(answer["status"], 302, "{answer}");
    assert!(answer["headers"].to_string().contains("/secret-place"), "{answer}");
    assert!(elsewhere.asked().is_empty(), "nobody follows it");
    refused(&ask(&fixture, &elsewhere.authority(), json!({"path": "/secret-place"})).await, "denied");
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn no_header_path_or_length_makes_a_second_request_or_another_host_of_one() {
    let upstream = Upstream::echo();
    let authority = upstream.authority();
    let fixture = granting(&[format!("* http://{authority}")]).open().await;
    for more in [
        json!({"headers": ["x: a\r\nGET /other HTTP/1.1"]}),
        json!({"headers": ["x: a\nb: c"]}),
        json!({"headers": ["x\r\ny: a"]}),
        json!({"headers": ["host: elsewhere.test"]}),
        json!({"headers": ["transfer-encoding: chunked"]}),
        json!({"headers": ["connection: x"]}),
        json!({"headers": ["proxy-authorization: x"]}),
        json!({"headers": ["content-length: 1", "content-length: 2"]}),
        json!({"headers": ["content-length: 5"]}),
        json!({"headers": ["content-length: +5"], "body": "12345"}),
        json!({"path": "/ HTTP/1.1\r\nhost: elsewhere.test\r\n\r\nGET /"}),
        json!({"path": "http://elsewhere.test/"}),
        json!({"path": "*"}),
        json!({"method": "GET / HTTP/1.1\r\nx:"}),
        json!({"scheme": "ftp"}),
        json!({"authority": format!("elsewhere.test@{authority}")}),
        json!({"authority": format!("{authority}@elsewhere.test")}),
        json!({"authority": format!("{authority}/elsewhere")}),
        json!({"authority": ""}),
    ] {
        let answer = ask(&fixture, &authority, more.clone()).await;
        assert!(answer["refused"].is_string(), "{more}: {answer}");
    }
    assert!(upstream.asked().is_empty(), "{:?}", upstream.asked());
    // What is left is one request, for the host that was checked.
    let answer = ask(&fixture, &authority, json!({"headers": ["te: trailers", "expect: 100-continue"]})).await;
    let head = answer["body"].as_str().expect("a head");
    assert_eq!(head.matches("host: ").count(), 1, "{head}");
    assert!(head.contains(&format!("host: {authority}\r\n")) && !head.contains("expect") && !head.contains("te:"));
}

#[tokio::test]
async fn a_body_that_is_not_what_was_announced_reaches_no_next_request() {
    let upstream = Upstream::start(|_, connection| {
        let mut rest = Vec::new();
        let _ = connection.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains("smuggled"), "{rest:?}");
    });
    let authority = upstream.authority();
    let fixture = granting(&[format!("* http://{authority}")]).open().await;
    let smuggled = "12345GET /smuggled HTTP/1.1\r\n\r\n";
    let more = json!({"method": "POST", "headers": ["content-length: 5"], "body": smuggled});
    let answer = ask(&fixture, &authority, more).await;
    assert!(refused(&answer, "invalid").contains("more than the 5 bytes"), "{answer}");
    let more = json!({"method": "POST", "headers": ["content-length: 500"], "body": "12345", "abandon": true});
    let answer = ask(&fixture, &authority, more).await;
    assert!(refused(&answer, "invalid").contains("not sent to its end"), "{answer}");
    assert!(upstream.asked().iter().all(|head| !head.contains("smuggled")));
    fixture.works().await;
}

#[tokio::test]
async fn a_server_that_answers_no_http_or_breaks_off_is_an_error_and_no_harm() {
    let upstream = Upstream::start(|head, connection| {
        let raw: &[u8] = match head.split(' ').nth(1).unwrap_or_default() {
            "/nonsense" => b"\x00\x01\x02 nonsense\r\n\r\n",
            "/switch" => b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
            "/broken" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc",
            "/lengths" => b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
            "/chunks" => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc",
            _ => b"",
        };
        let _ = connection.write_all(raw);
    });
    let authority = upstream.authority();
    let fixture = granting(&[format!("* http://{authority}")]).open().await;
    for path in ["/nonsense", "/switch", "/broken", "/lengths", "/chunks", "/nothing"] {
        let answer = ask(&fixture, &authority, json!({"path": path})).await;
        assert!(answer["refused"].is_string() || answer["broken"].is_string(), "{path}: {answer}");
    }
    fixture.works().await;
}

#[tokio::test]
async fn a_call_that_waits_for_a_server_still_answers_and_one_taken_back_frees_its_place() {
    let upstream = Upstream::echo();
    let authority = upstream.authority();
    let pattern = format!("* http://{authority}");
    let setup = Setup::new().requests(&[&pattern], PRIVATE).limit("wall_time_milliseconds", 3_000);
    let fixture = setup.request_limit("in_flight", 1).open().await;
    let answer = ask(&fixture, &authority, json!({"path": "/silence"})).await;
    assert!(refused(&answer, "timeout").contains("what is left of the call"), "{answer}");
    let context = wharf_tests::context("local", "test");
    let arguments = json!({"authority": authority, "path": "/silence"});
    let waiting = fixture.start(&context, "hostile__ask_http", arguments);
    wharf_tests::until("it was asked", || upstream.asked().len() == 2).await;
    waiting.drop_it().await;
    // What was in flight ends with the task that drove it.
    until_async("the place is free again", async || ask(&fixture, &authority, json!({})).await["status"] == 200).await;
}

/// Every line that a host left.
pub(crate) fn audited(data: &std::path::Path) -> Vec<AuditEntry> {
    let mut lines = Vec::new();
    let keep = |entry| {
        lines.push(entry);
        true
    };
    AuditReader::new(&directory(data), None).read(keep).expect("the lines can be read");
    lines
}

/// Everything that the audit's files hold, as it stands.
fn raw_audit(data: &std::path::Path) -> String {
    let files = fs::read_dir(directory(data)).expect("there is a directory");
    files.map(|file| fs::read_to_string(file.expect("readable").path()).expect("text")).collect()
}

#[tokio::test]
async fn each_request_is_one_line_of_the_audit_without_its_query_and_its_payload() {
    let upstream = Upstream::start(|head, connection| {
        let length = if head.starts_with("POST") { 12 } else { 0 };
        let _ = connection.read_exact(&mut vec![0; length]);
        Upstream::send(connection, "", b"payload-answer");
    });
    let authority = upstream.authority();
    let fixture = granting(&[format!("GET,POST http://{authority}/v1/*")]).open().await;
    let post = json!({
        "method": "POST", "path": "/v1/a?payload-query", "body": "payload-body",
        "headers": ["content-length: 12", "x: payload-header"],
    });
    assert_eq!(ask(&fixture, &authority, post).await["status"], 200);
    refused(&ask(&fixture, &authority, json!({"path": "/v2/b"})).await, "denied");
    let Fixture { host, data } = fixture;
    host.shut_down(Duration::ZERO).await;
    let lines = audited(data.path());
    let lines: Vec<_> = lines.iter().filter(|line| line.function == "http.request").collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let [sent, denied] = [lines[0], lines[1]];
    assert_eq!((sent.kind.as_str(), sent.outcome.as_str()), ("host-call", "ok"));
    assert_eq!(sent.asked, format!("200 POST http://{authority}/v1/a"));
    assert_eq!((sent.bytes_in, sent.bytes_out), (12, 14));
    assert_eq!((denied.kind.as_str(), denied.outcome.as_str()), ("denied", "denied"));
    assert_eq!(denied.asked, format!("GET http://{authority}/v2/b"));
    assert!(!raw_audit(data.path()).contains("payload"));
}
