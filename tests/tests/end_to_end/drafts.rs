//! Drafts of WASI that a component of somebody else imports: `wasi:keyvalue` over the state of
//! the plugin, `wasi:config` over its settings.

mod command;
mod versions;

use std::time::Duration;

use serde_json::{Value, json};
use wharf::{Code, Context, grant::Capability};
use wharf_tests::{Fixture, Setup, component, context, found};

use crate::audit::lines;

/// The tools that run steps, each by its draft.
const DRAFTS: [&str; 2] = ["drafts__by_draft", "drafts__by_draft2"];
const DRAFT2: &str = DRAFTS[1];

/// The guest, granted state with these further lines.
fn setup(lines: &str) -> Setup {
    let grant = format!("[plugin.drafts.grants.state]\nreason = \"a test\"\n{lines}");
    Setup::new().plugin("drafts", &component("guest-drafts"), &grant)
}

/// What came of each step of one call.
async fn run_in(fixture: &Fixture, context: &Context, tool: &str, steps: Value) -> Vec<Value> {
    let outcomes = found(fixture.call_in(context, tool, json!({ "steps": steps })).await);
    outcomes.as_array().expect("a list of outcomes").clone()
}

async fn run(fixture: &Fixture, tool: &str, steps: Value) -> Vec<Value> {
    run_in(fixture, &context("local", "test"), tool, steps).await
}

/// What one step came to, with the bucket `session` open.
async fn step(fixture: &Fixture, tool: &str, step: Value) -> Value {
    run(fixture, tool, json!([["open", "session"], step])).await.remove(1)
}

fn ok(found: impl Into<Value>) -> Value {
    json!({ "ok": found.into() })
}

/// The text of a refusal that has one.
#[track_caller]
fn refused(outcome: &Value) -> &str {
    outcome["failed"]["other"].as_str().unwrap_or_else(|| panic!("no refusal with a text: {outcome}"))
}

#[tokio::test]
async fn values_keep_every_byte_and_both_drafts_and_the_contract_see_the_same() {
    let fixture = setup("").open().await;
    let every_byte: String = (0..=255_u8).map(char::from).collect();
    for (tool, other) in [(DRAFTS[0], DRAFTS[1]), (DRAFTS[1], DRAFTS[0])] {
        let outcomes = run(
            &fixture,
            tool,
            json!([
                ["open", "session"],
                ["set", "every/byte", every_byte],
                ["set-many", [["b", "\u{0}"], ["a", ""], ["b", "\u{ff}"]]],
                ["get", "every/byte"],
                ["get", "absent"],
                ["exists", "a"],
                ["exists", "every"],
                ["list"],
                ["delete", "absent"],
                ["delete-many", ["a", "a", "absent"]],
                ["exists", "a"],
            ]),
        )
        .await;
        let expected = [
            Value::Null,
            Value::Null,
            Value::Null,
            json!(every_byte),
            Value::Null,
            json!(true),
            json!(false),
            json!({"keys": ["a", "b", "every/byte"], "cursor": null}),
            Value::Null,
            Value::Null,
            json!(false),
        ];
        assert_eq!(outcomes, expected.map(ok), "{tool}");
        assert_eq!(step(&fixture, other, json!(["get", "every/byte"])).await, ok(every_byte.as_str()), "{other}");
        let own = |bucket: &str| fixture.call("drafts__own_entry", json!({"bucket": bucket, "key": "every/byte"}));
        assert_eq!(found(own("wasi-keyvalue").await), json!(every_byte));
        assert_eq!(found(own("main").await), Value::Null, "another bucket of the plugin");
        let pairs = json!(["b", "absent", "every/byte"]);
        let got = step(&fixture, tool, json!(["get-many", pairs])).await;
        let absent = if tool == DRAFT2 { json!(["absent", null]) } else { Value::Null };
        assert_eq!(got, ok(json!([["b", "\u{ff}"], absent, ["every/byte", every_byte]])), "{tool}");
    }
}

