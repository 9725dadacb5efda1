use super::*;
use std::time::Duration;
use wharf_test_support::soon;

fn context(tenant: &str, session: &str) -> Context {
    Context::new(tenant.parse().expect("legal"), session.parse().expect("legal"))
}

fn limits() -> HostLimits {
    HostLimits {
        calls_in_flight: 4,
        calls_in_flight_per_tenant: 3,
        calls_in_flight_per_session: 2,
        calls_waiting: 10,
        calls_waiting_per_session: 5,
        waiting_bytes: 1_000,
        ..HostLimits::default()
    }
}

/// Starts waiting, and returns once the call is in the queue.
async fn waiting(
    admission: &Admission,
    context: &Context,
    bytes: u64,
) -> tokio::task::JoinHandle<Result<Permit, Error>> {
    let (_, before) = admission.load();
    let (of_task, context) = (admission.clone(), context.clone());
    let task = tokio::spawn(async move { of_task.admit(&context, bytes, soon()).await });
    while admission.load().1 == before && !task.is_finished() {
        tokio::task::yield_now().await;
    }
    task
}

#[tokio::test]
async fn each_ceiling_holds_and_a_freed_place_is_taken() {
    let admission = Admission::new(limits());
    let (one, two) = (context("t", "one"), context("t", "two"));
    let first = admission.admit(&one, 0, soon()).await.expect("a place");
    let second = admission.admit(&one, 0, soon()).await.expect("a place");
    let of_session = waiting(&admission, &one, 0).await;
    let third = admission.admit(&two, 0, soon()).await.expect("another session has places");
    let of_tenant = waiting(&admission, &two, 0).await;
    let _other = admission.admit(&context("u", "one"), 0, soon()).await.expect("another tenant has places");
    let of_host = waiting(&admission, &context("u", "two"), 0).await;
    assert_eq!(admission.load(), (4, 3));
    // The host's place goes to the tenant that waited for it first.
    drop(third);
    let _host = of_host.await.expect("runs").expect("the host's place");
    drop((first, second));
    let _tenant = of_tenant.await.expect("runs").expect("the tenant's place");
    let _session = of_session.await.expect("runs").expect("the session's place");
    assert_eq!(admission.load(), (4, 0));
}

#[tokio::test]
async fn free_places_go_round_the_contexts_that_wait() {
    let admission = Admission::new(HostLimits { calls_in_flight: 1, ..limits() });
    let running = admission.admit(&context("t", "first"), 0, soon()).await.expect("a place");
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for session in ["busy", "busy", "busy", "quiet"] {
        let (_, before) = admission.load();
        let (of_task, order) = (admission.clone(), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let permit = of_task.admit(&context("t", session), 0, soon()).await.expect("a place");
            order.lock().push(session);
            drop(permit);
        }));
        while admission.load().1 == before {
            tokio::task::yield_now().await;
        }
    }
    drop(running);
    for task in tasks {
        task.await.expect("runs");
    }
    assert_eq!(*order.lock(), ["busy", "quiet", "busy", "busy"]);
    assert_eq!(admission.load(), (0, 0));
    assert!(admission.queue.lock().tenants.is_empty(), "nothing is remembered of contexts that left");
}

#[tokio::test]
async fn a_full_queue_refuses_and_those_that_gave_up_do_not_fill_it() {
    let admission = Admission::new(HostLimits { calls_in_flight: 1, ..limits() });
    let running = admission.admit(&context("t", "a"), 0, soon()).await.expect("a place");
    let mut tasks = Vec::new();
    for _ in 0..5 {
        tasks.push(waiting(&admission, &context("t", "a"), 10).await);
    }
    let refused = admission.admit(&context("t", "a"), 10, soon()).await.expect_err("five wait already");
    assert_eq!((refused.code, refused.retryable), (Code::Limit, true));
    let refused = admission.admit(&context("t", "b"), 2_000, soon()).await.expect_err("too many bytes");
    assert_eq!(refused.code, Code::Limit);
    for task in &tasks {
        task.abort();
    }
    for task in tasks {
        assert!(task.await.is_err());
    }
    assert_eq!(admission.load(), (1, 0), "whoever gave up has left the queue");
    let next = waiting(&admission, &context("t", "a"), 10).await;
    drop(running);
    drop(next.await.expect("runs").expect("its turn comes"));
    assert_eq!(admission.load(), (0, 0));
}

#[tokio::test]
async fn a_turn_that_does_not_come_in_time_is_a_limit() {
    let admission = Admission::new(HostLimits { calls_in_flight: 1, ..limits() });
    let _running = admission.admit(&context("t", "a"), 0, soon()).await.expect("a place");
    let until = Instant::now() + Duration::from_millis(20);
    let refused = admission.admit(&context("t", "b"), 0, until).await.expect_err("too late");
    assert_eq!((refused.code, refused.retryable), (Code::Limit, true));
}
