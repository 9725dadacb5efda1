//! Limits of schemas, and of checks against them.

use std::time::Duration;

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use serde_json::{Value, json};
use wharf::{Answer, AppCall, AppTool, Code, front_end::FrontEndOwner};
use wharf_tests::{Crafted, CraftedTool, Data, Fixture, Setup, context};

use super::assert_ended_by;

/// Why a plugin with this input schema is not loaded where the limit is this.
async fn rejection(limit: &str, value: u64, schema: &Value) -> Option<String> {
    let files = Data::alone();
    let crafted = Crafted::of([CraftedTool::new("run").schema(&schema.to_string())]);
    let path = files.write("crafted.wasm", crafted.bytes());
    let setup = Setup::bare().host_limit(limit, value).plugin("crafted", &path, "");
    let fixture = setup.open_in(Data::new()).await;
    let rejected = fixture.host.rejected().first().map(|rejected| rejected.reason.clone());
    // A front end is refused the same schemas as a plugin.
    let owner = FrontEndOwner { tenant: "local".parse().expect("legal"), client: "c".to_owned() };
    let tool = json!({"name": "run", "description": "d", "input_schema": schema});
    let wanted = serde_json::from_value(json!({"name": "page", "tools": [tool]})).expect("legal");
    let connected = fixture.host.connect_front_end(&owner, wanted).await.map(drop).err().map(|error| error.message);
    assert_eq!(rejected.is_some(), connected.is_some(), "{rejected:?}, {connected:?}");
    assert!(connected.is_none_or(|told| told.contains(limit)), "the front end is not told of `{limit}`");
    rejected
}

async fn is_refused_beyond(limit: &str, fits: u64, too_little: u64, schema: Value) {
    assert_eq!(rejection(limit, fits, &schema).await, None);
    let reason = rejection(limit, too_little, &schema).await.expect("it is refused");
    assert!(reason.contains(&format!("`{limit}`")), "{reason}");
}

#[tokio::test]
pub(super) async fn a_schema_of_one_part_too_many_is_refused() {
    let schema = json!({"type": "object", "enum": (0..100).collect::<Vec<_>>()});
    is_refused_beyond("schema_parts", 103, 102, schema).await;
}

#[tokio::test]
pub(super) async fn one_pattern_too_many_is_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "a"}, "b": {"pattern": "b"}},
                        "patternProperties": {"c": {}, "a": {}}});
    is_refused_beyond("schema_patterns", 3, 2, schema).await;
}

#[tokio::test]
pub(super) async fn a_pattern_that_compiles_to_too_much_is_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "^[a-z]{200}$"}}});
    is_refused_beyond("schema_pattern_bytes", 100_000, 1_000, schema).await;
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "\\p{L}{150}x"}}});
    assert!(rejection("schema_pattern_bytes", 512 << 10, &schema).await.is_some(), "by default, too");
}

#[tokio::test]
pub(super) async fn patterns_that_compile_to_too_much_together_are_refused() {
    let pattern = |number: u32| (format!("p{number}"), json!({"pattern": format!("^[a-z]{{20}}{number}$")}));
    let schema = json!({"type": "object", "properties": (0..50).map(pattern).collect::<serde_json::Map<_, _>>()});
    is_refused_beyond("schema_pattern_total_bytes", 4 << 20, 10_000, schema).await;
}

/// The outcome of connecting a front end with this schema.
async fn connected(setup: Setup, schema: Value) -> Result<(), String> {
    let fixture = setup.open_in(Data::new()).await;
    let owner = FrontEndOwner { tenant: "local".parse().expect("legal"), client: "c".to_owned() };
    let tool = json!({"name": "run", "description": "d", "input_schema": schema});
    let wanted = serde_json::from_value(json!({"name": "page", "tools": [tool]})).expect("legal");
    fixture.host.connect_front_end(&owner, wanted).await.map(drop).map_err(|error| error.message)
}

#[tokio::test]
pub(super) async fn a_front_end_of_one_part_too_many_is_refused() {
    let schema = json!({"type": "object", "enum": (0..100).collect::<Vec<_>>()});
    let with = |parts| Setup::bare().host_limit("front_end_schema_parts", parts);
    assert_eq!(connected(with(103), schema.clone()).await, Ok(()));
    let told = connected(with(102), schema).await.expect_err("too many");
    assert!(told.contains("`front_end_schema_parts`"), "{told}");
}

