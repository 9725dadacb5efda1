//! Plugins that the operator switches and tries, and what they keep.

use serde_json::{Value, json};
use wharf_tests::{Client, Server, Setup, blocking, wharf};

use super::Operated;

const CREATE: &str = "planning__create_goal";

fn switched(host: &Operated, plugin: &str, enabled: bool) -> u16 {
    host.ask("POST", &format!("/v1/operator/plugins/{plugin}/switch"), Some(json!({"enabled": enabled}))).status
}

/// Whether an agent of a host is told of the tool.
fn lists(agent: &mut Client, tool: &str) -> bool {
    let asked = agent.ask("tools/list", json!({}));
    agent.answer(asked)["result"].to_string().contains(tool)
}

#[test]
fn a_plugin_is_switched_at_each_host_and_stays_so() {
    let host = Operated::start("");
    let data = &host.server.data;
    let command = || wharf(["serve", "--stdio"]).config(&data.path().join("wharf.toml")).data(data.path());
    let mut agent = Client::connect(command());
    host.until("/v1/operator/hosts", "hosts", 2);
    assert!(lists(&mut agent, CREATE));
    assert_eq!(switched(&host, "planning", false), 204);
    assert!(!lists(&mut agent, CREATE), "the other host has switched it off, too");
    let listed = host.get("/v1/operator/plugins");
    let planning = listed["plugins"].as_array().expect("a list").iter().filter(|plugin| plugin["name"] == "planning");
    assert!(planning.clone().count() == 2 && planning.clone().all(|one| one["state"] == "disabled"), "{listed}");
    assert!(!lists(&mut Client::connect(command()), CREATE), "a host that comes later knows it");
    assert_eq!(host.ask("GET", &format!("/v1/operator/tools/{CREATE}"), None).status, 404);
    assert_eq!(switched(&host, "planning", true), 204);
    assert!(lists(&mut agent, CREATE));
    for unknown in ["nobody", "no%20name"] {
        assert_eq!(switched(&host, unknown, false), 404, "{unknown}");
    }
    assert_eq!(host.ask("POST", "/v1/operator/plugins/planning/switch", Some(json!({}))).status, 400);
}

#[test]
fn a_plugin_that_the_configuration_switches_off_says_so() {
    let host = Operated::start("[plugin.playbook]\nenabled = false\n");
    let refused = host.ask("POST", "/v1/operator/plugins/playbook/switch", Some(json!({"enabled": true})));
    assert!(refused.status == 409 && refused.json().to_string().contains("wharf.toml"), "{refused:?}");
}

#[test]
fn a_call_that_runs_says_what_it_takes_and_one_that_ended_how_long_it_took() {
    let host = Operated::start("profile = \"developer\"\n");
    let call = host.call("work", super::SHELL, &super::command("while [ ! -e go ]; do sleep 0.05; done"));
    let running = blocking::until("it asks its host", || {
        let running = host.get("/v1/operator/calls")["calls"][0].clone();
        if running["host_calls"].as_u64() > Some(0) { Ok(running) } else { Err(running) }
    });
    assert!(running["memory_bytes"].as_u64() >= Some(64 << 10), "{running}");
    let path = "/v1/operator/tools/workspace__write_file/calls";
    let go = json!({"arguments": {"path": "go", "content": "x"}, "session": "work"});
    assert_eq!(host.ask("POST", path, Some(go)).status, 200);
    assert!(super::replied(call).message()["result"].is_object());
    let counted = blocking::until("both are counted", || {
        let counted = host.get("/v1/operator/hosts")["hosts"][0].clone();
        if counted["calls_ended"] == 2 { Ok(counted) } else { Err(counted) }
    });
    let durations = counted["durations"].as_array().expect("a list");
    assert_eq!(durations.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), 2, "{counted}");
}

