//! What the audit tells of callers that try again and again, and of the program that calls.

use serde_json::json;
use wharf::audit::AuditEntry;
use wharf_tests::{Client, Data, Server, Setup, context, replied, wharf};

use super::{closed, lines, raw};

fn denied(lines: &[AuditEntry]) -> Vec<&AuditEntry> {
    lines.iter().filter(|line| line.kind == "denied").collect()
}

#[tokio::test]
async fn what_one_call_is_denied_without_end_costs_no_other_tenant_a_line() {
    let few = "[audit]\nrotate_bytes = 131072\nkeep_files = 2";
    let fixture = Setup::new().with_tables(few).limit("host_calls", 1_000_000).open().await;
    let quiet = context("quiet", "s");
    fixture.call_in(&quiet, "echo__echo", json!({"text": "x"})).await.expect("answers");
    let arguments = json!({"program": "git", "count": 20_000, "names": 20_000});
    fixture.call_in(&context("loud", "s"), "hostile__start_many", arguments).await.expect("ends");
    // It has lines of its own for each call, too.
    for _ in 0..1_000 {
        fixture.call_in(&context("loud", "s"), "echo__echo", json!({"text": "x"})).await.expect("answers");
    }
    let metrics = fixture.host.metrics();
    assert!(metrics.contains("wharf_denials_total{plugin=\"hostile\",capability=\"process\"} 40000"), "{metrics}");
    let (lines, data) = closed(fixture).await;
    assert_eq!(lines.iter().filter(|line| line.tenant == "quiet" && line.kind == "call").count(), 1);
    let denied = denied(&lines);
    assert!(denied.len() < 40, "{} lines", denied.len());
    assert_eq!(denied.iter().map(|line| line.times()).sum::<u64>(), 40_000);
    let same: Vec<_> = denied.iter().filter(|line| line.asked == "git").map(|line| line.times()).collect();
    assert_eq!(same, [1, 19_999], "the first one is told at once, and all others together");
    assert!(lines.iter().filter(|line| line.tenant == "loud" && line.tool == "echo").count() > 100, "its last lines");
    let summary = wharf(["audit", "summary", "--kind", "denied", "--json"]).data(data.path()).run();
    assert!(summary.out.contains("\"count\":40000"), "{summary:?}");
    let shown = wharf(["audit", "--kind", "denied"]).data(data.path()).run();
    assert!(shown.out.contains("process.spawn git (19999 times)"), "{shown:?}");
}

#[test]
fn wrong_tokens_are_one_line_and_a_count_without_the_token() {
    let mut server = Server::start(&Setup::bare());
    let right = std::mem::replace(&mut server.token, "not-the-token-of-this-host-0123456789".to_owned());
    for _ in 0..500 {
        assert_eq!(server.ask("GET", "/v1/streams", "s", None).status, 401);
    }
    let mut stranger = server.connect();
    std::io::Write::write_all(&mut stranger, b"GET /v1/streams HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("read");
    assert_eq!(replied(stranger).status, 401);
    let wrong = std::mem::replace(&mut server.token, right);
    let metrics = server.ask("GET", "/metrics", "s", None).body;
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let found = lines(server.data.path());
    let of = |why: &str| {
        let lines: Vec<_> = found.iter().filter(|line| line.function == why).collect();
        assert!(lines.iter().all(|line| line.kind == "authentication" && line.outcome == "denied"), "{lines:?}");
        assert!(lines.iter().all(|line| line.asked == "loopback"), "{lines:?}");
        (lines.len(), lines.iter().map(|line| line.times()).sum::<u64>())
    };
    let (number, times) = of("wrong-token");
    assert!((2..20).contains(&number) && times == 500, "{number} lines of {times}");
    assert_eq!(of("no-token"), (1, 1));
    assert!(!raw(server.data.path()).contains(&wrong));
    // What was told by then.
    let counted = "wharf_authentication_failures_total{reason=\"no-token\",from=\"loopback\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
    let shown = wharf(["audit", "--kind", "authentication"]).data(server.data.path()).run();
    assert!(shown.out.contains("wrong-token from loopback ("), "{shown:?}");
}

#[cfg(unix)]
#[test]
fn wrong_secrets_on_the_operators_socket_are_one_line_and_a_count() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let mut server = Server::start(&Setup::bare());
    let hosts = server.data.path().join("hosts");
    let host = std::fs::read_dir(hosts).expect("there is one").next().expect("one").expect("readable").path();
    let guessed = "0".repeat(64);
    for _ in 0..100 {
        let mut socket = std::os::unix::net::UnixStream::connect(host.join("control")).expect("a host");
        let asked = json!({"secret": guessed, "request": {"kind": "plugins"}});
        socket.write_all(format!("{asked}\n").as_bytes()).expect("the host reads");
        let mut answer = String::new();
        BufReader::new(socket).read_line(&mut answer).expect("an answer");
        assert!(answer.contains("the secret is another one"), "{answer}");
    }
    // Who has the right one is no failure.
    let asked = wharf(["processes"]).data(server.data.path()).run();
    assert_eq!(asked.code, Some(0), "{asked:?}");
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let found = lines(server.data.path());
    let found: Vec<_> = found.iter().filter(|line| line.kind == "authentication").collect();
    assert!(found.iter().all(|line| line.function == "wrong-secret" && line.asked == "socket"), "{found:?}");
    assert!((2..20).contains(&found.len()), "{found:?}");
    assert_eq!(found.iter().map(|line| line.times()).sum::<u64>(), 100);
    assert!(!raw(server.data.path()).contains(&guessed));
}

#[test]
fn the_program_that_called_is_named_as_it_calls_itself() {
    let data = Data::new();
    let configuration = data.write("wharf.toml", Setup::new().text());
    let command = || wharf(["serve", "--stdio"]).config(&configuration).data(data.path());
    let mut client = Client::connect(command());
    client.call("echo__echo", json!({"text": "x"}), json!({}));
    let forged = json!({"name": format!("evil\n{{\"kind\":\"call\"}}\u{202e}{}", "x".repeat(10_000)), "version": "2"});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": forged,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    client.call("echo__echo", json!({"text": "y"}), meta);
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    let lines = lines(data.path());
    let calls: Vec<_> = lines.iter().filter(|line| line.kind == "call").collect();
    assert_eq!(calls[0].client, "test 1");
    assert!(calls[1].client.starts_with("evil") && calls[1].client.len() <= 128, "{:?}", calls[1]);
    assert!(!calls[1].client.contains(['\n', '\u{202e}']), "{:?}", calls[1]);
    let shown = wharf(["audit", "--kind", "call"]).config(&configuration).data(data.path()).run();
    assert!(shown.out.contains("by test 1"), "{shown:?}");
}
