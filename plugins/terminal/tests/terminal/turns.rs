//! Messages, and what the programs make of them.

use serde_json::json;
use wharf_plugin_terminal::WharfPlugin;

use crate::{Agent, TestAgent as _};

#[test]
fn a_message_is_answered_with_the_exit_code_first_and_without_its_echo() {
    let (agent, id) = Agent::with_shell();
    let (answer, text) = agent.send(&id, "ls");
    assert_eq!(text, "exit code 0 (command-ended, confidence certain)\na\nb\n$");
    assert_eq!((&answer["turn"], &answer["still_running"], &answer["layer"]), (&json!(1), &json!(false), &json!("L1")));
    assert_eq!(
        (&answer["text"], &answer["start_cursor"], &answer["next_cursor"]),
        (&json!("a\nb\n$ "), &json!(5), &json!(11))
    );
    let (failed, text) = agent.send(&id, "false");
    assert_eq!((&failed["exit_code"], &failed["turn"]), (&json!(1), &json!(2)));
    assert!(text.starts_with("exit code 1"), "{text}");
}

#[test]
fn what_comes_is_told_to_the_client_as_progress_that_grows() {
    let (agent, id) = Agent::with_shell();
    let (answer, _) = agent.send(&id, "tests");
    let told = agent.0.progress();
    let messages: Vec<&str> = told.iter().filter_map(|progress| progress.message.as_deref()).collect();
    assert_eq!(messages[..2], ["tests one ok", "two ok"]);
    assert!(messages.len() == 3 && messages[2].starts_with("항구 항구") && messages[2].len() <= 1_000);
    assert!(told.windows(2).all(|pair| pair[0].done < pair[1].done));
    assert!(answer["text"].as_str().is_some_and(|text| text.starts_with("one ok\ntwo ok\n항구")));
    // Nobody has to listen.
    let deaf = Agent(agent.0.clone().without_events());
    assert_eq!(deaf.send(&id, "ls").0["exit_code"], 0);
}

#[test]
fn of_a_program_that_never_stops_no_more_is_told_than_the_host_permits() {
    let (agent, id) = Agent::with_shell();
    let (answer, _) = agent.send(&id, "chat");
    let told = agent.0.progress();
    // The host permits 1,000 events of one call.
    assert!((20..=900).contains(&told.len()), "{}", told.len());
    assert!(answer["text"].as_str().is_some_and(|text| text.ends_with("\n2999\n")) && answer["exit_code"] == 0);
    assert!(told.last().and_then(|last| last.message.as_deref()).is_some_and(|last| last.ends_with("2999")));
}

#[test]
fn a_long_answer_keeps_its_beginning_and_its_end_and_says_where_the_rest_is() {
    let (agent, id) = Agent::with_shell();
    let (answer, text) = agent.send(&id, "seq 20000");
    assert!(text.len() <= 16 * 1024, "{}", text.len());
    let shown = answer["text"].as_str().expect("a text");
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("\n20000\n"));
    let omitted = &answer["omitted"];
    let call = format!("[... {} bytes omitted; read_output {{", omitted["bytes"]);
    assert!(shown.contains(&call), "the marker is the call that shows the rest");
    let rest = agent.ok("read_output", &json!({ "terminal_id": id, "cursor": omitted["cursor"], "max_bytes": 64 }));
    let first = rest["text"].as_str().and_then(|rest| rest.lines().next()).expect("a line");
    assert!(!shown.contains(&format!("\n{first}\n")) && rest["has_more"] == true, "{first}");
}

#[test]
fn a_turn_that_outlasts_the_call_is_waited_for_and_tells_only_what_is_new() {
    let (agent, id) = Agent::with_shell();
    let (running, text) = agent.send(&id, "make");
    assert_eq!((&running["still_running"], &running["status"]), (&json!(true), &json!("busy")));
    assert!(text.starts_with("still running after 120 s\nwait_for_turn {"), "{text}");
    assert!(text.contains("send_keys [\"C-c\"]") && text.contains("cancel_turn"), "{text}");
    let refused = agent.refused("send_message", &json!({ "terminal_id": id, "text": "ls" }));
    assert!(refused.starts_with("conflict") && refused.contains("wait_for_turn"), "{refused}");
    let again = agent.ok("wait_for_turn", &json!({ "terminal_id": id, "cursor": running["next_cursor"] }));
    assert_eq!(again["still_running"], true);
    let (done, _) = agent.answer("wait_for_turn", &json!({ "terminal_id": id, "cursor": running["next_cursor"] }));
    assert_eq!(
        (&done["still_running"], &done["text"], &done["exit_code"]),
        (&json!(false), &json!("done\n$ "), &json!(0))
    );
    // Once more, it shows all of it at once.
    let whole = agent.ok("wait_for_turn", &json!({ "terminal_id": id }));
    assert_eq!(whole["text"], "make\ndone\n$ ");
}

