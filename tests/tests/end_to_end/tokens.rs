//! Tokens that are given and taken back while a host serves.

use wharf_tests::{Data, Server, Setup, blocking, wharf};

const NEVER: &str = "never-given-to-anybody-0123456789abcdef";

/// The lines of a token in a file.
fn table(name: &str) -> String {
    format!("[[http.tokens]]\nname = \"{name}\"\nfile = \"{name}.token\"\ntenant = \"{name}\"\n")
}

/// Waits until a token opens this much.
fn until(server: &Server, token: &str, status: u16) {
    blocking::until(format_args!("the token gets {status}"), || {
        match server.ask_as(token, "GET", "/v1/streams", None).status {
            found if found == status => Ok(()),
            found => Err(found),
        }
    });
}

#[test]
fn a_token_that_expires_opens_nothing_from_then_on_and_says_so_in_the_log() {
    let (first, second) = ("first-0123456789abcdef0123456789", "second-0123456789abcdef0123456789");
    let data = Data::new();
    data.write_private("first.token", first);
    data.write_private("second.token", second);
    let bare = Setup::bare().text();
    let tables =
        |until: &str| format!("{bare}\n{}expires = {until}\n{}expires = 2020-01-31\n", table("first"), table("second"));
    data.write("wharf.toml", tables("2099-12-31"));
    let own = data.path().join("http-token");
    let server = Server::start_in(data, &["--http-token-file", own.to_str().expect("UTF-8")]);
    until(&server, first, 200);
    until(&server, second, 401);
    // Its time comes once the host has read it, or a little before.
    let soon = chrono::Utc::now() + chrono::TimeDelta::seconds(5);
    server.data.write("wharf.toml", tables(&soon.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)));
    until(&server, first, 401);
    assert!(chrono::Utc::now() >= soon - chrono::TimeDelta::seconds(1), "it held as long as was written");
    server.until_logged("this token opens nothing: it expired");
    let wrong = bare + "\n" + &table("first") + "expires = \"soon\"\n";
    server.data.write("wharf.toml", wrong);
    server.until_logged("`expires` is a day");
}

#[test]
fn a_token_that_is_taken_out_opens_nothing_without_a_restart_and_others_notice_nothing() {
    let (first, second) = ("first-0123456789abcdef0123456789", "second-0123456789abcdef0123456789");
    let data = Data::new();
    data.write_private("first.token", first);
    data.write_private("second.token", second);
    let bare = Setup::bare().text();
    data.write("wharf.toml", bare.clone() + "\n" + &table("first") + &table("second"));
    let own = data.path().join("http-token");
    let mut server = Server::start_in(data, &["--http-token-file", own.to_str().expect("UTF-8")]);
    for (token, status) in [(first, 200), (second, 200), (NEVER, 401)] {
        until(&server, token, status);
    }
    server.token = second.to_owned();
    let session = server.handshake().expect("a session");

    // Half of it is no configuration: nothing changes.
    server.data.write("wharf.toml", "[[http.tokens]\n");
    server.until_logged("the configuration of before holds");
    until(&server, first, 200);

    server.data.write("wharf.toml", bare.clone() + "\n" + &table("second"));
    until(&server, first, 401);
    until(&server, second, 200);
    let told = wharf(["audit", "--json", "--kind", "change"]).data(server.data.path()).run().out;
    let taken_out = |line: &&str| line.contains(r#""function":"reconfigured""#) && line.contains(r#""asked":"http""#);
    let line = told.lines().find(taken_out).unwrap_or_else(|| panic!("no line tells of it: {told}"));
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let before = line["before"].as_str().expect("what was there");
    assert!(before.contains("http.tokens[first].name = \"first\"") && !before.contains("[second]"), "{line}");
    assert_eq!(line["after"], serde_json::Value::Null, "{line}");
    let list = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert_eq!(wharf_tests::replied(server.say(&session, &list)).status, 200, "its session is there");

    // Another one in the file of the token.
    server.data.write_private("second.token", NEVER);
    until(&server, second, 401);
    until(&server, NEVER, 200);
    // No file, no token.
    std::fs::remove_file(server.data.path().join("second.token")).expect("it was there");
    until(&server, NEVER, 401);
    server.until_logged("this token opens nothing now");
}
