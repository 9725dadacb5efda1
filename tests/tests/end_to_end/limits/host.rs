//! Limits of the host as a whole.

use serde_json::{Value, json};
use wharf::{Code, Context, OfferService as _};
use wharf_tests::{Data, Fixture, Running, Setup, bytes, component, context, found, until};

use super::{
    Tested, answers, assert_ended_by, front_end, handles, json as json_limits, later, schema, waiting, workers,
};
use crate::{
    cluster::front_ends as copies,
    offers::{asking, attacker},
};

pub(super) const TESTED: Tested = &[
    ("component_bytes", a_component_of_one_byte_too_many_is_not_loaded),
    ("compile_milliseconds", a_component_that_takes_too_long_to_compile_is_not_loaded),
    ("compile_memory_bytes", a_component_that_needs_too_much_memory_to_compile_is_not_loaded),
    ("stack_bytes", a_stack_that_grows_too_deep_ends_the_call),
    ("calls_in_flight", calls_beyond_the_hosts_places_wait),
    ("calls_in_flight_per_tenant", calls_beyond_a_tenants_places_wait_and_other_tenants_do_not),
    ("calls_in_flight_per_session", calls_beyond_a_sessions_places_wait_and_other_sessions_do_not),
    ("calls_waiting", one_waiting_call_too_many_is_refused),
    ("calls_waiting_per_session", one_waiting_call_of_a_session_too_many_is_refused),
    ("calls_waiting_per_tenant", one_waiting_call_of_a_tenant_too_many_is_refused),
    ("waiting_bytes", waiting_calls_of_one_byte_too_many_are_refused),
    ("waiting_bytes_per_tenant", waiting_calls_of_one_byte_of_a_tenant_too_many_are_refused),
    ("waiting_approvals", waiting::calls_that_wait_for_a_person_are_bounded_by_session_tenant_and_host),
    ("waiting_approvals_per_tenant", waiting::calls_that_wait_for_a_person_are_bounded_by_session_tenant_and_host),
    ("waiting_approvals_per_session", waiting::calls_that_wait_for_a_person_are_bounded_by_session_tenant_and_host),
    ("workers", workers::one_process_of_plugins_too_many_takes_the_place_of_one_without_a_call_or_is_refused),
    ("workers_per_tenant", workers::one_process_of_a_tenant_too_many_is_refused_and_another_tenant_has_room),
    ("worker_memory_bytes", workers::a_process_of_plugins_gets_no_more_memory_than_it_may_have),
    (
        "worker_cpu_seconds",
        workers::a_process_of_plugins_that_has_computed_too_long_ends_and_the_next_call_has_a_new_one,
    ),
    ("worker_idle_seconds", workers::a_process_of_plugins_without_a_call_ends),
    ("file_handles_per_session", handles::one_handle_of_a_session_too_many_ends_the_call),
    ("file_handles_per_tenant", handles::handles_of_one_tenant_leave_those_of_another_one),
    ("file_handles", handles::one_handle_of_all_too_many_ends_the_call),
    ("checks", schema::checks_beyond_the_hosts_places_wait),
    ("checks_per_tenant", schema::checks_beyond_a_tenants_places_wait_and_another_tenants_do_not),
    ("schema_parts", schema::a_schema_of_one_part_too_many_is_refused),
    ("schema_patterns", schema::one_pattern_too_many_is_refused),
    ("schema_pattern_bytes", schema::a_pattern_that_compiles_to_too_much_is_refused),
    ("schema_pattern_total_bytes", schema::patterns_that_compile_to_too_much_together_are_refused),
    ("request_json_bytes", json_limits::a_request_that_takes_too_much_memory_is_refused),
    (
        "request_json_bytes_per_tenant",
        json_limits::requests_of_a_tenant_that_take_too_much_memory_together_are_refused_and_anothers_are_not,
    ),
    ("request_json_total_bytes", json_limits::requests_of_all_that_take_too_much_memory_together_are_refused),
    (
        "answer_json_bytes_per_tenant",
        answers::answers_of_a_tenant_that_take_too_much_memory_together_are_replaced_and_anothers_are_not,
    ),
    ("answer_json_total_bytes", answers::answers_of_all_that_take_too_much_memory_together_are_replaced),
    ("wait_milliseconds", a_call_whose_turn_does_not_come_is_refused),
    ("listing_milliseconds", a_plugin_that_lists_too_late_is_not_waited_for),
    ("scopes_per_tenant", one_bucket_of_a_tenant_too_many_is_refused),
    ("state_bytes_per_tenant", one_byte_of_a_tenant_too_many_is_refused),
    ("state_bytes", one_byte_of_all_tenants_too_many_is_refused),
    ("front_ends", front_end::one_front_end_of_all_too_many_is_refused),
    ("front_ends_per_tenant", front_end::one_front_end_of_a_tenant_too_many_is_refused_and_another_tenant_has_room),
    ("front_ends_per_client", front_end::one_front_end_of_a_client_too_many_is_refused),
    ("front_end_tools", front_end::one_tool_of_a_front_end_too_many_is_refused),
    ("front_end_bytes", front_end::one_byte_of_a_front_end_too_many_is_refused),
    ("front_end_schema_parts", schema::a_front_end_of_one_part_too_many_is_refused),
    ("front_end_pattern_bytes", schema::a_front_end_whose_patterns_compile_to_too_much_is_refused),
    ("front_end_calls", front_end::one_call_of_a_front_end_too_many_is_refused),
    (
        "front_end_waiting_calls_per_session",
        front_end::calls_that_wait_for_front_ends_are_bounded_by_session_tenant_and_host,
    ),
    (
        "front_end_waiting_calls_per_tenant",
        front_end::calls_that_wait_for_front_ends_are_bounded_by_session_tenant_and_host,
    ),
    ("front_end_waiting_calls", front_end::calls_that_wait_for_front_ends_are_bounded_by_session_tenant_and_host),
    ("front_end_copy_bytes", copies::tools_of_pages_at_other_hosts_beyond_the_bound_of_the_host_are_not_listed),
    (
        "front_end_copy_bytes_per_tenant",
        copies::tools_of_pages_at_other_hosts_beyond_the_bound_of_a_tenant_are_not_listed,
    ),
    ("front_end_silent_milliseconds", front_end::a_front_end_that_nobody_follows_is_gone),
];

