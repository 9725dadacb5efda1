//! Following a process: waiting, writing to it, listing, and asking for what
//! has ended.

use serde_json::{Value, json};
use wharf_tests::{Client, Data, wharf};

use super::{ask, end, here, prints, refused, run, setup, start, stop, told};

#[tokio::test]
async fn a_wait_ends_with_the_line_that_was_waited_for() {
    let fixture = setup().open().await;
    let id = start(&fixture, "read line; echo warming up; echo \"listening on $line\"; exec sleep 1000").await;
    let until = json!({"pattern": r"listening on (\d+)"});
    let wait = json!({"process_id": id, "until": until, "wait_seconds": 60});
    let waiting = fixture.start(&here(), "workspace__wait_for_process", wait.clone());
    ask(&fixture, "write_process_input", json!({"process_id": id, "text": "8080"})).await;
    let waited = told(waiting.outcome().await);
    let matched = &waited.structured["matched"];
    assert_eq!((&waited.structured["wait_ended"], &matched["text"]), (&json!("pattern"), &json!("listening on 8080")));
    assert_eq!((&matched["start_cursor"], &matched["end_cursor"]), (&json!(11), &json!(28)));
    assert!(waited.text.contains("The pattern matched in stdout at cursor 11: listening on 8080"), "{}", waited.text);
    assert_eq!(waited.structured["status"], "running");
    // A line that is there already is found at once; behind it there is none.
    let again = ask(&fixture, "wait_for_process", wait).await;
    assert_eq!(again.structured["wait_ended"], "pattern");
    let behind = json!({"pattern": "listening", "cursor": 28});
    let behind = json!({"process_id": id, "until": behind, "wait_seconds": 1});
    let behind = ask(&fixture, "wait_for_process", behind).await;
    assert_eq!(behind.structured["wait_ended"], "time-up");
    assert!(behind.text.contains("Wait again") && behind.text.contains("stop_process"), "{}", behind.text);
    stop(&fixture, &id).await;
}

#[tokio::test]
async fn a_wait_for_output_ends_with_what_is_new_and_one_for_silence_with_silence() {
    let fixture = setup().open().await;
    let id = start(&fixture, "echo old; while read line; do echo \"got $line\"; done; echo over >&2").await;
    let first = prints(&fixture, &id, "old").await;
    let cursor = first.structured["stdout"]["next_cursor"].clone();
    assert_eq!(cursor, json!(4));
    let until = json!({"output": true, "cursor": cursor});
    let wait = json!({"process_id": id, "until": until, "wait_seconds": 60});
    let waiting = fixture.start(&here(), "workspace__wait_for_process", wait);
    ask(&fixture, "write_process_input", json!({"process_id": id, "text": "word"})).await;
    let waited = told(waiting.outcome().await);
    assert_eq!((&waited.structured["wait_ended"], waited.shown("stdout")), (&json!("output"), "got word\n"));

    let idle = json!({"process_id": id, "until": {"idle_seconds": 1}, "wait_seconds": 60});
    let idle = ask(&fixture, "wait_for_process", idle).await;
    assert_eq!(idle.structured["wait_ended"], "idle");
    assert!(idle.text.contains("It prints nothing"), "{}", idle.text);

    let closed = json!({"process_id": id, "text": "last", "newline": false, "close": true});
    let closed = ask(&fixture, "write_process_input", closed).await;
    assert_eq!(closed.text, "4 of 4 bytes were written, and the input is closed.");
    let ended = end(&fixture, &id).await;
    assert_eq!((ended.shown("stderr"), &ended.structured["exit_code"]), ("over\n", &json!(0)));
}

#[tokio::test]
async fn what_cannot_be_written_to_says_why_and_what_can() {
    let fixture = setup().open().await;
    let without = ask(&fixture, "execute_shell", json!({"command": "sleep 1000", "run_mode": "async"})).await.id();
    let ended = start(&fixture, "exit 0").await;
    end(&fixture, &ended).await;
    for id in [&without, &ended] {
        let refusal = refused(&fixture, "write_process_input", json!({"process_id": id, "text": "x"})).await;
        assert!(refusal.contains("execute_shell with `input`"), "{refusal}");
    }
    stop(&fixture, &without).await;
}

#[tokio::test]
async fn who_does_not_read_is_not_waited_for_without_end_and_the_rest_is_counted() {
    let fixture = setup().limit("wall_time_milliseconds", 2_000).open().await;
    let id = start(&fixture, "exec sleep 1000").await;
    let write = json!({"process_id": id, "text": "x".repeat(900_000), "close": true});
    let written = ask(&fixture, "write_process_input", write).await;
    let taken = written.structured["bytes_written"].as_u64().expect("a count");
    assert!(taken < 900_001 && written.structured["closed"] == false, "{}", written.text);
    assert!(written.text.contains("does not read on") && written.text.contains("still open"), "{}", written.text);
    stop(&fixture, &id).await;
}

