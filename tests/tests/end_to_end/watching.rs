//! Terminals over HTTP beside turns: watched live, judged by what the operator
//! and the client say, and told why they ended.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use wharf_tests::{SentEvent, Server, Setup, replied};

fn shells() -> Setup {
    Setup::bare().own_terminals("shell = true\nprograms = [\"sh\"]")
}

fn bytes(event: &SentEvent) -> String {
    let content = event.data["content"].as_str().expect("Base64");
    String::from_utf8(STANDARD.decode(content).expect("Base64")).expect("UTF-8")
}

fn text(server: &Server, path: &str, line: &str) -> Vec<SentEvent> {
    let body = json!({"text": line, "submit": true}).to_string();
    server.follow("POST", &format!("{path}/turns"), "s", &body).rest()
}

#[test]
fn a_terminal_is_watched_from_its_screen_on_and_again_from_where_somebody_was() {
    let server = Server::start(&shells());
    let id = server.shell("s")["terminal"].as_str().expect("an id").to_owned();
    let (path, watch) = (format!("/v1/terminals/{id}"), format!("/v1/watch/{id}"));
    text(&server, &path, "echo be''fore");
    let listed = server.ask("GET", "/v1/watch", "s", None).json();
    assert_eq!((&listed["terminals"][0]["terminal"], &listed["terminals"][0]["plugin"]), (&json!(id), &json!("host")));

    let mut watching = server.follow("GET", &watch, "s", "");
    let screen = watching.event().expect("the screen");
    assert_eq!((screen.kind.as_str(), &screen.data["columns"]), ("screen", &json!(80)), "{screen:?}");
    assert!(screen.data["text"].as_str().is_some_and(|text| text.contains("before")), "{screen:?}");
    text(&server, &path, "echo af''ter");
    let (mut seen, mut last) = (String::new(), screen.id.expect("a cursor"));
    let first = last;
    while !seen.contains("after") {
        let event = watching.event().expect("more comes");
        if event.kind == "bytes" {
            assert_eq!(event.data["from"], last, "no byte is left out or comes twice");
            seen.push_str(&bytes(&event));
            last = event.id.expect("a cursor");
        }
    }
    drop(watching);
    // A client that comes back gets the bytes behind what it has read, and no screen.
    let again = server.follow("GET", &format!("{watch}?last_event_id={first}"), "s", "").event().expect("bytes");
    assert_eq!((again.kind.as_str(), &again.data["from"]), ("bytes", &json!(first)), "{again:?}");
    assert!(seen.starts_with(&bytes(&again)) || bytes(&again).starts_with(&seen), "{again:?}");
    // A cursor that nothing stands at begins with the screen.
    let lost = server.follow("GET", &format!("{watch}?last_event_id=99999999"), "s", "").event().expect("the screen");
    assert_eq!(lost.kind, "screen", "{lost:?}");
    // The session's other assistants see it, and no other session does.
    let seen = replied(server.send("GET", "/v1/watch", "s", "Wharf-Assistant: another\r\n", "")).json();
    assert_eq!(seen["terminals"][0]["terminal"], json!(id), "{seen}");
    assert_eq!(server.ask("GET", &watch, "t", None).status, 404);
    assert_eq!(server.ask("GET", "/v1/watch", "t", None).json()["terminals"], json!([]));

    let watching = server.follow("GET", &format!("{watch}?last_event_id={last}"), "s", "");
    let closed = server.ask("DELETE", &path, "s", None).json();
    assert_eq!(closed["exit"]["because"], "its owner closed it", "{closed}");
    let end = watching.rest().pop().expect("an end");
    assert_eq!((end.kind.as_str(), &end.data["because"]), ("end", &json!("its owner closed it")), "{end:?}");
    let late = server.ask("POST", &format!("{path}/turns"), "s", Some(json!({"text": "late"})));
    let message = late.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(late.status == 410 && message.contains("its owner closed it"), "{message}");
}

#[test]
fn a_turn_and_a_stream_that_end_with_their_terminal_say_why() {
    let server = Server::start(&shells());
    let first = server.shell("s");
    let id = first["terminal"].as_str().expect("an id");
    let path = format!("/v1/terminals/{id}");
    let stream = format!("/v1/streams/{}/events", first["stream"].as_str().expect("a stream"));
    let told = text(&server, &path, "true").pop().expect("an end");
    assert_eq!(told.data.get("because"), None, "its terminal goes on: {told:?}");
    // In place of the shell, which could tell the end of a command before its own:
    // a shell that has not come to the line yet still does.
    let body = json!({"text": "exec sh -c 'echo re\"\"placed; exec sleep 1000'"}).to_string();
    let turn = server.follow("POST", &format!("{path}/turns"), "s", &body);
    let following = server.follow("GET", &stream, "s", "");
    let (mut watching, mut seen) = (server.follow("GET", &format!("/v1/watch/{id}"), "s", ""), String::new());
    while !seen.contains("replaced") {
        let event = watching.event().expect("the program says that it is there");
        match event.kind.as_str() {
            "screen" => seen.push_str(event.data["text"].as_str().expect("text")),
            "bytes" => seen.push_str(&bytes(&event)),
            _ => {}
        }
    }
    server.shell("s");
    let (complete, end) = (turn.rest().pop().expect("an end"), following.rest().pop().expect("an end"));
    for event in [&complete, &end] {
        assert!(event.data["because"].as_str().is_some_and(|told| told.contains("to make room")), "{event:?}");
    }
    assert_eq!((complete.kind.as_str(), &complete.data["layer"]), ("complete", &json!("L0")));
    assert_eq!((end.kind.as_str(), &end.data["reason"]), ("end", &json!("closed")));
    let described = server.ask("GET", &path, "s", None).json();
    assert_eq!(described["turn"]["complete"]["because"], complete.data["because"], "{described}");
}

