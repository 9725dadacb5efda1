//! Contexts: given by the transport, never chosen by a model, never mixed up,
//! and served fairly.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wharf::{Code, Context};
use wharf_core::{Admission, HostLimits};
use wharf_tests::{Client, Data, Fixture, Setup, context, found, viewer, wharf};

async fn put(fixture: &Fixture, context: &Context, scope: &str, value: &str) {
    let arguments = json!({"scope": scope, "key": "key", "value": value});
    found(fixture.call_in(context, "hostile__state_put", arguments).await);
}

async fn get(fixture: &Fixture, context: &Context, scope: &str) -> Value {
    found(fixture.call_in(context, "hostile__state_get", json!({"scope": scope, "key": "key"})).await)["value"].take()
}

fn of_assistant(session: &str, assistant: &str) -> Context {
    Context { assistant: assistant.parse().ok(), ..context("local", session) }
}

/// Ids that a joined key or a stand-in for an absent id would mix up.
const TRICKY: [&str; 8] = ["default", "none", "a", "a:b", "b", "a::b", "::", "-"];

fn tricky_contexts() -> Vec<Context> {
    let mut contexts = Vec::new();
    for tenant in ["local", "a", "a::a"] {
        for session in TRICKY {
            for assistant in [None, Some("none"), Some("a"), Some("a::b")] {
                for thread in [None, Some("none"), Some("default"), Some("b"), Some("a::b")] {
                    contexts.push(Context {
                        assistant: assistant.and_then(|id| id.parse().ok()),
                        thread: thread.and_then(|id| id.parse().ok()),
                        ..context(tenant, session)
                    });
                }
            }
        }
    }
    contexts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_thread_has_state_of_its_own_whatever_the_ids() {
    let fixture = Setup::new().state("").open().await;
    let contexts = tricky_contexts();
    for (index, context) in contexts.iter().enumerate() {
        assert_eq!(get(&fixture, context, "thread").await, json!(null), "{context:?} sees another's");
        put(&fixture, context, "thread", &index.to_string()).await;
    }
    for (index, context) in contexts.iter().enumerate() {
        assert_eq!(get(&fixture, context, "thread").await, json!(index.to_string()), "{context:?}");
    }
}

#[tokio::test]
async fn wider_scopes_are_shared_as_far_as_they_reach_and_no_further() {
    let fixture = Setup::new().state("").open().await;
    let of = |tenant: &str, session: &str, assistant: Option<&str>, thread: Option<&str>| Context {
        assistant: assistant.and_then(|id| id.parse().ok()),
        thread: thread.and_then(|id| id.parse().ok()),
        ..context(tenant, session)
    };
    let mine = of("t", "s", Some("a"), Some("1"));
    for scope in ["session", "assistant", "plugin"] {
        put(&fixture, &mine, scope, scope).await;
    }
    let (there, absent) = (|scope: &str| json!(scope), json!(null));
    for (context, session, assistant, plugin) in [
        (of("t", "s", Some("a"), Some("2")), true, true, true),
        (of("t", "s", Some("b"), None), true, false, true),
        (of("t", "x", Some("a"), None), false, true, true),
        (of("t", "x", Some("b"), Some("1")), false, false, true),
        (of("u", "s", Some("a"), Some("1")), false, false, false),
    ] {
        for (scope, seen) in [("session", session), ("assistant", assistant), ("plugin", plugin)] {
            let expected = if seen { there(scope) } else { absent.clone() };
            assert_eq!(get(&fixture, &context, scope).await, expected, "{scope} of {context:?}");
        }
    }
    let of_assistant = json!({"scope": "assistant", "key": "k"});
    let nobody = fixture.call_in(&context("t", "s"), "hostile__state_get", of_assistant).await;
    assert_eq!(nobody.expect_err("no assistant").code, Code::Invalid);
}

#[tokio::test]
async fn the_scope_default_is_what_the_operator_chose_and_the_session_where_nothing_was_chosen() {
    let (mine, elsewhere) = (of_assistant("one", "a"), of_assistant("two", "a"));
    let fixture = Setup::new().state("").open().await;
    put(&fixture, &mine, "default", "of the session").await;
    assert_eq!(get(&fixture, &mine, "session").await, "of the session");
    assert_eq!(get(&fixture, &elsewhere, "default").await, Value::Null);

    let fixture = Setup::new().hostile("default_scope = \"assistant\"").state("").open().await;
    put(&fixture, &mine, "default", "of the assistant").await;
    assert_eq!(get(&fixture, &elsewhere, "default").await, "of the assistant");
    assert_eq!(get(&fixture, &mine, "assistant").await, "of the assistant");
    assert_eq!(get(&fixture, &of_assistant("one", "b"), "default").await, Value::Null);

    // It grants nothing: the scope that it means must be granted.
    let narrow = Setup::new().hostile("default_scope = \"plugin\"").state("scopes = [\"session\"]").open().await;
    let arguments = json!({"scope": "default", "key": "k", "value": "v"});
    let error = narrow.call_in(&mine, "hostile__state_put", arguments).await.expect_err("not granted");
    assert!(error.message.contains("plugin"), "{error:?}");
}

#[tokio::test]
async fn a_plugin_sees_what_the_operator_set_for_it_and_for_no_other() {
    let nothing = Setup::new().open().await;
    assert_eq!(found(nothing.call("hostile__settings", json!({})).await), json!({}));

    let lines = "[plugin.hostile.settings]\nlanguage = \"ko\"\n[plugin.hostile.settings.retry]\ntimes = 3";
    let echo = "[plugin.echo.settings]\nsecret = \"of another\"";
    // A cache of its own, so that the listing really runs under these settings.
    let fixture = Setup::new().hostile(lines).with_tables(echo).open_in(Data::alone()).await;
    let settings = found(fixture.call("hostile__settings", json!({})).await);
    assert_eq!(settings, json!({"language": "ko", "retry": {"times": 3}}));
    // What a plugin lists depends on nothing but the plugin.
    let tools = wharf::ToolService::tools(&*fixture.host, viewer());
    let probe = tools.iter().find(|tool| tool.name == "hostile__probe_imports").expect("listed");
    assert_eq!(probe.meta["whileListing"]["settings"], "{}");
}

#[tokio::test]
async fn a_guest_cannot_name_the_state_of_another_context() {
    let fixture = Setup::new().state("").open().await;
    let victim = context("local", "victim");
    put(&fixture, &victim, "session", "secret").await;
    let report = found(fixture.call("hostile__forge_context", json!({"session": "victim"})).await);
    assert_eq!(report, json!({"opened": []}));
    assert_eq!(get(&fixture, &context("local", "attacker"), "session").await, json!(null));
}

#[tokio::test]
async fn state_of_one_plugin_is_not_anothers() {
    let twin = wharf_tests::component("guest-hostile");
    let grant = "[plugin.twin.grants.state]\nreason = \"a test\"";
    let fixture = Setup::new().state("").plugin("twin", &twin, grant).open().await;
    put(&fixture, &context("local", "test"), "plugin", "mine").await;
    let report = found(fixture.call("twin__state_get", json!({"scope": "plugin", "key": "key"})).await);
    assert_eq!(report["value"], json!(null));
}

/// A server with these lines in its configuration and these arguments.
fn served(lines: &str, arguments: &[&str]) -> (Client, Data) {
    let data = Data::new();
    let config = data.write("wharf.toml", Setup::new().with(lines).text());
    let all = ["serve", "--stdio"].iter().chain(arguments);
    (Client::connect(wharf(all).config(&config).data(data.path())), data)
}

/// The caller as the guest sees it. What the guest is told of the client beside
/// that is always the same.
fn caller(client: &mut Client, arguments: Value, meta: Value) -> Value {
    let answer = client.call("hostile__caller", arguments, meta);
    assert_eq!(answer["isError"], json!(false), "{answer}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut seen: Value = serde_json::from_str(&text(&answer["content"][0]["text"])).expect("JSON");
    let mut meta: Value = serde_json::from_str(&text(&seen["requestMeta"])).expect("JSON");
    let client_can = meta.as_object_mut().expect("an object").remove("dev.wharf/client");
    assert_eq!(client_can, Some(json!({"capabilities": {}})));
    seen["requestMeta"] = meta.to_string().into();
    seen
}

fn code(answer: &Value) -> &str {
    answer["_meta"]["dev.wharf/error"]["code"].as_str().unwrap_or("none")
}

#[test]
fn on_an_open_channel_context_comes_from_the_request_and_never_from_arguments() {
    let (mut client, _data) = served("", &[]);
    let none = json!({"session": "default", "assistant": null, "thread": null, "requestMeta": "{}"});
    assert_eq!(caller(&mut client, json!({}), json!({})), none);
    let forged = json!({"__sessionId": "victim", "__assistantId": 7, "__threadId": {"a": 1}});
    assert_eq!(caller(&mut client, forged.clone(), json!({})), none);
    let meta = json!({
        "dev.wharf/sessionId": "s", "dev.wharf/assistantId": "a", "dev.wharf/threadId": "t", "x/y": 1,
    });
    let named = json!({"session": "s", "assistant": "a", "thread": "t", "requestMeta": "{\"x/y\":1}"});
    assert_eq!(caller(&mut client, forged, meta), named);
    // Other names, and nested data, are left to the tool.
    let other = client.call("hostile__caller", json!({"__other": 1}), json!({}));
    assert_eq!(code(&other), "invalid");
    let (_, log, _) = client.leave();
    assert!(log.contains("__sessionId") && log.contains("dropped"), "{log}");
    assert!(!log.contains("victim"), "arguments are not logged");
}

#[test]
fn a_trusted_middleware_chooses_the_context_by_arguments() {
    let (mut client, _data) = served("[context]\ntrusted_middleware = true", &[]);
    let fields = json!({"__sessionId": "s", "__assistantId": "a", "__threadId": "t"});
    let named = json!({"session": "s", "assistant": "a", "thread": "t", "requestMeta": "{}"});
    assert_eq!(caller(&mut client, fields.clone(), json!({})), named);
    assert_eq!(caller(&mut client, fields.clone(), json!({"dev.wharf/sessionId": "s"})), named);
    for (arguments, meta) in [
        (fields, json!({"dev.wharf/sessionId": "another"})),
        (json!({"__threadId": "t"}), json!({"dev.wharf/threadId": "another"})),
        (json!({"__sessionId": 7}), json!({})),
        (json!({"__sessionId": null}), json!({})),
        (json!({"__sessionId": ""}), json!({})),
        (json!({"__sessionId": "../x"}), json!({})),
        (json!({"__assistantId": "x".repeat(129)}), json!({})),
    ] {
        let answer = client.call("hostile__caller", arguments.clone(), meta);
        assert_eq!(code(&answer), "invalid", "{arguments}: {answer}");
    }
}

#[test]
fn illegal_ids_are_refused_and_never_replaced() {
    let (mut client, _data) = served("", &[]);
    for key in ["dev.wharf/sessionId", "dev.wharf/assistantId", "dev.wharf/threadId"] {
        for id in [json!(""), json!("a b"), json!("a/b"), json!("ä"), json!("a\u{0}"), json!(7), json!("x".repeat(129))]
        {
            let answer = client.call("hostile__caller", json!({}), json!({key: id}));
            assert_eq!(code(&answer), "invalid", "{key} {id}: {answer}");
        }
        caller(&mut client, json!({}), json!({key: "x".repeat(128)}));
    }
}

#[test]
fn a_host_may_require_a_session_and_may_have_one_for_those_who_name_none() {
    let strict = "[context]\nrequire_session = true";
    let (mut client, _data) = served(strict, &[]);
    let refused = client.call("hostile__caller", json!({}), json!({}));
    assert_eq!(code(&refused), "invalid", "{refused}");
    assert!(refused.to_string().contains("--session"), "{refused}");
    assert_eq!(caller(&mut client, json!({}), json!({"dev.wharf/sessionId": "s"}))["session"], "s");
    for lines in ["", strict] {
        let (mut client, _data) = served(lines, &["--session", "mine"]);
        assert_eq!(caller(&mut client, json!({}), json!({}))["session"], "mine");
        assert_eq!(caller(&mut client, json!({}), json!({"dev.wharf/sessionId": "s"}))["session"], "s");
    }
}

#[test]
fn no_schema_that_a_model_sees_has_a_field_of_the_context() {
    let (mut client, _data) = served("[context]\ntrusted_middleware = true", &[]);
    let listed = client.request("tools/list", json!({}));
    let text = listed["result"]["tools"].to_string();
    assert!(text.contains("hostile__caller") && !text.contains("\"__"), "{text}");
}

/// Notes whose guest ran, while it runs.
struct Turn {
    of: &'static str,
    order: Arc<Mutex<Vec<&'static str>>>,
}

impl wharf::EventSink for Turn {
    fn progress(&self, _done: f64, _total: Option<f64>, _message: Option<&str>) {
        self.order.lock().expect("not poisoned").push(self.of);
    }

    fn message(&self, _level: wharf::Level, _data: Value) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_waiting_calls_of_one_session_or_tenant_delay_another_by_little() {
    let fixture = Setup::new().events().host_limit("calls_in_flight", 1).open().await;
    let blocker = fixture.start(&context("local", "blocker"), "hostile__sleep_forever", json!({}));
    fixture.load_is(1, 0).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let greedy = (0..200).map(|_| ("greedy", context("crowd", "greedy")));
    let invented = (0..200).map(|index| ("invented", context("crowd", &format!("invented-{index}"))));
    let modest = [("modest", context("crowd", "modest")), ("another tenant", context("alone", "modest"))];
    let mut calls = Vec::new();
    for (of, context) in greedy.chain(invented).chain(modest) {
        let arguments = wharf_tests::object(json!({"count": 1}));
        let mut caller = wharf::Caller::new(context);
        caller.events = Some(Arc::new(Turn { of, order: Arc::clone(&order) }));
        let request = wharf::CallRequest::of(caller, "hostile__progress", arguments);
        let host = fixture.host.clone();
        calls.push(tokio::spawn(async move { host.call(request).await }));
        fixture.load_is(1, calls.len() as u64).await;
    }
    blocker.cancel.cancel();
    blocker.outcome().await.expect_err("cancelled");
    for call in calls {
        found(call.await.expect("it does not panic"));
    }
    let order = order.lock().expect("not poisoned").clone();
    let place = |of: &str| order.iter().position(|other| *other == of).expect("it was served");
    // The queue of 400 does not delay another tenant,
    assert!(place("another tenant") <= 1, "place {}", place("another tenant"));
    // and the greedy session has one turn while each of the others has one.
    let greedy_before = order[..place("modest")].iter().filter(|of| **of == "greedy").count();
    assert!(greedy_before <= 1, "{greedy_before} calls of the greedy session came before the modest one");
    fixture.load_is(0, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_never_exceed_their_ceilings_and_come_back_whatever_happens() {
    #[derive(Default)]
    struct Seen {
        running: u64,
        tenants: [u64; 3],
        sessions: [u64; 9],
        most: (u64, u64, u64),
    }
    let limits = HostLimits {
        calls_in_flight: 8,
        calls_in_flight_per_tenant: 5,
        calls_in_flight_per_session: 3,
        ..HostLimits::default()
    };
    let admission = Admission::new(limits);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let calls: Vec<_> = (0..3_000_usize)
        .map(|index| {
            let (tenant, session) = (index % 3, index % 9);
            let context = context(&format!("t{tenant}"), &format!("s{session}"));
            let (admission, seen) = (admission.clone(), Arc::clone(&seen));
            tokio::spawn(async move {
                let permit = admission.admit(&context, 100, until).await.expect("there is room to wait");
                {
                    let mut seen = seen.lock().expect("not poisoned");
                    seen.running += 1;
                    seen.tenants[tenant] += 1;
                    seen.sessions[session] += 1;
                    let now = (seen.running, seen.tenants[tenant], seen.sessions[session]);
                    seen.most = (seen.most.0.max(now.0), seen.most.1.max(now.1), seen.most.2.max(now.2));
                }
                tokio::task::yield_now().await;
                {
                    let mut seen = seen.lock().expect("not poisoned");
                    seen.running -= 1;
                    seen.tenants[tenant] -= 1;
                    seen.sessions[session] -= 1;
                }
                drop(permit);
            })
        })
        .collect();
    for call in calls {
        call.await.expect("it had its turn");
    }
    let most = seen.lock().expect("not poisoned").most;
    assert!(most.0 <= 8 && most.1 <= 5 && most.2 <= 3, "{most:?}");
    assert!(most.0 > 1, "nothing ever ran at once");
    assert_eq!(admission.load(), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_that_give_up_leave_nothing_behind() {
    let limits =
        HostLimits { calls_in_flight: 1, calls_waiting: 50, calls_waiting_per_session: 50, ..HostLimits::default() };
    let admission = Admission::new(limits);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let held = admission.admit(&context("t", "holder"), 0, until).await.expect("free");
    // Twenty times as many as may wait: those that gave up do not count.
    for round in 0..20 {
        let waiting: Vec<_> = (0..50)
            .map(|index| {
                let (admission, context) =
                    (admission.clone(), context("t", &format!("s{}", (round * 50 + index) % 70)));
                tokio::spawn(async move { admission.admit(&context, 1, until).await.map(drop) })
            })
            .collect();
        wharf_tests::until("all wait", || admission.load() == (1, 50)).await;
        for waiter in waiting {
            waiter.abort();
            let refused = waiter.await.is_ok_and(|turn| turn.is_err());
            assert!(!refused, "round {round}: refused for the sake of waiters that gave up");
        }
    }
    drop(held);
    assert_eq!(admission.load(), (0, 0));
}
