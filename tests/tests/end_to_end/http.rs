//! `wharf serve --http`: who is let in, and what a client has there.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::PermissionsExt as _,
};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, SentEvent, Server, Setup, blocking, lives, replied, wharf};

fn shells() -> Setup {
    Setup::bare().own_terminals("shell = true")
}

fn path_of(terminal: &Value) -> String {
    format!("/v1/terminals/{}", terminal["terminal"].as_str().expect("an id"))
}

/// What a turn said, and how it ended.
fn turn(server: &Server, terminal: &str, session: &str, line: &str) -> (String, SentEvent) {
    let body = json!({"text": line, "submit": true}).to_string();
    let events = server.follow("POST", &format!("{terminal}/turns"), session, &body).rest();
    let said = events.iter().filter(|event| event.kind == "message").filter_map(|event| event.data["text"].as_str());
    let text = said.collect();
    (text, events.last().expect("an end").clone())
}

fn code(status: u16, reply: &wharf_tests::Reply) -> String {
    assert_eq!(reply.status, status, "{reply:?}");
    reply.json()["error"]["code"].as_str().expect("a code").to_owned()
}

#[test]
fn a_client_talks_to_a_shell_and_follows_what_it_says() {
    let server = Server::start(&shells());
    let mode = |name: &str| server.data.path().join(name).metadata().expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode("http-token"), 0o600);
    assert!(server.log().contains("http-token") && !server.log().contains(&server.token), "{}", server.log());

    let terminal = server.shell("s");
    let path = path_of(&terminal);
    let (text, end) = turn(&server, &path, "s", "echo $((6 * 7)); (exit 3)");
    assert!(text.contains("42"), "{text}");
    assert_eq!((end.kind.as_str(), &end.data["reason"]), ("complete", &json!("command-ended")), "{end:?}");
    assert_eq!(end.data["exit_code"], 3, "{end:?}");

    // A client that does not follow the turn reads the stream of the terminal instead.
    let begun = server.ask("POST", &format!("{path}/turns"), "s", Some(json!({"text": "echo second"})));
    assert_eq!((begun.status, &begun.json()["turn"]), (202, &json!(2)), "{begun:?}");
    let stream = format!("/v1/streams/{}", terminal["stream"].as_str().expect("a stream"));
    let mut following = server.follow("GET", &format!("{stream}/events"), "s", "");
    let mut seen = Vec::new();
    while !seen.iter().any(|event: &SentEvent| event.kind == "complete" && event.data["turn"] == 2) {
        seen.push(following.event().expect("it is open"));
    }
    let numbers: Vec<_> = seen.iter().filter_map(|event| event.id).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "each event once and in order");
    // A connection that dropped goes on behind what it read.
    drop(following);
    let last = numbers[numbers.len() - 2];
    let again = server.follow("GET", &format!("{stream}/events?last_event_id={last}"), "s", "").event();
    assert_eq!(again.and_then(|event| event.id), Some(last + 1));

    let screen = server.ask("GET", &format!("{path}/screen"), "s", None);
    assert!(screen.body.contains("second"), "{screen:?}");
    let keys = server.ask("POST", &format!("{path}/keys"), "s", Some(json!({"keys": ["C-l"]})));
    assert_eq!(keys.status, 204);
    let resized = server.ask("POST", &format!("{path}/resize"), "s", Some(json!({"columns": 100, "rows": 30})));
    assert_eq!(resized.status, 204);
    assert_eq!(server.ask("GET", &path, "s", None).json()["columns"], 100);
    let pid = terminal["pid"].as_u64().expect("it runs");
    let closed = server.ask("DELETE", &path, "s", None).json();
    assert_eq!((&closed["status"], &closed["exit"]["reason"]), (&json!("closed"), &json!("owner")));
    assert!(!std::path::Path::new(&format!("/proc/{pid}/exe")).exists(), "it is gone");
    let late = server.ask("POST", &format!("{path}/turns"), "s", Some(json!({"text": "late"})));
    assert_eq!(code(410, &late), "gone");
    let ended = server.follow("GET", &format!("{stream}/events?last_event_id={last}"), "s", "").rest();
    assert_eq!(ended.last().map(|event| event.kind.as_str()), Some("end"));
}

