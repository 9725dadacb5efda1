//! Commands that wait in the course of a call, of the bundled plugin for files and commands.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use wharf_tests::{Client, blocking};

use super::{Asking, id, shell};

/// A limit of the plugin's calls, shorter than what they wait. Their tool says that it takes longer.
fn within(seconds: u64) -> String {
    format!(
        "[plugin.workspace.limits]\nwall_time_milliseconds = 1000\nwall_time_ceiling_milliseconds = {}",
        seconds * 1_000
    )
}

/// Asks for a command, which then waits: what is shown of it.
fn asked(host: &Asking, agent: &mut Client, command: &str) -> (u64, Value) {
    let asked = agent.ask("tools/call", shell(command));
    (asked, host.waiting(1).remove(0))
}

fn ran(answer: &Value) -> bool {
    answer["result"]["isError"] != json!(true)
}

/// The files that are there.
fn files(agent: &mut Client) -> String {
    agent.request("tools/call", json!({"name": "workspace__list_directory", "arguments": {}})).to_string()
}

/// Lines of the audit of this kind.
fn lines(host: &Asking, kind: &str) -> Vec<Value> {
    let run = host.run(&["audit", "--kind", kind, "--json"]);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{run:?}"))).collect()
}

#[test]
fn a_command_that_a_rule_names_waits_and_another_one_does_not() {
    let host = Asking::new("commands = [\"touch *\", \"*git push*\"]");
    let mut agent = host.client("work");
    assert!(ran(&agent.request("tools/call", shell("true touch x"))), "no rule names it");
    let (call, waiting) = asked(&host, &mut agent, "touch pushed.txt");
    assert_eq!([&waiting["tool"], &waiting["session"]], ["workspace__execute_shell", "work"]);
    assert_eq!(waiting["wants"], "start `touch pushed.txt`");
    assert_eq!(waiting["rule"], json!({"command": "touch pushed.txt"}));
    assert_eq!(waiting["arguments"], json!("{\"command\":\"touch pushed.txt\"}"));
    let shown = host.run(&["approvals"]);
    assert!(shown.out.contains("wants to start `touch pushed.txt`"), "{shown:?}");
    assert!(!files(&mut agent).contains("pushed.txt"), "nothing has been started");
    let run = host.run(&["approvals", "allow", &id(&waiting)]);
    assert!(run.code == Some(0) && run.out.contains("may start `touch pushed.txt`"), "{run:?}");
    assert!(ran(&agent.answer(call)) && files(&mut agent).contains("pushed.txt"));

    let (call, waiting) = asked(&host, &mut agent, "cd . && git push --force");
    let run = host.run(&["approvals", "refuse", &id(&waiting), "--reason", "not on main"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = agent.answer(call);
    assert!(!ran(&told) && told.to_string().contains("has not been started: not on main"), "{told}");

    blocking::until("the audit has kept all of it", || lines(&host, "approval").len() == 4);
    let told = lines(&host, "approval");
    let words: Vec<_> = told.iter().map(|line| line["function"].as_str().unwrap_or_default()).collect();
    assert_eq!(words, ["asked", "allowed", "asked", "refused"]);
    assert!(told.iter().all(|line| line["asked"] == "shell"), "{told:?}");
    assert_eq!(told[0]["bytes_in"], "touch pushed.txt".len(), "{told:?}");
    let all = host.run(&["audit", "--json"]).out;
    assert!(!all.contains("pushed.txt") && !all.contains("--force"), "names and sizes alone: {all}");
    blocking::until("each line has the id of a call", || {
        let calls = lines(&host, "call");
        told.iter().all(|line| calls.iter().any(|call| call["id"] == line["id"]))
    });
}

#[test]
fn the_time_limit_of_a_call_stands_still_while_a_person_is_asked() {
    let host = Asking::new(&format!("commands = [\"touch *\"]\n{}", within(5)));
    let mut agent = host.client("work");
    let mut call = shell("touch late.txt; sleep 0.2; echo to''its''end");
    call["_meta"] = json!({"progressToken": "t"});
    let call = agent.ask("tools/call", call);
    let told = agent.notification("notifications/progress");
    assert!(told["params"]["message"].as_str().is_some_and(|told| told.contains("allow a command")), "{told}");
    let waiting = host.waiting(1).remove(0);
    blocking::let_time_pass(Duration::from_secs(6), "longer than the call may take");
    assert_eq!(host.run(&["approvals", "allow", &id(&waiting)]).code, Some(0));
    let answer = agent.answer(call);
    assert!(ran(&answer) && answer.to_string().contains("toitsend"), "it has all of its time yet: {answer}");
    // Without a question it counts from the beginning.
    let cut = agent.request("tools/call", shell("sleep 6; echo to''its''end"));
    assert!(!cut.to_string().contains("toitsend"), "{cut}");
}

#[test]
fn a_command_that_nobody_allows_is_refused() {
    let host = Asking::new(&format!("commands = [\"touch *\"]\nwait_seconds = 2\n{}", within(1)));
    let mut agent = host.client("work");
    let (call, _) = asked(&host, &mut agent, "touch never.txt");
    let told = agent.answer(call);
    assert!(!ran(&told) && told.to_string().contains("nobody allowed this command within 2 seconds"), "{told}");
    assert!(!files(&mut agent).contains("never.txt"));
    blocking::until("the audit has kept it", || host.audited() == ["asked", "timed-out"]);
}

#[test]
fn a_call_that_is_cancelled_takes_its_question_back() {
    let host = Asking::new("commands = [\"touch *\"]");
    let mut agent = host.client("work");
    let (call, _) = asked(&host, &mut agent, "touch never.txt");
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    host.waiting(0);
    assert!(!files(&mut agent).contains("never.txt"));
    blocking::until("the audit has kept it", || host.audited() == ["asked", "withdrawn"]);
}

#[test]
fn a_command_is_allowed_for_a_session_or_for_good_as_it_is() {
    let host = Asking::new("commands = [\"touch *\"]");
    let (mut work, mut play) = (host.client("work"), host.client("play"));
    let (call, waiting) = asked(&host, &mut work, "touch a");
    assert_eq!(host.run(&["approvals", "allow", &id(&waiting), "--session"]).code, Some(0));
    assert!(ran(&work.answer(call)) && ran(&work.request("tools/call", shell("touch a"))), "it is remembered");
    // What is a pattern in `commands` is a text in what was allowed.
    for command in ["touch b", "touch *"] {
        let (call, waiting) = asked(&host, &mut work, command);
        let run = host.run(&["approvals", "allow", &id(&waiting), "--always"]);
        assert!(run.code == Some(0) && run.out.contains("wharf.toml"), "{run:?}");
        assert!(ran(&work.answer(call)));
    }
    let written = fs::read_to_string(host.data.path().join("wharf.toml")).expect("read");
    assert!(written.starts_with("# mine\n") && written.contains("[approvals] # kept\n"), "{written}");
    assert!(written.contains("always_commands = [\"touch b\", \"touch *\"]"), "{written}");
    assert!(ran(&play.request("tools/call", shell("touch b"))), "in every session");
    let (call, waiting) = asked(&host, &mut play, "touch a");
    assert_eq!(waiting["session"], "play", "a session asks for itself");
    host.run(&["approvals", "refuse", &id(&waiting)]);
    assert!(!ran(&play.answer(call)));
    let (call, waiting) = asked(&host, &mut work, "touch bc");
    host.run(&["approvals", "refuse", &id(&waiting)]);
    assert!(!ran(&work.answer(call)));
}

#[test]
fn what_nobody_can_read_in_whole_is_shown_as_far_as_it_can_and_becomes_no_rule() {
    let host = Asking::new("commands = [\"touch *\"]");
    let mut agent = host.client("work");
    let hidden = "touch a\u{200b}\u{202e}b\u{1b}[2J";
    let long = format!("touch {}", "a".repeat(20_000));
    for (command, says) in [(hidden, "` (with characters that nobody sees)"), (&long, "aaa`")] {
        let (call, waiting) = asked(&host, &mut agent, command);
        let wants = waiting["wants"].as_str().expect("words");
        assert!(wants.ends_with(says), "{wants}");
        assert!(!wants.contains(['\u{200b}', '\u{202e}', '\u{1b}']) && waiting.get("rule").is_none());
        let shown = host.run(&["approvals"]);
        assert!(shown.out.len() < 4_000 && !shown.out.contains('\u{1b}'), "{}", shown.out.len());
        let run = host.run(&["approvals", "allow", &id(&waiting), "--always"]);
        assert!(run.code == Some(1) && run.err.contains("--session"), "{run:?}");
        host.run(&["approvals", "refuse", &id(&waiting)]);
        assert!(!ran(&agent.answer(call)));
    }
}

#[test]
fn the_operator_is_asked_about_commands_also_where_clients_are_asked_about_calls() {
    let host = Asking::new("commands = [\"touch *\"]\nask = \"client\"");
    let command = host.command(&["serve", "--stdio", "--session", "work"]);
    let mut agent = Client::connect_as(command, &json!({"elicitation": {}}));
    let (call, waiting) = asked(&host, &mut agent, "touch a");
    assert_eq!(host.run(&["approvals", "allow", &id(&waiting)]).code, Some(0));
    assert!(ran(&agent.answer(call)));
}

#[test]
fn a_command_of_a_call_that_a_person_types_asks_nobody() {
    let host = Asking::new("commands = [\"*\"]");
    let run = host.run(&["call", "workspace__execute_shell", "{\"command\": \"echo typed\"}"]);
    assert!(run.code == Some(0) && run.out.contains("typed"), "{run:?}");
}

#[test]
fn patterns_that_nobody_can_mean_are_found_before_a_host_serves() {
    for (wrong, told) in [
        ("commands = [\" \"]", "no pattern of commands"),
        ("origins = [\"bank.example\"]", "names no origin"),
        ("always_commands = [\"\"]", "`always_commands`"),
    ] {
        let run = Asking::new(wrong).run(&["config", "check"]);
        assert!(run.code != Some(0) && format!("{run:?}").contains(told), "{run:?}");
    }
}
