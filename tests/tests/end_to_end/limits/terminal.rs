//! Limits of terminals.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, Setup, context, found, until_async};

use super::{Tested, later};

mod recordings;

pub(super) const TESTED: Tested = &[
    ("open", one_open_terminal_too_many_closes_an_idle_one_or_is_refused),
    ("open_per_tenant", one_open_terminal_of_a_tenant_too_many_is_refused),
    ("open_per_session", one_open_terminal_of_a_session_too_many_is_refused),
    ("open_per_owner", one_terminal_of_an_owner_too_many_replaces_one),
    ("evictable_after_seconds", one_open_terminal_too_many_closes_an_idle_one_or_is_refused),
    ("idle_seconds", a_terminal_that_is_unused_for_too_long_is_closed),
    ("ended", one_closed_terminal_too_many_is_forgotten),
    ("ended_per_tenant", one_closed_terminal_of_a_tenant_too_many_is_forgotten),
    ("ended_per_session", one_closed_terminal_of_a_session_too_many_is_forgotten),
    ("ended_per_owner", one_closed_terminal_of_an_owner_too_many_is_forgotten),
    ("tombstone_seconds", a_closed_terminal_is_kept_as_long_as_that_and_no_longer),
    ("lifetime_seconds", a_terminal_that_is_open_for_too_long_is_closed),
    ("restarts", a_program_that_crashes_once_too_often_is_not_started_again),
    ("restart_window_seconds", crashes_of_long_ago_do_not_count),
    ("wait_milliseconds", a_wait_for_a_terminal_ends_though_nothing_happened),
    ("input_characters", one_character_too_many_is_not_typed),
    ("history_bytes", one_byte_of_output_too_many_evicts_the_oldest),
    ("history_lines", one_line_off_the_screen_too_many_evicts_the_oldest),
    ("recording_bytes_per_session", recordings::one_block_of_a_session_too_many_removes_its_oldest_recording),
    ("recording_bytes_per_tenant", recordings::one_block_of_a_tenant_too_many_removes_its_oldest_recording),
    ("recording_bytes", recordings::one_block_too_many_removes_nothing_of_another_tenant),
];

fn limited(name: &str, value: u64) -> Setup {
    // The clock of a call does not go along where a test moves its own.
    let setup = Setup::new().terminals("programs = [\"sh\"]").limit("wall_time_milliseconds", 600_000);
    setup.terminal_limit(name, value)
}

fn session(name: &str) -> Context {
    context("local", name)
}

/// Starts a text of `sh`: its terminal, and what was replaced; or the refusal.
async fn start(fixture: &Fixture, session: &Context, text: &str, restart: &str) -> Result<(String, Value), Value> {
    let options = json!({ "restart": restart }).to_string();
    let arguments = json!({"program": "sh", "arguments": ["-c", text], "options": options});
    let mut started = found(fixture.call_in(session, "hostile__start_terminal", arguments).await);
    let Some(id) = started["ok"]["terminal"]["id"].as_str().map(str::to_owned) else {
        return Err(started["refused"].take());
    };
    Ok((id, started["ok"]["replaced"].take()))
}

async fn idle(fixture: &Fixture, session: &Context) -> String {
    start(fixture, session, "exec cat", "never").await.expect("starts").0
}

async fn ask(fixture: &Fixture, session: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "id": id});
    arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
    found(fixture.call_in(session, "hostile__ask_terminal", arguments).await)
}

async fn get(fixture: &Fixture, session: &Context, id: &str) -> Value {
    ask(fixture, session, "get", id, json!({})).await
}

/// Why the host closed it; none while it is open.
async fn closed_for(fixture: &Fixture, session: &Context, id: &str) -> Option<String> {
    get(fixture, session, id).await["ok"]["outcome"]["reason"].as_str().map(str::to_owned)
}

async fn close(fixture: &Fixture, session: &Context, id: &str) {
    assert_eq!(ask(fixture, session, "close", id, json!({})).await["ok"]["status"], "closed");
}

async fn until(fixture: &Fixture, session: &Context, id: &str, what: &str, so: impl Fn(&Value) -> bool) -> Value {
    until_async(what, async || {
        let told = get(fixture, session, id).await;
        if so(&told) { Ok(told["ok"].clone()) } else { Err(told) }
    })
    .await
}