#[test]
fn a_tool_is_shown_and_tried_and_what_it_keeps_is_counted() {
    let host = Operated::start("");
    assert_eq!(host.get("/v1/operator/state"), json!({"state": []}));
    let path = format!("/v1/operator/tools/{CREATE}");
    let shown = host.get(&path);
    assert_eq!(shown["name"], CREATE);
    assert_eq!(shown["input_schema"]["required"], json!(["goal"]), "{shown}");

    let tried = |body: Value| host.ask("POST", &format!("{path}/calls"), Some(body));
    let made = tried(json!({"arguments": {"goal": "Ship it"}}));
    assert_eq!((made.status, &made.json()["is_error"]), (200, &json!(false)), "{made:?}");
    assert!(made.json()["content"][0]["text"].is_string() && made.json()["structured"].is_object(), "{made:?}");
    let wrong = tried(json!({"arguments": {}}));
    assert!(wrong.status == 400 && wrong.json().to_string().contains("goal"), "{wrong:?}");
    assert_eq!(tried(json!({"arguments": {}, "session": "no/name"})).status, 400);
    assert_eq!(host.ask("POST", "/v1/operator/tools/nothing/calls", Some(json!({}))).status, 404);
    // The session is one of its own, and the audit says who has called.
    let lines = blocking::until("the audit has it", || {
        let lines = host.get("/v1/operator/audit?kind=call&session=console")["lines"].clone();
        if lines.as_array().is_some_and(|lines| !lines.is_empty()) { Ok(lines) } else { Err(lines) }
    });
    assert_eq!(lines[0]["client"], "wharf console", "{lines}");
    let state = host.get("/v1/operator/state")["state"].as_array().cloned().expect("a list");
    let [kept] = &state[..] else { panic!("{state:?}") };
    let named = (&kept["tenant"], &kept["plugin"], &kept["scope"]);
    assert_eq!(named, (&json!("local"), &json!("planning"), &json!("thread")), "{kept}");
    assert!(kept["bytes"].as_u64() > Some(0) && kept["quota_bytes"].as_u64() > Some(0), "{kept}");
}

#[test]
fn what_a_tool_does_not_find_is_its_answer_and_no_other_host_is_asked() {
    let host = Operated::start("");
    let data = &host.server.data;
    let other = wharf(["serve", "--stdio"]).config(&data.path().join("wharf.toml")).data(data.path());
    let _agent = Client::connect(other);
    host.until("/v1/operator/hosts", "hosts", 2);
    let path = "/v1/operator/tools/content-store__get_content_info/calls";
    let sought = host.ask("POST", path, Some(json!({"arguments": {"content_id": "nothing"}})));
    assert!(sought.status >= 200 && !sought.json().is_null(), "{sought:?}");
    let lines = blocking::until("the audit has it", || {
        let lines = host.get("/v1/operator/audit?kind=call&session=console")["lines"].clone();
        if lines.as_array().is_some_and(|lines| !lines.is_empty()) { Ok(lines) } else { Err(lines) }
    });
    assert_eq!(lines.as_array().map(Vec::len), Some(1), "{lines}");
}