#[tokio::test]
async fn every_process_is_listed_with_how_it_is_and_what_it_has_printed_so_far() {
    let fixture = setup().open().await;
    let good = run(&fixture, "echo fine").await.id();
    let bad = run(&fixture, "exit 7").await.id();
    let stopped = start(&fixture, "sleep 1000").await;
    stop(&fixture, &stopped).await;
    let runs = start(&fixture, "echo \"a line\"; sleep 1000").await;
    prints(&fixture, &runs, "a line").await;
    let all = ask(&fixture, "list_processes", json!({})).await;
    let listed: Vec<_> = all.structured["processes"].as_array().expect("a list").clone();
    let of = |field: &str| listed.iter().map(|process| process[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("process_id"), [json!(runs), json!(stopped), json!(bad), json!(good)], "the newest first");
    assert_eq!(of("status"), ["running", "killed", "failed", "finished"]);
    assert_eq!(of("stdout_bytes"), [7, 0, 0, 5]);
    assert!(of("pid").iter().all(|pid| pid.as_u64().is_some_and(|pid| pid > 0)), "{listed:?}");
    assert_eq!((&all.structured["total"], &all.structured["running"]), (&json!(4), &json!(1)));
    for (line, word) in all.text.lines().skip(1).zip(["running", "killed (user)", "exit code 7", "exit code 0"]) {
        assert!(line.contains(word), "{word}: {line}");
    }
    for (filter, count) in [("running", 1), ("ended", 3), ("all", 4)] {
        let page = ask(&fixture, "list_processes", json!({"status_filter": filter})).await;
        assert_eq!(page.structured["total"], count, "{filter}: {page:?}");
    }
    stop(&fixture, &runs).await;
}

#[tokio::test]
async fn a_process_that_has_just_ended_is_found_and_keeps_its_output() {
    let fixture = setup().open().await;
    for code in 0..10 {
        let arguments = json!({"command": format!("echo {code}; exit {code}"), "run_mode": "async"});
        let id = ask(&fixture, "execute_shell", arguments).await.id();
        // At once, while it may be on the point of ending.
        ask(&fixture, "poll_process", json!({"process_id": id})).await;
        let ended = end(&fixture, &id).await;
        assert!(ended.text.starts_with(&format!("exit code {code}\n")), "{}", ended.text);
        let polled = ask(&fixture, "poll_process", json!({"process_id": id})).await;
        assert_eq!((polled.shown("stdout"), &polled.structured["exit_code"]), (&*format!("{code}\n"), &json!(code)));
        let read = ask(&fixture, "read_process_output", json!({"process_id": id})).await;
        assert_eq!(read.structured["text"], format!("{code}\n"));
    }
}

#[tokio::test]
async fn a_process_that_never_was_is_refused_with_where_to_look() {
    let fixture = setup().open().await;
    let never = "0".repeat(32);
    for (tool, more) in [
        ("poll_process", json!({})),
        ("wait_for_process", json!({})),
        ("read_process_output", json!({})),
        ("write_process_input", json!({"text": "x"})),
        ("stop_process", json!({})),
    ] {
        let mut arguments = json!({"process_id": never});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
        let refusal = refused(&fixture, tool, arguments).await;
        assert!(refusal.contains("list_processes shows"), "{tool}: {refusal}");
    }
}

/// Calls a tool of the workspace, hears that it runs, and gives it up.
fn hears_that_it_runs(client: &mut Client, tool: &str, arguments: Value) {
    let meta = json!({"progressToken": tool});
    let params = json!({"name": format!("workspace__{tool}"), "arguments": arguments, "_meta": meta});
    let call = client.ask("tools/call", params);
    let said = client.notification("notifications/progress");
    assert_eq!(said["params"]["progressToken"], tool, "{said}");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.starts_with("still running")), "{said}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
}

#[test]
fn a_client_that_asked_for_progress_hears_of_commands_and_waits_before_they_end() {
    let data = Data::new();
    let config = data.write("wharf.toml", setup().text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let command = json!({"command": "sleep 1000", "run_mode": "async"});
    let started = client.call("workspace__execute_shell", command, json!({}));
    let id = &started["structuredContent"]["process_id"];
    assert!(id.is_string(), "{started}");
    hears_that_it_runs(&mut client, "execute_shell", json!({"command": "sleep 1000"}));
    hears_that_it_runs(&mut client, "wait_for_process", json!({"process_id": id}));
}