#[tokio::test]
async fn one_open_terminal_too_many_closes_an_idle_one_or_is_refused() {
    let fixture = limited("open", 2).terminal_limit("evictable_after_seconds", 100).open().await;
    let [one, two, three] = ["one", "two", "three"].map(session);
    let (first, second) = (idle(&fixture, &one).await, idle(&fixture, &two).await);
    assert_eq!((closed_for(&fixture, &one, &first).await, closed_for(&fixture, &two, &second).await), (None, None));
    // What was used a moment ago is in use.
    later(99).await;
    let refused = start(&fixture, &three, "exec cat", "never").await.expect_err("both are in use");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`evictable_after_seconds`")), "{refused}");
    later(2).await;
    // Another tenant does not get it closed.
    let stranger = context("other", "one");
    let refused = start(&fixture, &stranger, "exec cat", "never").await.expect_err("it has none of its own");
    assert_eq!(refused["code"], "limit", "{refused}");
    assert_eq!((closed_for(&fixture, &one, &first).await, closed_for(&fixture, &two, &second).await), (None, None));
    let third = idle(&fixture, &three).await;
    assert_eq!(closed_for(&fixture, &one, &first).await.as_deref(), Some("evicted"));
    // No turn is ended to make room.
    for (session, id) in [(&two, &second), (&three, &third)] {
        let sent = ask(&fixture, session, "send", id, json!({"text": "x", "submit": true, "preset": "patient"})).await;
        assert!(sent["ok"].is_object(), "{sent}");
    }
    let refused = start(&fixture, &one, "exec cat", "never").await.expect_err("all are busy");
    assert_eq!((refused["code"].as_str(), &refused["retryable"]), (Some("limit"), &json!(true)), "{refused}");
    assert!(refused["message"].as_str().is_some_and(|message| message.contains("`open`")), "{refused}");
    close(&fixture, &two, &second).await;
    idle(&fixture, &one).await;
    fixture.works().await;
}

#[tokio::test]
async fn one_open_terminal_of_a_tenant_too_many_is_refused() {
    let fixture = limited("open_per_tenant", 2).open().await;
    for name in ["one", "two"] {
        idle(&fixture, &session(name)).await;
    }
    let refused = start(&fixture, &session("three"), "exec cat", "never").await.expect_err("no room");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`open_per_tenant`")), "{refused}");
    idle(&fixture, &context("other", "one")).await;
}

#[tokio::test]
async fn one_open_terminal_of_a_session_too_many_is_refused() {
    let fixture = limited("open_per_session", 2).terminal_limit("open_per_owner", 9).open().await;
    let owner = session("one");
    for _ in 0..2 {
        idle(&fixture, &owner).await;
    }
    let refused = start(&fixture, &owner, "exec cat", "never").await.expect_err("no room");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`open_per_session`")), "{refused}");
    idle(&fixture, &session("two")).await;
}

/// Starts and closes a terminal.
async fn ended(fixture: &Fixture, session: &Context) -> String {
    let id = idle(fixture, session).await;
    close(fixture, session, &id).await;
    id
}

#[tokio::test]
async fn one_closed_terminal_of_a_tenant_too_many_is_forgotten() {
    let fixture = limited("ended_per_tenant", 2).open().await;
    let other = context("other", "one");
    let beside = ended(&fixture, &other).await;
    let sessions = ["one", "two", "three"].map(session);
    let mut ids = Vec::new();
    for session in &sessions {
        ids.push(ended(&fixture, session).await);
    }
    until(&fixture, &sessions[0], &ids[0], "it is forgotten", |told| told["refused"]["code"] == "not-found").await;
    assert_eq!(get(&fixture, &sessions[1], &ids[1]).await["ok"]["status"], "closed");
    assert_eq!(get(&fixture, &other, &beside).await["ok"]["status"], "closed", "another tenant's stays");
}

#[tokio::test]
async fn one_closed_terminal_of_a_session_too_many_is_forgotten() {
    let fixture = limited("ended_per_session", 2).open().await;
    let (owner, other) = (session("one"), session("two"));
    let beside = ended(&fixture, &other).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(ended(&fixture, &owner).await);
    }
    until(&fixture, &owner, &ids[0], "it is forgotten", |told| told["refused"]["code"] == "not-found").await;
    assert_eq!(get(&fixture, &owner, &ids[1]).await["ok"]["status"], "closed");
    assert_eq!(get(&fixture, &other, &beside).await["ok"]["status"], "closed", "another session's stays");
}

#[tokio::test]
async fn one_character_too_many_is_not_typed() {
    let fixture = limited("input_characters", 100).open().await;
    let owner = session("one");
    let (id, _) = start(&fixture, &owner, "stty raw; exec cat", "never").await.expect("starts");
    let send = async |characters: usize| {
        let text = "é".repeat(characters);
        ask(&fixture, &owner, "send-and-cancel", &id, json!({"text": text})).await
    };
    assert!(send(100).await["refused"].is_null());
    let refused = send(101).await["refused"].take();
    assert_eq!(refused["code"], "limit", "{refused}");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`input_characters`")), "{refused}");
}

