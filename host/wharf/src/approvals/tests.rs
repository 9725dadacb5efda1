//! Calls that wait, as hosts and people see them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::task::JoinHandle;
use wharf_core::service::Caller;
use wharf_test_support::until;

use super::*;

/// A context of this tenant and session.
fn context(tenant: &str, session: &str) -> Context {
    Context::new(tenant.parse().expect("legal"), session.parse().expect("legal"))
}

/// Words that the audit would hear.
type Heard = Arc<Mutex<Vec<&'static str>>>;

struct Call {
    running: JoinHandle<Result<(), Error>>,
    heard: Heard,
    caller: Arc<Caller>,
}

fn call(approvals: &Approvals, caller: Caller, tool: &'static str, wait: Duration) -> Call {
    let (approvals, caller, heard) = (approvals.clone(), Arc::new(caller), Heard::default());
    let (of_call, told) = (Arc::clone(&caller), Arc::clone(&heard));
    let running = tokio::spawn(async move {
        let asked = AskedCall {
            tool,
            plugin: "workspace".parse().expect("legal"),
            digest: None,
            caller: &of_call,
            arguments: r#"{"command": "rm -r ."}"#,
            act: None,
            wait,
        };
        let told = |outcome: Option<Approval>| told.lock().push(outcome.map_or("asked", Approval::as_str));
        approvals.wait(asked, told).await
    });
    Call { running, heard, caller }
}

const LONG: Duration = Duration::from_secs(600);

fn of(approvals: &Approvals, tenant: &str, session: &str) -> Call {
    call(approvals, Caller::new(context(tenant, session)), "workspace__execute_shell", LONG)
}

async fn waits(approvals: &Approvals, count: usize) -> Vec<WaitingCall> {
    until("calls wait", || approvals.waiting().len() == count).await;
    approvals.waiting()
}

#[tokio::test]
async fn a_call_runs_once_it_is_allowed_and_not_before() {
    let approvals = Approvals::new(&HostLimits::default());
    let first = of(&approvals, "a", "s-1");
    let waiting = waits(&approvals, 1).await.remove(0);
    assert!(!first.running.is_finished());
    assert_eq!((waiting.tool.as_str(), waiting.argument_bytes), ("workspace__execute_shell", 22));
    let answered = approvals.answer(&waiting.id, ApprovalAnswer::Once).expect("it waits");
    assert_eq!((answered.tenant.as_str(), answered.session.as_str()), ("a", "s-1"));
    first.running.await.expect("no panic").expect("it runs");
    assert_eq!(*first.heard.lock(), ["asked", "allowed"]);
    assert!(approvals.answer(&waiting.id, ApprovalAnswer::Once).is_none(), "it is answered once");
    for id in ["", "1", "zzzzzzzz", "00000000000", "+1234567"] {
        assert!(approvals.answer(id, ApprovalAnswer::Once).is_none(), "{id}");
    }
    // The next one waits again.
    let second = of(&approvals, "a", "s-1");
    let id = waits(&approvals, 1).await.remove(0).id;
    approvals.answer(&id, ApprovalAnswer::Refuse("not now".to_owned()));
    let refused = second.running.await.expect("no panic").expect_err("it is refused");
    assert!(refused.code == Code::Denied && refused.message.ends_with("not run: not now"), "{refused}");
    assert_eq!(*second.heard.lock(), ["asked", "refused"]);
}

#[tokio::test]
async fn what_is_allowed_for_a_session_holds_for_that_tool_in_that_session_alone() {
    let approvals = Approvals::new(&HostLimits::default());
    let first = of(&approvals, "a", "s-1");
    let id = waits(&approvals, 1).await.remove(0).id;
    approvals.answer(&id, ApprovalAnswer::Session);
    first.running.await.expect("no panic").expect("it runs");
    let again = of(&approvals, "a", "s-1");
    again.running.await.expect("no panic").expect("it is remembered");
    assert!(again.heard.lock().is_empty());
    let others = [
        of(&approvals, "a", "s-2"),
        of(&approvals, "b", "s-1"),
        call(&approvals, Caller::new(context("a", "s-1")), "workspace__write_file", LONG),
    ];
    waits(&approvals, others.len()).await;
    assert!(others.iter().all(|other| !other.running.is_finished()));
}

