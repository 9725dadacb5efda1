//! Limits of front ends; they are those of the host.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use wharf::{
    Code, FrontEnd,
    front_end::{ConnectFrontEnd, FrontEndOwner},
};
use wharf_tests::{Data, Fixture, Setup, context, until};

use super::{assert_ended_by, later};

fn wanted(name: &str, tools: u64) -> ConnectFrontEnd {
    let tool = |number| json!({"name": format!("t{number}"), "description": "d", "input_schema": {"type": "object"}});
    let tools: Vec<Value> = (0..tools).map(tool).collect();
    serde_json::from_value(json!({"name": name, "tools": tools})).expect("legal")
}

fn owner(client: &str) -> FrontEndOwner {
    of_tenant("local", client)
}

fn of_tenant(tenant: &str, client: &str) -> FrontEndOwner {
    FrontEndOwner { tenant: tenant.parse().expect("legal"), client: client.to_owned() }
}

async fn host(limit: &str, value: u64) -> Fixture {
    Setup::bare().host_limit(limit, value).open_in(Data::new()).await
}

async fn connect(fixture: &Fixture, client: &str, wanted: ConnectFrontEnd) -> Result<FrontEnd, wharf::Error> {
    fixture.host.connect_front_end(&owner(client), wanted).await
}

fn refused(limit: &str, connected: Result<FrontEnd, wharf::Error>) {
    let error = connected.expect_err(limit);
    assert!(error.code == Code::Limit && error.message.contains(limit), "{error}");
}

#[tokio::test]
pub(super) async fn one_front_end_of_all_too_many_is_refused() {
    let fixture = host("front_ends", 2).await;
    let first = connect(&fixture, "a", wanted("one", 1)).await.expect("there is room");
    let _second = connect(&fixture, "b", wanted("two", 1)).await.expect("there is room");
    refused("front_ends", connect(&fixture, "c", wanted("three", 1)).await);
    drop(first);
    connect(&fixture, "c", wanted("three", 1)).await.expect("there is room again");
}

#[tokio::test]
pub(super) async fn one_front_end_of_a_tenant_too_many_is_refused_and_another_tenant_has_room() {
    let fixture = host("front_ends_per_tenant", 2).await;
    let connect = async |tenant: &str, client: &str, name: &str| {
        fixture.host.connect_front_end(&of_tenant(tenant, client), wanted(name, 1)).await
    };
    let first = connect("local", "a", "one").await.expect("there is room");
    let _second = connect("local", "b", "two").await.expect("there is room");
    refused("front_ends_per_tenant", connect("local", "c", "three").await);
    let _other = connect("other", "c", "three").await.expect("another tenant has room");
    let replaced = ConnectFrontEnd { replace: true, ..wanted("one", 1) };
    let _replaced = fixture.host.connect_front_end(&owner("a"), replaced).await.expect("it takes no further place");
    drop(first);
    refused("front_ends_per_tenant", connect("local", "c", "three").await);
}

#[tokio::test]
pub(super) async fn calls_that_wait_for_front_ends_are_bounded_by_session_tenant_and_host() {
    for (limit, full, free) in [
        ("front_end_waiting_calls_per_session", ("local", "s"), ("local", "t")),
        ("front_end_waiting_calls_per_tenant", ("local", "t"), ("other", "s")),
        ("front_end_waiting_calls", ("other", "s"), ("local", "s")),
    ] {
        let fixture = host(limit, 1).await;
        let mut connected = Vec::new();
        for tenant in ["local", "other"] {
            let wanted = wanted("one", 1);
            connected
                .push(fixture.host.connect_front_end(&of_tenant(tenant, "a"), wanted).await.expect("there is room"));
        }
        let running = fixture.start(&context("local", "s"), "app_one__t0", json!({}));
        let number = connected[0].next().await.expect("connected").number();
        let refused = fixture.call_in(&context(full.0, full.1), "app_one__t0", json!({})).await;
        assert_ended_by(limit, Code::Limit, refused);
        if limit == "front_end_waiting_calls" {
            connected[0].answer(number, serde_json::from_value(json!({})).expect("legal")).expect("it waits");
        }
        let front_end = usize::from(free.0 == "other");
        let other = fixture.start(&context(free.0, free.1), "app_one__t0", json!({}));
        let number = connected[front_end].next().await.expect("there is room").number();
        connected[front_end].answer(number, serde_json::from_value(json!({})).expect("legal")).expect("it waits");
        other.outcome().await.expect("answered");
        drop((running, connected));
    }
}

