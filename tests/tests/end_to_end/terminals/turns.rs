//! Turns: one at a time, longer than the call that began them, and bounded
//! whatever the program prints and the guest asks for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf::Code;
use wharf_tests::{Setup, context};

use super::{AMPLE, followed, here, ok, printed, refused, said, script, shell, until};

#[tokio::test]
async fn a_turn_goes_on_after_its_call_and_another_call_follows_it() {
    let setup = Setup::new().terminals("programs = [\"sh\"]").workspace("");
    let fixture = setup.open().await;
    let text = "read line; echo first; until [ -e go ]; do sleep 0.02; done; echo \"second $line\"";
    let id = script(&fixture, &here(), text).await;
    let turn = ok(&fixture, &here(), "send", &id, json!({"text": "part", "submit": true, "preset": "patient"})).await;
    printed(&fixture, &here(), &id, "first").await;
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["status"], "busy");
    // Only now may it go on, long after the call that began it.
    wharf_tests::found(fixture.call("hostile__make_directory", json!({"path": "/workspace/go"})).await);
    let (text, ended) = followed(&fixture, &here(), &id, &turn).await;
    assert!(text.ends_with("first\nsecond part\n"), "{text}");
    assert_eq!(ended["complete"]["reason"], "process-exited", "{ended}");
    // A late follower is told the same.
    assert_eq!(followed(&fixture, &here(), &id, &turn).await, (text, ended));
}

#[tokio::test]
async fn a_terminal_has_one_turn_at_a_time_until_that_is_over_or_taken_back() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let text = "trap 'echo interrupted' INT; echo ready; while :; do read line && echo \"<$line>\"; done";
    let id = script(&fixture, &here(), text).await;
    printed(&fixture, &here(), &id, "ready").await;
    let send = |line: &str| json!({"text": line, "submit": true, "preset": "patient"});
    let turn = ok(&fixture, &here(), "send", &id, send("one")).await;
    printed(&fixture, &here(), &id, "<one>").await;
    for input in [json!({"text": "x"}), json!({"submit": true}), json!({"keys": ["x"]})] {
        let (code, message) = refused(&fixture, &here(), "send", &id, input.clone()).await;
        assert!(code == "conflict" && message.contains("turn 1"), "{input}: {code}: {message}");
    }
    ok(&fixture, &here(), "cancel", &id, json!({"turn": 1})).await;
    let (text, ended) = followed(&fixture, &here(), &id, &turn).await;
    assert_eq!((&ended["cancelled"], &ended["complete"]), (&json!(true), &Value::Null), "{ended}");
    assert!(text.contains("<one>"), "{text}");
    // The program was sent nothing.
    let info = ok(&fixture, &here(), "get", &id, json!({})).await;
    assert!(info["pid"].is_u64() && info["status"] == "ready", "{info}");
    ok(&fixture, &here(), "cancel", &id, json!({"turn": 1})).await;
    ok(&fixture, &here(), "press", &id, json!({"keys": ["C-c"]})).await;
    printed(&fixture, &here(), &id, "interrupted").await;
    assert_eq!(ok(&fixture, &here(), "send", &id, send("two")).await["number"], 2);
    printed(&fixture, &here(), &id, "<two>").await;
    let all = ok(&fixture, &here(), "read", &id, json!({"view": "text", "bytes": 10_000})).await;
    assert!(!all["data"].as_str().expect("a text").contains('x'), "what was refused was not typed: {all}");
}

#[tokio::test]
async fn turns_that_are_taken_back_one_after_the_other_leave_the_host_free() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").limit("wall_time_milliseconds", 600_000).open().await;
    let id = script(&fixture, &here(), "exec cat").await;
    // The task that judges a turn must drop it once another one runs; otherwise it
    // keeps a thread of the host for good, and this test with it.
    let (done, watched) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if watched.recv_timeout(AMPLE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            std::process::abort();
        }
    });
    for _ in 0..60 {
        // Within one call, so that no other turn runs meanwhile.
        ok(&fixture, &here(), "send-and-cancel", &id, json!({"text": "a", "times": 50, "limit": 1})).await;
    }
    fixture.works().await;
    done.send(()).expect("it is watched");
}

#[tokio::test]
async fn a_turn_that_never_was_is_not_found_and_a_past_one_is_gone() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let id = shell(&fixture, &here()).await;
    let code = async |function: &str, turn: u64| {
        refused(&fixture, &here(), function, &id, json!({"turn": turn, "bytes": 10})).await.0
    };
    for turn in [0, 1, u64::MAX] {
        assert_eq!(code("follow", turn).await, "not-found", "before any: {turn}");
        assert_eq!(code("cancel", turn).await, "not-found", "before any: {turn}");
    }
    for _ in 0..2 {
        said(&fixture, &here(), &id, "true").await;
    }
    for turn in [0, 3, u64::MAX] {
        assert_eq!(code("follow", turn).await, "not-found", "{turn}");
        assert_eq!(code("cancel", turn).await, "not-found", "{turn}");
    }
    assert_eq!(code("follow", 1).await, "gone");
    // It is as it was.
    ok(&fixture, &here(), "cancel", &id, json!({"turn": 1})).await;
    let last = ok(&fixture, &here(), "get", &id, json!({})).await["turn"].clone();
    assert_eq!((&last["number"], &last["cancelled"]), (&json!(2), &json!(false)));
}

