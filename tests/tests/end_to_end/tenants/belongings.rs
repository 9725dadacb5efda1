//! What the first tenant has: one of everything, and how it is.

use std::net::TcpStream;

use serde_json::{Value, json};
use wharf_tests::{Following, Site, blocking};

use super::{
    MARK, Tenant, Two,
    names::{Names, masked_numbers},
    request,
    tools::browses,
};

/// A front end that is connected, and a call that waits for it.
pub(super) struct Connected {
    _front_end: Following,
    _call: TcpStream,
}

/// Makes one of everything; what is connected stays so until it is dropped.
pub(super) fn make(two: &mut Two, site: Option<&Site>) -> (Names, Connected) {
    let mut names = Names::default();
    let connected = front_end(two, &mut names);
    plans(two, &mut names);
    texts(two, &mut names);
    files(two, &mut names);
    terminals(two, &mut names);
    if browses() {
        page_over_http(two, &mut names);
    }
    if let Some(site) = site {
        pages(two, &mut names, site);
    }
    let session = two.of(Tenant::First).handshake().expect("a session");
    let session = session.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: ")).expect("its name");
    names.add("$session", &json!(session));
    (names, connected)
}

fn front_end(two: &mut Two, names: &mut Names) -> Connected {
    let tool = json!({"name": "save", "description": MARK, "input_schema": {"type": "object"}});
    let connect = json!({"name": "editor", "tools": [tool]});
    let connected = two.route(Tenant::First, "POST", "/v1/front-ends", "", &connect).json();
    names.add("$front_end", &connected["front_end"]);
    let calls = format!("/v1/front-ends/{}/calls", connected["front_end"].as_str().expect("a handle"));
    let mut following = two.of(Tenant::First).follow("GET", &format!("{calls}/events"), "s", "");
    let (headers, call) = request("tools/call", json!({"name": "app_editor__save", "arguments": {"text": MARK}}));
    let call = two.of(Tenant::First).say(&headers, &call);
    let asked = std::iter::from_fn(|| following.event()).find(|event| event.kind == "call").expect("it is asked");
    names.add("$call", &asked.data["number"]);
    Connected { _front_end: following, _call: call }
}