#[tokio::test]
async fn a_bucket_is_named_as_its_scope_is_and_every_other_name_is_no_such_store() {
    let fixture = setup("scopes = [\"session\", \"thread\", \"assistant\"]").open().await;
    let long = "x".repeat(100_000);
    for tool in DRAFTS {
        for name in ["", "default", "session", "thread"] {
            assert_eq!(run(&fixture, tool, json!([["open", name]])).await, [ok(Value::Null)], "{name}");
        }
        for name in ["cache", "tenant", "Session", "session/x", "wasi-keyvalue", long.as_str()] {
            let outcome = run(&fixture, tool, json!([["open", name]])).await;
            assert_eq!(outcome, [json!({"failed": "no-such-store"})], "{name:.40}");
        }
        let outcomes = run(&fixture, tool, json!([["open", "plugin"], ["open", "assistant"]])).await;
        assert_eq!(outcomes[0], json!({"failed": "access-denied"}), "a scope that is not granted");
        assert!(refused(&outcomes[1]).starts_with("invalid: this call names no assistant"), "{outcomes:?}");
    }
    run(&fixture, DRAFT2, json!([["open", ""], ["set", "k", "v"]])).await;
    assert_eq!(step(&fixture, DRAFT2, json!(["get", "k"])).await, ok("v"), "`default` is the session here");
}

#[tokio::test]
async fn one_context_never_sees_what_another_one_keeps() {
    let fixture = setup("").open().await;
    let mine = Context { thread: "t".parse().ok(), ..context("local", "mine") };
    for scope in ["session", "thread", "plugin"] {
        let steps = json!([["open", scope], ["set", "secret", scope], ["increment", "n", 7]]);
        let outcomes = run_in(&fixture, &mine, DRAFT2, steps).await;
        assert!(outcomes.iter().all(|outcome| outcome.get("ok").is_some()), "{outcomes:?}");
    }
    let look = json!([
        ["open", "session"],
        ["get", "secret"],
        ["list"],
        ["increment", "n", 1],
        ["cas", "secret"],
        ["current"],
        ["open", "thread"],
        ["get", "secret"],
        ["open", "plugin"],
        ["get", "secret"]
    ]);
    let nothing = json!({"keys": [], "cursor": null});
    for (tenant, session, of_tenant) in [("local", "another", json!("plugin")), ("acme", "mine", Value::Null)] {
        let outcomes = run_in(&fixture, &context(tenant, session), DRAFT2, look.clone()).await;
        let expected = [
            json!(null),
            json!(null),
            nothing.clone(),
            json!(1),
            json!(null),
            json!(null),
            json!(null),
            json!(null),
            json!(null),
            of_tenant,
        ]
        .map(ok);
        assert_eq!(outcomes, expected, "{tenant}/{session}");
    }
    let other = setup("").plugin("other", &component("guest-drafts"), "[plugin.other.grants.state]\nreason = \"r\"");
    let other = other.open_in(fixture.data).await;
    let outcomes =
        found(other.call_in(&mine, "other__by_draft2", json!({"steps": [["open", "plugin"], ["list"]]})).await);
    assert_eq!(outcomes[1], ok(nothing), "another plugin");
}

#[tokio::test]
async fn however_many_calls_count_at_once_no_increment_is_lost() {
    let fixture = setup("")
        .host_limit("calls_in_flight_per_tenant", 64)
        .host_limit("calls_in_flight_per_session", 64)
        .open()
        .await;
    let steps = json!({"steps": [["open", "plugin"], ["increment", "n", 1], ["increment", "n", 2]]});
    let calls: Vec<_> = (0..64)
        .map(|call| fixture.start(&context("local", &format!("s{}", call % 4)), DRAFTS[call % 2], steps.clone()))
        .collect();
    let mut sums = Vec::new();
    for call in calls {
        let outcomes = found(call.outcome().await);
        sums.extend([1, 2].map(|step| outcomes[step]["ok"].as_u64().unwrap_or_else(|| panic!("{outcomes}"))));
    }
    sums.sort_unstable();
    sums.dedup();
    assert_eq!((sums.len(), sums.last()), (128, Some(&192)), "each sum came once, and the last is of all");
    let outcomes = run(&fixture, DRAFT2, json!([["open", "plugin"], ["get", "n"], ["increment", "n", -200]])).await;
    assert_eq!(outcomes[1..], [ok("192"), ok(-8)], "a number is kept in digits");
    let outcomes = run(&fixture, DRAFTS[0], json!([["open", "plugin"], ["increment", "n", 1], ["get", "n"]])).await;
    assert!(
        refused(&outcomes[1]).starts_with("invalid: the value of \"n\" would leave the range from 0"),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[2], ok("-8"));
    let words = json!([["open", "plugin"], ["set", "n", "many"], ["increment", "n", 1]]);
    assert!(refused(&run(&fixture, DRAFT2, words).await[2]).starts_with("invalid: the value of \"n\" is no whole"));
}