#[test]
fn a_session_has_nothing_of_another() {
    let server = Server::start(&shells());
    let terminal = server.shell("one");
    let path = path_of(&terminal);
    turn(&server, &path, "one", "echo kept > file");
    let stream = format!("/v1/streams/{}", terminal["stream"].as_str().expect("a stream"));
    for (method, path, body) in [
        ("GET", path.clone(), None),
        ("DELETE", path.clone(), None),
        ("POST", format!("{path}/turns"), Some(json!({"text": "exit"}))),
        ("POST", format!("{path}/keys"), Some(json!({"keys": ["C-d"]}))),
        ("POST", format!("{path}/cancel"), Some(json!({}))),
        ("POST", format!("{path}/resize"), Some(json!({"columns": 90, "rows": 20}))),
        ("GET", format!("{path}/screen"), None),
        ("GET", format!("{path}/output"), None),
        ("GET", stream.clone(), None),
        ("GET", format!("{stream}/events"), None),
        ("DELETE", stream, None),
    ] {
        assert_eq!(code(404, &server.ask(method, &path, "two", body)), "not-found", "{method} {path}");
    }
    assert_eq!(server.ask("GET", "/v1/terminals", "two", None).json()["terminals"], json!([]));
    assert_eq!(server.ask("GET", "/v1/streams", "two", None).json()["streams"], json!([]));
    let other = path_of(&server.shell("two"));
    let (text, _) = turn(&server, &other, "two", "cat file");
    assert!(!text.contains("kept"), "{text}");
    assert_ne!(server.ask("GET", &path, "one", None).json()["status"], "closed", "it is as it was");
}

#[test]
fn without_the_token_or_by_a_strange_name_nobody_is_let_in() {
    let server = Server::start(&shells());
    let raw = |request: &str| {
        let mut stream = server.connect();
        stream.write_all(format!("{request}\r\n").as_bytes()).expect("the server reads");
        replied(stream)
    };
    let without = raw("GET /v1/terminals HTTP/1.0\r\nHost: localhost\r\n");
    assert_eq!(code(401, &without), "denied");
    let wrong = server.head("HTTP/1.0", "GET", "/v1/terminals", "s").replace(&server.token[..8], "00000000");
    assert_eq!(raw(&wrong).status, 401);
    let head = server.head("HTTP/1.0", "GET", "/v1/terminals", "s");
    assert_eq!(raw(&head).status, 200);
    assert_eq!(raw(&head.replace("localhost", "evil.test")).status, 403);
    assert_eq!(raw(&format!("{head}Origin: https://evil.test\r\n")).status, 403);
}

#[test]
fn what_is_not_granted_to_the_host_is_refused_with_the_line_that_would_allow_it() {
    for (setup, word) in [(Setup::bare(), "[plugin.host.grants.terminal]"), (Setup::bare().own_terminals(""), "shell")]
    {
        let server = Server::start(&setup);
        let refused = server.ask("POST", "/v1/terminals", "s", Some(json!({})));
        assert_eq!(code(403, &refused), "denied");
        let message = refused.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains("[plugin.host.grants.terminal]") && message.contains(word), "{message}");
    }
    // What a plugin is granted is not granted to clients.
    let server = Server::start(&Setup::new().terminals("shell = true"));
    assert_eq!(code(403, &server.ask("POST", "/v1/terminals", "s", Some(json!({})))), "denied");
    assert_eq!(server.data.workspaces(), 0, "nothing was made");
}

#[test]
fn an_address_that_others_reach_is_served_only_where_that_is_said() {
    let data = Data::new();
    data.write("wharf.toml", shells().text());
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let command = wharf(["serve", "--http", address]).config(&data.path().join("wharf.toml")).data(data.path());
        let run = command.run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{address}: {run:?}");
        assert!(run.err.contains("--http-allow-public"), "{run:?}");
    }
    let mut server = {
        let arguments = ["--http-allow-public", "--http-token-file"];
        let file = data.path().join("http-token").display().to_string();
        Server::start_in(data, &[&arguments[..], &[file.as_str()]].concat())
    };
    assert_eq!(server.ask("GET", "/v1/terminals", "s", None).status, 200);
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
}

#[test]
fn a_token_that_others_may_read_or_that_is_none_is_refused_with_what_to_do() {
    let data = Data::new();
    data.write("wharf.toml", shells().text());
    let token = data.write("http-token", "0".repeat(64));
    for (mode, content, word) in [
        (0o644, "0".repeat(64), "chmod 600"),
        (0o660, "0".repeat(64), "chmod 600"),
        (0o600, "short".to_owned(), "32"),
        (0o600, String::new(), "32"),
    ] {
        std::fs::write(&token, content).expect("written");
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(mode)).expect("changed");
        let run = Server::command(&data, &[]).run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{mode:o}: {run:?}");
        assert!(run.err.contains(word) && run.err.contains("http-token"), "{mode:o}: {run:?}");
    }
    // One of the operator's own is taken as it is.
    std::fs::write(&token, "1".repeat(64)).expect("written");
    let server = Server::start_in(data, &[]);
    assert_eq!(server.token, "1".repeat(64));
    assert_eq!(server.ask("GET", "/v1/terminals", "s", None).status, 200);
}

