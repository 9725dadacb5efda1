//! Ending what does not want to end.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use wharf_tests::{Fixture, blocking, until};

use super::{ask, end, prints, refused, setup, start};

/// A time to sleep that no other process of this machine sleeps.
fn marked_time() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 2_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a process with this in its arguments lives, and is no shell that was
/// told to start it.
fn lives(time: &str) -> bool {
    let sleeps = |entry: std::fs::DirEntry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&format!("sleep\0{time}")))
    };
    std::fs::read_dir("/proc").expect("there is /proc").flatten().any(sleeps)
}

/// Whether no host holds one of its directories.
fn is_free(processes: &Path) -> bool {
    let directories = std::fs::read_dir(processes).expect("read").flatten().filter(|entry| entry.path().is_dir());
    let mut locks = directories.map(|entry| std::fs::File::open(entry.path().join("lock")).expect("a lock"));
    locks.all(|lock| lock.try_lock().is_ok())
}

#[tokio::test]
async fn a_tree_that_ignores_every_signal_and_detached_itself_is_gone_when_the_stop_answers() {
    let fixture = setup().open().await;
    let times = [marked_time(), marked_time(), marked_time()];
    let stubborn = |time: &str| format!("sh -c 'trap \"\" TERM HUP INT QUIT; sleep {time}; sleep {time}'");
    let command = format!(
        "trap '' TERM HUP INT QUIT; setsid {} & (setsid {} &) ; echo ready; while :; do sleep {}; done",
        stubborn(&times[0]),
        stubborn(&times[1]),
        times[2]
    );
    let id = start(&fixture, &command).await;
    prints(&fixture, &id, "ready").await;
    for time in &times {
        blocking::until("all of them sleep", || lives(time));
    }
    let stopped = ask(&fixture, "stop_process", json!({"process_id": id, "grace_seconds": 1})).await;
    for time in &times {
        assert!(!lives(time), "{time} lives: {stopped:?}");
    }
    assert_eq!(stopped.text.lines().next(), Some("killed (user)"), "{}", stopped.text);
    let said = &stopped.structured;
    assert_eq!((&said["still_running"], &said["status"]), (&json!(false), &json!("killed")));
    assert_eq!((said.get("living_descendants"), said.get("exit_code")), (None, None), "{said}");
    assert_eq!(stopped.shown("stdout"), "ready\n", "its last lines are shown");
    // To stop it again does nothing and says the same.
    let again = ask(&fixture, "stop_process", json!({"process_id": id})).await;
    assert_eq!(again.text, stopped.text);
}

#[tokio::test]
async fn one_that_tidies_up_when_it_is_asked_to_end_may_do_so() {
    let fixture = setup().open().await;
    let command = "trap 'echo tidied up; exit 0' TERM; echo ready; while :; do sleep 0.1; done";
    let id = start(&fixture, command).await;
    prints(&fixture, &id, "ready").await;
    let stopped = ask(&fixture, "stop_process", json!({"process_id": id, "grace_seconds": 60})).await;
    assert_eq!(stopped.shown("stdout"), "ready\ntidied up\n");
    assert_eq!(
        (&stopped.structured["still_running"], &stopped.structured["ended_because"]),
        (&json!(false), &json!("user"))
    );
}

#[tokio::test]
async fn a_signal_alone_leaves_it_to_the_process_what_to_do() {
    let fixture = setup().open().await;
    let id = start(&fixture, "trap 'echo interrupted' INT; echo ready; while :; do sleep 0.1; done").await;
    prints(&fixture, &id, "ready").await;
    let sent = ask(&fixture, "stop_process", json!({"process_id": id, "signal": "interrupt"})).await;
    assert_eq!(
        (&sent.structured["signal_sent"], &sent.structured["still_running"]),
        (&json!("interrupt"), &json!(true))
    );
    assert!(sent.text.contains("it runs on; wait_for_process"), "{}", sent.text);
    prints(&fixture, &id, "interrupted").await;
    let ended = ask(&fixture, "stop_process", json!({"process_id": id, "grace_seconds": 0})).await;
    assert_eq!(ended.structured["still_running"], false);
    let refusal = refused(&fixture, "stop_process", json!({"process_id": id, "signal": "interrupt"})).await;
    assert!(refusal.starts_with("gone"), "{refusal}");
    // A program that does not handle the signal ends by it, which is no kill by the host.
    let id = start(&fixture, "exec sleep 1000").await;
    ask(&fixture, "stop_process", json!({"process_id": id, "signal": "terminate"})).await;
    let ended = end(&fixture, &id).await;
    assert!(ended.text.starts_with("ended by signal 15 (SIGTERM)"), "{}", ended.text);
}

#[tokio::test]
async fn a_call_that_is_taken_back_ends_its_wait_and_not_the_process() {
    let fixture = setup().open().await;
    let id = start(&fixture, "read line; echo \"got $line\"").await;
    let wait = json!({"process_id": id, "wait_seconds": 600});
    let waiting = fixture.start(&super::here(), "workspace__wait_for_process", wait);
    fixture.load_is(1, 0).await;
    waiting.cancel.cancel();
    assert!(waiting.outcome().await.is_err());
    ask(&fixture, "write_process_input", json!({"process_id": id, "text": "word"})).await;
    assert_eq!(end(&fixture, &id).await.shown("stdout"), "got word\n");
}

#[tokio::test]
async fn everything_ends_with_the_host() {
    let fixture = setup().open().await;
    let times = [marked_time(), marked_time()];
    let command = format!("setsid sleep {} & trap '' TERM; sleep {}; sleep {}", times[0], times[1], times[1]);
    let arguments = json!({"command": command, "run_mode": "async"});
    ask(&fixture, "execute_shell", arguments).await;
    for time in &times {
        blocking::until("both of them sleep", || lives(time));
    }
    fixture.host.shut_down(Duration::from_millis(100)).await;
    for time in &times {
        blocking::until("nothing lives", || !lives(time));
    }
    let Fixture { host, data } = fixture;
    drop(host);
    // Its tasks end when their turn comes, and hold its directory until then.
    let processes = data.path().join("processes");
    until("the directory is let go of", || is_free(&processes)).await;
    let next = setup().open_in(data).await;
    let listed = ask(&next, "list_processes", json!({})).await;
    let ended: Vec<Value> = listed.structured["processes"].as_array().expect("a list").clone();
    assert_eq!((ended.len(), &ended[0]["status"]), (1, &json!("killed")), "the next host knows it: {listed:?}");
}
