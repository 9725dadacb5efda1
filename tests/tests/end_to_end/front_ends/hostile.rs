//! Front ends that say what they may not, and pages of strangers.

use std::io::Write as _;

use serde_json::{Value, json};
use wharf_tests::{Reply, Server, Setup, replied};

use super::{Page, call, failure, next, tool, with_tools};

fn refused(server: &Server, wanted: Value, status: u16, code: &str, word: &str) {
    let shown: String = wanted.to_string().chars().take(200).collect();
    let reply = server.ask("POST", "/v1/front-ends", "page", Some(wanted));
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(code)), "{shown}: {reply:?}");
    assert!(reply.body.contains(word) && reply.body.len() < 2_000, "{shown}: {reply:?}");
}

fn with_schema(schema: Value) -> Value {
    let mut tool = tool("t");
    tool["input_schema"] = schema;
    with_tools("editor", [tool])
}

#[test]
fn a_front_end_that_breaks_a_rule_is_refused_in_words_and_leaves_nothing() {
    let server = Server::start(&Setup::bare());
    for name in ["", "Editor", "a_b", "a__b", "ed itor", "../x", "\u{430}", "a\u{202e}b", &"x".repeat(33)] {
        refused(&server, with_tools(name, [tool("t")]), 400, "invalid", "[a-z0-9-]");
    }
    for name in ["", "a__b", "__a", "t__", "a b", "a.b", "\u{1b}[2J", &"x".repeat(65), &"x".repeat(5_000)] {
        refused(&server, with_tools("editor", [tool(name)]), 400, "invalid", "[A-Za-z0-9_-]");
    }
    refused(&server, with_tools("editor", []), 400, "invalid", "at least one");
    refused(&server, with_tools("editor", [tool("t"), tool("t")]), 400, "invalid", "`t`");
    let thousands =
        (0..4_000).map(|number| json!({"name": format!("t{number}"), "description": "d", "input_schema": {}}));
    refused(&server, with_tools("editor", thousands), 429, "limit", "front_end_tools");
    let mut long = tool("t");
    long["description"] = "x".repeat(9_000).into();
    refused(&server, with_tools("editor", [long]), 400, "invalid", "description");
    let mut zero = tool("t");
    zero["timeout_ms"] = 0.into();
    refused(&server, with_tools("editor", [zero]), 400, "invalid", "timeout_ms");
    let mut more = with_tools("editor", [tool("t")]);
    more["tenant"] = "another".into();
    refused(&server, more, 400, "invalid", "tenant");

    let large = json!({"type": "object", "description": "x".repeat(70_000)});
    refused(&server, with_schema(large), 400, "invalid", "65536");
    let text = "x".repeat(50_000);
    let six = (0..6).map(|number| {
        let mut tool = tool(&format!("t{number}"));
        tool["input_schema"]["description"] = text.clone().into();
        tool
    });
    refused(&server, with_tools("editor", six), 429, "limit", "front_end_bytes");
    refused(
        &server,
        with_schema(json!({"type": "object", "description": "x".repeat(2 << 20)})),
        413,
        "limit",
        "body_bytes",
    );
    refused(&server, with_schema(json!({"type": "object", "$ref": "http://127.0.0.1:1/x"})), 400, "invalid", "refused");
    refused(&server, with_schema(json!({"type": "object", "properties": {"__x": {}}})), 400, "invalid", "__x");
    let looped =
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}});
    refused(&server, with_schema(looped), 400, "invalid", "schema");
    let deep = format!(
        "{{\"name\":\"editor\",\"tools\":[{{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{}1{}}}]}}",
        "{\"a\":".repeat(10_000),
        "}".repeat(10_000)
    );
    assert_eq!(replied(server.send("POST", "/v1/front-ends", "page", "", &deep)).status, 400);

    assert_eq!(server.ask("GET", "/v1/front-ends", "page", None).json()["front_ends"], json!([]));
    Page::connect(&server, with_tools("editor", [tool("t")]));
}

