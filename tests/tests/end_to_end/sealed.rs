//! The wall: a guest reaches nothing of the machine, and no stream of others.

use serde_json::{Value, json};
use wharf::Code;
use wharf_tests::{Client, Data, Setup, context, found, viewer, wharf};

#[tokio::test]
async fn there_are_no_files() {
    let fixture = Setup::new().open().await;
    let secret = fixture.data.write("secret", "secret");
    let secret = secret.to_str().expect("a path");
    for path in [secret, "/etc/passwd", "/proc/self/environ", "/dev/null", ".", "/", "../..", "", "wharf.toml"] {
        for tool in ["read_file", "list_directory"] {
            let report = found(fixture.call(&format!("hostile__{tool}"), json!({"path": path})).await);
            assert_eq!(report["reached"], json!(false), "{tool} {path}: {report}");
        }
    }
    let target = fixture.data.path().join("written");
    for path in [target.to_str().expect("a path"), "written", "/tmp/written-by-a-guest", "/dev/stderr"] {
        let report = found(fixture.call("hostile__write_file", json!({"path": path})).await);
        assert_eq!(report["reached"], json!(false), "{path}: {report}");
    }
    assert!(!target.exists());
}

#[tokio::test]
async fn there_is_no_environment_no_argument_and_no_directory() {
    let fixture = Setup::new().open().await;
    // This process has variables: PATH at the least.
    assert!(std::env::var_os("PATH").is_some());
    assert_eq!(found(fixture.call("hostile__environment", json!({})).await), json!({"found": []}));
    assert_eq!(found(fixture.call("hostile__program_arguments", json!({})).await), json!({"found": []}));
    let directory = found(fixture.call("hostile__working_directory", json!({})).await);
    let host = std::env::current_dir().expect("a directory");
    assert!(!directory.to_string().contains(host.to_str().expect("a path")), "{directory}");
}

#[tokio::test]
async fn there_is_no_network() {
    let fixture = Setup::new().open().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let open = listener.local_addr().expect("an address").to_string();
    listener.set_nonblocking(true).expect("set");
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let datagram = datagrams.local_addr().expect("an address").to_string();
    datagrams.set_nonblocking(true).expect("set");
    for (tool, address) in [
        ("connect", open.as_str()),
        ("connect", "169.254.169.254:80"),
        ("connect", "[::1]:80"),
        ("listen", "127.0.0.1:0"),
        ("listen", "0.0.0.0:0"),
        ("send_datagram", datagram.as_str()),
    ] {
        let report = found(fixture.call(&format!("hostile__{tool}"), json!({"address": address})).await);
        assert_eq!(report["reached"], json!(false), "{tool} {address}: {report}");
    }
    assert!(listener.accept().is_err(), "somebody connected");
    assert!(datagrams.recv(&mut [0; 16]).is_err(), "somebody sent");
    for name in ["localhost", "example.com", "secret.attacker.example"] {
        let report = found(fixture.call("hostile__resolve", json!({"name": name})).await);
        assert_eq!(report["reached"], json!(false), "{name}: {report}");
    }
}

#[tokio::test]
async fn standard_input_is_empty() {
    let fixture = Setup::new().open().await;
    let report = found(fixture.call("hostile__stdin", json!({})).await);
    assert!(matches!(report["read"].as_str(), None | Some("")), "{report}");
}

#[tokio::test]
async fn randomness_is_there_and_bounded() {
    let fixture = Setup::new().open().await;
    let some = found(fixture.call("hostile__random", json!({"bytes": 4_096})).await);
    assert_eq!(some["filled"], json!(true));
    // 4,096 random bytes hold about 16 zeros.
    assert!(some["zeros"].as_u64().expect("a number") < 200, "{some}");
    let many = fixture.call("hostile__random", json!({"bytes": 1 << 20})).await;
    assert!(many.is_err(), "{many:?}");
    fixture.works().await;
}

#[tokio::test]
async fn what_is_not_granted_answers_denied_and_names_the_line_that_would_allow_it() {
    let nothing = Setup::new().open().await;
    let probe = found(nothing.call("hostile__probe_imports", json!({})).await);
    assert_eq!(
        probe,
        json!({
            "session": "test", "settings": "{}", "progress": "denied", "message": "denied",
            "process": "denied", "workspace": "denied", "terminal": "denied", "stream": "denied",
            "state": {"thread": "denied", "session": "denied", "plugin": "denied"},
        })
    );
    let error =
        nothing.call("hostile__open_bucket", json!({"scope": "thread", "name": "b"})).await.expect_err("denied");
    assert_eq!(error.code, Code::Denied);
    assert!(error.message.contains("[plugin.hostile.grants.state]"), "{error}");
    let report = found(nothing.call("hostile__progress", json!({"count": 1})).await);
    assert!(report["refused"]["message"].to_string().contains("[plugin.hostile.grants.events]"), "{report}");

    let some = Setup::new().state("scopes = [\"session\"]").open().await;
    let probe = found(some.call("hostile__probe_imports", json!({})).await);
    assert_eq!(probe["state"], json!({"thread": "denied", "session": "ok", "plugin": "denied"}));
    let error = some.call("hostile__open_bucket", json!({"scope": "plugin", "name": "b"})).await.expect_err("denied");
    assert!(error.message.contains("\"plugin\"") && error.message.contains("scopes"), "{error}");

    let all = Setup::new().state("").events().processes("").workspace("").terminals("").open().await;
    let probe = found(all.call("hostile__probe_imports", json!({})).await);
    assert_eq!(probe["state"], json!({"thread": "ok", "session": "ok", "plugin": "ok"}));
    for capability in ["progress", "message", "stream", "process", "workspace", "terminal"] {
        assert_eq!(probe[capability], "ok", "{capability}");
    }
}

