//! What agents, tenants and foreign pages try.

use serde_json::{Value, json};
use wharf_tests::{Data, Server, blocking, replied};

use super::{Operated, SHELL, command};

const ROUTES: [(&str, &str); 14] = [
    ("GET", "/v1/operator/hosts"),
    ("GET", "/v1/operator/calls"),
    ("DELETE", "/v1/operator/calls/x"),
    ("GET", "/v1/operator/events"),
    ("GET", "/v1/operator/terminals"),
    ("POST", "/v1/operator/terminals/x/input"),
    ("GET", "/v1/operator/processes"),
    ("GET", "/v1/operator/pages"),
    ("GET", "/v1/operator/plugins"),
    ("GET", "/v1/operator/approvals"),
    ("POST", "/v1/operator/approvals/x"),
    ("GET", "/v1/operator/audit"),
    ("GET", "/v1/operator/cluster"),
    ("POST", "/v1/operator/cluster/x/drain"),
];

#[test]
fn neither_an_agents_token_nor_a_tenants_nor_none_reaches_a_route_of_the_operator() {
    let data = Data::new();
    data.write_private("team", "a-token-of-a-team-that-is-long-enough\n");
    data.write(
        "wharf.toml",
        "[[http.tokens]]\nname = \"team\"\nfile = \"team\"\ntenant = \"team\"\nmetrics = true\n\
         [[http.tokens]]\nname = \"agent\"\nfile = \"http-token\"\n",
    );
    data.write_private("http-token", "a-token-of-an-agent-that-is-long-enough\n");
    let host = Operated::of(Server::start_in(data, &[]));
    for (method, path) in ROUTES {
        let body = (method == "POST").then(|| json!({}));
        for token in ["a-token-of-a-team-that-is-long-enough", "a-token-of-an-agent-that-is-long-enough"] {
            let shown = format!("Authorization: Bearer {token}\r\n");
            let reply = host.request(method, path, &shown, body.clone());
            assert!(reply.status == 403 && reply.body.contains("operator"), "{method} {path}: {reply:?}");
        }
        let reply = host.request(method, path, "", body.clone());
        assert_eq!(reply.status, 401, "{method} {path}: {reply:?}");
        let reply = host.request(method, path, "Cookie: wharf-console-0=x; wharf-console=x\r\n", body);
        assert_eq!(reply.status, 401, "{method} {path}: {reply:?}");
    }
    // The operator's own is no agent's: it has no tool, and opens no terminal.
    let listed = host.ask("POST", "/v1/terminals", Some(json!({})));
    assert_eq!(listed.status, 403, "{listed:?}");
}

#[test]
fn a_foreign_page_and_a_foreign_name_are_refused_whatever_the_browser_sends_along() {
    let host = Operated::start("");
    let reply = host.request("POST", "/console/session", "", Some(json!({"token": host.token})));
    let cookie = reply.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    let cookie = format!("Cookie: {cookie}\r\n");
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        let headers = format!("{cookie}Origin: {origin}\r\n");
        for (method, path) in ROUTES {
            let reply = host.request(method, path, &headers, (method == "POST").then(|| json!({})));
            assert_eq!(reply.status, 403, "{method} {path} of {origin}: {reply:?}");
        }
        let body = Some(json!({"token": host.token}));
        assert_eq!(host.request("POST", "/console/session", &format!("Origin: {origin}\r\n"), body).status, 403);
    }
    // A form of another page sends no JSON.
    let form = "Content-Type: text/plain\r\n";
    let reply = replied(host.send("POST", "/console/session", form, ""));
    assert!(reply.status >= 400, "{reply:?}");
    // The cookie opens what the operator sees, and nothing of an agent.
    for path in ["/v1/terminals", "/v1/streams", "/metrics"] {
        assert_eq!(host.request("GET", path, &cookie, None).status, 401, "{path}");
    }
}

#[test]
fn what_tools_say_stays_a_text() {
    let host = Operated::start("profile = \"developer\"\n[approvals]\napprove = [\"workspace__execute_shell\"]\n");
    let hostile = "echo '</script><img src=x onerror=alert(1)>\u{202e}'";
    let call = host.call("s", SHELL, &command(hostile));
    let mut events = host.follow("/v1/operator/events?topics=approvals");
    let waiting = blocking::until("it waits", || {
        let event = events.event().expect("a copy");
        event.data["approvals"][0].as_object().cloned().ok_or(event)
    });
    let arguments: Value = serde_json::from_str(waiting["arguments"].as_str().expect("a text")).expect("JSON");
    assert_eq!(arguments["command"], json!(hostile), "it is told as it is, within JSON");
    let path = format!("/v1/operator/approvals/{}", waiting["id"].as_str().expect("an id"));
    assert_eq!(host.ask("POST", &path, Some(json!({"answer": {"refuse": ""}}))).status, 200);
    let _ = replied(call);
}

#[test]
fn those_who_may_operate_by_the_configuration_do() {
    let data = Data::new();
    data.write_private("boss", "a-token-of-a-person-that-is-long-enough\n");
    data.write_private("http-token", "a-token-of-an-agent-that-is-long-enough\n");
    let agent = "[[http.tokens]]\nname = \"agent\"\nfile = \"http-token\"\n";
    let boss = "[[http.tokens]]\nname = \"boss\"\nfile = \"boss\"\noperator = true\nplugins = []\n";
    data.write("wharf.toml", format!("{agent}{boss}"));
    let host = Operated::of(Server::start_in(data, &[]));
    let shown = "Authorization: Bearer a-token-of-a-person-that-is-long-enough\r\n";
    assert_eq!(host.request("GET", "/v1/operator/hosts", shown, None).status, 200);
    let token = Some(json!({"token": "a-token-of-a-person-that-is-long-enough"}));
    let reply = host.request("POST", "/console/session", "", token);
    assert_eq!(reply.status, 204, "{reply:?}");
}