#[tokio::test]
pub(super) async fn one_front_end_of_a_client_too_many_is_refused() {
    let fixture = host("front_ends_per_client", 1).await;
    let first = connect(&fixture, "a", wanted("one", 1)).await.expect("there is room");
    refused("front_ends_per_client", connect(&fixture, "a", wanted("two", 1)).await);
    let _other = connect(&fixture, "b", wanted("two", 1)).await.expect("another client has room");
    let replaced = connect(&fixture, "a", ConnectFrontEnd { replace: true, ..wanted("one", 1) });
    let _replaced = replaced.await.expect("it takes no further place");
    drop(first);
    refused("front_ends_per_client", connect(&fixture, "a", wanted("three", 1)).await);
}

#[tokio::test]
pub(super) async fn one_tool_of_a_front_end_too_many_is_refused() {
    let fixture = host("front_end_tools", 3).await;
    refused("front_end_tools", connect(&fixture, "a", wanted("one", 4)).await);
    connect(&fixture, "a", wanted("one", 3)).await.expect("so many may be");
}

#[tokio::test]
pub(super) async fn one_byte_of_a_front_end_too_many_is_refused() {
    let wanted = wanted("one", 3);
    let bytes = serde_json::to_string(&wanted.tools).expect("JSON").len() as u64;
    refused("front_end_bytes", connect(&host("front_end_bytes", bytes - 1).await, "a", wanted.clone()).await);
    connect(&host("front_end_bytes", bytes).await, "a", wanted).await.expect("so much may be said");
}

#[tokio::test]
pub(super) async fn one_call_of_a_front_end_too_many_is_refused() {
    let fixture = host("front_end_calls", 1).await;
    let mut front_end = connect(&fixture, "a", wanted("one", 1)).await.expect("legal");
    let running = fixture.start(&context("local", "s"), "app_one__t0", json!({}));
    let number = front_end.next().await.expect("connected").number();
    assert_ended_by("front_end_calls", Code::Limit, fixture.call("app_one__t0", json!({})).await);
    front_end.answer(number, serde_json::from_value(json!({})).expect("legal")).expect("it waits");
    running.outcome().await.expect("answered");
    let running = fixture.start(&context("local", "s"), "app_one__t0", json!({}));
    assert!(front_end.next().await.is_some(), "there is room again");
    drop(front_end);
    assert_eq!(running.outcome().await.expect_err("gone").code, Code::Gone);
}

#[tokio::test]
pub(super) async fn a_front_end_that_nobody_follows_is_gone() {
    let fixture = host("front_end_silent_milliseconds", 600_000).await;
    let (service, owner) = (fixture.host.front_end_service(), owner("a"));
    let id = service.connect(&owner, wanted("one", 1)).await.expect("legal").front_end;
    let running = fixture.start(&context("local", "s"), "app_one__t0", json!({}));
    fixture.load_is(1, 0).await;
    let is_there = || service.list(&owner).now_or_never().expect("a host alone waits for nobody").len() == 1;
    // A call has a time limit of its own, which is not tested here.
    drop(running);
    later(500).await;
    assert!(is_there());
    assert!(service.events(&owner, &id, 0, Duration::ZERO).await.expect("there").is_some(), "it asks");
    later(500).await;
    assert!(is_there(), "it was heard of");
    later(200).await;
    until("it is gone", || !is_there()).await;
    assert_eq!(service.events(&owner, &id, 0, Duration::ZERO).await.expect_err("gone").code, Code::NotFound);
    assert_eq!(fixture.call("app_one__t0", json!({})).await.expect_err("gone").code, Code::NotFound);
}
