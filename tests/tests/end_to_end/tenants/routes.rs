//! Every route.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf_tests::Data;

use super::{
    Expected::{self, AsUnknown, OwnAlone, Refused},
    Tenant, Two, belongings, check,
    tools::{browses, everything},
};

/// A route, the path of its case, a header and a body; in all of them, `$name` is an
/// identifier of the first tenant's.
type Case = (&'static str, &'static str, &'static str, Value, Expected);

const MESSAGES: &str = "Accept: application/json, text/event-stream\r\n";
const SESSION: &str = "Accept: application/json, text/event-stream\r\nMcp-Session-Id: $session\r\n\
                       Mcp-Protocol-Version: 2025-11-25\r\n";
const RESUMES: &str = "Accept: text/event-stream\r\nMcp-Session-Id: $session\r\n\
                       Mcp-Protocol-Version: 2025-11-25\r\nLast-Event-ID: 0-0\r\n";

fn cases() -> Vec<Case> {
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let mut cases = vec![
        ("GET /v1/health", "", "", Value::Null, OwnAlone),
        ("GET /v1/ready", "", "", Value::Null, OwnAlone),
        ("GET /v1/openapi.json", "", "", Value::Null, OwnAlone),
        ("GET /.well-known/oauth-protected-resource", "", "", Value::Null, OwnAlone),
        ("GET /.well-known/oauth-protected-resource/mcp", "", "", Value::Null, OwnAlone),
        ("GET /v1/terminals", "", "", Value::Null, OwnAlone),
        ("GET /v1/streams", "", "", Value::Null, OwnAlone),
        ("GET /v1/watch", "", "", Value::Null, OwnAlone),
        ("GET /metrics", "", "", Value::Null, OwnAlone),
        ("POST /mcp", "", SESSION, list, AsUnknown),
        ("POST /mcp", "", SESSION, cancelled, AsUnknown),
        ("POST /mcp", "", MESSAGES, json!({}), OwnAlone),
        ("GET /mcp", "", SESSION, Value::Null, AsUnknown),
        ("GET /mcp", "", RESUMES, Value::Null, AsUnknown),
        ("DELETE /mcp", "", SESSION, Value::Null, AsUnknown),
    ];
    for terminal in ["$shell", "$terminal"] {
        cases.extend([
            ("GET /v1/terminals/{terminal}", terminal, "", Value::Null, AsUnknown),
            ("DELETE /v1/terminals/{terminal}", terminal, "", Value::Null, AsUnknown),
            ("POST /v1/terminals/{terminal}/turns", terminal, "", json!({"text": "exit", "submit": true}), AsUnknown),
            ("POST /v1/terminals/{terminal}/keys", terminal, "", json!({"keys": ["C-d"]}), AsUnknown),
            ("POST /v1/terminals/{terminal}/cancel", terminal, "", json!({}), AsUnknown),
            ("POST /v1/terminals/{terminal}/resize", terminal, "", json!({"columns": 60, "rows": 20}), AsUnknown),
            ("GET /v1/terminals/{terminal}/screen", terminal, "", Value::Null, AsUnknown),
            ("GET /v1/terminals/{terminal}/output", terminal, "", Value::Null, AsUnknown),
            ("GET /v1/watch/{terminal}", terminal, "Last-Event-ID: 0\r\n", Value::Null, AsUnknown),
        ]);
    }
    for stream in ["$stream", "$other"] {
        cases.extend([
            ("GET /v1/streams/{stream}", stream, "", Value::Null, AsUnknown),
            ("GET /v1/streams/{stream}/events", stream, "Last-Event-ID: 0\r\n", Value::Null, AsUnknown),
            ("DELETE /v1/streams/{stream}", stream, "", Value::Null, AsUnknown),
        ]);
    }
    let front_end = "$front_end";
    let forged = json!({"content": [{"text": "forged"}]});
    cases.extend([
        ("GET /v1/front-ends", "", "", Value::Null, OwnAlone),
        ("DELETE /v1/front-ends/{front_end}", front_end, "", Value::Null, AsUnknown),
        ("GET /v1/front-ends/{front_end}/calls", front_end, "", Value::Null, AsUnknown),
        ("GET /v1/front-ends/{front_end}/calls/events", front_end, "", Value::Null, AsUnknown),
        ("POST /v1/front-ends/{front_end}/calls/{call}/answer", front_end, "", forged, AsUnknown),
        ("POST /v1/front-ends/{front_end}/calls/{call}/progress", front_end, "", json!({"done": 1}), AsUnknown),
    ]);
    let (page, script) = ("$web_page", json!({"script": "document.title = 'forged'"}));
    let travel = json!({"operation": "navigate", "parameters": {"url": "about:blank"}});
    cases.extend([
        ("GET /v1/pages", "", "", Value::Null, OwnAlone),
        ("GET /v1/pages/{page}", page, "", Value::Null, AsUnknown),
        ("POST /v1/pages/{page}/scripts", page, "", script, AsUnknown),
        ("POST /v1/pages/{page}/operations", page, "", travel, AsUnknown),
        ("POST /v1/pages/{page}/dialog", page, "", json!({"accept": true}), AsUnknown),
        ("GET /v1/pages/{page}/logs/{log}", page, "", Value::Null, AsUnknown),
        ("GET /v1/pages/{page}/requests", page, "", Value::Null, AsUnknown),
        ("GET /v1/pages/{page}/requests/{request}", page, "", Value::Null, AsUnknown),
        ("GET /v1/pages/{page}/requests/{request}/result", page, "", Value::Null, AsUnknown),
        ("POST /v1/pages/{page}/requests/{request}/cancel", page, "", Value::Null, AsUnknown),
        ("DELETE /v1/pages/{page}/requests/{request}", page, "", Value::Null, AsUnknown),
        ("DELETE /v1/pages/{page}", page, "", Value::Null, AsUnknown),
    ]);
    // The operator's, which no tenant reaches, whatever it names.
    let lists = [
        "GET /v1/operator/approvals",
        "GET /v1/operator/audit",
        "GET /v1/operator/calls",
        "GET /v1/operator/cluster",
        "GET /v1/operator/events",
        "GET /v1/operator/hosts",
        "GET /v1/operator/metrics",
        "GET /v1/operator/pages",
        "GET /v1/operator/plugins",
        "GET /v1/operator/processes",
        "GET /v1/operator/sessions",
        "GET /v1/operator/state",
        "GET /v1/operator/streams",
        "GET /v1/operator/terminals",
    ];
    cases.extend(lists.map(|list| (list, "", "", Value::Null, Refused)));
    let of_first = json!({"tenant": "first", "session": "$session"});
    let (shell, process) = ("$shell", "$process");
    cases.extend([
        ("DELETE /v1/operator/calls/{call}", "", "", Value::Null, Refused),
        ("DELETE /v1/operator/pages/{page}", page, "", Value::Null, Refused),
        ("GET /v1/operator/pages/{page}", page, "", Value::Null, Refused),
        ("GET /v1/operator/pages/{page}/picture", page, "", Value::Null, Refused),
        ("GET /v1/operator/sessions/files", "", "", Value::Null, Refused),
        ("GET /v1/operator/state/buckets", "", "", Value::Null, Refused),
        ("GET /v1/operator/state/export", "", "", Value::Null, Refused),
        ("POST /v1/operator/state/clear", "", "", json!({"tenant": "first", "plugin": "planning"}), Refused),
        (
            "POST /v1/operator/plugins",
            "",
            "",
            json!({"change": {"remove": {"plugin": "planning"}}, "dry_run": false}),
            Refused,
        ),
        ("GET /v1/operator/processes/{process}", process, "", Value::Null, Refused),
        ("DELETE /v1/operator/processes/{process}", process, "", Value::Null, Refused),
        ("GET /v1/operator/processes/{process}/output", process, "", Value::Null, Refused),
        ("GET /v1/operator/terminals/{terminal}", shell, "", Value::Null, Refused),
        ("GET /v1/operator/terminals/{terminal}/recording", shell, "", Value::Null, Refused),
        ("DELETE /v1/operator/terminals/{terminal}", shell, "", Value::Null, Refused),
        ("POST /v1/operator/terminals/{terminal}/input", shell, "", json!({"content": "aGk="}), Refused),
        ("POST /v1/operator/terminals/{terminal}/resize", shell, "", json!({"columns": 60, "rows": 20}), Refused),
        ("POST /v1/operator/plugins/{plugin}/switch", "planning", "", json!({"enabled": false}), Refused),
        ("GET /v1/operator/plugins/{plugin}", "planning", "", Value::Null, Refused),
        ("GET /v1/operator/grants/{plugin}", "planning", "", Value::Null, Refused),
        (
            "POST /v1/operator/configuration",
            "",
            "",
            json!({"change": {"revoke": {"plugin": "planning", "capability": "all"}}, "dry_run": false}),
            Refused,
        ),
        ("GET /v1/operator/tools/{tool}", "planning__create_goal", "", Value::Null, Refused),
        ("POST /v1/operator/tools/{tool}/calls", "planning__create_goal", "", json!({}), Refused),
        ("POST /v1/operator/approvals/{approval}", "$call", "", json!({"answer": "once"}), Refused),
        ("POST /v1/operator/cluster/{host}/drain", "", "", json!({"draining": true}), Refused),
        ("POST /v1/operator/sessions/end", "", "", of_first.clone(), Refused),
        ("POST /v1/operator/sessions/remove-files", "", "", of_first, Refused),
    ]);
    // What is made comes last.
    cases.push(("POST /v1/pages", "", "", json!({}), OwnAlone));
    cases.push(("POST /v1/terminals", "", "", json!({}), OwnAlone));
    cases.push(("POST /v1/front-ends", "", "", json!({"name": "editor", "tools": []}), OwnAlone));
    cases
}

/// The routes that the server describes.
fn described(two: &mut Two) -> BTreeSet<String> {
    let description = two.route(Tenant::Second, "GET", "/v1/openapi.json", "", &Value::Null).json();
    let paths = description["paths"].as_object().expect("paths");
    let of_path = |(path, methods): (&String, &Value)| -> Vec<String> {
        methods.as_object().expect("methods").keys().map(|name| format!("{} {path}", name.to_uppercase())).collect()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn by_no_route_does_a_tenant_reach_what_another_one_has() {
    let files = Data::alone();
    let mut two = Two::start(everything(&files));
    let tried: BTreeSet<_> = cases().iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert_eq!(described(&mut two), tried, "each route that is described has a case, and no other");

    let (names, _connected) = belongings::make(&mut two, None);
    let before = belongings::state(&mut two, &names, false);
    for (route, id, headers, body, expected) in cases() {
        let (method, path) = route.split_once(' ').expect("a method and a path");
        if path.starts_with("/v1/pages") && !browses() {
            continue;
        }
        let parts = ["{terminal}", "{stream}", "{front_end}", "{page}", "{process}", "{approval}"];
        let named = parts.iter().fold(path.to_owned(), |path, part| path.replace(part, id));
        let path = named.replace("{call}", "$call").replace("{request}", "$request").replace("{log}", "console");
        // With and without the assistant for whom the plugin's terminal was started.
        for assistant in ["", "Wharf-Assistant: a\r\n"] {
            let case = json!({"path": path, "headers": format!("{headers}{assistant}"), "body": body});
            let mut ask = |case: Value| {
                let text = |name: &str| case[name].as_str().expect("a text").to_owned();
                let reply = two.route(Tenant::Second, method, &text("path"), &text("headers"), &case["body"]);
                format!("{} {}", reply.status, reply.body)
            };
            let (told, made_up) = (ask(names.real(&case)), ask(names.made_up(&case)));
            check(&format!("{route} {case}"), expected, &names, &told, &made_up);
            let status = match expected {
                AsUnknown => "404 ",
                Refused => "403 ",
                OwnAlone => "",
            };
            assert!(told.starts_with(status), "{route}: {told}");
        }
    }
    assert_eq!(belongings::state(&mut two, &names, false), before, "all of it is as it was");
}