#[tokio::test]
async fn a_component_of_one_byte_too_many_is_not_loaded() {
    let size = bytes("guest-hostile").len() as u64;
    Setup::new().host_limit("component_bytes", size).open().await;
    let fixture = Setup::new().host_limit("component_bytes", size - 1).open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    assert_eq!(rejected.len(), 1, "{rejected:?}");
    assert!(rejected[0].reason.contains("component_bytes"), "{rejected:?}");
    fixture.works().await;
}

/// A component of many large functions whose `tools` are empty, so that it is compiled before it
/// is refused; compiled once for each test, so that no cache holds it.
fn heavy() -> Vec<u8> {
    let body = "(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 7)) (i32.const 13)))".repeat(2_000);
    let functions = format!("(func (param i32) (result i32) {body} (local.get 0))").repeat(60);
    let tools = r#"(component $c) (instance $i (instantiate $c)) (export "wharf:plugin/tools@0.1.0" (instance $i))"#;
    wat::parse_str(format!("(component (core module {functions}) {tools})")).expect("a component")
}

async fn rejected(setup: Setup) -> String {
    let data = Data::alone();
    let path = data.write("heavy.wasm", heavy());
    let fixture = setup.plugin("heavy", &path, "").open_in(data).await;
    let rejected = fixture.host.rejected();
    rejected.iter().find(|plugin| plugin.name.as_str() == "heavy").expect("it is no plugin").reason.clone()
}

#[tokio::test]
async fn a_component_that_takes_too_long_to_compile_is_not_loaded() {
    let reason = rejected(Setup::bare().host_limit("compile_milliseconds", 1)).await;
    assert!(reason.contains("compile_milliseconds"), "{reason}");
    // Time enough: refused only for what it is not.
    let reason = rejected(Setup::bare()).await;
    assert!(reason.contains("does not export"), "{reason}");
}

