//! What the terminal plugin tells a model of how a terminal ended.

use serde_json::{Value, json};
use wharf::Error;
use wharf_tests::{Fixture, Setup, context};

async fn call(fixture: &Fixture, session: &str, tool: &str, arguments: Value) -> Result<(String, Value), Error> {
    let answer = fixture.call_in(&context("local", session), &format!("terminal__{tool}"), arguments).await?;
    let text = String::from_utf8(answer.content[0].data.to_vec()).expect("a text");
    Ok((text, answer.structured.unwrap_or_default()))
}

async fn start(fixture: &Fixture, session: &str, script: &str) -> String {
    let arguments = json!({"program": "sh", "arguments": ["-c", script], "wait_seconds": 0});
    let (_, started) = call(fixture, session, "start_terminal", arguments).await.expect("started");
    started["terminal_id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_model_is_told_by_which_signal_a_program_ended_and_for_what_a_terminal_was_closed() {
    let grant = "[plugin.terminal.grants.terminal]\nreason = \"a test\"\nprograms = [\"sh\"]";
    let fixture = Setup::new().bundled("terminal", grant).open().await;
    let id = start(&fixture, "one", "read line; kill -SEGV $$").await;
    let send = json!({"terminal_id": id, "text": "go", "wait_seconds": 60});
    let (text, _) = call(&fixture, "one", "send_message", send.clone()).await.expect("a turn");
    let cause = "it was ended by signal 11 (SIGSEGV)";
    assert!(text.starts_with(&format!("the program ended: {cause} (process-exited")), "{text}");
    let late = match call(&fixture, "one", "send_message", send).await {
        Ok((text, _)) => text,
        Err(error) => error.message,
    };
    assert!(late.contains(cause), "{late}");
    let (listed, told) =
        call(&fixture, "one", "list_terminals", json!({"include_closed": true})).await.expect("listed");
    assert!(listed.contains("ended by signal 11 (SIGSEGV)"), "{listed}");
    assert_eq!(told["terminals"][0]["cause"], cause, "{told}");
    // One that another takes the place of says which.
    let first = start(&fixture, "two", "exec cat").await;
    let second = start(&fixture, "two", "exec cat").await;
    let (listed, _) = call(&fixture, "two", "list_terminals", json!({"include_closed": true})).await.expect("listed");
    let line = listed.lines().find(|line| line.contains(&first)).expect("it is listed");
    assert!(line.contains(&format!("closed to make room for terminal {second}")), "{listed}");
}

#[tokio::test]
async fn a_model_names_a_profile_of_the_operator_and_its_numbers_decide() {
    let grant = "[plugin.terminal.grants.terminal]\nreason = \"a test\"\nprograms = [\"sh\"]\n\
                 [terminal.profile.hasty]\nprograms = [\"no-such\"]\npreset = \"patient\"\n\
                 parameters = {max_attempts = 1, wait_for_data_milliseconds = 100}";
    let fixture = Setup::new().bundled("terminal", grant).open().await;
    let absent = json!({"program": "sh", "profile": "hast"});
    let (told, _) = call(&fixture, "one", "start_terminal", absent).await.expect("an error for the model");
    assert!(told.starts_with("invalid") && told.contains("hasty") && told.contains("repl"), "{told}");
    // No program that the system knows to wait: the numbers alone decide.
    let script = "while read line; do sleep 1000 & wait; done";
    for of_terminal in [true, false] {
        let mut start = json!({"program": "sh", "arguments": ["-c", script], "wait_seconds": 0});
        let mut send = json!({"text": "go", "wait_seconds": 60});
        let named = if of_terminal { &mut start } else { &mut send };
        named["profile"] = json!("hasty");
        let (_, started) = call(&fixture, "one", "start_terminal", start).await.expect("started");
        send["terminal_id"] = started["terminal_id"].clone();
        let (_, told) = call(&fixture, "one", "send_message", send).await.expect("a turn");
        assert_eq!(told["reason"], "attempts-exhausted", "{of_terminal}: {told}");
    }
}