#[tokio::test]
async fn a_flood_is_kept_in_bounds_and_read_in_pieces() {
    let setup = Setup::new().terminals("programs = [\"sh\"]").terminal_limit("history_bytes", 4 << 20);
    let fixture = setup.open().await;
    let id = script(&fixture, &here(), "yes 0123456789").await;
    let info = until(&fixture, &here(), &id, |info| info["raw"].as_u64() > Some(16 << 20)).await;
    let kept = |bytes: &str, evicted: &str| info[bytes].as_u64().zip(info[evicted].as_u64());
    for (bytes, evicted) in [kept("raw", "raw_evicted"), kept("text", "text_evicted")].map(Option::unwrap) {
        assert!(bytes - evicted <= 4 << 20, "{info}");
    }
    // Four gibibytes are asked for.
    let all = json!({"view": "raw", "bytes": 1_u64 << 32, "milliseconds": u64::MAX});
    let piece = ok(&fixture, &here(), "read", &id, all).await;
    assert_eq!(piece["bytes"], 1 << 20, "{piece}");
    assert!(piece["start"].as_u64() > Some(0) && piece["start"].as_u64() >= piece["evicted"].as_u64(), "{piece}");
    // What keeps printing is stopped as quickly as anything.
    let closed = ok(&fixture, &here(), "close", &id, json!({})).await;
    assert_eq!(closed["outcome"]["reason"], "owner");
}

#[tokio::test]
async fn a_wait_ends_before_its_call_does_whatever_it_is_asked_for() {
    let setup = Setup::new().terminals("programs = [\"sh\"]").limit("wall_time_milliseconds", 4_000);
    let fixture = setup.open().await;
    let id = script(&fixture, &here(), "read line; exec sleep 1000").await;
    let more = json!({"view": "text", "from": 1_u64 << 40, "bytes": 1_u64 << 32, "milliseconds": u64::MAX});
    let read = ok(&fixture, &here(), "read", &id, more).await;
    assert_eq!((&read["bytes"], &read["data"]), (&json!(0), &json!("")), "{read}");
    let turn = ok(&fixture, &here(), "send", &id, json!({"text": "x", "submit": true, "preset": "patient"})).await;
    let more = json!({"turn": 1, "from": u64::MAX, "bytes": 1_u64 << 32, "milliseconds": u64::MAX});
    let followed = ok(&fixture, &here(), "follow", &id, more).await;
    assert_eq!((&followed["piece"]["bytes"], &followed["turn"]["complete"]), (&json!(0), &Value::Null), "{turn}");
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_the_terminal_as_it_is() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let id = script(&fixture, &here(), "read line; echo \"got $line\"; exec sleep 1000").await;
    let wait = json!({"function": "read", "id": id, "view": "text", "bytes": 10, "milliseconds": 600_000});
    let waiting = fixture.start(&here(), "hostile__ask_terminal", wait);
    fixture.load_is(1, 0).await;
    waiting.cancel.cancel();
    let error = waiting.outcome().await.expect_err("taken back");
    assert_eq!(error.code, Code::Cancelled);
    ok(&fixture, &here(), "send", &id, json!({"text": "it", "submit": true})).await;
    printed(&fixture, &here(), &id, "got it").await;
}

#[tokio::test]
async fn host_calls_and_what_they_move_are_counted() {
    let setup = Setup::new().terminals("programs = [\"sh\"]").limit("host_calls", 50);
    let fixture = setup.limit("host_call_total_bytes", 400_000).limit("host_call_bytes", 50_000).open().await;
    let id = script(&fixture, &here(), "head -c 100000 /dev/zero | tr '\\0' x; exec sleep 1000").await;
    until(&fixture, &here(), &id, |info| info["raw"] == 100_000).await;
    let call = |more: Value| {
        let mut arguments = json!({"id": id, "view": "raw", "bytes": 1 << 20});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
        fixture.call("hostile__ask_terminal", arguments)
    };
    // One call moves what it may, and a read asks for no more.
    let read = wharf_tests::found(call(json!({"function": "read"})).await);
    assert!(read["ok"]["bytes"].as_u64().is_some_and(|bytes| (1..=50_000).contains(&bytes)), "{read}");
    let much = call(json!({"function": "send", "text": "x".repeat(60_000)})).await;
    for (function, times, limit) in
        [("get", 51, "host_calls"), ("list", 51, "host_calls"), ("read", 12, "host_call_total_bytes")]
    {
        let outcome = call(json!({"function": function, "times": times})).await;
        let error = outcome.expect_err("beyond the limit");
        assert!(error.code == Code::Limit && error.message.contains(limit), "{function}: {error}");
    }
    let error = much.expect_err("beyond the limit");
    assert!(error.code == Code::Limit && error.message.contains("host_call_bytes"), "{error}");
    fixture.works().await;
}

#[tokio::test]
async fn the_terminals_of_many_sessions_do_not_wait_for_each_other() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let sessions: Vec<_> = (0..8).map(|number| context("local", &format!("s{number}"))).collect();
    let mut ids = Vec::new();
    for session in &sessions {
        let text = "read line; yes \"$line\" | head -n 20000; echo done; exec sleep 1000";
        ids.push(script(&fixture, session, text).await);
    }
    let began = Instant::now();
    for (number, (session, id)) in sessions.iter().zip(&ids).enumerate() {
        ok(&fixture, session, "send", id, json!({"text": format!("mine{number}"), "submit": true})).await;
    }
    for (number, (session, id)) in sessions.iter().zip(&ids).enumerate() {
        loop {
            let screen = ok(&fixture, session, "screen", id, json!({"lines": 50})).await;
            let lines =
                screen["lines"].as_array().expect("lines").iter().chain(screen["history"].as_array().expect("lines"));
            let own = format!("mine{number}");
            let texts: Vec<_> = lines.filter_map(Value::as_str).filter(|line| !line.is_empty()).collect();
            let is_own = |line: &&str| own.starts_with(*line) || "done".starts_with(*line);
            assert!(texts.iter().all(is_own), "{own}: {texts:?}");
            if texts.contains(&"done") {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(120), "{texts:?}");
        }
    }
}
