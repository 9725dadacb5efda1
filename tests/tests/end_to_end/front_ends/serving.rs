//! A page over HTTP, and an agent over the protocol: the real binary between
//! them.

use std::{io::Write as _, os::unix::net::UnixStream};

use serde_json::{Value, json};
use wharf::audit::AuditReader;
use wharf_tests::{Client, Data, Server, Setup, blocking, replied, wharf};

use super::{Page, call, failure, list, next, tool, with_tools};

fn server() -> Server {
    Server::start(&Setup::bare())
}

/// A tool of an editor, with everything that can be said of one.
fn selection() -> Value {
    json!({
        "name": "selection",
        "title": "Selection",
        "description": "Returns the text that the user has selected.",
        "input_schema": {
            "type": "object",
            "properties": {"line": {"type": "integer", "minimum": 1}},
            "required": ["line"],
            "additionalProperties": false,
        },
        "output_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": true},
    })
}

#[test]
fn functions_of_a_page_are_tools_of_an_agent_until_the_page_has_gone() {
    let server = server();
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [selection(), tool("save")]));
    let listed = replied(server.say(&session, &list())).message();
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["app_editor__save", "app_editor__selection"]);
    let shown = &tools[1];
    assert_eq!((&shown["title"], &shown["annotations"]["readOnlyHint"]), (&json!("Selection"), &json!(true)));
    assert_eq!(shown["inputSchema"]["required"], json!(["line"]));
    assert_eq!(shown["outputSchema"]["required"], json!(["text"]));

    let mut following = page.follow();
    let asking = server.say(&session, &call(7, "app_editor__selection", &json!({"line": 3})));
    let (kind, asked) = next(&mut following);
    assert_eq!(kind, "call");
    let rest = [&asked["tool"], &asked["arguments"], &asked["session"], &asked["kind"]];
    assert_eq!(rest, [&json!("selection"), &json!({"line": 3}), &json!("agent"), &json!("call")]);
    assert!((1..=30_000).contains(&asked["remaining_ms"].as_u64().expect("a number")), "{asked}");
    let number = &asked["number"];
    assert_eq!(page.say(number, "progress", json!({"done": 1, "total": 2, "message": "reading"})).status, 204);
    assert_eq!(page.say(number, "progress", json!({"done": 1})).json()["error"]["code"], "invalid");
    let answer = json!({"content": [{"text": "to be"}], "structured": {"text": "to be"}});
    assert_eq!(page.say(number, "answer", answer).status, 204);
    let reply = replied(asking);
    let result = &reply.message()["result"];
    assert_eq!((&result["structuredContent"], result["isError"] == true), (&json!({"text": "to be"}), false));
    assert_eq!(result["content"][0]["text"], "to be");
    assert!(reply.body.contains("notifications/progress") && reply.body.contains("reading"), "{reply:?}");

    // A name that is nearly one of a front end's is told with it.
    let unknown = replied(server.say(&session, &call(8, "app_editor__selectoin", &json!({})))).message();
    let told = unknown["error"]["message"].as_str().expect("a message");
    assert!(told.contains("there are: app_editor__selection, app_editor__save"), "{told}");

    assert_eq!(page.disconnect().status, 204);
    assert_eq!(next(&mut following).0, "end");
    let listed = replied(server.say(&session, &list())).message();
    assert_eq!(listed["result"]["tools"], json!([]));
    assert_eq!(page.poll("").status, 404);
    let unknown = replied(server.say(&session, &call(8, "app_editor__save", &json!({})))).message();
    assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("app_editor__save")), "{unknown}");
}

#[test]
fn a_client_that_listens_hears_once_that_a_page_came_and_once_that_it_went() {
    let server = server();
    let session = server.handshake().expect("a session");
    assert_eq!(replied(server.say(&session, &list())).status, 200);
    let listening = server.listen(&session);
    let page = Page::connect(&server, with_tools("editor", ["a", "b", "c"].map(tool)));
    let until_listed = |wanted: usize| {
        let listed = replied(server.say(&session, &list())).message();
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(wanted));
    };
    until_listed(3);
    assert_eq!(page.disconnect().status, 204);
    until_listed(0);
    // What was said is in the stream before the session's end.
    assert!(replied(server.send("DELETE", "/mcp", "s", &session, "")).status < 300);
    let heard = replied(listening);
    let times = heard.body.matches("notifications/tools/list_changed").count();
    assert!((1..=2).contains(&times), "two changes are told once each, or together: {heard:?}");
}