#[tokio::test]
pub(super) async fn a_front_end_whose_patterns_compile_to_too_much_is_refused() {
    let pattern = |number: u32| (format!("p{number}"), json!({"pattern": format!("\\p{{L}}{{20}}{number}$")}));
    let patterns =
        |count| json!({"type": "object", "properties": (0..count).map(pattern).collect::<serde_json::Map<_, _>>()});
    assert_eq!(connected(Setup::bare(), patterns(1)).await, Ok(()));
    let told = connected(Setup::bare(), patterns(60)).await.expect_err("too much");
    assert!(told.contains("`front_end_pattern_bytes`"), "{told}");
    let twice = Setup::bare().host_limit("front_end_pattern_bytes", 8 << 20);
    assert!(connected(twice, patterns(60)).await.is_err_and(|told| told.contains("`schema_pattern_total_bytes`")));
}

/// An app's tool that is checked against this.
fn tool(schema: Value) -> AppTool {
    AppTool::new("checked", "For tests.", schema, |_: AppCall| async { Ok(Answer::default()) })
}

/// No text of a and b fits, and each of its bytes makes the search build a state.
fn slow() -> Value {
    json!({"type": "object", "properties": {"text": {"pattern": "[ab]*a[ab]{200}c"}}})
}

fn thrashing(bytes: usize) -> Value {
    let mut random = 1_u64;
    let letters = std::iter::repeat_with(|| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if random >> 33 & 1 == 0 { 'a' } else { 'b' }
    });
    json!({"text": letters.take(bytes).collect::<String>()})
}

#[tokio::test]
pub(super) async fn a_check_of_too_many_steps_ends_the_call() {
    let items = |count: usize| json!({"items": vec![1; count]});
    let schema = json!({"type": "object", "properties": {"items": {"items": {"type": "integer"}}}});
    let fixture = Setup::new().limit("check_steps", 40_000).open().await;
    fixture.host.register_tool(tool(schema)).expect("legal");
    fixture.call("app__checked", items(10_000)).await.expect("3 steps for each item");
    assert_ended_by("check_steps", Code::Limit, fixture.call("app__checked", items(15_000)).await);
    fixture.call("app__checked", items(1)).await.expect("the next one is checked anew");
}

/// Calls of these contexts, each with a check that takes far longer than asking for it:
/// the first that ends.
async fn first_to_end(fixture: &Fixture, contexts: &[(&str, &str)]) -> (usize, String) {
    fixture.host.register_tool(tool(slow())).expect("legal");
    let arguments = thrashing(3 << 20);
    let calls = contexts.iter().enumerate().map(|(at, (tenant, session))| {
        let (arguments, context) = (arguments.clone(), context(tenant, session));
        async move { (at, fixture.call_in(&context, "app__checked", arguments).await) }
    });
    let mut calls: FuturesUnordered<_> = calls.collect();
    let (at, outcome) = calls.next().await.expect("a call");
    drop(calls);
    let error = outcome.expect_err("refused");
    assert_eq!(error.code, Code::Limit, "{error}");
    (at, error.message)
}

fn of_many_steps() -> Setup {
    Setup::new().limit("check_steps", 1_000_000_000).limit("cpu_time_milliseconds", 600_000)
}

#[tokio::test]
pub(super) async fn checks_beyond_the_hosts_places_wait() {
    for places in [1, 2] {
        let setup = of_many_steps().host_limit("checks", places).host_limit("calls_waiting", 1);
        let fixture = setup.open().await;
        // One waits for a place, and no further one may.
        let contexts = [("a", "s"), ("b", "s"), ("c", "s"), ("d", "s")];
        let refused = usize::try_from(places).expect("small") + 1;
        let (at, told) = first_to_end(&fixture, &contexts[..=refused]).await;
        assert!(at == refused && told.contains("calls_waiting"), "{at}: {told}");
        // A small check needs no place.
        let calling = fixture.call("app__checked", json!({"text": "ab"}));
        let small = tokio::time::timeout(Duration::from_secs(60), calling).await.expect("in time");
        assert_eq!(small.expect_err("it does not fit").code, Code::Invalid);
    }
}

#[tokio::test]
pub(super) async fn checks_beyond_a_tenants_places_wait_and_another_tenants_do_not() {
    let setup = of_many_steps().host_limit("checks", 2).host_limit("checks_per_tenant", 1);
    let fixture = setup.host_limit("calls_waiting_per_tenant", 1).open().await;
    // The second of `a` waits although a place is free, which `b` takes.
    let (at, told) = first_to_end(&fixture, &[("a", "s"), ("a", "t"), ("b", "s"), ("a", "u")]).await;
    assert!(at == 3 && told.contains("calls_waiting_per_tenant"), "{at}: {told}");
}