/// What a change of the configuration comes to.
#[track_caller]
fn changed(host: &Operated, change: &Value, dry_run: bool) -> Value {
    let reply = host.ask("POST", "/v1/operator/configuration", Some(json!({"change": change, "dry_run": dry_run})));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

fn has(host: &Operated, plugin: &str, capability: &str) -> bool {
    let grants = host.get(&format!("/v1/operator/grants/{plugin}"));
    let all = grants["capabilities"].as_array().expect("a list");
    all.iter().any(|one| one["capability"] == capability && one["granted"].is_object())
}

#[test]
fn a_grant_is_shown_first_then_written_and_holds_at_once() {
    const OWN: &str = "# Ours.\n[plugin.planning.limits] # slow machine\nwall_time_milliseconds = 30000\n";
    let host = Operated::start(OWN);
    let file = host.server.data.path().join("wharf.toml");
    let text = || std::fs::read_to_string(&file).expect("it is there");
    let makes =
        || host.ask("POST", &format!("/v1/operator/tools/{CREATE}/calls"), Some(json!({"arguments": {"goal": "x"}})));
    assert!(has(&host, "planning", "state") && makes().status == 200);

    let revoke = json!({"revoke": {"plugin": "planning", "capability": "state"}});
    let shown = changed(&host, &revoke, true);
    assert!(
        shown["is_written"] == false
            && shown["difference"].as_str().is_some_and(|lines| lines.contains("+[plugin.planning.grants"))
    );
    assert_eq!(text(), OWN, "nothing is written yet");
    assert_eq!(changed(&host, &revoke, false)["is_written"], true);
    assert!(text().starts_with(OWN) && !has(&host, "planning", "state"), "{}", text());
    assert_ne!(makes().status, 200);
    let again = host.ask("POST", "/v1/operator/configuration", Some(json!({"change": revoke, "dry_run": false})));
    assert!(again.status == 400 && again.body.contains("is not granted"), "{again:?}");

    let grant = |allow: &str, reason: &str, expires: Value| json!({"grant": {"plugin": "planning", "allow": [allow], "reason": reason, "expires": expires}});
    let refused = |change: &Value| {
        let reply = host.ask("POST", "/v1/operator/configuration", Some(json!({"change": change, "dry_run": false})));
        assert_eq!(reply.status, 400, "{reply:?}");
        reply.body
    };
    let before = text();
    for (change, word) in [
        (grant("flying", "why", Value::Null), "flying"),
        (grant("state", " ", Value::Null), "reason"),
        (grant("state", "why", json!("soon")), "soon"),
        (grant("state.quota_bytes=many", "why", Value::Null), "quota_bytes"),
        (json!({"revoke": {"plugin": "planning", "capability": "flying"}}), "flying"),
        (json!({"confirm": {"plugin": "planning"}}), "part of this binary"),
    ] {
        let said = refused(&change);
        assert!(said.contains(word), "{change}: {said}");
    }
    assert_eq!(text(), before, "what is refused changes nothing");
    let unknown = json!({"change": {"revoke": {"plugin": "nobody", "capability": "all"}}, "dry_run": true});
    assert_eq!(host.ask("POST", "/v1/operator/configuration", Some(unknown)).status, 404);

    changed(&host, &grant("state", "keeps plans", json!("2099-01-31")), false);
    assert!(text().contains("reason = \"keeps plans\"") && text().contains("2099-01-31"), "{}", text());
    assert!(has(&host, "planning", "state") && makes().status == 200);
    assert_eq!(changed(&host, &grant("state", "keeps plans", json!("2099-01-31")), false)["is_written"], false);
}

#[test]
fn what_is_always_allowed_waits_for_nobody_any_more() {
    let host = Operated::start("profile = \"developer\"\n[approvals]\napprove = [\"workspace__execute_shell\"]\n");
    let call = host.call("work", super::SHELL, &super::command("echo ra''n"));
    host.until("/v1/operator/approvals", "approvals", 1);
    changed(&host, &json!({"always-allow": {"tool": super::SHELL}}), false);
    let answer = wharf_tests::replied(call).message();
    assert!(answer["result"]["isError"] != json!(true) && answer.to_string().contains("ran"), "{answer}");
    let text = std::fs::read_to_string(host.server.data.path().join("wharf.toml")).expect("it is there");
    assert!(text.contains("always = [\"workspace__execute_shell\"]"), "{text}");
}

#[test]
fn a_command_that_a_running_call_wants_is_seen_and_allowed_for_good() {
    let host = Operated::start("profile = \"developer\"\n[approvals]\ncommands = [\"echo *\"]\n");
    let call = host.call("work", super::SHELL, &super::command("echo ra''n"));
    host.until("/v1/operator/approvals", "approvals", 1);
    let waiting = host.get("/v1/operator/approvals")["approvals"][0].clone();
    assert_eq!(waiting["wants"], "start `echo ra''n`");
    changed(&host, &json!({"always-allow-act": waiting["rule"]}), false);
    let answer = wharf_tests::replied(call).message();
    assert!(answer["result"]["isError"] != json!(true) && answer.to_string().contains("ran"), "{answer}");
    let text = std::fs::read_to_string(host.server.data.path().join("wharf.toml")).expect("it is there");
    assert!(text.contains("always_commands = [\"echo ra''n\"]"), "{text}");
}

#[test]
fn what_a_plugin_was_denied_is_counted_where_it_is_granted() {
    let host = Operated::start("[plugin.planning]\n[plugin.planning.grants.events]\nreason = \"progress\"\n");
    let path = format!("/v1/operator/tools/{CREATE}/calls");
    let _ = host.ask("POST", &path, Some(json!({"arguments": {"goal": "x"}})));
    let grants = host.get("/v1/operator/grants/planning");
    let state = grants["capabilities"].as_array().expect("a list").iter().find(|one| one["capability"] == "state");
    let state = state.expect("every capability is told");
    assert!(state["denials"].as_u64() > Some(0) && state["is_wanted"] == true, "{state}");
    assert!(state["can"].is_string() && state["risk"].is_string(), "{state}");
}

#[test]
fn the_recording_of_a_terminal_is_read_piece_by_piece() {
    let setup = Setup::bare().own_terminals("shell = true\nprograms = [\"sh\"]\n[terminal.recording]\nenabled = true");
    let host = Operated::of(Server::start(&setup));
    let id = host.server.shell("s")["terminal"].as_str().expect("an id").to_owned();
    let path = format!("/v1/operator/terminals/{id}");
    let typed = host.ask("POST", &format!("{path}/input"), Some(json!({"content": "ZWNobyByYScnbgo=", "force": true})));
    assert_eq!(typed.status, 204, "{typed:?}");
    let (mut text, mut from) = (String::new(), 0);
    blocking::until("what it showed is recorded", || {
        let piece = host.get(&format!("{path}/recording?from={from}"));
        text.push_str(piece["text"].as_str().unwrap_or_default());
        from = piece["next"].as_u64().unwrap_or_default();
        if text.contains("ran") { Ok(()) } else { Err(text.clone()) }
    });
    let head: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!((&head["version"], &head["width"]), (&json!(2), &json!(80)), "{head}");
    let unrecorded = host.ask("GET", "/v1/operator/terminals/nothing/recording", None);
    assert_eq!(unrecorded.status, 404, "{unrecorded:?}");
}