#[test]
fn what_does_not_fit_a_schema_is_refused_in_both_directions() {
    let server = server();
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [selection()]));
    let mut following = page.follow();
    let refused = replied(server.say(&session, &call(1, "app_editor__selection", &json!({"line": 0})))).message();
    assert_eq!(failure(&refused).0, "invalid", "{refused}");

    let asking = server.say(&session, &call(2, "app_editor__selection", &json!({"line": 1})));
    let (_, asked) = next(&mut following);
    assert_eq!(asked["arguments"], json!({"line": 1}), "the page has seen nothing of the one before");
    let number = &asked["number"];
    for wrong in [
        json!({"structured": {"text": 5}}),
        json!({"content": [{"text": "no structured part"}]}),
        json!({"content": [{"text": "a", "base64": "YQ=="}], "structured": {"text": ""}}),
        json!({"content": [{"base64": "%"}], "structured": {"text": ""}}),
        json!({"content": [{"base64": "/w=="}], "structured": {"text": ""}}),
        json!({"error": {"code": "invalid", "message": "no"}, "is_error": true}),
        json!({"result": {}}),
    ] {
        let refused = page.say(number, "answer", wrong.clone());
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("invalid")), "{wrong}");
    }
    assert_eq!(page.say(number, "answer", json!({"structured": {"text": "x"}})).status, 204);
    assert_eq!(replied(asking).message()["result"]["structuredContent"], json!({"text": "x"}));

    // An error that the page chooses needs no structured part.
    let asking = server.say(&session, &call(3, "app_editor__selection", &json!({"line": 1})));
    let (_, asked) = next(&mut following);
    let error = json!({"error": {"code": "denied", "message": "the user has\u{1b}[2J declined"}});
    assert_eq!(page.say(&asked["number"], "answer", error).status, 204);
    let refused = replied(asking).message();
    assert_eq!(failure(&refused), ("denied", "the user has[2J declined"), "{refused}");
}

#[test]
fn a_call_that_is_taken_back_is_told_to_the_page_and_its_answer_comes_too_late() {
    let server = server();
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [tool("save")]));
    let mut following = page.follow();
    let _asking = server.say(&session, &call(5, "app_editor__save", &json!({})));
    let (_, asked) = next(&mut following);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    assert_eq!(replied(server.say(&session, &cancelled)).status, 202);
    let (kind, told) = next(&mut following);
    assert_eq!((kind.as_str(), &told["call"], &told["reason"]), ("cancel", &asked["number"], &json!("cancelled")));
    let late = page.say(&asked["number"], "answer", json!({}));
    assert_eq!((late.status, &late.json()["error"]["code"]), (410, &json!("gone")), "{late:?}");

    let asking = server.say(&session, &call(6, "app_editor__save", &json!({})));
    let (_, asked) = next(&mut following);
    assert_eq!(page.say(&asked["number"], "answer", json!({"content": [{"text": "1"}]})).status, 204);
    let again = page.say(&asked["number"], "answer", json!({"content": [{"text": "2"}]}));
    assert_eq!((again.status, &again.json()["error"]["code"]), (409, &json!("conflict")), "{again:?}");
    assert_eq!(replied(asking).message()["result"]["content"][0]["text"], "1");
    for forged in ["0", "99", "-1", "x", "99999999999999999999999999", "%2e%2e"] {
        let refused = page.say(forged, "answer", json!({}));
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (404, &json!("not-found")), "{forged}");
    }
}

#[test]
fn a_page_that_does_not_answer_in_time_ends_the_call_and_is_told_so() {
    let server = server();
    let session = server.handshake().expect("a session");
    let mut slow = tool("slow");
    slow["timeout_ms"] = 100.into();
    let page = Page::connect(&server, with_tools("editor", [slow]));
    let mut following = page.follow();
    let asking = server.say(&session, &call(1, "app_editor__slow", &json!({})));
    let (_, asked) = next(&mut following);
    let (kind, told) = next(&mut following);
    assert_eq!((kind.as_str(), &told["call"], &told["reason"]), ("cancel", &asked["number"], &json!("timeout")));
    let ended = replied(asking).message();
    assert_eq!(failure(&ended).0, "timeout", "{ended}");
}

#[test]
fn a_page_that_goes_ends_its_calls_and_one_that_is_loaded_again_takes_its_place() {
    let server = server();
    let session = server.handshake().expect("a session");
    let wanted = with_tools("editor", [tool("save")]);
    let page = Page::connect(&server, wanted.clone());
    let mut following = page.follow();
    let asking = server.say(&session, &call(1, "app_editor__save", &json!({})));
    next(&mut following);
    let taken = server.ask("POST", "/v1/front-ends", "page", Some(wanted.clone()));
    assert_eq!((taken.status, &taken.json()["error"]["code"]), (409, &json!("conflict")), "{taken:?}");
    let mut replacing = wanted;
    replacing["replace"] = true.into();
    let page = Page::connect(&server, replacing);
    let ended = replied(asking).message();
    assert_eq!(failure(&ended).0, "gone", "{ended}");
    assert_eq!(next(&mut following).0, "end");

    let asking = server.say(&session, &call(2, "app_editor__save", &json!({})));
    next(&mut page.follow());
    assert_eq!(page.disconnect().status, 204);
    let ended = replied(asking).message();
    assert!(failure(&ended).0 == "gone" && failure(&ended).1.contains("disconnected"), "{ended}");
}