#[tokio::test]
async fn a_component_that_needs_too_much_memory_to_compile_is_not_loaded() {
    wharf_tests::of_a_limit_of_memory();
    let reason = rejected(Setup::bare().host_limit("compile_memory_bytes", 24 << 20)).await;
    assert!(reason.contains("compile_memory_bytes"), "{reason}");
}

#[tokio::test]
async fn a_stack_that_grows_too_deep_ends_the_call() {
    let depth = json!({"depth": 4_000});
    let wide = Setup::new().host_limit("stack_bytes", 1 << 20).open().await;
    assert_eq!(found(wide.call("hostile__recurse", depth.clone()).await), depth);
    let narrow = Setup::new().host_limit("stack_bytes", 64 << 10).open().await;
    assert_ended_by("stack_bytes", Code::Limit, narrow.call("hostile__recurse", depth).await);
    found(narrow.call("hostile__recurse", json!({"depth": 50})).await);
    assert_ended_by("stack_bytes", Code::Limit, wide.call("hostile__recurse", json!({"depth": 1_000_000_000})).await);
    wide.works().await;
}

fn endless(fixture: &Fixture, context: &Context) -> Running {
    fixture.start(context, "hostile__sleep_forever", json!({}))
}

async fn stop(running: impl IntoIterator<Item = Running>) {
    for call in running {
        call.cancel.cancel();
        let error = call.outcome().await.expect_err("it never ends by itself");
        assert_eq!(error.code, Code::Cancelled, "{error}");
    }
}

