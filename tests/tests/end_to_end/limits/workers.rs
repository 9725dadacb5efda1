//! Limits of the processes that run plugins.

use serde_json::json;
use wharf::Code;
use wharf_tests::{Fixture, Running, Setup, context, found, until};

use super::assert_ended_by;
use crate::isolation::{alone, isolated, workers};

/// A call that waits until it is cancelled.
fn endless(fixture: &Fixture, tenant: &str) -> Running {
    fixture.start(&context(tenant, "s"), "hostile__sleep_forever", json!({}))
}

async fn works_for(fixture: &Fixture, tenant: &str) {
    fixture.call_in(&context(tenant, "s"), "echo__echo", json!({"text": "here"})).await.expect("it works");
}

#[tokio::test]
pub(super) async fn one_process_of_plugins_too_many_takes_the_place_of_one_without_a_call_or_is_refused() {
    let _alone = alone().await;
    let fixture = isolated("").host_limit("workers", 2).open().await;
    let [ours] = workers()[..] else { panic!("one process: {:?}", workers()) };
    let theirs = endless(&fixture, "theirs");
    until("there are two", || workers().len() == 2).await;
    // Ours has no call.
    works_for(&fixture, "third").await;
    assert!(workers().len() == 2 && !workers().contains(&ours), "{ours} of {:?}", workers());
    let third = endless(&fixture, "third");
    fixture.load_is(2, 0).await;
    let refused = fixture.call("echo__echo", json!({"text": "nobody"})).await;
    assert_ended_by("workers", Code::Limit, refused);
    third.cancel.cancel();
    third.outcome().await.expect_err("cancelled");
    fixture.works().await;
    assert!(!theirs.is_over(), "no call of another tenant gave way");
}

#[tokio::test]
pub(super) async fn one_process_of_a_tenant_too_many_is_refused_and_another_tenant_has_room() {
    let _alone = alone().await;
    let fixture = isolated("by = \"plugin\"").host_limit("workers_per_tenant", 1).open().await;
    let running = endless(&fixture, "local");
    fixture.load_is(1, 0).await;
    until("it has its process", || workers().len() == 1).await;
    let refused = fixture.call("echo__echo", json!({"text": "nobody"})).await;
    assert_ended_by("workers_per_tenant", Code::Limit, refused);
    works_for(&fixture, "theirs").await;
    running.cancel.cancel();
    running.outcome().await.expect_err("cancelled");
    fixture.works().await;
}

#[tokio::test]
pub(super) async fn a_process_of_plugins_gets_no_more_memory_than_it_may_have() {
    let _alone = alone().await;
    let wanted = 512_u64 << 20;
    let got = async |setup: Setup| {
        let fixture = setup.limit("memory_bytes", 1 << 30).open().await;
        let outcome = fixture.call("hostile__allocate", json!({"bytes": wanted})).await;
        fixture.works().await;
        outcome.map(|answer| found(Ok(answer))["got"].as_u64().expect("a number"))
    };
    assert_eq!(got(isolated("")).await.expect("it has room"), wanted);
    // A call may be over before the host has looked; a few are not.
    for _ in 0..100 {
        if let Err(error) = got(isolated("").host_limit("worker_memory_bytes", 128 << 20)).await {
            assert!(error.message.contains("worker_memory_bytes") || error.message.contains("signal 9"), "{error}");
            return;
        }
    }
    panic!("no process had too much memory");
}

#[tokio::test]
pub(super) async fn a_process_of_plugins_that_has_computed_too_long_ends_and_the_next_call_has_a_new_one() {
    let _alone = alone().await;
    let setup = isolated("").host_limit("worker_cpu_seconds", 1).limit("cpu_time_milliseconds", 20_000);
    let fixture = setup.limit("wall_time_milliseconds", 60_000).open().await;
    let lost = fixture.call("hostile__spin", json!({})).await.expect_err("it computes too long");
    assert!(lost.message.contains("the process that ran this call is gone: signal"), "{lost}");
    fixture.works().await;
}

#[tokio::test]
pub(super) async fn a_process_of_plugins_without_a_call_ends() {
    let _alone = alone().await;
    let fixture = isolated("").host_limit("worker_idle_seconds", 1).open().await;
    until("it has ended", || workers().is_empty()).await;
    fixture.works().await;
}
