//! `wharf serve --http` for clients of the protocol: the real binary, its plugins, and tokens.

use std::{
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Reply, Server, Setup, blocking, replied, wharf};

pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    let meta = json!({"dev.wharf/sessionId": "s", "dev.wharf/threadId": "t"});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// The same as a request of 2026-07-28, with its headers.
pub(crate) fn modern(mut request: Value) -> (String, Value) {
    let meta = request["params"].as_object_mut().expect("parameters").entry("_meta").or_insert_with(|| json!({}));
    for (name, value) in [
        ("protocolVersion", json!("2026-07-28")),
        ("clientCapabilities", json!({})),
        ("clientInfo", json!({"name": "test", "version": "1"})),
    ] {
        let members = meta.as_object_mut().expect("an object");
        members.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
    }
    let mut headers = format!(
        "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n",
        request["method"].as_str().expect("a method")
    );
    let params = &request["params"];
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        headers.push_str(&format!("Mcp-Name: {name}\r\n"));
    }
    (headers, request)
}

pub(crate) fn ask_modern(server: &Server, request: Value) -> Reply {
    let (headers, request) = modern(request);
    replied(server.say(&headers, &request))
}

pub(crate) fn tools(reply: &Reply) -> Vec<String> {
    let message = reply.message();
    let tools = message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{reply:?}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

pub(crate) fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
}

#[test]
fn what_a_client_of_one_era_keeps_a_client_of_the_other_one_finds() {
    let server = Server::start(&Setup::bare().planning());
    let session = server.handshake().expect("a session");
    assert!(tools(&replied(server.say(&session, &list()))).contains(&"planning__create_goal".to_owned()));
    let made = replied(server.say(&session, &call("planning__create_goal", &json!({"goal": "Ship it"}))));
    assert_ne!(made.message()["result"]["isError"], true, "{made:?}");
    let found = ask_modern(&server, call("planning__list_goals", &json!({})));
    assert!(found.body.contains("Ship it"), "{found:?}");
    assert_eq!(found.header("content-type"), Some("application/json"));
    // Without a valid token, no client gets an answer.
    let head = server.head("HTTP/1.0", "POST", "/mcp", "s").replace(&server.token[..8], "00000000");
    let mut stream = server.connect();
    stream.write_all(format!("{head}Content-Length: 0\r\n\r\n").as_bytes()).expect("the server reads");
    assert_eq!(replied(stream).status, 401);
}