#[test]
fn an_address_that_is_taken_is_said_so() {
    let server = Server::start(&shells());
    let data = Data::new();
    data.write("wharf.toml", shells().text());
    let address = server.address.to_string();
    let run = wharf(["serve", "--http", &address]).config(&data.path().join("wharf.toml")).data(data.path()).run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains(&address), "{run:?}");
}

#[test]
fn tools_and_http_are_served_at_once_by_one_host() {
    let data = Data::new();
    let setup = Setup::new().events().terminals("shell = true").own_terminals("shell = true");
    data.write("wharf.toml", setup.text());
    let mut client = Client::connect(Server::command(&data, &["--stdio", "--session", "s"]));
    let address: SocketAddr = blocking::until("it serves", || {
        let log = client.log();
        let found = log.split_once("url=\"http://").and_then(|(_, rest)| rest.split_once('"'));
        let address = found.map(|(address, _)| address.parse().expect("an address"));
        address.ok_or(log)
    });
    let token = std::fs::read_to_string(data.path().join("http-token")).expect("a token");
    let ask = |path: &str, session: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let head = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n", token.trim());
        stream.write_all(format!("{head}Wharf-Session: {session}\r\n\r\n").as_bytes()).expect("the server reads");
        replied(stream)
    };
    let mut call = |tool: &str, arguments: Value| {
        let answer = client.call(tool, arguments, json!({}));
        serde_json::from_str::<Value>(answer["content"][0]["text"].as_str().expect("a text")).expect("a report")
    };
    // What a tool tells of its work is read over HTTP, by its session alone.
    let opened = call("hostile__open_stream", json!({"title": "a search"}));
    let stream = format!("/v1/streams/{}", opened["ok"].as_str().expect("an id"));
    call("hostile__tell_stream", json!({"function": "say", "stream": opened["ok"], "text": "found it"}));
    assert_eq!(ask(&stream, "s").json()["events"][0]["data"]["text"], "found it");
    assert_eq!(ask(&stream, "t").status, 404);
    // The terminal of a plugin is not the client's, though its stream can be read.
    let started = call("hostile__start_terminal", json!({}));
    let terminal = &started["ok"]["terminal"];
    let path = format!("/v1/terminals/{}", terminal["id"].as_str().expect("an id"));
    assert_eq!(ask(&path, "s").status, 404);
    assert_eq!(ask(&format!("/v1/streams/{}", terminal["stream"].as_str().expect("an id")), "s").status, 200);
    // It can be watched by its session, and by nobody else.
    let watched = ask("/v1/watch", "s").json();
    assert_eq!(
        (&watched["terminals"][0]["terminal"], &watched["terminals"][0]["plugin"]),
        (&terminal["id"], &json!("hostile"))
    );
    let watch = format!("/v1/watch/{}", terminal["id"].as_str().expect("an id"));
    assert_eq!((ask("/v1/watch", "t").json()["terminals"].clone(), ask(&watch, "t").status), (json!([]), 404));
    // The client that leaves ends it all.
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn a_server_that_is_told_to_end_or_killed_leaves_no_program() {
    let time = |which: u32| format!("{}.{which}", 3_000_000 + std::process::id());
    for (which, orderly) in [(1, true), (2, false)] {
        let mut server = Server::start(&shells());
        let terminal = path_of(&server.shell("s"));
        let line = format!("setsid sh -c 'trap \"\" TERM HUP; sleep {}; :'", time(which));
        let begun = server.ask("POST", &format!("{terminal}/turns"), "s", Some(json!({"text": line})));
        assert_eq!(begun.status, 202, "{begun:?}");
        blocking::until("it runs", || lives(&format!("sleep\0{}", time(which))));
        if orderly {
            server.terminate();
            assert_eq!(server.ended(), Some(0), "{}", server.log());
            assert!(!lives(&time(which)), "it outlives the server");
        } else {
            server.kill();
        }
        blocking::until("it is gone with the server", || !lives(&time(which)));
    }
}

#[test]
fn who_follows_a_stream_is_let_go_when_the_server_ends() {
    let mut server = Server::start(&shells());
    let stream = server.shell("s")["stream"].as_str().expect("a stream").to_owned();
    let following = server.send("GET", &format!("/v1/streams/{stream}/events"), "s", "", "");
    let mut first = [0; 15];
    (&following).read_exact(&mut first).expect("it is followed");
    server.terminate();
    let mut rest = Vec::new();
    (&following).read_to_end(&mut rest).expect("it ends");
    assert_eq!(server.ended(), Some(0), "{}", server.log());
}
