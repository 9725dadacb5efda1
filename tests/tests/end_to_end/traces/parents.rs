//! What clients say of the trace that their requests belong to, and what a stranger
//! makes of that.

use serde_json::{Value, json};
use wharf_tests::{Collector, Server, Setup, replied, wharf};

use super::{one, stdio};
use crate::http_mcp::modern;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER: &str = "00-11111111111111111111111111111111-2222222222222222-01";

fn echo(meta: Value) -> Value {
    let params = json!({"name": "echo__echo", "arguments": {"text": "payload"}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": params})
}

#[test]
fn over_http_a_request_belongs_to_what_its_message_says_or_else_its_headers() {
    let collector = Collector::start();
    let setup = Setup::new().own_terminals("shell = true").with_tables(&collector.tables(""));
    let mut server = Server::start(&setup);
    let (headers, request) = modern(echo(json!({})));
    let answer = replied(
        server.say(&format!("Traceparent: {PARENT}\r\nTracestate: a=1\r\nTracestate: b=2\r\n{headers}"), &request),
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    let session = server.handshake().expect("a session");
    let said = echo(json!({"traceparent": OTHER}));
    assert_eq!(replied(server.say(&format!("Traceparent: {PARENT}\r\n{session}"), &said)).status, 200);
    let listed = replied(server.send("GET", "/v1/terminals?payload=1", "s", &format!("Traceparent: {PARENT}\r\n"), ""));
    assert_eq!(listed.status, 200, "{listed:?}");
    let missing = server.ask("GET", "/v1/terminals/payload", "s", None);
    assert_eq!(missing.status, 404, "{missing:?}");
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());

    let spans = collector.spans();
    let calls: Vec<_> = spans.iter().filter(|span| span.name == "tools/call echo__echo").collect();
    let of = |trace: &str| *calls.iter().find(|span| span.trace == trace).unwrap_or_else(|| panic!("{spans:#?}"));
    let by_header = of("0af7651916cd43dd8448eb211c80319c");
    assert_eq!((&*by_header.parent, &*by_header.state), ("b7ad6b7169203331", "a=1,b=2"));
    assert_eq!([by_header.says("mcp.protocol.version"), by_header.says("mcp.session.id")], ["2026-07-28", ""]);
    assert_eq!([by_header.says("network.transport"), by_header.says("network.protocol.name")], ["tcp", "http"]);
    assert_eq!(by_header.says("jsonrpc.request.id"), "41");
    let by_message = of("11111111111111111111111111111111");
    assert_eq!(by_message.parent, "2222222222222222", "the message counts before the headers around it");
    assert!(session.contains(by_message.says("mcp.session.id")) && !by_message.says("mcp.session.id").is_empty());

    let route = one(&spans, "GET /v1/terminals");
    assert_eq!((&*route.kind, &*route.parent, route.failed), ("Server", "b7ad6b7169203331", false));
    assert_eq!([route.says("http.route"), route.says("http.response.status_code")], ["/v1/terminals", "200"]);
    let missing = one(&spans, "GET /v1/terminals/{terminal}");
    assert_eq!((missing.says("http.response.status_code"), missing.failed), ("404", false), "the client's mistake");
    assert!(!collector.text().contains("payload"), "no argument, no query, no path");
    assert!(!collector.text().contains(&server.token), "no token");
}

#[test]
fn a_forged_parent_is_none_and_no_error() {
    let collector = Collector::start();
    let (mut client, _data) = stdio(&Setup::new().with_tables(&collector.tables("")));
    let forged = [
        json!("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        json!(format!("{PARENT}-more")),
        json!(PARENT.to_uppercase()),
        json!("\u{1b}[31m"),
        json!("0".repeat(20_000)),
        json!({"00": PARENT}),
        json!(null),
    ];
    for parent in &forged {
        let meta = json!({"traceparent": parent, "tracestate": "x".repeat(20_000)});
        let answer = client.call("echo__echo", json!({"text": "yes"}), meta);
        assert_eq!(answer["content"][0]["text"], "yes", "{parent}");
    }
    let meta = json!({"traceparent": PARENT, "tracestate": ["no", "text"]});
    client.call("echo__echo", json!({"text": "yes"}), meta);
    assert_eq!(client.leave().2, Some(0));
    let spans = collector.spans();
    let calls: Vec<_> = spans.iter().filter(|span| span.name == "tools/call echo__echo").collect();
    assert_eq!(calls.len(), forged.len() + 1);
    let (last, forged) = calls.split_last().expect("some");
    assert!(forged.iter().all(|span| span.parent.is_empty() && span.state.is_empty()), "{forged:#?}");
    assert_eq!((&*last.parent, &*last.state), ("b7ad6b7169203331", ""));
}

#[test]
fn what_a_stranger_names_is_no_name_of_a_span_and_short_and_clean_where_it_is_told() {
    let collector = Collector::start();
    let (mut client, _data) = stdio(&Setup::new().with_tables(&collector.tables("")));
    let hostile = format!("forged\u{1b}]0;title\u{7}\u{202e}\n{}", "é".repeat(100_000));
    client.request("tools/call", json!({"name": hostile, "arguments": {}}));
    client.request("prompts/get", json!({"name": hostile}));
    client.request(&hostile, json!({}));
    client.call("hostile__start_process", json!({"program": hostile}), json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": hostile, "method": "tools/list", "params": {}}));
    client.call("echo__echo", json!({"text": "the last one"}), json!({}));
    assert_eq!(client.leave().2, Some(0));
    let spans = collector.spans();
    for name in ["tools/call", "prompts/get", "_OTHER", "process.spawn", "tools/list"] {
        one(&spans, name);
    }
    for span in &spans {
        assert!(!span.name.contains("forged"), "{span:#?}");
        for text in span.attributes.values().chain([&span.name]) {
            assert!(text.len() <= 128, "{} bytes: {text}", text.len());
            assert!(!text.contains(|character: char| character.is_control() || character == '\u{202e}'), "{text:?}");
        }
    }
    assert_eq!(one(&spans, "tools/call").says("error.type"), "-32602");
}

#[test]
fn a_client_keeps_its_requests_out_of_the_traces_and_not_out_of_the_audit() {
    let collector = Collector::start();
    let (mut client, data) = stdio(&Setup::new().with_tables(&collector.tables("")));
    let unflagged = PARENT.replace("-01", "-00");
    client.call(
        "echo__echo",
        json!({"text": "yes"}),
        json!({"traceparent": unflagged, "dev.wharf/sessionId": "quiet"}),
    );
    assert_eq!(client.leave().2, Some(0));
    assert!(!collector.spans().iter().any(|span| span.name.contains("echo")), "{:#?}", collector.spans());
    let configuration = data.path().join("wharf.toml");
    let audit = wharf(["audit", "--json", "--kind", "call"]).data(data.path()).config(&configuration).run();
    let lines: Vec<Value> = audit.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["session"] == "quiet" && line["tool"] == "echo"), "{audit:?}");
}

#[test]
fn a_stranger_has_no_more_kept_than_the_operator_lets() {
    let collector = Collector::start();
    let (mut client, _data) = stdio(&Setup::new().with_tables(&collector.tables("ratio = 0")));
    for parent in [PARENT, OTHER] {
        client.call("echo__echo", json!({"text": "yes"}), json!({"traceparent": parent}));
    }
    assert_eq!(client.leave().2, Some(0));
    assert!(collector.heads().is_empty(), "nothing was sent at all");

    let (mut client, _data) = stdio(&Setup::new().with_tables(&collector.tables("ratio = 0\ntrust_clients = true")));
    client.call("echo__echo", json!({"text": "yes"}), json!({"traceparent": PARENT}));
    client.call("echo__echo", json!({"text": "yes"}), json!({"traceparent": OTHER.replace("-01", "-00")}));
    client.call("echo__echo", json!({"text": "yes"}), json!({}));
    assert_eq!(client.leave().2, Some(0));
    let traces: Vec<_> = collector.spans().iter().map(|span| span.trace.clone()).collect();
    assert!(!traces.is_empty() && traces.iter().all(|trace| PARENT.contains(trace)), "{traces:?}");
}
