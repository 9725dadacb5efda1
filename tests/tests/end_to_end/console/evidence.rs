//! What the audit keeps of an operator: who did what to what, and what was there before.

use serde_json::{Value, json};
use wharf::audit::AuditEntry;
use wharf_tests::wharf;

use super::{Operated, SHELL, command};
use crate::audit::lines;

/// What was done, to what, by which token, and what came of it.
fn told(line: &AuditEntry) -> [&str; 4] {
    [&line.function, &line.asked, &line.token, &line.outcome].map(String::as_str)
}

#[test]
fn what_an_operator_changes_is_told_with_what_was_there_before() {
    let mut host = Operated::start("[plugin.planning.grants.state]\nreason = \"plans\"\nquota_bytes = 1000000\n");
    let signed_in = host.request("POST", "/console/session", "", Some(json!({"token": host.token})));
    assert_eq!(signed_in.status, 204, "{signed_in:?}");
    let change = |change: Value, dry_run: bool| {
        let asked = json!({"change": change, "dry_run": dry_run});
        host.ask("POST", "/v1/operator/configuration", Some(asked)).status
    };
    let grant = json!({"grant": {
        "plugin": "planning", "allow": ["state.quota_bytes=2000000"], "reason": "more plans", "expires": null
    }});
    assert_eq!((change(grant.clone(), true), change(grant, false)), (200, 200));
    assert_eq!(change(json!({"revoke": {"plugin": "planning", "capability": "flying"}}), false), 400);
    assert_eq!(host.ask("DELETE", "/v1/operator/calls/nobody-1", None).status, 404);
    assert_eq!(host.ask("GET", "/v1/operator/calls", None).status, 200);
    host.server.terminate();
    assert_eq!(host.server.ended(), Some(0), "{}", host.server.log());

    let found = lines(host.server.data.path());
    let done: Vec<_> = found.iter().filter(|line| line.kind == "operator").collect();
    assert_eq!(
        done.iter().map(|line| told(line)).collect::<Vec<_>>(),
        [
            ["sign-in", "by a token", "operator", "ok"],
            ["grant", "planning", "operator", "ok"],
            ["revoke", "planning/flying", "operator", "invalid"],
            ["cancel-call", "nobody-1", "operator", "not-found"],
        ],
        "a look and a trial are none"
    );
    assert!(done.iter().all(|line| line.address == "127.0.0.1" && line.tenant.is_empty()), "{done:?}");
    let (before, after) = (&done[1].before, &done[1].after);
    assert!(before.contains("1000000") && !before.contains("2000000"), "{before}");
    assert!(after.contains("quota_bytes = 2000000") && after.contains("more plans"), "{after}");
    // What took effect, by whatever way the file changed.
    let granted = found.iter().find(|line| line.kind == "change" && line.function == "granted").expect("a line");
    assert!(granted.before.contains("\"quota_bytes\":1000000"), "{granted:?}");
    assert!(granted.after.contains("\"quota_bytes\":2000000"), "{granted:?}");
    let shown = wharf(["audit", "--kind", "operator"]).data(host.server.data.path()).run();
    assert!(shown.out.contains("grant planning:") && shown.out.contains(" -> "), "{shown:?}");
}

#[test]
fn what_an_operator_types_and_allows_is_told_without_its_text() {
    const SECRET: &str = "hun''ter2";
    let mut host = Operated::start(
        "profile = \"developer\"\n[approvals]\ncommands = [\"*\"]\n[plugin.host.grants.terminal]\nreason = \"test\"\nshell = true\n",
    );
    let call = host.call("work", SHELL, &command(&format!("echo {SECRET}")));
    let waiting = host.until("/v1/operator/approvals", "approvals", 1);
    let id = waiting[0]["id"].as_str().expect("an id");
    let answered = host.ask("POST", &format!("/v1/operator/approvals/{id}"), Some(json!({"answer": "once"})));
    assert!(answered.status < 300, "{answered:?}");
    let rule = json!({"always-allow-act": waiting[0]["rule"]});
    let asked = json!({"change": rule, "dry_run": false});
    let allowed = host.ask("POST", "/v1/operator/configuration", Some(asked));
    assert_eq!(allowed.status, 200, "{allowed:?}");
    assert_eq!(wharf_tests::replied(call).status, 200);
    host.server.terminate();
    assert_eq!(host.server.ended(), Some(0), "{}", host.server.log());

    let found = lines(host.server.data.path());
    let done: Vec<_> = found.iter().filter(|line| line.kind == "operator").map(told).collect();
    assert_eq!(done, [["allow", id, "operator", "ok"], ["always-allow", "a command", "operator", "ok"]]);
    assert!(found.iter().all(|line| !line.line.contains("hun")), "no line has the command");
}