#[test]
fn a_turn_over_http_goes_by_the_operators_profile_and_by_prompts_and_numbers_of_its_own() {
    let profile = "[terminal.profile.console]\nprograms = [\"no-such\"]\npreset = \"patient\"\n\
                   strict_prompts = [\"^console# $\"]\nparameters = {adaptive = true, max_attempts = 77}";
    let server = Server::start(&shells().with_tables(profile));
    // No program that the system knows to wait: what is shown alone decides.
    let script =
        "while read line; do [ \"$line\" = own ] && printf 'mine) ' || printf 'console# '; sleep 1000 & wait; done";
    let body = json!({"program": "sh", "arguments": ["-c", script]});
    let refused = json!({"program": "sh", "arguments": ["-c", script], "profile": "konsole"});
    let refused = server.ask("POST", "/v1/terminals", "s", Some(refused));
    let message = refused.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(refused.status == 400 && message.contains("console") && message.contains("repl"), "{message}");
    let started = server.ask("POST", "/v1/terminals", "s", Some(body));
    let path = format!("/v1/terminals/{}", started.json()["terminal"].as_str().expect("an id"));
    for (request, named) in [
        (json!({"text": "x", "profile": "konsole"}), "konsole"),
        (json!({"text": "x", "prompts": ["("]}), "prompts"),
        (json!({"text": "x", "prompts": vec!["x"; 17]}), "17"),
        (json!({"text": "x", "parameters": {"max_attempts": 0}}), "max_attempts"),
        (json!({"text": "x", "parameters": {"silence": 1}}), "silence"),
        (json!({"text": "x", "parameters": [500, 3, 1]}), "expected an object"),
        (json!({"text": "x", "time_limit_ms": 0}), "`time_limit_ms` must be from 1 to 86400000, not 0"),
        (json!({"text": "x", "inactivity_timeout_ms": 86_400_001}), "`inactivity_timeout_ms` must be"),
        (
            json!({"text": "x", "time_limit_ms": 1_000, "parameters": {"time_limit_milliseconds": 5_000}}),
            "`time_limit_ms` and `time_limit_milliseconds`",
        ),
        (
            json!({"text": "x", "inactivity_timeout_ms": 9, "parameters": {"inactivity_timeout_milliseconds": 9}}),
            "`inactivity_timeout_ms` and `inactivity_timeout_milliseconds`",
        ),
        (json!({"text": "x".repeat(10_001)}), "input_characters"),
    ] {
        let refused = server.ask("POST", &format!("{path}/turns"), "s", Some(request));
        assert!((400..500).contains(&refused.status) && refused.body.contains(named), "{named}: {refused:?}");
    }
    let limits = json!({"max_attempts": 1, "wait_for_data_milliseconds": 100, "time_limit_milliseconds": 60_000});
    let request = json!({"text": "first", "profile": "console", "parameters": limits}).to_string();
    let events = server.follow("POST", &format!("{path}/turns"), "s", &request).rest();
    let end = &events.last().expect("an end").data;
    assert_eq!((&end["reason"], &end["confidence"]), (&json!("attempts-exhausted"), &json!("none")), "{end}");
    // The profile adapts, and the answer says to what.
    assert!(end["adaptive"]["inactivity_ms"].is_u64() && end["adaptive"]["turns"] == 0, "{end}");
}

#[test]
fn prometheus_reads_the_lives_answers_errors_and_ends_of_terminals() {
    let server = Server::start_with(&shells(), &["--log", "info"]);
    let id = server.shell("s")["terminal"].as_str().expect("an id").to_owned();
    let path = format!("/v1/terminals/{id}");
    text(&server, &path, "true");
    server.ask("POST", &format!("{path}/turns"), "s", Some(json!({"text": "\u{4}"})));
    server.shell("s");
    let metrics = server.ask("GET", "/metrics", "s", None).body;
    for line in [
        "wharf_terminals_closed_total{by=\"replaced\"} 1",
        "wharf_terminals_closed_total{by=\"evicted\"} 0",
        "wharf_terminal_life_seconds_count 1",
        "wharf_terminal_response_seconds_count 1",
        "wharf_terminal_response_seconds_bucket{le=\"+Inf\"} 1",
        "wharf_terminal_restarts_total 0",
        "wharf_terminal_errors_total{kind=\"input\"} 1",
        "wharf_turns_ended_total{source=\"terminal\",reason=\"command-ended\",confidence=\"certain\"} 1",
        "wharf_streams_ended_total{by=\"closed\"} 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    // The log says why it ended.
    server.until_logged("command-ended");
}