#[test]
fn a_page_that_comes_back_is_told_of_every_call_that_still_waits() {
    let server = server();
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [tool("save")]));
    let asking = [1, 2].map(|id| {
        let asking = server.say(&session, &call(id, "app_editor__save", &json!({"id": id})));
        // One after the other, so that their order is known.
        blocking::until("it arrives", || {
            page.poll("").json()["events"].as_array().map(Vec::len) == Some(usize::try_from(id).expect("small"))
        });
        asking
    });
    let mut first = page.follow();
    let (_, asked) = next(&mut first);
    drop(first);
    let mut again = page.follow();
    assert_eq!(next(&mut again).1["number"], asked["number"], "nothing was read for good");
    let path = format!("{}/calls/events?last_event_id={}", page.place, asked["number"]);
    let mut behind = server.follow("GET", &path, "page", "");
    assert_eq!(next(&mut behind).1["arguments"], json!({"id": 2}));
    let polled = page.poll(&format!("after={}&wait_ms=60000", asked["number"])).json();
    assert_eq!(polled["events"].as_array().map(Vec::len), Some(1), "{polled}");
    assert_eq!(polled["after"], polled["events"][0]["number"]);
    assert_eq!(page.poll(&format!("after={}", polled["after"])).json()["events"], json!([]));
    for event in page.poll("").json()["events"].as_array().expect("events") {
        let answer = json!({"content": [{"text": event["arguments"].to_string()}]});
        assert_eq!(page.say(&event["number"], "answer", answer).status, 204);
    }
    let answers = asking.map(|asking| replied(asking).message()["result"]["content"][0]["text"].clone());
    assert_eq!(answers, ["{\"id\":1}", "{\"id\":2}"]);
}

#[test]
fn calls_of_a_page_are_audited_as_any_others_are() {
    let mut server = server();
    let session = server.handshake().expect("a session");
    let page = Page::connect(&server, with_tools("editor", [tool("save")]));
    let mut following = page.follow();
    let asking = server.say(&session, &call(1, "app_editor__save", &json!({"secret": "s3cret"})));
    let (_, asked) = next(&mut following);
    assert_eq!(page.say(&asked["number"], "answer", json!({"content": [{"text": "s3cret"}]})).status, 204);
    assert_eq!(replied(asking).status, 200);
    let metrics = server.ask("GET", "/metrics", "s", None).body;
    let line = r#"wharf_calls_total{plugin="app",tool="(front end)",outcome="ok"} 1"#;
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let mut lines = Vec::new();
    let keep = |entry: wharf::audit::AuditEntry| {
        lines.push([entry.kind, entry.tool, entry.function]);
        true
    };
    AuditReader::new(&wharf::audit::directory(server.data.path()), None).read(keep).expect("readable");
    for line in [["call", "editor__save", ""], ["change", "editor", "connected"], ["change", "editor", "disconnected"]]
    {
        assert!(lines.contains(&line.map(str::to_owned)), "{line:?} in {lines:?}");
    }
}

#[test]
fn an_agent_over_standard_input_uses_a_page_that_the_same_host_serves_over_http() {
    let data = Data::new();
    data.write("wharf.toml", Setup::bare().text());
    let path = data.path().join("wharf.sock");
    let address = format!("unix:{}", path.display());
    let command = wharf(["serve", "--stdio", "--http", &address]);
    let mut agent = Client::connect(command.config(&data.path().join("wharf.toml")).data(data.path()));
    blocking::until("it serves", || UnixStream::connect(&path));
    let token = std::fs::read_to_string(data.path().join("http-token")).expect("a token");
    let ask = |method: &str, place: &str, body: &str| {
        let mut stream = UnixStream::connect(&path).expect("it listens");
        let request = format!(
            "{method} {place} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("the server reads");
        replied(stream)
    };
    let connected = ask("POST", "/v1/front-ends", &with_tools("editor", [tool("save")]).to_string());
    let place = format!("/v1/front-ends/{}", connected.json()["front_end"].as_str().expect("a handle"));
    let listed = agent.request("tools/list", json!({}));
    assert_eq!(listed["result"]["tools"][0]["name"], "app_editor__save", "{listed}");
    let asking = agent.ask("tools/call", json!({"name": "app_editor__save", "arguments": {}}));
    let polled = ask("GET", &format!("{place}/calls?wait_ms=60000"), "").json();
    let answer = format!("{place}/calls/{}/answer", polled["after"]);
    assert_eq!(ask("POST", &answer, r#"{"content": [{"text": "saved"}]}"#).status, 204);
    assert_eq!(agent.answer(asking)["result"]["content"][0]["text"], "saved");
}
