//! Running a command: that it ends, that it does not, and what is said of it.

use serde_json::{Value, json};
use wharf_tests::Setup;

use super::{ask, end, run, setup, start, stop};

#[tokio::test]
async fn a_command_that_ends_in_time_answers_its_exit_code_first_and_both_streams() {
    let fixture = setup().open().await;
    let done = run(&fixture, "echo out; echo err >&2; exit 3").await;
    assert_eq!(done.text, "exit code 3\nstdout:\nout\nstderr:\nerr");
    assert_eq!((done.shown("stdout"), done.shown("stderr")), ("out\n", "err\n"));
    let said = &done.structured;
    assert_eq!((&said["exit_code"], &said["status"]), (&json!(3), &json!("failed")));
    assert_eq!((&said["run_mode"], &said["still_running"]), (&json!("sync"), &json!(false)));
    assert_eq!((&said["stdout_bytes"], &said["stderr_bytes"]), (&json!(4), &json!(4)));
    assert!(said["pid"].is_u64() && said["finished_at"].is_string(), "{said}");
    let quiet = run(&fixture, "true").await;
    assert_eq!(quiet.text, "exit code 0\nNothing was printed.");
    assert_eq!(quiet.structured["status"], "finished");
}

#[tokio::test]
async fn a_command_that_fails_at_once_has_started_and_every_end_is_told_apart() {
    let fixture = setup().open().await;
    for (command, state, status) in [
        ("exit 1", "exit code 1", "failed"),
        ("exit 255", "exit code 255", "failed"),
        ("set -e; false; echo not reached", "exit code 1", "failed"),
        ("no-such-program-anywhere", "exit code 127", "failed"),
        ("echo \"never closed", "exit code 2", "failed"),
        ("kill -SEGV $$", "ended by signal 11 (SIGSEGV)", "failed"),
        ("kill -KILL $$", "ended by signal 9 (SIGKILL)", "failed"),
    ] {
        let done = run(&fixture, command).await;
        assert_eq!(done.text.lines().next(), Some(state), "{command}: {done:?}");
        if state.starts_with("exit") {
            assert_eq!(done.structured["status"], status, "{command}: {done:?}");
        }
    }
    let missing = run(&fixture, "no-such-program-anywhere").await;
    assert!(missing.shown("stderr").contains("no-such-program-anywhere"), "{missing:?}");
}

