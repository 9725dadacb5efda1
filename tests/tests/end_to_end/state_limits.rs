//! Full quotas and idle expiry, as the users of the plugins meet them.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use wharf::{Answer, Context, Error, Host};
use wharf_state::{Clock, ManualClock, SqliteOptions, SqliteStore, StateStore};
use wharf_tests::{Data, Fixture, Setup, context};

/// Quotas and expiry of one plugin.
fn state(plugin: &str, lines: &str) -> String {
    format!("[plugin.{plugin}.grants.state]\nreason = \"a test\"\n{lines}")
}

fn setup(quota: &str) -> Setup {
    ["planning", "playbook", "content-store"]
        .into_iter()
        .fold(Setup::bare(), |setup, plugin| setup.bundled(plugin, "").with_tables(&state(plugin, quota)))
}

/// A host on a clock that the test moves.
async fn open(setup: &Setup) -> (Fixture, Arc<ManualClock>) {
    let data = Data::new();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::now()));
    let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let store: Arc<dyn StateStore> = Arc::new(SqliteStore::open(data.path(), options).expect("a store"));
    let host = Host::open_with(setup.configuration(), store, Some(data.path())).await.expect("the host opens");
    assert!(host.rejected().is_empty(), "{:?}", host.rejected());
    (Fixture { host: host.into(), data }, clock)
}

fn structured(outcome: Result<Answer, Error>) -> Value {
    let answer = outcome.expect("it answers");
    assert!(!answer.is_error, "{:?}", answer.content);
    answer.structured.expect("a structured answer")
}

fn refusal(outcome: Result<Answer, Error>) -> String {
    let answer = outcome.expect("it answers");
    assert!(answer.is_error, "{:?}", answer.content);
    answer.content[0].as_text().expect("a text").to_owned()
}

fn caller() -> Context {
    Context { assistant: "a".parse().ok(), thread: "t".parse().ok(), ..context("local", "s") }
}

fn playbook(goal: &str) -> Value {
    json!({"goal": goal, "workflow": [{"description": "d", "action": {"toolName": "t", "purpose": "p"}}]})
}

/// Calls with ever new arguments until one is refused; how many went through,
/// and the refusal.
async fn until_refused(fixture: &Fixture, tool: &str, arguments: impl Fn(u32) -> Value) -> (u32, String) {
    for number in 1..200 {
        let answer = fixture.call_in(&caller(), tool, arguments(number)).await.expect("it answers");
        if answer.is_error {
            return (number - 1, answer.content[0].as_text().expect("a text").to_owned());
        }
    }
    panic!("{tool} is never refused");
}

#[tokio::test]
async fn a_full_quota_says_how_much_is_used_how_much_there_may_be_and_what_to_delete() {
    let (fixture, _clock) = open(&setup("quota_bytes = 4000")).await;
    let name = "x".repeat(200);
    let (todos, refused) = until_refused(&fixture, "planning__add_todo", |_| json!({"name": name})).await;
    assert!((5..20).contains(&todos), "{todos}");
    assert!(refused.starts_with("limit: the bucket holds ") && refused.contains(" of 4000 bytes"), "{refused}");
    assert!(refused.contains("clear_todos") && refused.contains("[plugin.planning.grants.state]"), "{refused}");

    let goal = "y".repeat(400);
    let (playbooks, refused) = until_refused(&fixture, "playbook__create_playbook", |_| playbook(&goal)).await;
    assert!((2..10).contains(&playbooks), "{playbooks}");
    assert!(refused.starts_with("limit: the bucket holds ") && refused.contains(" of 4000 bytes"), "{refused}");
    assert!(refused.contains("delete_playbook") && refused.contains("[plugin.playbook.grants.state]"), "{refused}");

    // What it tells to do makes room.
    structured(fixture.call_in(&caller(), "planning__clear_todos", json!({"ids": [1, 2]})).await);
    structured(fixture.call_in(&caller(), "planning__add_todo", json!({"name": name})).await);
    let listed = structured(fixture.call_in(&caller(), "playbook__list_playbooks", json!({})).await);
    assert_eq!(listed["total"], json!(playbooks), "the refused one is not there by half");
    let id = listed["playbooks"][0]["id"].clone();
    structured(fixture.call_in(&caller(), "playbook__delete_playbook", json!({"id": id})).await);
    structured(fixture.call_in(&caller(), "playbook__create_playbook", playbook(&goal)).await);
    // Nobody else is concerned.
    let other = context("local", "other");
    structured(fixture.call_in(&other, "planning__add_todo", json!({"name": name})).await);
}

