//! Calls from host to host.

use std::sync::{Arc, atomic::Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use wharf_core::{
    Code, SessionId, TenantId,
    service::{Caller, EventSink, Level, Place},
    trace::{RemoteParent, TraceParent},
};
use wharf_test_support::{in_time, until};

use super::{TestCell, context, request, request_of};
use crate::Members as _;

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl EventSink for Heard {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        self.0.lock().push(format!("{done}/{total:?} {message:?}"));
    }

    fn message(&self, level: Level, data: Value) {
        self.0.lock().push(format!("{} {data}", level.as_str()));
    }
}

#[tokio::test]
async fn a_call_runs_at_the_home_of_its_session_wherever_it_arrives() {
    let test = TestCell::new();
    let (one, two, three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    for host in [&two, &three, &one] {
        host.call("s-1", "plugin__tool").await.expect("an answer");
    }
    assert_eq!([one.calls(), two.calls(), three.calls()], [4, 0, 0]);
    two.call("s-2", "plugin__tool").await.expect("an answer");
    assert_eq!([one.calls(), two.calls(), three.calls()], [4, 1, 0], "another session has a home of its own");
    assert_eq!((one.cell.sessions(), two.cell.sessions()), (1, 1));
}

#[tokio::test]
async fn a_call_and_its_answer_cross_whole() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let heard = Arc::new(Heard::default());
    let mut caller = Caller::new(context("s-1"));
    caller.events = Some(Arc::clone(&heard) as Arc<dyn EventSink>);
    caller.meta = json!({"dev.example/x": [1, "ü\n"]}).as_object().expect("an object").clone();
    caller.trace = RemoteParent::new([1; 16], [2; 8], true).map(TraceParent::Remote);
    let answer = two.call_of(request_of(caller, "plugin__tool"), false).await.expect("an answer");
    assert_eq!(answer.content[0].as_text(), Some(r#"{"key":"value\n"}"#));
    assert_eq!(
        (answer.content[1].mime_type.as_str(), answer.content[1].data.as_slice()),
        ("image/png", &[0, 0xff][..])
    );
    assert_eq!(answer.structured, Some(json!({"dev.example/x": [1, "ü\n"]})));
    assert_eq!(*heard.0.lock(), ["1/Some(2.0) Some(\"half\")", r#"warn {"a":1}"#]);
    assert_eq!(one.tools.seen.lock().last().map(String::as_str), Some("local/s-1 plugin__tool"));
    let error = two.call("s-1", "fail").await.expect_err("as asked");
    assert_eq!((error.code, error.message.as_str(), error.retryable), (Code::Limit, "as asked", true));
}

#[tokio::test]
async fn a_call_that_its_caller_drops_or_cancels_ends_at_its_home() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let two = Arc::new(two);
    let dropped = |tools: &Arc<super::Tools>| tools.dropped.load(Ordering::SeqCst);
    let calling = tokio::spawn({
        let two = Arc::clone(&two);
        async move { two.call("s-1", "wait").await }
    });
    until("the call runs", || one.calls() == 2).await;
    calling.abort();
    until("it is dropped", || dropped(&one.tools) == 1).await;
    let caller = Caller::new(context("s-1"));
    let cancel = caller.cancel.clone();
    let calling = tokio::spawn({
        let two = Arc::clone(&two);
        async move { two.call_of(request_of(caller, "wait"), false).await }
    });
    until("the call runs", || one.calls() == 3).await;
    cancel.cancel();
    let error = in_time("it ends", calling).await.expect("no panic").expect_err("cancelled");
    assert_eq!(error.code, Code::Cancelled);
    until("it is dropped", || dropped(&one.tools) == 2).await;
}

#[tokio::test]
async fn a_host_that_drains_takes_no_further_session_and_keeps_those_that_it_has() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("kept", "plugin__tool").await.expect("an answer");
    assert!(test.store.drain("one", true).await.expect("it answers"));
    until("it hears of it", || one.cell.is_draining()).await;
    assert!(!one.cell.is_ready() && two.cell.is_ready());
    one.call("kept", "plugin__tool").await.expect("an answer");
    one.call("new", "plugin__tool").await.expect("an answer");
    assert_eq!((one.calls(), two.calls()), (2, 1));
    assert_eq!((one.cell.sessions(), two.cell.sessions()), (1, 1));
}

#[tokio::test]
async fn the_last_host_that_serves_drains_and_serves_all_the_same() {
    let test = TestCell::new();
    let one = test.host("one").await;
    assert!(test.store.drain("one", true).await.expect("it answers"));
    until("it hears of it", || one.cell.is_draining()).await;
    one.call("new", "plugin__tool").await.expect("there is no other host");
    assert_eq!(one.calls(), 1);
}

#[tokio::test]
async fn a_session_whose_home_let_it_go_gets_another_one() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    assert_eq!(one.calls(), 2);
    one.cell.let_go(std::time::Duration::ZERO).await;
    assert_eq!(one.cell.sessions(), 0);
    // The second host remembers the first one, and hears that it is wrong.
    two.call("s-1", "plugin__tool").await.expect("an answer");
    assert_eq!((one.calls(), two.calls()), (2, 1));
}

#[tokio::test]
async fn a_session_that_was_let_go_returns_to_the_host_that_has_its_files() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call_of(request("s-1", "plugin__tool"), true).await.expect("an answer");
    one.cell.let_go(std::time::Duration::ZERO).await;
    assert_eq!(one.cell.sessions(), 0);
    two.call_of(request("s-1", "plugin__tool"), true).await.expect("its files are there");
    assert_eq!((one.calls(), two.calls()), (2, 0));
    // Without its files it is free.
    assert!(test.store.drain("one", true).await.expect("it answers"));
    until("it hears of it", || one.cell.is_draining()).await;
    one.cell.let_go(std::time::Duration::ZERO).await;
    let error = two.call_of(request("s-1", "plugin__tool"), true).await.expect_err("the files are lost");
    assert_eq!(error.code, Code::Gone, "{error}");
}

#[tokio::test]
async fn calls_at_once_in_a_new_session_run_at_one_home() {
    let test = TestCell::new();
    let (one, two, three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    let hosts = [Arc::new(one), Arc::new(two), Arc::new(three)];
    for session in ["a", "b", "c"] {
        let before: Vec<_> = hosts.iter().map(|host| host.calls()).collect();
        let calls = (0..30).map(|number| {
            let host = Arc::clone(&hosts[number % 3]);
            tokio::spawn(async move { host.call(session, "plugin__tool").await })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("no panic").expect("an answer");
        }
        let mut made: Vec<_> = hosts.iter().zip(before).map(|(host, before)| host.calls() - before).collect();
        made.sort_unstable();
        assert_eq!(made, [0, 0, 30], "{session}");
    }
}

#[tokio::test]
async fn a_host_that_leaves_frees_its_sessions_at_once() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    one.cell.leave().await;
    let (tenant, session) = (TenantId::local(), "s-1".parse::<SessionId>().expect("legal"));
    until("the second host hears of it", || two.cell.forgets(&tenant, &session)).await;
    assert!(matches!(two.place("s-1", false).await, Ok(Place::Here(_))));
    let error = one.call_of(request("s-2", "plugin__tool"), false).await.expect_err("it has left");
    assert_eq!(error.code, Code::Unavailable);
}