#[tokio::test]
async fn a_command_reaches_the_shell_as_it_was_written() {
    let fixture = setup().open().await;
    for (command, printed) in [
        (r#"echo "it's""#, "it's\n"),
        (r#"echo 'say "hi"'"#, "say \"hi\"\n"),
        (r#"printf '%s|' "a  b" 'c"d' \$HOME 'e\f' "g'h""#, "a  b|c\"d|$HOME|e\\f|g'h|"),
        ("cat <<'END'\none \"two\" 'three' $four `five` \\six\nEND", "one \"two\" 'three' $four `five` \\six\n"),
        ("printf '%s\\n' a b c | sort -r && echo done || echo not", "c\nb\na\ndone\n"),
        ("for x in 하나 둘; do\n  echo \"$x\"\ndone", "하나\n둘\n"),
    ] {
        let done = run(&fixture, command).await;
        assert_eq!(done.shown("stdout"), printed, "{command}: {done:?}");
    }
}

#[tokio::test]
async fn a_command_that_takes_longer_runs_on_and_says_how_to_follow_it() {
    let fixture = setup().open().await;
    let told = ask(
        &fixture,
        "execute_shell",
        json!({"command": "echo begun; read line; echo \"got $line\"; exit 4", "wait_seconds": 1, "input": true}),
    )
    .await;
    let id = told.id();
    let said = &told.structured;
    assert_eq!((&said["run_mode"], &said["still_running"]), (&json!("async"), &json!(true)));
    assert_eq!((&said["status"], said.get("exit_code")), (&json!("running"), None));
    let first = format!("still running after 1 s; process_id {id}");
    assert_eq!(told.text.lines().next(), Some(first.as_str()));
    for tool in ["wait_for_process", "write_process_input", "stop_process"] {
        assert!(told.text.contains(tool), "{}", told.text);
    }
    assert_eq!(told.shown("stdout"), "begun\n", "what it printed so far is there");
    ask(&fixture, "write_process_input", json!({"process_id": id, "text": "word"})).await;
    let ended = end(&fixture, &id).await;
    assert!(ended.text.starts_with("exit code 4\n"), "{}", ended.text);
    assert_eq!(ended.shown("stdout"), "begun\ngot word\n");
}

#[tokio::test]
async fn an_asynchronous_command_answers_while_it_runs() {
    let fixture = setup().open().await;
    let told = ask(&fixture, "execute_shell", json!({"command": "sleep 1000", "run_mode": "async"})).await;
    let said = &told.structured;
    assert_eq!((&said["run_mode"], &said["still_running"]), (&json!("async"), &json!(true)));
    assert!(told.text.starts_with("still running; process_id "), "{}", told.text);
    assert!(!told.text.contains("write_process_input"), "it has no input: {}", told.text);
    stop(&fixture, &told.id()).await;
}

#[tokio::test]
async fn a_command_that_puts_itself_into_the_background_is_done_and_what_it_left_is_counted() {
    let fixture = setup().open().await;
    // Both hold the streams of the command.
    let done = run(&fixture, "sleep 1000 & setsid sleep 1000 & echo begun").await;
    let id = done.id();
    let first =
        format!("exit code 0; 2 processes that it started still live, and stop_process with process_id {id} ends them");
    assert_eq!(done.text.lines().next(), Some(first.as_str()));
    assert_eq!(done.structured["living_descendants"], 2);
    assert_eq!((done.shown("stdout"), &done.structured["stdout"]["open"]), ("begun\n", &json!(true)));
    // A wait ends with the end of the process, not with the end of its output.
    end(&fixture, &id).await;
    let stopped = stop(&fixture, &id).await;
    assert!(stopped.text.starts_with("exit code 0\n"), "it is as it ended: {}", stopped.text);
    assert_eq!(stopped.structured.get("living_descendants"), None, "{stopped:?}");
}

#[tokio::test]
async fn a_command_that_asks_for_input_finds_the_end_instead_of_hanging() {
    let fixture = setup().open().await;
    let done = run(&fixture, "cat; read answer; echo \"$?\"; sort; echo over").await;
    assert_eq!(done.text, "exit code 0\nstdout:\n1\nover");
}

#[tokio::test]
async fn a_deadline_is_no_success() {
    let fixture = setup().open().await;
    let arguments = json!({"command": "echo begun; trap '' TERM; sleep 1000; sleep 1000", "lifetime_seconds": 1});
    let done = ask(&fixture, "execute_shell", arguments).await;
    assert_eq!(done.text, "killed (time-limit)\nstdout:\nbegun");
    let said = &done.structured;
    assert_eq!((said.get("exit_code"), &said["status"]), (None, &json!("killed")));
    assert_eq!(said["ended_because"], "time-limit");
}

#[tokio::test]
async fn a_wait_that_is_longer_than_a_call_may_take_ends_before_the_call_does() {
    let fixture = setup().limit("wall_time_ceiling_milliseconds", 2_500).open().await;
    let told = ask(&fixture, "execute_shell", json!({"command": "sleep 1000", "wait_seconds": 600})).await;
    assert_eq!(told.structured["still_running"], true, "{told:?}");
    let waited = ask(&fixture, "wait_for_process", json!({"process_id": told.id(), "wait_seconds": 600})).await;
    assert_eq!(waited.structured["wait_ended"], "time-up", "{waited:?}");
    stop(&fixture, &told.id()).await;
}

#[tokio::test]
async fn a_command_has_the_directory_and_the_variables_it_was_given_and_none_of_the_hosts() {
    let fixture = setup().open().await;
    run(&fixture, "mkdir -p 'a b/c'").await;
    let arguments = json!({
        "command": "pwd; echo \"$GREETING\"; env", "directory": "a b/c", "environment": {"GREETING": "안녕 it's me"},
    });
    let done = ask(&fixture, "execute_shell", arguments).await;
    let mut lines = done.shown("stdout").lines();
    assert!(lines.next().is_some_and(|directory| directory.ends_with("/a b/c")), "{done:?}");
    assert_eq!(lines.next(), Some("안녕 it's me"));
    let names: Vec<_> = lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let known = ["PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_", "GREETING"];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
    for directory in ["..", "a b/../..", "/etc", "nowhere"] {
        let refusal =
            super::refused(&fixture, "execute_shell", json!({"command": "pwd", "directory": directory})).await;
        assert!(refusal.contains(directory) || refusal.contains("workspace"), "{directory}: {refusal}");
    }
}

#[tokio::test]
async fn a_shell_that_is_not_granted_is_refused_with_the_line_that_would_allow_it() {
    let grants = "[plugin.workspace.grants.process]\nreason = \"a test\"\n[plugin.workspace.grants.workspace]\nreason = \"a test\"";
    let fixture = Setup::new().bundled("workspace", grants).open().await;
    let refusal = super::refused(&fixture, "execute_shell", json!({"command": "true"})).await;
    assert!(refusal.contains("`shell = true`") && refusal.contains("[plugin.workspace.grants.process]"), "{refusal}");
    let listed = ask(&fixture, "list_processes", json!({})).await;
    assert_eq!(listed.structured["processes"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn commands_of_one_session_run_beside_each_other() {
    let fixture = setup().open().await;
    // Each waits for the other one's file.
    let meet = |mine: &str, other: &str| {
        let command = format!("touch {mine}; until [ -e {other} ]; do sleep 0.05; done; echo met");
        fixture.start(&super::here(), "workspace__execute_shell", json!({"command": command, "wait_seconds": 60}))
    };
    let (one, other) = (meet("one", "other"), meet("other", "one"));
    for call in [one, other] {
        assert_eq!(super::told(call.outcome().await).text, "exit code 0\nstdout:\nmet");
    }
    let id = start(&fixture, "sleep 1000").await;
    assert_eq!(run(&fixture, "echo beside").await.shown("stdout"), "beside\n");
    stop(&fixture, &id).await;
}