#[tokio::test]
async fn a_swap_fails_where_somebody_wrote_and_its_new_handle_begins_there() {
    let fixture = setup("").open().await;
    let outcomes = run(
        &fixture,
        DRAFT2,
        json!([
            ["open", "session"],
            ["cas", "k"],
            ["current"],
            ["set", "k", "theirs"],
            ["swap", "mine"],
            ["get", "k"],
            ["swap", "mine after all"],
            ["get", "k"],
            ["cas", "k"],
            ["set", "k", "again"],
            ["current"],
            ["swap", "seen"],
            ["cas", "k"],
            ["delete", "k"],
            ["swap", "late"],
            ["exists", "k"],
            ["cas", ""],
        ]),
    )
    .await;
    let failed = || json!({"failed": "cas-failed"});
    assert_eq!(outcomes[2..6], [ok(Value::Null), ok(Value::Null), failed(), ok("theirs")]);
    assert_eq!(outcomes[6..8], [ok("swapped"), ok("mine after all")]);
    assert_eq!(outcomes[10..12], [ok("again"), ok("swapped")], "a value that was read is the one to replace");
    assert_eq!(outcomes[14..16], [failed(), ok(false)]);
    assert!(refused(&outcomes[16]).starts_with("invalid: keys are 1 to 512 bytes"), "{outcomes:?}");
}

#[tokio::test]
async fn keys_are_listed_in_pages_and_a_cursor_that_never_was_is_refused() {
    let fixture = setup("").open().await;
    let filled = run(&fixture, DRAFT2, json!([["open", "session"], ["set-so-many", 20_000]])).await;
    assert_eq!(filled[1], ok(Value::Null));
    for tool in DRAFTS {
        assert_eq!(step(&fixture, tool, json!(["count"])).await, ok(json!({"pages": 20, "keys": 20_000})), "{tool}");
    }
    for cursor in [0, 1, u64::MAX] {
        let outcome = step(&fixture, DRAFTS[0], json!(["list", cursor])).await;
        assert!(refused(&outcome).starts_with(&format!("invalid: the cursor {cursor} is none")), "{outcome}");
    }
    let outcome = step(&fixture, DRAFT2, json!(["list", "x".repeat(600)])).await;
    assert!(refused(&outcome).starts_with("invalid: keys are 1 to 512 bytes"), "{outcome}");
    let outcome = step(&fixture, DRAFT2, json!(["list", "key/019998x"])).await;
    assert_eq!(outcome, ok(json!({"keys": ["key/019999"], "cursor": null})), "the key of a cursor may be gone");
}

#[tokio::test]
async fn what_is_too_large_or_too_much_is_refused_and_the_guest_goes_on() {
    let fixture = setup("quota_bytes = 2_000_000\nquota_entries = 3").open().await;
    for tool in DRAFTS {
        let outcomes = run(
            &fixture,
            tool,
            json!([
                ["open", "session"],
                ["set-long", "k", (1 << 20) + 1],
                ["set-long", "k", 1 << 20],
                ["set-long", "l", 1 << 20],
                ["set-many", [["a", ""], ["b", ""], ["c", ""]]],
                ["list"],
                ["get-so-many", 1_001],
                ["get-so-many", 100_000],
                ["get-so-many", 1_000],
                ["set", "x".repeat(513), ""],
                ["get", ""],
                ["delete", "k"],
                ["exists", "k"],
            ]),
        )
        .await;
        assert!(refused(&outcomes[1]).starts_with("invalid: a value is at most 1048576 bytes"), "{outcomes:?}");
        assert_eq!(outcomes[2], ok(Value::Null));
        let quota = refused(&outcomes[3]);
        assert!(
            quota.starts_with("limit: the bucket holds ") && quota.contains("[plugin.drafts.grants.state]"),
            "{quota}"
        );
        assert!(refused(&outcomes[4]).contains("of 3 entries"), "{outcomes:?}");
        assert_eq!(outcomes[5], ok(json!({"keys": ["k"], "cursor": null})), "a refused batch writes nothing");
        assert!(refused(&outcomes[6]).starts_with("invalid: one call reads at most 1000 keys"), "{outcomes:?}");
        assert!(refused(&outcomes[7]).contains("this one names 100000"), "{outcomes:?}");
        assert_eq!(outcomes[8], ok(1_000));
        for illegal in [&outcomes[9], &outcomes[10]] {
            assert!(refused(illegal).starts_with("invalid: keys are 1 to 512 bytes"), "{illegal}");
        }
        assert_eq!(outcomes[11..], [ok(Value::Null), ok(false)]);
        let huge = json!({"steps": [["open", "session"], ["set-long", "k", 5 << 20]]});
        let ended = fixture.call(tool, huge).await.expect_err("a value that no host call moves");
        assert!(ended.code == Code::Limit && ended.message.contains("host_call_bytes"), "{ended}");
    }
    fixture.works().await;
}