#[tokio::test]
async fn metadata_is_read_with_nothing_granted_whatever_the_configuration_grants() {
    // A cache of its own, so that the listing really runs under these grants.
    let setup = Setup::new().state("").events().processes("shell = true").workspace("").terminals("shell = true");
    let fixture = setup.open_in(Data::alone()).await;
    let tools = wharf::ToolService::tools(&*fixture.host, viewer());
    let probe = tools.iter().find(|tool| tool.name == "hostile__probe_imports").expect("listed");
    let listing = &probe.meta["whileListing"];
    assert_eq!(listing["state"], json!({"thread": "denied", "session": "denied", "plugin": "denied"}), "{listing}");
    for capability in ["progress", "message", "stream", "process", "workspace", "terminal"] {
        assert_eq!(listing[capability], "denied", "{capability}");
    }
    assert_eq!(listing["session"], json!("default"));
}

#[tokio::test]
async fn grants_of_one_plugin_are_not_anothers() {
    let other = wharf_tests::component("guest-hostile");
    let fixture = Setup::new().state("").plugin("other", &other, "").open().await;
    let denied = fixture.call("other__open_bucket", json!({"scope": "thread", "name": "b"})).await.expect_err("denied");
    assert!(denied.message.contains("[plugin.other.grants.state]"), "{denied}");
    found(fixture.call("hostile__open_bucket", json!({"scope": "thread", "name": "b"})).await);
}

#[tokio::test]
async fn the_caller_learns_its_own_context_and_nothing_else() {
    let fixture = Setup::new().open().await;
    let mut mine = context("some-tenant", "some-session");
    mine.thread = "some-thread".parse().ok();
    let report = found(fixture.call_in(&mine, "hostile__caller", json!({})).await);
    assert_eq!(
        report,
        json!({"session": "some-session", "assistant": null, "thread": "some-thread", "requestMeta": "{}"})
    );
}

/// A server with the guests, and what it keeps.
fn served(filter: &str) -> (Client, Data) {
    let data = Data::new();
    let config = data.write("wharf.toml", Setup::new().text());
    let command = wharf(["serve", "--stdio"]).config(&config).data(data.path()).env("WHARF_LOG", filter);
    (Client::connect(command), data)
}

#[test]
fn nothing_that_a_guest_writes_reaches_the_clients_stream() {
    let (mut client, _data) = served("wharf::plugin=info");
    let mut asked = Vec::new();
    for (tool, arguments) in [
        ("hostile__stdout_lines", json!({"count": 500})),
        ("hostile__stdout", json!({"text": "no message\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n"})),
        ("hostile__stdout_bytes", json!({"bytes": 100_000})),
        ("hostile__stderr", json!({"text": "{\"jsonrpc\":\"2.0\",\"id\":7003,\"result\":{}}\n"})),
        ("hostile__text", json!({"text": "\n{\"jsonrpc\":\"2.0\",\"id\":7002,\"result\":{}}\n"})),
        ("hostile__log", json!({"level": "error", "message": "\n{\"jsonrpc\":\"2.0\"}\n"})),
        ("hostile__panic", json!({"message": "\n{\"jsonrpc\":\"2.0\",\"id\":7002,\"result\":{}}\n"})),
        ("hostile__error", json!({"code": "x\n{}\n", "message": "\n{\"id\":1}\n"})),
    ] {
        asked.push(client.ask("tools/call", json!({"name": tool, "arguments": arguments})));
    }
    for id in &asked {
        client.answer(*id);
    }
    let (lines, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    let mut answered = Vec::new();
    for line in &lines {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no message: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        // An answer, not a notification or a request that a guest invented.
        let id = message["id"].as_u64().unwrap_or_else(|| panic!("answers nothing: {line}"));
        answered.push(id);
    }
    answered.sort_unstable();
    let mut expected = vec![7_001];
    expected.extend(&asked);
    assert_eq!(answered, expected, "each question is answered once and nothing else is said");
    assert!(log.contains("forged"), "what it wrote is in the log");
}

#[test]
fn the_log_has_no_control_characters_of_a_guest_and_no_line_that_it_could_forge() {
    let (mut client, _data) = served("wharf::plugin=trace");
    let attack = "start\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\r\n2026-01-01T00:00:00Z ERROR wharf: forged end\u{0}";
    for tool in ["hostile__stdout", "hostile__stderr"] {
        client.call(tool, json!({"text": attack}), json!({}));
    }
    for level in ["trace", "error", "nonsense", "\u{1b}[2J"] {
        client.call("hostile__log", json!({"level": level, "message": attack}), json!({}));
    }
    let (_, log, _) = client.leave();
    let clean = |character: char| character == '\n' || !character.is_control() && character != '\u{202e}';
    assert!(log.chars().all(clean), "{log:?}");
    assert!(log.contains("start[2J]0;t1m"), "{log}");
    for line in log.lines().filter(|line| line.contains("forged")) {
        assert!(line.contains("wharf::plugin: ") && line.contains("plugin=hostile"), "a forged line: {line:?}");
    }
}

#[test]
fn a_guests_panic_is_told_to_the_operator() {
    let (mut client, _data) = served("wharf::plugin=info");
    let result = client.call("hostile__panic", json!({"message": "the inner reason"}), json!({}));
    assert_eq!(result["isError"], json!(true));
    assert!(!result.to_string().contains("inner reason"), "{result}");
    let (_, log, _) = client.leave();
    assert!(log.contains("the inner reason"), "{log}");
}