#[tokio::test]
async fn one_terminal_of_an_owner_too_many_replaces_one() {
    let fixture = limited("open_per_owner", 2).open().await;
    let owner = session("one");
    let first = idle(&fixture, &owner).await;
    let (_, replaced) = start(&fixture, &owner, "exec cat", "never").await.expect("starts");
    assert_eq!(replaced, json!([]));
    let (_, replaced) = start(&fixture, &owner, "exec cat", "never").await.expect("starts");
    assert_eq!(replaced, json!([first]));
    assert_eq!(closed_for(&fixture, &owner, &first).await.as_deref(), Some("replaced"));
}

#[tokio::test]
async fn a_terminal_that_is_unused_for_too_long_is_closed() {
    let fixture = limited("idle_seconds", 100).open().await;
    let (unused, used) = (session("unused"), session("used"));
    let (one, other) = (idle(&fixture, &unused).await, idle(&fixture, &used).await);
    later(61).await;
    ask(&fixture, &used, "screen", &other, json!({})).await;
    later(61).await;
    until(&fixture, &unused, &one, "it is closed", |told| told["ok"]["outcome"]["reason"] == "idle").await;
    assert_eq!(closed_for(&fixture, &used, &other).await, None, "it was used since");
}

#[tokio::test]
async fn one_closed_terminal_too_many_is_forgotten() {
    let fixture = limited("ended", 2).open().await;
    let sessions = ["one", "two", "three", "four"].map(session);
    let mut ids = Vec::new();
    for session in &sessions {
        ids.push(idle(&fixture, session).await);
        // The third end forgets it.
        let first = get(&fixture, &sessions[0], &ids[0]).await;
        match ids.len() {
            1 => assert!(first["ok"]["pid"].is_u64(), "{first}"),
            2 | 3 => assert_eq!(first["ok"]["status"], "closed", "{first}"),
            _ => assert_eq!(first["refused"]["code"], "not-found", "{first}"),
        }
        close(&fixture, session, ids.last().expect("one")).await;
    }
    assert_eq!(get(&fixture, &sessions[2], &ids[2]).await["ok"]["status"], "closed");
}

#[tokio::test]
async fn one_closed_terminal_of_an_owner_too_many_is_forgotten() {
    let fixture = limited("ended_per_owner", 2).open().await;
    let (owner, other) = (session("one"), session("two"));
    let beside = idle(&fixture, &other).await;
    close(&fixture, &other, &beside).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = idle(&fixture, &owner).await;
        close(&fixture, &owner, &id).await;
        ids.push(id);
        if ids.len() == 2 {
            let listed = ask(&fixture, &owner, "list", "", json!({})).await;
            assert_eq!(listed["ok"].as_array().map(Vec::len), Some(2), "as many as may be kept");
        }
    }
    ids.push(idle(&fixture, &owner).await);
    assert_eq!(get(&fixture, &owner, &ids[0]).await["refused"]["code"], "not-found");
    assert_eq!(get(&fixture, &owner, &ids[1]).await["ok"]["status"], "closed");
    assert_eq!(get(&fixture, &other, &beside).await["ok"]["status"], "closed", "another owner's stays");
}

#[tokio::test]
async fn a_closed_terminal_is_kept_as_long_as_that_and_no_longer() {
    let fixture = limited("tombstone_seconds", 100).open().await;
    let (early, late) = (session("early"), session("late"));
    let (one, other) = (idle(&fixture, &early).await, idle(&fixture, &late).await);
    close(&fixture, &early, &one).await;
    later(61).await;
    assert_eq!(get(&fixture, &early, &one).await["ok"]["status"], "closed");
    close(&fixture, &late, &other).await;
    later(61).await;
    until(&fixture, &early, &one, "it is forgotten", |told| told["refused"]["code"] == "not-found").await;
    assert_eq!(get(&fixture, &late, &other).await["ok"]["status"], "closed");
}

#[tokio::test]
async fn a_terminal_that_is_open_for_too_long_is_closed() {
    let fixture = limited("lifetime_seconds", 100).open().await;
    let (old, young) = (session("old"), session("young"));
    let one = idle(&fixture, &old).await;
    later(61).await;
    let other = idle(&fixture, &young).await;
    later(61).await;
    until(&fixture, &old, &one, "it is closed", |told| told["ok"]["outcome"]["reason"] == "time-limit").await;
    assert_eq!(closed_for(&fixture, &young, &other).await, None);
}