#[test]
fn a_client_over_http_that_names_no_session_is_told_what_names_one_there() {
    for modern_era in [false, true] {
        let server = Server::start(&Setup::bare().planning());
        let params = json!({"name": "planning__list_goals", "arguments": {}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (headers, request) = if modern_era { modern(request) } else { (String::new(), request) };
        // Without the header of the other requests of these tests.
        let head = server.head("HTTP/1.0", "POST", "/mcp", "s").replace("Wharf-Session: s\r\n", "");
        let body = request.to_string();
        let accept = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        let mut stream = server.connect();
        let text = format!("{head}{accept}{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).expect("the server reads");
        let reply = replied(stream);
        if reply.status != 200 {
            // The older era has a session of its own, which is one.
            assert!(!modern_era, "{reply:?}");
            continue;
        }
        server.until_logged("share one");
        let log = server.log();
        let line = log.lines().find(|line| line.contains("share one")).expect("a line");
        assert!(line.contains("`Wharf-Session`") && line.contains("`dev.wharf/sessionId`"), "{line}");
        assert!(!line.contains("--stdio"), "{line}");
    }
}

/// A server with the tokens that `wharf token new` made, and those tokens.
pub(crate) fn with_tokens(setup: Setup, options: [&[&str]; 2]) -> (Server, [String; 2]) {
    let mut lines = String::new();
    let tokens = options.map(|options| {
        let made = wharf(["token", "new"].iter().chain(options)).run();
        assert_eq!(made.code, Some(0), "{made:?}");
        let (shown, written) = made.out.split_once("for wharf.toml:\n").expect("lines");
        lines.push_str(written);
        let token = shown.lines().nth(1).expect("a token").to_owned();
        assert!(!written.contains(&token), "only the digest is written");
        token
    });
    let data = Data::new();
    // Where tokens are named, the one of the directory is made on demand alone.
    data.write("wharf.toml", setup.with_tables(&lines).text());
    let path = data.path().join("http-token");
    let server = Server::start_in(data, &["--http-token-file", path.to_str().expect("UTF-8")]);
    (server, tokens)
}

#[test]
fn tenants_have_nothing_of_each_other_though_they_name_the_same_session() {
    let setup = Setup::bare().planning().own_terminals("shell = true");
    let (mut server, tokens) =
        with_tokens(setup, [&["--name", "a", "--tenant", "a"], &["--name", "b", "--tenant", "b"]]);
    let [first, second] = tokens;
    server.token.clone_from(&first);
    let made = ask_modern(&server, call("planning__create_goal", &json!({"goal": "Ship it"})));
    assert_ne!(made.message()["result"]["isError"], true, "{made:?}");
    let session = server.handshake().expect("a session");
    let shell = server.shell("s");
    let terminal = format!("/v1/terminals/{}", shell["terminal"].as_str().expect("an id"));
    let stream = format!("/v1/streams/{}", shell["stream"].as_str().expect("an id"));

    server.token.clone_from(&second);
    let found = ask_modern(&server, call("planning__list_goals", &json!({})));
    assert!(found.status == 200 && !found.body.contains("Ship it"), "{found:?}");
    assert_eq!(replied(server.say(&session, &list())).status, 404);
    assert_eq!(replied(server.listen(&session)).status, 404);
    assert_eq!(replied(server.send("DELETE", "/mcp", "s", &session, "")).status, 404);
    for path in [&terminal, &stream] {
        assert_eq!(server.ask("GET", path, "s", None).status, 404, "{path}");
        assert_eq!(server.ask("DELETE", path, "s", None).status, 404, "{path}");
    }
    assert_eq!(server.ask("GET", "/v1/terminals", "s", None).json()["terminals"], json!([]));

    server.token = first;
    assert_eq!(replied(server.say(&session, &list())).status, 200, "it is as it was");
    assert!(ask_modern(&server, call("planning__list_goals", &json!({}))).body.contains("Ship it"));
    assert_eq!(server.ask("GET", &terminal, "s", None).status, 200);
}

#[test]
fn a_token_sees_the_tools_of_its_plugins_alone() {
    let options: [&[&str]; 2] = [&["--name", "some", "--plugin", "plan*"], &["--name", "host", "--plugin", "host"]];
    let (mut server, [some, host]) = with_tokens(Setup::new().planning(), options);
    let all = tools(&ask_modern(&server, list()));
    assert!(all.iter().any(|tool| tool.starts_with("hostile__")));
    server.token = some;
    let seen = tools(&ask_modern(&server, list()));
    assert!(!seen.is_empty() && seen.iter().all(|tool| tool.starts_with("planning__")), "{seen:?}");
    let hidden = ask_modern(&server, call("hostile__sleep", &json!({})));
    let unknown = ask_modern(&server, call("hostile__nothing", &json!({})));
    assert_eq!(hidden.message()["error"]["code"], unknown.message()["error"]["code"], "{hidden:?}");
    assert_eq!(server.ask("GET", "/v1/terminals", "s", None).status, 403);
    server.token = host;
    assert_eq!(tools(&ask_modern(&server, list())), [""; 0]);
    assert_eq!(server.ask("GET", "/v1/streams", "s", None).status, 200);
}

#[test]
fn a_socket_serves_its_user_and_ends_with_the_host() {
    let data = Data::new();
    data.write("wharf.toml", Setup::bare().planning().text());
    let path = data.path().join("wharf.sock");
    let address = format!("unix:{}", path.display());
    let command = wharf(["serve", "--stdio", "--http", &address]);
    let client = Client::connect(command.config(&data.path().join("wharf.toml")).data(data.path()));
    let mut stream = blocking::until("it serves", || UnixStream::connect(&path));
    assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(data.path().join("http-token")).expect("a token");
    let (headers, body) = modern(list());
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        token.trim(),
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.contains("planning__create_goal"), "{answer}");
    let (_, log, code) = client.leave();
    assert_eq!((code, path.exists()), (Some(0), false), "{log}");
}

#[test]
fn what_cannot_be_served_is_refused_with_what_to_do() {
    let data = Data::new();
    for (lines, address, word) in [
        ("", "0.0.0.0:0", "--http-allow-public"),
        ("", "unix:", "`unix:` and a path"),
        ("[http.tls]\ncertificate = \"missing.pem\"\nkey = \"missing.pem\"", "127.0.0.1:0", "missing.pem"),
        ("[[http.tokens]]\nname = \"a\"\nvariable = \"WHARF_TEST_UNSET\"", "127.0.0.1:0", "WHARF_TEST_UNSET"),
    ] {
        data.write("wharf.toml", Setup::bare().with_tables(lines).text());
        let run = wharf(["serve", "--http", address]).config(&data.path().join("wharf.toml")).data(data.path()).run();
        assert!(matches!(run.code, Some(2 | 3)) && run.err.contains(word), "{address}: {run:?}");
    }
}
