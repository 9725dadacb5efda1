//! How calls end that do not end by themselves, and what is left of them.

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use wharf::{AppCall, AppTool, Code};
use wharf_tests::{Setup, context, until};

use super::{anything, saying, waiting};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_panics_ends_its_own_call_and_no_other() {
    let fixture = Setup::new().open().await;
    let inside = AppTool::new("inside", "Panics.", anything(), |call: AppCall| async move {
        if call.arguments.is_empty() {
            panic!("the secret reason");
        }
        Ok(super::says("calm"))
    });
    let before = AppTool::new("before", "Panics.", anything(), |_: AppCall| {
        panic!("the secret reason");
        #[expect(unreachable_code, reason = "says what the closure would return")]
        async {
            Ok(super::says(""))
        }
    });
    fixture.host.register_tool(inside).expect("legal");
    fixture.host.register_tool(before).expect("legal");
    for name in ["app__inside", "app__before"] {
        let error = fixture.call(name, json!({})).await.expect_err("panics");
        assert!(error.code == Code::Internal && !error.message.contains("secret"), "{error}");
        fixture.load_is(0, 0).await;
    }
    fixture.call("app__inside", json!({"x": 1})).await.expect("the next call is none the worse");
    fixture.works().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_tool_ends_with_its_time() {
    let setup = Setup::new().limit("wall_time_milliseconds", 20).limit("wall_time_ceiling_milliseconds", 60);
    let fixture = setup.open_in(wharf_tests::Data::new()).await;
    let second = Duration::from_secs(1);
    for (name, own, told) in [
        ("usual", None, "20 ms and was stopped (limit `wall_time_milliseconds`)"),
        ("own", Some(Duration::from_millis(40)), "40 ms and was stopped (the tool's own declaration)"),
        ("long", Some(second), "60 ms and was stopped (limit `wall_time_ceiling_milliseconds`)"),
    ] {
        let (tool, mut wait) = waiting(name, "never");
        let tool = if let Some(own) = own { tool.with_time_limit(own) } else { tool };
        let name = fixture.host.register_tool(tool).expect("legal");
        let error = fixture.call(&name, json!({})).await.expect_err("endless");
        assert!(error.code == Code::Timeout && error.message.contains(told), "{error}");
        // Its place is given back after it is gone. On a busy machine it may not
        // have begun.
        fixture.load_is(0, 0).await;
        let seen: Vec<_> = std::iter::from_fn(|| wait.seen.try_recv().ok()).collect();
        assert!(seen.is_empty() || seen == ["began", "dropped"], "{seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_knows_when_its_time_is_over_and_that_this_is_when_it_ends() {
    let fixture = Setup::new().open().await;
    let (tell, told) = mpsc::channel();
    let tool = AppTool::new("slow", "Never answers.", anything(), move |call: AppCall| {
        tell.send(call.deadline).expect("somebody listens");
        std::future::pending()
    });
    let limit = Duration::from_millis(100);
    let began = Instant::now();
    let name = fixture.host.register_tool(tool.with_time_limit(limit)).expect("legal");
    assert_eq!(fixture.call(&name, json!({})).await.expect_err("too late").code, Code::Timeout);
    let deadline = told.try_recv().expect("it was called");
    assert!(began + limit <= deadline && deadline <= Instant::now(), "{:?}", deadline - began);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_is_given_up_and_keeps_its_place_until_it_comes_back() {
    let fixture = Setup::new().open().await;
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = std::sync::Mutex::new(blocked);
    let blocking = AppTool::new("blocking", "Blocks.", anything(), move |_: AppCall| {
        let _ = blocked.lock().expect("not poisoned").recv();
        async { Ok(super::says("too late")) }
    });
    // Long enough to begin on any machine.
    let name = fixture.host.register_tool(blocking.with_time_limit(Duration::from_secs(2))).expect("legal");
    let call = fixture.start(&context("local", "test"), &name, json!({}));
    assert_eq!(call.outcome().await.expect_err("given up").code, Code::Timeout);
    assert_eq!(fixture.host.load(), (1, 0), "it still runs");
    release.send(()).expect("it waits");
    fixture.load_is(0, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_taken_back_or_dropped_takes_its_tool_with_it() {
    let fixture = Setup::new().open().await;
    let (tool, mut wait) = waiting("wait", "never");
    let name = fixture.host.register_tool(tool).expect("legal");
    let test = context("local", "test");
    let cancelled = fixture.start(&test, &name, json!({}));
    wait.until("began").await;
    cancelled.cancel.cancel();
    assert_eq!(cancelled.outcome().await.expect_err("taken back").code, Code::Cancelled);
    wait.until("dropped").await;
    let dropped = fixture.start(&test, &name, json!({}));
    wait.until("began").await;
    dropped.drop_it().await;
    wait.until("dropped").await;
    fixture.load_is(0, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tool_started_elsewhere_hears_that_the_call_is_over() {
    let fixture = Setup::new().open().await;
    let started: Arc<std::sync::Mutex<Option<CancellationToken>>> = Arc::default();
    let kept = Arc::clone(&started);
    let tool = AppTool::new("start", "Starts something.", anything(), move |call: AppCall| {
        *kept.lock().expect("not poisoned") = Some(call.ended.clone());
        async move {
            if call.arguments.contains_key("wait") {
                std::future::pending::<()>().await;
            }
            Ok(super::says("started"))
        }
    });
    let name = fixture.host.register_tool(tool).expect("legal");
    let ended = || started.lock().expect("not poisoned").clone();
    fixture.call(&name, json!({})).await.expect("answers");
    assert!(ended().is_some_and(|ended| ended.is_cancelled()));
    *started.lock().expect("not poisoned") = None;
    let call = fixture.start(&context("local", "test"), &name, json!({"wait": true}));
    until("the tool runs", || ended().is_some()).await;
    assert!(ended().is_some_and(|ended| !ended.is_cancelled()));
    call.drop_it().await;
    until("the call is over", || ended().is_some_and(|ended| ended.is_cancelled())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_finishes_with_the_tool_that_it_began_with() {
    let fixture = Setup::new().open().await;
    let (tool, mut wait) = waiting("wait", "from the first");
    let name = fixture.host.register_tool(tool).expect("legal");
    let call = fixture.start(&context("local", "test"), &name, json!({}));
    wait.until("began").await;
    assert!(fixture.host.unregister_tool(&name) && !fixture.host.unregister_tool(&name));
    assert_eq!(fixture.call(&name, json!({})).await.expect_err("removed").code, Code::NotFound);
    fixture.host.register_tool(saying("wait", "from the second")).expect("the name is free again");
    let second = fixture.call(&name, json!({})).await.expect("answers");
    assert_eq!(second.content[0].as_text(), Some("from the second"));
    wait.release.notify_one();
    let first = call.outcome().await.expect("finishes");
    assert_eq!(first.content[0].as_text(), Some("from the first"));
}

#[tokio::test]
async fn a_removed_tool_may_ask_the_host_while_it_is_dropped() {
    struct Asking(wharf::Host);
    impl Drop for Asking {
        fn drop(&mut self) {
            self.0.unregister_tool("app__other");
        }
    }
    let fixture = Setup::new().open().await;
    let asking = Asking(fixture.host.clone());
    let tool = AppTool::new("asking", "Asks.", anything(), move |_: AppCall| {
        let _kept = &asking;
        async { Ok(super::says("asked")) }
    });
    fixture.host.register_tool(tool).expect("legal");
    fixture.host.register_tool(saying("other", "x")).expect("legal");
    assert!(fixture.host.unregister_tool("app__asking"));
    assert_eq!(fixture.call("app__other", json!({})).await.expect_err("removed, too").code, Code::NotFound);
}