#[tokio::test]
async fn a_full_content_store_says_what_to_delete_and_keeps_what_it_has() {
    let (fixture, _clock) = open(&setup("quota_bytes = 60000")).await;
    let text = |number: u32| format!("word{number} {}", "The harbour master writes down every ship. ".repeat(200));
    let (added, refused) =
        until_refused(&fixture, "content-store__add_content", |number| json!({"text": text(number)})).await;
    assert!((1..8).contains(&added), "{added}");
    assert!(refused.starts_with("limit: ") && refused.contains(" of 60000 bytes"), "{refused}");
    assert!(refused.contains("delete_content"), "{refused}");
    let listed = structured(fixture.call_in(&caller(), "content-store__list_contents", json!({})).await);
    assert_eq!(listed["total"], json!(added), "the refused one is not there by half");
    let here = caller();
    let search = |word: String| fixture.call_in(&here, "content-store__search_content", json!({"query": word}));
    assert_eq!(structured(search(format!("word{}", added + 1)).await)["hits"], json!([]));
    assert_eq!(structured(search("word1".into()).await)["hits"].as_array().map(Vec::len), Some(1));
    let id = listed["contents"][0]["content_id"].clone();
    structured(fixture.call_in(&caller(), "content-store__delete_content", json!({"content_id": id})).await);
    structured(fixture.call_in(&caller(), "content-store__add_content", json!({"text": text(99)})).await);
}

#[tokio::test]
async fn idle_state_expires_for_every_plugin_and_each_says_so() {
    let idle = "thread_expiry_seconds = 3600\nsession_expiry_seconds = 3600\nassistant_expiry_seconds = 7200";
    let (fixture, clock) = open(&setup(idle)).await;
    let here = caller();
    let call = |tool: &'static str, arguments: Value| fixture.call_in(&here, tool, arguments);
    structured(call("planning__create_goal", json!({"goal": "a goal"})).await);
    let id = structured(call("playbook__create_playbook", playbook("a goal")).await)["playbook"]["id"].clone();
    structured(call("playbook__select_playbook", json!({"id": id})).await);
    structured(call("content-store__add_content", json!({"text": "a harbour"})).await);

    // Use keeps it, also where that only reads. That is recorded in passing, at
    // the latest before the next write returns.
    let elsewhere = context("local", "elsewhere");
    for _ in 0..4 {
        structured(fixture.call_in(&elsewhere, "planning__create_goal", json!({"goal": "another"})).await);
        clock.advance(Duration::from_secs(2_000));
        assert_eq!(structured(call("planning__get_current_state", json!({})).await)["goal"], "a goal");
        assert_eq!(structured(call("playbook__list_playbooks", json!({})).await)["total"], 1);
        assert!(structured(call("playbook__get_active_playbook", json!({})).await)["active"].is_object());
        let found = structured(call("content-store__search_content", json!({"query": "harbour"})).await);
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(1));
    }
    for swept in [false, true] {
        structured(fixture.call_in(&elsewhere, "planning__create_goal", json!({"goal": "another"})).await);
        clock.advance(Duration::from_secs(3_601));
        if swept {
            fixture.host.state().sweep(clock.now()).await.expect("a sweep");
        }
        let plan = structured(call("planning__get_current_state", json!({})).await);
        assert_eq!(plan["goal"], json!(null));
        assert!(plan["notice"].as_str().is_some_and(|notice| notice.contains("expired at")), "{plan}");
        let active = structured(call("playbook__get_active_playbook", json!({})).await);
        assert!(active["notice"].as_str().is_some_and(|notice| notice.contains("expired at")), "{active}");
        let contents = structured(call("content-store__list_contents", json!({})).await);
        assert_eq!(contents["total"], 0);
        assert!(contents["notice"].as_str().is_some_and(|notice| notice.contains("expired at")), "{contents}");
        if !swept {
            assert_eq!(structured(call("playbook__list_playbooks", json!({})).await)["total"], 1, "it has longer");
        }
    }
    clock.advance(Duration::from_secs(7_201));
    let playbooks = structured(call("playbook__list_playbooks", json!({})).await);
    assert!(playbooks["notice"].as_str().is_some_and(|notice| notice.contains("expired at")), "{playbooks}");
    assert!(refusal(call("playbook__get_playbook", json!({"id": id})).await).starts_with("gone: "));
    // And everything begins anew.
    structured(call("planning__create_goal", json!({"goal": "again"})).await);
    structured(call("playbook__create_playbook", playbook("again")).await);
    structured(call("content-store__add_content", json!({"text": "again"})).await);
}
