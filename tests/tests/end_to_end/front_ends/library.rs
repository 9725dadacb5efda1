//! A front end that an app connects over a channel of its own.

use std::time::Duration;

use serde_json::json;
use wharf::{
    Code, FrontEnd, ToolService, Viewer,
    front_end::{AnswerCall, FrontEndCall, FrontEndEvent},
};
use wharf_tests::{Data, Fixture, Setup, context, viewer};

use super::{local, owner, tool, wanted};

async fn host() -> Fixture {
    Setup::bare().open_in(Data::new()).await
}

/// What it is told next.
async fn next(front_end: &mut FrontEnd) -> Option<FrontEndEvent> {
    tokio::time::timeout(Duration::from_secs(60), front_end.next()).await.expect("in time")
}

async fn asked(front_end: &mut FrontEnd) -> FrontEndCall {
    match next(front_end).await {
        Some(FrontEndEvent::Call(call)) => call,
        other => panic!("no call: {other:?}"),
    }
}

fn says(text: &str) -> AnswerCall {
    serde_json::from_value(json!({"content": [{"text": text}]})).expect("legal")
}

#[tokio::test]
async fn a_window_serves_calls_of_its_tenant_alone_under_their_context() {
    let fixture = host().await;
    let mut window =
        fixture.host.connect_front_end(&owner("a", "w"), wanted("editor", [tool("t")])).await.expect("legal");
    assert_eq!(window.tools().collect::<Vec<_>>(), ["app_editor__t"]);
    let name = "app_editor__t";
    let mut context_of_a = context("a", "s-1");
    context_of_a.thread = Some("t-1".parse().expect("legal"));
    let running = fixture.start(&context_of_a, name, json!({"x": 1}));
    let call = asked(&mut window).await;
    assert_eq!((call.session.as_str(), call.thread.as_ref().map(|id| id.as_str())), ("s-1", Some("t-1")));
    window.answer(call.number, says("yes")).expect("it waits");
    assert_eq!(running.outcome().await.expect("answered").content[0].as_text(), Some("yes"));

    let refused = fixture.call_in(&context("b", "s-1"), name, json!({})).await.expect_err("another tenant");
    assert_eq!(refused.code, Code::NotFound, "{refused}");
    let names = |tenant: &str| -> Vec<_> {
        let tenant = tenant.parse().expect("legal");
        fixture.host.tools(Viewer::of_tenant(&tenant)).iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!((names("a"), names("b")), (vec![name.to_owned()], Vec::new()));
    assert!(fixture.host.tools(viewer()).is_empty(), "a tenant without front ends has no tool of another one");

    drop(window);
    assert_eq!(names("a"), Vec::<String>::new());
    let gone = fixture.call_in(&context("a", "s-1"), name, json!({})).await.expect_err("gone");
    assert_eq!(gone.code, Code::NotFound, "{gone}");
}

#[tokio::test]
async fn one_tenant_hears_once_of_each_change_and_the_others_of_none() {
    let fixture = host().await;
    let listening = |tenant: &str| fixture.host.changes(&tenant.parse().expect("legal")).expect("told");
    let (mut a, b, local) = (listening("a"), listening("b"), listening("local"));
    let told = |a: &mut tokio::sync::watch::Receiver<u64>| {
        let before = *a.borrow_and_update();
        move |a: &mut tokio::sync::watch::Receiver<u64>| *a.borrow_and_update() - before
    };
    let since = told(&mut a);
    let wanted_again = || {
        let mut again = wanted("editor", [tool("t"), tool("u")]);
        again.replace = true;
        again
    };
    let first = fixture.host.connect_front_end(&owner("a", "w"), wanted_again()).await.expect("legal");
    assert_eq!(since(&mut a), 1);
    let mut first = first;
    let second = fixture.host.connect_front_end(&owner("a", "w"), wanted_again()).await.expect("it takes the place");
    assert_eq!(since(&mut a), 1, "the list is as it was");
    assert_eq!(next(&mut first).await, None, "its place is taken");
    drop(first);
    assert_eq!(since(&mut a), 1, "who was replaced takes nothing away");
    drop(second);
    assert_eq!(since(&mut a), 2);
    assert!(!b.has_changed().expect("open") && !local.has_changed().expect("open"));
}

#[tokio::test]
async fn a_dropped_call_is_told_and_a_dropped_window_ends_its_calls() {
    let fixture = host().await;
    let mut window = fixture.host.connect_front_end(&local("w"), wanted("editor", [tool("t")])).await.expect("legal");
    let running = fixture.start(&context("local", "s"), "app_editor__t", json!({}));
    let call = asked(&mut window).await;
    running.drop_it().await;
    match next(&mut window).await {
        Some(FrontEndEvent::Cancel(cancel)) => assert_eq!((cancel.call, cancel.reason), (call.number, "cancelled")),
        other => panic!("not told: {other:?}"),
    }
    assert_eq!(window.answer(call.number, says("late")).expect_err("late").code, Code::Gone);
    // A call whose client left before it was told needs no word.
    let running = fixture.start(&context("local", "s"), "app_editor__t", json!({}));
    fixture.load_is(1, 0).await;
    running.drop_it().await;
    let running = fixture.start(&context("local", "s"), "app_editor__t", json!({"n": 3}));
    assert_eq!(asked(&mut window).await.arguments["n"], 3);
    drop(window);
    let ended = running.outcome().await.expect_err("nobody is there");
    assert!(ended.code == Code::Gone && ended.message.contains("disconnected"), "{ended}");
    fixture.load_is(0, 0).await;
}

#[tokio::test]
async fn two_hosts_have_nothing_of_each_other_and_a_host_that_ends_says_so() {
    let (one, other) = (host().await, host().await);
    let mut window = one.host.connect_front_end(&local("w"), wanted("editor", [tool("t")])).await.expect("legal");
    let unknown = other.call("app_editor__t", json!({})).await.expect_err("of the other host");
    assert_eq!(unknown.code, Code::NotFound);
    drop(
        other.host.connect_front_end(&local("w"), wanted("editor", [tool("u")])).await.expect("the name is free there"),
    );
    let running = one.start(&context("local", "s"), "app_editor__t", json!({}));
    asked(&mut window).await;
    one.host.shut_down(Duration::ZERO).await;
    assert_eq!(running.outcome().await.expect_err("ended").code, Code::Gone);
    assert_eq!(next(&mut window).await, None);
    drop(one);
    assert_eq!(window.answer(1, says("late")).expect_err("ended").code, Code::Conflict);
}