#[test]
fn a_turn_is_interrupted_by_a_key_or_given_up() {
    let (agent, id) = Agent::with_shell();
    agent.send(&id, "yes");
    let (pressed, text) = agent.answer("send_keys", &json!({ "terminal_id": id, "keys": ["C-c"] }));
    assert_eq!((&pressed["turn_running"], &pressed["status"]), (&json!(false), &json!("ready")));
    assert!(text.starts_with("ready; turn 1: exit code 130") && text.contains("^C"), "{text}");
    agent.send(&id, "yes");
    let (cancelled, text) = agent.answer("cancel_turn", &json!({ "terminal_id": id }));
    assert_eq!((&cancelled["cancelled"], &cancelled["still_running"]), (&json!(true), &json!(false)));
    assert!(text.starts_with("cancelled\nWhat the program prints from now on"), "{text}");
    assert_eq!(agent.send(&id, "ls").0["turn"], 3);
    // Nothing runs any more, and nothing changes.
    assert_eq!(agent.ok("cancel_turn", &json!({ "terminal_id": id }))["exit_code"], 0);
}

#[test]
fn every_end_comes_with_what_to_do_next() {
    let (agent, id) = Agent::with_shell();
    let (answer, text) = agent.send(&id, "for i in 1");
    assert_eq!((&answer["reason"], &answer["status"]), (&json!("needs-continuation"), &json!("needs-input")));
    assert!(text.contains("waits for the rest of the command"), "{text}");
    let (answer, text) = agent.send(&id, "sleep 99");
    assert_eq!((&answer["reason"], &answer["confidence"]), (&json!("idle"), &json!("low")));
    assert!(text.starts_with("cut off (idle, confidence low)") && text.contains("read_output with cursor"), "{text}");
    let (answer, text) = agent.send(&id, "exit 3");
    assert_eq!(
        (&answer["status"], &answer["exit_code"], &answer["layer"]),
        (&json!("closed"), &json!(3), &json!("L0"))
    );
    assert!(text.starts_with("the program ended with exit code 3") && text.contains("start_terminal"), "{text}");
}

#[test]
fn an_interpreter_is_talked_to_by_text_and_by_keys() {
    let agent = Agent::new();
    let id = agent.id(&json!({ "program": "python3", "preset": "repl" }));
    let (answer, text) = agent.send(&id, "6 * 7");
    assert_eq!((&answer["text"], &answer["status"]), (&json!("42\n>>> "), &json!("needs-input")));
    assert_eq!(text, "complete (strict-prompt, confidence high)\n42\n>>>");
    let menu = agent.ok("send_message", &json!({ "terminal_id": id, "keys": ["Down", "Enter"] }));
    assert_eq!(menu["text"], "second\n>>> ");
    agent.ok("send_message", &json!({ "terminal_id": id, "text": "", "prompt": "^>>> $", "quiet_seconds": 5 }));
    assert_eq!(agent.0.typed(&id), ["6 * 7", "Down Enter", ""]);
}

#[test]
fn a_preset_and_a_profile_are_not_both_given() {
    let (agent, id) = Agent::with_shell();
    let both = json!({ "preset": "repl", "profile": "console" });
    let refused = agent.refused("start_terminal", &both);
    assert!(refused.contains("not both"), "{refused}");
    let both = json!({ "terminal_id": id, "text": "x", "preset": "repl", "profile": "console" });
    assert!(agent.refused("send_message", &both).contains("not both"));
}

#[test]
fn a_turn_that_never_was_is_no_turn() {
    let (agent, id) = Agent::with_shell();
    for tool in ["wait_for_turn", "cancel_turn"] {
        let refused = agent.refused(tool, &json!({ "terminal_id": id }));
        assert!(refused.starts_with("not-found") && refused.contains("send_message begins one"), "{refused}");
    }
    let refused =
        agent.0.clone().session("other").expect_refusal::<WharfPlugin>("cancel_turn", &json!({ "terminal_id": id }));
    assert!(refused.contains("no such terminal"), "{refused}");
}

#[test]
fn who_waits_for_a_turn_of_a_closed_terminal_that_has_none_is_told_that_it_is_closed() {
    let (agent, id) = Agent::with_shell();
    let refused = agent.refused("wait_for_turn", &json!({ "terminal_id": id }));
    assert!(refused.contains("no turn yet; send_message begins one"), "{refused}");
    agent.ok("close_terminal", &json!({ "terminal_id": id }));
    for tool in ["wait_for_turn", "cancel_turn"] {
        let refused = agent.refused(tool, &json!({ "terminal_id": id }));
        assert!(refused.contains("is closed") && refused.contains("read_output"), "{refused}");
        assert!(!refused.contains("send_message"), "{refused}");
    }
}