#[tokio::test]
async fn a_program_that_crashes_once_too_often_is_not_started_again() {
    let fixture = limited("restarts", 1).open().await;
    let (once, always) = (session("once"), session("always"));
    let text = "if [ -e crashed ]; then exec cat; fi; : > crashed; exit 3";
    let (lives, _) = start(&fixture, &once, text, "on-crash").await.expect("starts");
    let (ends, _) = start(&fixture, &always, "exit 3", "on-crash").await.expect("starts");
    let info = until(&fixture, &always, &ends, "it is given up", |told| told["ok"]["outcome"].is_object()).await;
    assert_eq!((&info["outcome"]["reason"], &info["restarts"]), (&json!("crashes"), &json!(1)), "{info}");
    let info = until(&fixture, &once, &lives, "it runs again", |told| told["ok"]["restarts"] == 1).await;
    assert!(info["pid"].is_u64(), "{info}");
}

#[tokio::test]
async fn crashes_of_long_ago_do_not_count() {
    let fixture = limited("restarts", 1).terminal_limit("restart_window_seconds", 300).open().await;
    let owner = session("one");
    let (id, _) = start(&fixture, &owner, "echo ready; read line; exit 3", "on-crash").await.expect("starts");
    let crash = async |restarts: u64| {
        let sent = ask(&fixture, &owner, "send", &id, json!({"text": "x", "submit": true})).await;
        assert!(sent["ok"].is_object(), "{sent}");
        until(&fixture, &owner, &id, "it runs again or is closed", |told| {
            told["ok"]["outcome"].is_object() || (told["ok"]["restarts"] == restarts && told["ok"]["pid"].is_u64())
        })
        .await
    };
    assert_eq!(crash(1).await["restarts"], 1);
    later(301).await;
    assert_eq!(crash(2).await["restarts"], 2, "the one before was long ago");
    assert_eq!(crash(3).await["outcome"]["reason"], "crashes");
}

#[tokio::test]
async fn a_wait_for_a_terminal_ends_though_nothing_happened() {
    let fixture = limited("wait_milliseconds", 50).open().await;
    let owner = session("one");
    let id = idle(&fixture, &owner).await;
    // Far below what the call itself may take.
    let began = Instant::now();
    let more = json!({"view": "text", "bytes": 10, "milliseconds": 1_000_000});
    assert_eq!(ask(&fixture, &owner, "read", &id, more).await["ok"]["bytes"], 0);
    ask(&fixture, &owner, "send", &id, json!({"text": "x", "preset": "patient"})).await;
    let more = json!({"turn": 1, "from": 1_u64 << 40, "bytes": 10, "milliseconds": 1_000_000});
    assert!(ask(&fixture, &owner, "follow", &id, more).await["ok"]["turn"]["complete"].is_null());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn one_byte_of_output_too_many_evicts_the_oldest() {
    let fixture = limited("history_bytes", 100_000).open().await;
    let owner = session("one");
    // Without an echo from the start.
    let text = "stty -echo; head -c 100000 /dev/zero | tr '\\0' x; read line; printf y; exec cat";
    let (id, _) = start(&fixture, &owner, text, "never").await.expect("starts");
    let info = until(&fixture, &owner, &id, "all is there", |told| told["ok"]["raw"] == 100_000).await;
    assert_eq!((&info["raw_evicted"], &info["text_evicted"], &info["text"]), (&json!(0), &json!(0), &json!(100_000)));
    ask(&fixture, &owner, "press", &id, json!({"keys": ["Enter"]})).await;
    let info = until(&fixture, &owner, &id, "one more is there", |told| told["ok"]["raw"] == 100_001).await;
    assert!(info["raw_evicted"].as_u64() > Some(0) && info["text_evicted"].as_u64() > Some(0), "{info}");
}

#[tokio::test]
async fn one_line_off_the_screen_too_many_evicts_the_oldest() {
    let fixture = limited("history_lines", 50).open().await;
    for (session, lines, first) in [(session("one"), "73", "1"), (session("two"), "74", "2")] {
        // 24 rows, the last of them empty.
        let (id, _) = start(&fixture, &session, &format!("seq {lines}; exec cat"), "never").await.expect("starts");
        let screen = until_async("its last line is shown", async || {
            let screen = ask(&fixture, &session, "screen", &id, json!({"lines": 10_000})).await["ok"].take();
            if screen["lines"][22] == lines { Ok(screen) } else { Err(screen) }
        });
        let screen = screen.await;
        let history = screen["history"].as_array().expect("lines");
        assert_eq!((history.len(), &history[0]), (50, &json!(first)), "{screen}");
    }
}