fn text(bytes: usize) -> Value {
    json!({"text": "x".repeat(bytes - r#"{"text":""}"#.len())})
}

/// Fills `places` by calls in `filling`; a further one in `waiting` waits, one
/// in `free` does not, and the waiting one comes to its turn.
async fn one_more_waits(fixture: &Fixture, filling: [Context; 2], waiting: &Context, free: Option<&Context>) {
    let [first, second] = filling.map(|context| endless(fixture, &context));
    fixture.load_is(2, 0).await;
    let third = fixture.start(waiting, "echo__echo", json!({"text": "third"}));
    fixture.load_is(2, 1).await;
    if let Some(free) = free {
        fixture.call_in(free, "echo__echo", json!({"text": "free"})).await.expect("runs beside them");
        assert_eq!(fixture.host.load(), (2, 1));
    }
    stop([first]).await;
    third.outcome().await.expect("its turn came");
    stop([second]).await;
    fixture.load_is(0, 0).await;
}

#[tokio::test]
async fn calls_beyond_the_hosts_places_wait() {
    let fixture = Setup::new().host_limit("calls_in_flight", 2).open().await;
    one_more_waits(&fixture, [context("a", "1"), context("b", "2")], &context("c", "3"), None).await;
}

#[tokio::test]
async fn calls_beyond_a_tenants_places_wait_and_other_tenants_do_not() {
    let fixture = Setup::new().host_limit("calls_in_flight_per_tenant", 2).open().await;
    let filling = [context("a", "1"), context("a", "2")];
    one_more_waits(&fixture, filling, &context("a", "3"), Some(&context("b", "3"))).await;
}

#[tokio::test]
async fn calls_beyond_a_sessions_places_wait_and_other_sessions_do_not() {
    let fixture = Setup::new().host_limit("calls_in_flight_per_session", 2).open().await;
    let filling = [context("a", "1"), context("a", "1")];
    one_more_waits(&fixture, filling, &context("a", "1"), Some(&context("a", "2"))).await;
}

#[tokio::test]
async fn one_waiting_call_too_many_is_refused() {
    let fixture = Setup::new().host_limit("calls_in_flight", 1).host_limit("calls_waiting", 1).open().await;
    let running = endless(&fixture, &context("a", "1"));
    fixture.load_is(1, 0).await;
    let waiting = fixture.start(&context("b", "2"), "echo__echo", text(20));
    fixture.load_is(1, 1).await;
    assert_ended_by("calls_waiting", Code::Limit, fixture.call_in(&context("c", "3"), "echo__echo", text(20)).await);
    stop([running]).await;
    waiting.outcome().await.expect("its turn came");
    fixture.works().await;
}

#[tokio::test]
async fn one_waiting_call_of_a_session_too_many_is_refused() {
    let limits = Setup::new().host_limit("calls_in_flight", 1).host_limit("calls_waiting_per_session", 1);
    let fixture = limits.open().await;
    let (one, two) = (context("a", "1"), context("a", "2"));
    let running = endless(&fixture, &one);
    fixture.load_is(1, 0).await;
    let waiting = fixture.start(&one, "echo__echo", text(20));
    fixture.load_is(1, 1).await;
    let outcome = fixture.call_in(&one, "echo__echo", text(20)).await;
    assert_ended_by("calls_waiting_per_session", Code::Limit, outcome);
    let other = fixture.start(&two, "echo__echo", text(20));
    fixture.load_is(1, 2).await;
    stop([running]).await;
    waiting.outcome().await.expect("its turn came");
    other.outcome().await.expect("its turn came");
}

#[tokio::test]
async fn one_waiting_call_of_a_tenant_too_many_is_refused() {
    let limits = Setup::new().host_limit("calls_in_flight", 1).host_limit("calls_waiting_per_tenant", 1);
    let fixture = limits.open().await;
    let running = endless(&fixture, &context("a", "1"));
    fixture.load_is(1, 0).await;
    let waiting = fixture.start(&context("a", "2"), "echo__echo", text(20));
    fixture.load_is(1, 1).await;
    // A tenant that invents sessions fills its own part of the queue only.
    let outcome = fixture.call_in(&context("a", "3"), "echo__echo", text(20)).await;
    assert_ended_by("calls_waiting_per_tenant", Code::Limit, outcome);
    let other = fixture.start(&context("b", "1"), "echo__echo", text(20));
    fixture.load_is(1, 2).await;
    stop([running]).await;
    waiting.outcome().await.expect("its turn came");
    other.outcome().await.expect("its turn came");
}

#[tokio::test]
async fn waiting_calls_of_one_byte_of_a_tenant_too_many_are_refused() {
    let limits = Setup::new().host_limit("calls_in_flight", 1).host_limit("waiting_bytes_per_tenant", 1_000);
    let fixture = limits.open().await;
    let running = endless(&fixture, &context("a", "1"));
    fixture.load_is(1, 0).await;
    let waiting = fixture.start(&context("a", "2"), "echo__echo", text(1_000));
    fixture.load_is(1, 1).await;
    let outcome = fixture.call_in(&context("a", "3"), "echo__echo", text(20)).await;
    assert_ended_by("waiting_bytes_per_tenant", Code::Limit, outcome);
    let other = fixture.start(&context("b", "1"), "echo__echo", text(20));
    fixture.load_is(1, 2).await;
    stop([running]).await;
    waiting.outcome().await.expect("its turn came");
    other.outcome().await.expect("its turn came");
}

#[tokio::test]
async fn waiting_calls_of_one_byte_too_many_are_refused() {
    let fixture = Setup::new().host_limit("calls_in_flight", 1).host_limit("waiting_bytes", 1_000).open().await;
    let (one, two) = (context("a", "1"), context("a", "2"));
    let running = endless(&fixture, &one);
    fixture.load_is(1, 0).await;
    assert_ended_by("waiting_bytes", Code::Limit, fixture.call_in(&two, "echo__echo", text(1_001)).await);
    let waiting = fixture.start(&two, "echo__echo", text(1_000));
    fixture.load_is(1, 1).await;
    assert_ended_by("waiting_bytes", Code::Limit, fixture.call_in(&one, "echo__echo", text(20)).await);
    stop([running]).await;
    waiting.outcome().await.expect("its turn came");
    fixture.works().await;
}

#[tokio::test]
async fn a_call_whose_turn_does_not_come_is_refused() {
    let fixture = Setup::new().host_limit("calls_in_flight", 1).host_limit("wait_milliseconds", 200).open().await;
    let running = endless(&fixture, &context("a", "1"));
    fixture.load_is(1, 0).await;
    let outcome = fixture.call_in(&context("a", "2"), "echo__echo", text(20)).await;
    assert!(outcome.as_ref().is_err_and(|error| error.retryable), "{outcome:?}");
    assert_ended_by("wait_milliseconds", Code::Limit, outcome);
    stop([running]).await;
    fixture.works().await;
}

async fn put(fixture: &Fixture, context: &Context, key: &str, bytes: usize) -> Result<wharf::Answer, wharf::Error> {
    let arguments = json!({"scope": "session", "key": key, "value": "v".repeat(bytes)});
    fixture.call_in(context, "hostile__state_put", arguments).await
}

#[tokio::test]
async fn one_bucket_of_a_tenant_too_many_is_refused() {
    let fixture = Setup::new().host_limit("scopes_per_tenant", 2).state("").open().await;
    for session in ["1", "2"] {
        put(&fixture, &context("a", session), "key", 1).await.expect("what is allowed");
    }
    assert_ended_by("scopes_per_tenant", Code::Limit, put(&fixture, &context("a", "3"), "key", 1).await);
    put(&fixture, &context("a", "2"), "another key", 1).await.expect("a bucket that is there");
    put(&fixture, &context("b", "3"), "key", 1).await.expect("another tenant");
}

#[tokio::test]
async fn one_byte_of_a_tenant_too_many_is_refused() {
    let fixture = Setup::new().host_limit("state_bytes_per_tenant", 1_000).state("").open().await;
    put(&fixture, &context("a", "1"), "k", 499).await.expect("500 bytes");
    assert_ended_by("state_bytes_per_tenant", Code::Limit, put(&fixture, &context("a", "2"), "k", 500).await);
    put(&fixture, &context("a", "2"), "k", 499).await.expect("1,000 bytes");
    assert_ended_by("state_bytes_per_tenant", Code::Limit, put(&fixture, &context("a", "2"), "l", 0).await);
    put(&fixture, &context("b", "1"), "k", 999).await.expect("another tenant");
}

#[tokio::test]
async fn one_byte_of_all_tenants_too_many_is_refused() {
    let fixture = Setup::new().host_limit("state_bytes", 1_000).state("").open().await;
    put(&fixture, &context("a", "1"), "k", 499).await.expect("500 bytes");
    put(&fixture, &context("b", "1"), "k", 499).await.expect("1,000 bytes");
    let outcome = put(&fixture, &context("b", "2"), "k", 0).await;
    // The message does not tell what other tenants hold.
    assert!(outcome.as_ref().is_err_and(|error| !error.message.contains("500")), "{outcome:?}");
    assert_ended_by("state_bytes", Code::Limit, outcome);
}

// Each in a runtime of its own: a call would time out at once whose runtime's clock is ahead by more
// than the call may take.
#[tokio::test]
async fn a_plugin_that_lists_in_time_is_waited_for() {
    lists_within(60, 21, 4).await;
}

#[tokio::test]
async fn a_plugin_that_lists_too_late_is_not_waited_for() {
    lists_within(10, 11, 3).await;
}

/// A listing takes 20 s: so many resources are listed after so many seconds under this limit.
async fn lists_within(limit_seconds: u64, seconds: u64, expected: usize) {
    let files = Data::alone();
    let setup = Setup::new()
        .plugin("conformance", &component("guest-conformance"), "")
        // On a busy machine it falls asleep after the clock was moved, and sleeps on.
        .plugin("attack", &attacker(&files, "late-listing"), "limits.wall_time_milliseconds = 600_000")
        .host_limit("listing_milliseconds", limit_seconds * 1_000);
    let fixture = setup.open().await;
    // What is done once is not what is measured.
    for uri in ["test://static-text", "attack://none"] {
        fixture.host.read_resource(&asking(), uri).await.ok();
    }
    let host = fixture.host.clone();
    let listing = tokio::spawn(async move { host.resources(&asking()).await });
    let others = r#"wharf_offers_total{plugin="conformance",tool="list-resources",outcome="ok"} 1"#;
    until("the others have listed", || fixture.host.metrics().contains(others)).await;
    fixture.load_is(1, 0).await;
    assert!(!listing.is_finished(), "it is waited for");
    later(seconds).await;
    let listed = listing.await.expect("no panic").expect("those that came");
    assert_eq!(listed.len(), expected, "{limit_seconds}: {listed:?}");
    assert_eq!(listed.iter().any(|one| one.uri == "attack://late"), expected == 4);
    fixture.load_is(0, 0).await;
    fixture.works().await;
}