fn plans(two: &mut Two, names: &mut Names) {
    two.made("planning__create_goal", &json!({"goal": MARK}));
    let todo = two.made("planning__add_todo", &json!({"name": MARK}));
    names.add("$todo", &todo["todo"]["id"]);
    let memo = two.made("planning__add_memo", &json!({"memo": MARK}));
    names.add("$memo", &memo["memo"]["id"]);
    let thought = json!({"thought": MARK, "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 2});
    two.made("planning__sequentialthinking", &thought);
    let step = json!({"description": MARK, "action": {"toolName": "any", "purpose": MARK}});
    let playbook = two.made("playbook__create_playbook", &json!({"goal": MARK, "workflow": [step]}));
    names.add("$playbook", &playbook["playbook"]["id"]);
    names.add("$step", &playbook["playbook"]["workflow"][0]["stepId"]);
    two.made("playbook__select_playbook", &json!({"id": playbook["playbook"]["id"]}));
}

fn texts(two: &mut Two, names: &mut Names) {
    let content = two.made("content-store__add_content", &json!({"text": MARK, "name": "notes.txt"}));
    names.add("$content", &content["content_id"]);
}

fn files(two: &mut Two, names: &mut Names) {
    two.made("workspace__write_file", &json!({"path": "chart.txt", "content": MARK}));
    names.add("$file", &json!("chart.txt"));
    let command = json!({
        "command": format!("echo {MARK}; read line; exit 3"), "run_mode": "async", "input": true,
    });
    let process = two.made("workspace__execute_shell", &command);
    names.add("$process", &process["process_id"]);
}

fn terminals(two: &mut Two, names: &mut Names) {
    let terminal = two.made("terminal__start_terminal", &json!({"program": "sh"}));
    names.add("$terminal", &terminal["terminal_id"]);
    let typed = json!({"terminal_id": terminal["terminal_id"], "text": format!("echo {MARK}")});
    two.made("terminal__send_message", &typed);
    let shell = two.of(Tenant::First).shell("s");
    names.add("$shell", &shell["terminal"]);
    names.add("$stream", &shell["stream"]);
    let path = format!("/v1/terminals/{}/turns", shell["terminal"].as_str().expect("an id"));
    let turn = json!({"text": format!("echo {MARK}"), "submit": true});
    let _events = two.of(Tenant::First).follow("POST", &path, "s", &turn.to_string()).rest();
    let streams = two.route(Tenant::First, "GET", "/v1/streams", "Wharf-Assistant: a\r\n", &Value::Null).json();
    let mut open = streams["streams"].as_array().expect("a list").iter();
    let of_plugin = open.find(|one| one["stream"] != shell["stream"]).expect("that of the plugin's terminal");
    names.add("$other", &of_plugin["stream"]);
}

fn pages(two: &mut Two, names: &mut Names, site: &Site) {
    let page = two.made("browser__navigate", &json!({"url": site.at("/")}));
    names.add("$page", &page["session"]);
    let script = json!({"script": format!("document.body.append('{MARK}')")});
    two.made("browser__evaluate", &script);
    let snapshot = two.made("browser__get_snapshot", &json!({}));
    let text = snapshot["text"].as_str().expect("a text");
    let reference = text.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).expect("a reference");
    names.add("$element", &json!(reference));
}

fn page_over_http(two: &mut Two, names: &mut Names) {
    let page = two.route(Tenant::First, "POST", "/v1/pages", "", &json!({"width": 640})).json();
    names.add("$web_page", &page["page"]);
    let path = format!("/v1/pages/{}", page["page"].as_str().expect("an id"));
    let script = json!({"script": format!("console.log('{MARK}'); '{MARK}'"), "timeout_ms": 300_000});
    let request = two.route(Tenant::First, "POST", &format!("{path}/scripts"), "", &script).json();
    names.add("$request", &request["request"]);
    let result = format!("{path}/requests/{}?wait_ms=60000", request["request"].as_str().expect("an id"));
    let outcome = two.route(Tenant::First, "GET", &result, "", &Value::Null).json();
    assert_eq!((&outcome["state"], &outcome["text"]), (&json!("done"), &json!(format!("\"{MARK}\""))), "{outcome}");
    let log = format!("{path}/logs/console");
    blocking::until("the page has said something", || {
        two.route(Tenant::First, "GET", &log, "", &Value::Null).body.contains(MARK)
    });
}

/// How all of it is, numbers aside.
pub(super) fn state(two: &mut Two, names: &Names, pages: bool) -> Vec<String> {
    let mut state: Vec<_> = LOOKS
        .iter()
        .filter(|(tool, ..)| pages || !tool.starts_with("browser__"))
        .map(|(tool, arguments, part)| {
            let arguments = serde_json::from_str(arguments).expect("JSON");
            let found = two.made(tool, &names.real(&arguments));
            let part = found.pointer(part).unwrap_or_else(|| panic!("{tool} has no {part}: {found}"));
            format!("{tool}: {}", masked_numbers(&part.to_string()))
        })
        .collect();
    for path in
        ["/v1/terminals/$shell/screen", "/v1/streams/$stream", "/v1/front-ends", "/v1/front-ends/$front_end/calls"]
    {
        let path = names.real(&json!(path));
        let found = two.route(Tenant::First, "GET", path.as_str().expect("a path"), "", &Value::Null);
        state.push(masked_numbers(&found.body));
    }
    if browses() {
        let path = names.real(&json!("/v1/pages/$web_page/logs/console"));
        let found = two.route(Tenant::First, "GET", path.as_str().expect("a path"), "", &Value::Null);
        state.push(masked_numbers(&found.body));
    }
    let headers = names.real(&json!("Mcp-Session-Id: $session\r\nMcp-Protocol-Version: 2025-11-25\r\n"));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let listed = wharf_tests::replied(two.of(Tenant::First).say(headers.as_str().expect("headers"), &list));
    assert_eq!(listed.status, 200, "the session lives: {listed:?}");
    state
}

/// By what each is looked at, and which part of the answer nothing but its owner changes.
const LOOKS: [(&str, &str, &str); 15] = [
    ("planning__get_current_state", "{}", ""),
    ("planning__list_goals", "{}", ""),
    ("playbook__get_playbook", r#"{"id": "$playbook"}"#, ""),
    ("playbook__list_playbooks", "{}", ""),
    ("playbook__get_active_playbook", "{}", ""),
    ("content-store__list_contents", "{}", ""),
    ("content-store__read_content", r#"{"content_id": "$content"}"#, ""),
    ("content-store__search_content", r#"{"query": "breakwater"}"#, "/hits"),
    ("workspace__read_file", r#"{"path": "$file"}"#, "/text"),
    ("workspace__poll_process", r#"{"process_id": "$process"}"#, "/status"),
    ("workspace__read_process_output", r#"{"process_id": "$process"}"#, "/text"),
    ("terminal__read_screen", r#"{"terminal_id": "$terminal"}"#, "/screen"),
    ("terminal__list_terminals", "{}", "/terminals/0/terminal_id"),
    ("browser__list_sessions", "{}", "/sessions"),
    ("browser__get_page_content", "{}", "/text"),
];