#[tokio::test]
async fn a_call_that_nobody_allows_is_refused_and_one_that_is_given_up_waits_no_more() {
    let approvals = Approvals::new(&HostLimits::default());
    let short = call(&approvals, Caller::new(context("a", "s-1")), "t", Duration::from_millis(20));
    let error = short.running.await.expect("no panic").expect_err("nobody came");
    assert!(error.code == Code::Denied && error.message.contains("`wait_seconds`"), "{error}");
    assert_eq!(*short.heard.lock(), ["asked", "timed-out"]);
    let cancelled = of(&approvals, "a", "s-1");
    waits(&approvals, 1).await;
    cancelled.caller.cancel.cancel();
    let error = cancelled.running.await.expect("no panic").expect_err("it is cancelled");
    assert_eq!((error.code, approvals.waiting().len()), (Code::Cancelled, 0));
    assert_eq!(*cancelled.heard.lock(), ["asked", "withdrawn"]);
    let dropped = of(&approvals, "a", "s-1");
    waits(&approvals, 1).await;
    dropped.running.abort();
    waits(&approvals, 0).await;
    until("the audit hears of it", || *dropped.heard.lock() == ["asked", "withdrawn"]).await;
}

#[tokio::test]
async fn sessions_and_tenants_leave_each_other_room() {
    let mut limits = HostLimits::default();
    for (name, value) in
        [("waiting_approvals_per_session", 1), ("waiting_approvals_per_tenant", 2), ("waiting_approvals", 3)]
    {
        limits.set(name, value).expect("legal");
    }
    let approvals = Approvals::new(&limits);
    let limit = async |call: Call| call.running.await.expect("no panic").expect_err("it is too much").message;
    let _first = of(&approvals, "a", "s-1");
    waits(&approvals, 1).await;
    let told = limit(of(&approvals, "a", "s-1")).await;
    assert!(told.contains("`waiting_approvals_per_session`"), "{told}");
    let second = of(&approvals, "a", "s-2");
    waits(&approvals, 2).await;
    let told = limit(of(&approvals, "a", "s-3")).await;
    assert!(told.contains("`waiting_approvals_per_tenant`"), "{told}");
    let _third = of(&approvals, "b", "s-1");
    waits(&approvals, 3).await;
    let told = limit(of(&approvals, "c", "s-1")).await;
    assert!(told.contains("`waiting_approvals`"), "{told}");
    // Places come back.
    second.running.abort();
    waits(&approvals, 2).await;
    let _again = of(&approvals, "a", "s-3");
    waits(&approvals, 3).await;
}

#[tokio::test]
async fn calls_that_no_rule_asks_for_any_more_run() {
    let approvals = Approvals::new(&HostLimits::default());
    let freed = of(&approvals, "a", "s-1");
    let other = call(&approvals, Caller::new(context("a", "s-1")), "other", LONG);
    waits(&approvals, 2).await;
    approvals.reconsider(|call| call.tool == "other");
    freed.running.await.expect("no panic").expect("it runs");
    assert_eq!(*freed.heard.lock(), ["asked", "allowed-by-rule"]);
    assert!(!other.running.is_finished() && approvals.waiting().len() == 1);
}

#[tokio::test]
async fn a_client_hears_that_a_person_is_waited_for_and_changes_are_told() {
    struct Heard(AtomicBool);
    impl wharf_core::EventSink for Heard {
        fn progress(&self, _: f64, _: Option<f64>, message: Option<&str>) {
            self.0.store(message.is_some_and(|message| message.contains("a person")), Ordering::SeqCst);
        }
        fn message(&self, _: wharf_core::service::Level, _: serde_json::Value) {}
    }
    let approvals = Approvals::new(&HostLimits::default());
    let (heard, told) = (Arc::new(Heard(AtomicBool::new(false))), Arc::new(AtomicUsize::new(0)));
    let mut changes = approvals.changes();
    let count = Arc::clone(&told);
    tokio::spawn(async move {
        while changes.changed().await.is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut caller = Caller::new(context("a", "s-1"));
    caller.events = Some(heard.clone());
    let running = call(&approvals, caller, "t", LONG);
    until("it is heard", || heard.0.load(Ordering::SeqCst) && told.load(Ordering::SeqCst) > 0).await;
    let before = told.load(Ordering::SeqCst);
    approvals.answer(&approvals.waiting()[0].id, ApprovalAnswer::Once);
    running.running.await.expect("no panic").expect("it runs");
    until("the change is told", || told.load(Ordering::SeqCst) > before).await;
}

#[tokio::test]
async fn long_arguments_are_shown_by_their_beginning() {
    let approvals = Approvals::new(&HostLimits::default());
    let arguments = "ä".repeat(MOST_SHOWN);
    let caller = Caller::new(context("a", "s-1"));
    let asked = AskedCall {
        tool: "t",
        plugin: "workspace".parse().expect("legal"),
        digest: None,
        caller: &caller,
        arguments: &arguments,
        act: None,
        wait: LONG,
    };
    let looked = async {
        let waiting = waits(&approvals, 1).await.remove(0);
        assert_eq!((waiting.arguments.len(), waiting.argument_bytes), (MOST_SHOWN, 2 * MOST_SHOWN as u64));
        approvals.answer(&waiting.id, ApprovalAnswer::Once);
    };
    let (ran, ()) = tokio::join!(approvals.wait(asked, |_| ()), looked);
    ran.expect("it runs");
}