#[tokio::test]
async fn handles_end_with_their_call_and_one_too_many_is_refused() {
    let fixture = setup("").open().await;
    for tool in DRAFTS {
        let outcomes = run(&fixture, tool, json!([["open", ""], ["open-many", "", 5_000], ["set", "k", "v"]])).await;
        let (opened, told) = (outcomes[1]["failed"][0].as_u64(), outcomes[1]["failed"][1]["other"].as_str());
        assert!(opened.is_some_and(|opened| (1_000..1_024).contains(&opened)), "{outcomes:?}");
        assert!(
            told.is_some_and(|told| told.starts_with("limit: ") && told.contains("resource_handles")),
            "{outcomes:?}"
        );
        assert_eq!(outcomes[2], ok(Value::Null), "it goes on, and those that it dropped are free");
    }
    let outcome = step(&fixture, DRAFT2, json!(["cas-many", "k", 5_000])).await;
    assert!(outcome["failed"][1]["other"].as_str().is_some_and(|told| told.contains("resource_handles")), "{outcome}");
}

#[tokio::test]
async fn each_host_call_is_counted_and_told_by_its_bucket_and_never_its_key() {
    let fixture = setup("scopes = [\"session\"]").limit("host_calls", 30).open().await;
    let steps = json!([
        ["open", "session"],
        ["set", "payload", "payload"],
        ["increment", "n", 1],
        ["cas", "payload"],
        ["swap", "payload"],
        ["open", "plugin"]
    ]);
    run(&fixture, DRAFT2, steps).await;
    assert_eq!(fixture.host.denials()[&("drafts".parse().expect("legal"), Capability::State)], 1);
    let denials = fixture.host.metrics();
    assert!(denials.contains("wharf_denials_total{plugin=\"drafts\",capability=\"state\"} 1"), "{denials}");
    let many = json!({"steps": [["open", "session"], ["open-many", "session", 40]]});
    let ended = fixture.call(DRAFT2, many).await.expect_err("it ends");
    assert!(ended.message.contains("more than 30 host calls"), "{ended}");
    let Fixture { host, data } = fixture;
    host.shut_down(Duration::ZERO).await;
    let lines = lines(data.path());
    let told: Vec<_> = lines
        .iter()
        .filter(|line| line.tool == "by_draft2" && line.kind != "call")
        .take(6)
        .map(|line| {
            let function = line.function.as_str();
            (line.kind.as_str(), function, line.asked.as_str(), line.outcome.as_str())
        })
        .collect();
    let bucket = "session/wasi-keyvalue";
    assert_eq!(
        told,
        [
            ("host-call", "state.keyvalue.open", "session", "ok"),
            ("host-call", "state.keyvalue.bucket.set", bucket, "ok"),
            ("host-call", "state.keyvalue.increment", bucket, "ok"),
            ("host-call", "state.keyvalue.cas.new", bucket, "ok"),
            ("host-call", "state.keyvalue.swap", bucket, "ok"),
            ("denied", "state.keyvalue.open", "plugin", "denied"),
        ]
    );
    assert!(!lines.iter().any(|line| line.asked.contains("payload")));
}
