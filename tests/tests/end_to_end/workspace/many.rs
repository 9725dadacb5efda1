//! As many processes as a session may have, and one more.

use serde_json::{Value, json};
use wharf_tests::context;

use super::{ask, here, refusal, setup, stop, told};

/// Processes that a session may have at once.
const MOST: usize = 20;

#[tokio::test]
async fn twenty_run_at_once_and_one_more_is_refused_with_what_to_do() {
    let fixture = setup().open().await;
    // All at once: a count that is taken before it is raised would let more by.
    let arguments = json!({"command": "sleep 1000", "run_mode": "async"});
    let calls: Vec<_> =
        (0..MOST + 5).map(|_| fixture.start(&here(), "workspace__execute_shell", arguments.clone())).collect();
    let (mut started, mut refusals) = (Vec::new(), Vec::new());
    for call in calls {
        match call.outcome().await {
            Ok(answer) if !answer.is_error => started.push(told(Ok(answer)).id()),
            outcome => refusals.push(refusal(outcome)),
        }
    }
    assert_eq!((started.len(), refusals.len()), (MOST, 5), "{refusals:?}");
    for refusal in &refusals {
        assert!(refusal.starts_with("limit"), "{refusal}");
        for word in ["20", "list_processes", "wait_for_process", "stop_process"] {
            assert!(refusal.contains(word), "{word}: {refusal}");
        }
    }
    let listed = ask(&fixture, "list_processes", json!({"status_filter": "running"})).await;
    assert_eq!((&listed.structured["running"], &listed.structured["total"]), (&json!(20), &json!(20)));
    // Another session has room of its own.
    let other = context("local", "another");
    let beside = json!({"command": "echo beside"});
    let beside = told(fixture.call_in(&other, "workspace__execute_shell", beside).await);
    assert_eq!(beside.shown("stdout"), "beside\n");
    // A session that makes room has it.
    stop(&fixture, &started[0]).await;
    let next = ask(&fixture, "execute_shell", arguments).await;
    assert_eq!(next.structured["still_running"], true);
    for id in started.iter().skip(1).chain([&next.id()]) {
        stop(&fixture, id).await;
    }
    let listed = ask(&fixture, "list_processes", json!({"status_filter": "running"})).await;
    assert_eq!(listed.structured["processes"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn hundreds_of_short_commands_leave_room_for_the_next_and_are_all_listed() {
    let fixture = setup().open().await;
    for _ in 0..8 {
        let calls: Vec<_> = (0..15)
            .map(|number| {
                let command = json!({"command": format!("exit {number}"), "wait_seconds": 60});
                fixture.start(&here(), "workspace__execute_shell", command)
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(told(call.outcome().await).structured["exit_code"], number);
        }
    }
    let last = ask(&fixture, "list_processes", json!({"page": 3})).await;
    assert_eq!((&last.structured["total"], &last.structured["total_pages"]), (&json!(120), &json!(3)));
    assert_eq!(last.structured["processes"].as_array().map(Vec::len), Some(20));
}