#[test]
fn an_answer_that_is_too_large_is_refused_and_the_call_still_waits() {
    let server = Server::start(&Setup::bare().limit("output_bytes", 1_000).http_limit("body_bytes", 4_000));
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [tool("t")]));
    let asking = server.say(&session, &call(1, "app_editor__t", &json!({})));
    let asked = next(&mut page.follow()).1;
    let text = |bytes: usize| json!({"content": [{"text": "x".repeat(bytes)}]});
    let refused = |reply: Reply, status: u16, word: &str| {
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!("limit")), "{reply:?}");
        assert!(reply.body.contains(word), "{reply:?}");
    };
    refused(page.say(&asked["number"], "answer", text(1_000)), 429, "output_bytes");
    refused(page.say(&asked["number"], "answer", text(5_000)), 413, "body_bytes");
    assert_eq!(page.say(&asked["number"], "answer", text(900)).status, 204);
    assert_eq!(replied(asking).message()["result"]["content"][0]["text"], "x".repeat(900));
}

#[test]
fn what_a_front_end_says_loses_control_characters_and_what_would_speak_for_the_host() {
    let server = Server::start(&Setup::bare());
    let session = server.handshake().expect("a session");
    let mut painted = tool("t");
    painted["description"] = "a\u{1b}[2Jb".into();
    painted["title"] = "c\u{202e}d".into();
    painted["annotations"] = json!({"title": "x", "readOnlyHint": "perhaps"});
    let page = Page::connect(&server, with_tools("editor", [painted]));
    let listed = replied(server.say(&session, &super::list())).message();
    let shown = &listed["result"]["tools"][0];
    assert_eq!([&shown["description"], &shown["title"]], ["a[2Jb", "cd"]);
    let asking = server.say(&session, &call(1, "app_editor__t", &json!({"__sessionId": "another"})));
    let asked = next(&mut page.follow()).1;
    assert_eq!((&asked["arguments"], &asked["session"]), (&json!({}), &json!("agent")), "no model chooses a context");
    let error = json!({"error": {"code": "cancelled", "message": "x\u{1b}[2J".repeat(10_000)}});
    assert_eq!(page.say(&asked["number"], "answer", error).status, 204);
    let ended = replied(asking).message();
    let (code, told) = failure(&ended);
    assert!(code == "internal" && told.len() <= 4_096 && !told.contains('\u{1b}'), "{ended}");
}

#[test]
fn a_page_needs_a_token_in_its_header_and_an_origin_that_the_operator_has_named() {
    let setup = Setup::bare().with_tables("[http]\norigins = ['https://app.example']");
    let server = Server::start(&setup);
    let body = with_tools("editor", [tool("t")]).to_string();
    let from =
        |origin: &str| replied(server.send("POST", "/v1/front-ends", "page", &format!("Origin: {origin}\r\n"), &body));
    assert_eq!(from("https://evil.example").status, 403);
    assert_eq!(from("null").status, 403);
    let head = "POST /v1/front-ends?token=TOKEN HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let mut stream = server.connect();
    let head = head.replace("TOKEN", &server.token);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).expect("it reads");
    assert_eq!(replied(stream).status, 401, "no token in a query");
    let preflight = replied(server.send("OPTIONS", "/v1/front-ends", "page", "Origin: https://app.example\r\n", ""));
    let allowed = preflight.header("access-control-allow-headers").expect("said");
    assert!(preflight.status == 204 && allowed.contains("authorization") && allowed.contains("last-event-id"));
    assert_eq!(server.ask("GET", "/v1/front-ends", "page", None).json()["front_ends"], json!([]));
    let connected = from("https://app.example");
    assert_eq!(connected.status, 201, "{connected:?}");
    assert_eq!(connected.header("access-control-allow-origin"), Some("https://app.example"));
    let exposed = connected.header("access-control-expose-headers").expect("said");
    assert!(exposed.contains("location"), "{exposed}");
}
