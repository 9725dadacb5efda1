//! Many sessions at once, with many callers each, of all three plugins: every
//! answer is right, and none is another's.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf::{Answer, Code, Context, Error};
use wharf_tests::{Fixture, Setup, context};

const SESSIONS: usize = 1_000;
const CALLERS: usize = 20;
/// Sessions that belong to one assistant.
const SHARED: usize = 20;

fn structured(outcome: Result<Answer, Error>) -> Value {
    let answer = outcome.expect("it answers");
    assert!(!answer.is_error, "{:?}", answer.content);
    answer.structured.expect("a structured answer")
}

fn of(session: usize) -> Context {
    Context {
        assistant: format!("assistant-{}", session / SHARED).parse().ok(),
        ..context("local", &format!("session-{session}"))
    }
}

/// What one caller does: something with each plugin, all of it named after the
/// caller. Returns the ids of its playbook and its content.
async fn work(fixture: &Fixture, session: usize, caller: usize) -> (String, String) {
    let (context, name) = (of(session), format!("s{session}c{caller}"));
    let call = |tool: &'static str, arguments: Value| fixture.call_in(&context, tool, arguments);
    let todo = structured(call("planning__add_todo", json!({"name": name})).await);
    assert_eq!(todo["todo"]["name"], name, "a foreign answer");
    let step = json!({"description": "Do it", "action": {"toolName": "tool", "purpose": "to do it"}});
    let playbook = structured(call("playbook__create_playbook", json!({"goal": name, "workflow": [step]})).await);
    let text = format!("The harbour of {name} and everybody.");
    let content = structured(call("content-store__add_content", json!({"text": text, "name": name})).await);
    // It is found at once, and no content of others is.
    let found = structured(call("content-store__search_content", json!({"query": name})).await);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{name}: {found}");
    assert_eq!(found["hits"][0]["name"], name);
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&playbook["playbook"]["id"]), id(&content["content_id"]))
}

async fn names(fixture: &Fixture, session: usize, tool: &str, list: &str, name: &str) -> BTreeSet<String> {
    let answer = structured(fixture.call_in(&of(session), tool, json!({})).await);
    let entries = answer[list].as_array().expect("a list");
    let names: BTreeSet<String> =
        entries.iter().map(|entry| entry[name].as_str().expect("a name").to_owned()).collect();
    assert_eq!(names.len(), entries.len(), "something is there twice: {answer}");
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_with_twenty_callers_each_never_see_each_other() {
    // All of them wait at once, and for their turn only.
    let setup = Setup::new()
        .bundled("planning", "")
        .bundled("playbook", "")
        .bundled("content-store", "")
        .host_limit("calls_waiting", 100_000)
        .host_limit("calls_waiting_per_tenant", 100_000)
        .host_limit("wait_milliseconds", 600_000);
    let fixture = std::sync::Arc::new(setup.open().await);
    let mut callers = Vec::new();
    // Round by round, so that all sessions are served at once.
    for caller in 0..CALLERS {
        for session in 0..SESSIONS {
            let fixture = std::sync::Arc::clone(&fixture);
            callers.push((session, tokio::spawn(async move { work(&fixture, session, caller).await })));
        }
    }
    let mut playbooks: Vec<Vec<String>> = vec![Vec::new(); SESSIONS];
    let mut contents: Vec<Vec<String>> = vec![Vec::new(); SESSIONS];
    for (session, running) in callers {
        let (playbook, content) = running.await.expect("no caller panics");
        playbooks[session].push(playbook);
        contents[session].push(content);
    }
    let mut strangers = Vec::new();
    for session in 0..SESSIONS {
        let expected: BTreeSet<String> = (0..CALLERS).map(|caller| format!("s{session}c{caller}")).collect();
        assert_eq!(names(&fixture, session, "planning__get_current_state", "todos", "name").await, expected);
        assert_eq!(names(&fixture, session, "content-store__list_contents", "contents", "name").await, expected);
        // Every word of it is found in its own session alone.
        let query = json!({"query": "harbour everybody", "top_n": 100});
        let found = structured(fixture.call_in(&of(session), "content-store__search_content", query).await);
        assert_eq!(found["matches"], CALLERS, "{session}");
        // What belongs to others is out of reach, while all others ask, too.
        let other = (session + SHARED) % SESSIONS;
        let (playbook, content) = (playbooks[other][0].clone(), contents[other][0].clone());
        let own = playbooks[session / SHARED * SHARED][1].clone();
        let fixture = std::sync::Arc::clone(&fixture);
        strangers.push(tokio::spawn(async move {
            let context = of(session);
            for tool in ["get_playbook", "select_playbook", "delete_playbook", "update_playbook"] {
                let mut arguments = json!({"id": playbook});
                if tool == "update_playbook" {
                    arguments["playbook"] = json!({"goal": "Stolen"});
                }
                let answer =
                    fixture.call_in(&context, &format!("playbook__{tool}"), arguments).await.expect("an answer");
                let text = answer.content[0].as_text().unwrap_or_default().to_owned();
                assert!(answer.is_error && text.contains("Permission denied"), "{tool}: {text}");
            }
            let read = fixture.call_in(&context, "content-store__read_content", json!({"content_id": content})).await;
            let refused = read.map_or_else(|error| error.code == Code::NotFound, |answer| answer.is_error);
            assert!(refused, "{content} is readable from session {session}");
            // Another session of the same assistant made this one.
            structured(fixture.call_in(&context, "playbook__get_playbook", json!({"id": own})).await);
        }));
    }
    for stranger in strangers {
        stranger.await.expect("no stranger comes through");
    }
    // The attempts changed nothing.
    for assistant in 0..SESSIONS / SHARED {
        let session = assistant * SHARED;
        let page = json!({"pageSize": 50});
        let listed = structured(fixture.call_in(&of(session), "playbook__list_playbooks", page).await);
        assert_eq!(listed["total"], SHARED * CALLERS, "assistant {assistant}");
    }
    assert_eq!(fixture.host.load(), (0, 0));
}
