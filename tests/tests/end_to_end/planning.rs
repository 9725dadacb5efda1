//! The planning plugin as its users see it: many contexts at once, over
//! restarts, crashes and several hosts on one data directory.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf::{Answer, Context, Error};
use wharf_tests::{Client, Data, Fixture, Setup, context, wharf};

fn structured(outcome: Result<Answer, Error>) -> Value {
    outcome.expect("planning answers").structured.expect("a structured answer")
}

async fn state(fixture: &Fixture, context: &Context) -> Value {
    structured(fixture.call_in(context, "planning__get_current_state", json!({})).await)
}

/// Names of the todos of a state, each once, with ids from 1 without a gap.
fn names(state: &Value) -> BTreeSet<String> {
    let todos = state["todos"].as_array().expect("todos");
    let names: BTreeSet<_> = todos.iter().map(|todo| todo["name"].as_str().expect("a name").to_owned()).collect();
    let ids: BTreeSet<_> = todos.iter().map(|todo| todo["id"].as_u64().expect("an id")).collect();
    let expected: BTreeSet<_> = (1..=todos.len() as u64).collect();
    assert_eq!((names.len(), ids), (todos.len(), expected), "a todo is there twice or lost: {state}");
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_contexts_with_a_hundred_calls_each_at_once_never_see_each_other() {
    // How fast they are is another matter: ten thousand calls wait for a busy machine.
    let fixture = Setup::new().planning().host_limit("wait_milliseconds", 600_000).open().await;
    // Contexts that differ in one part only.
    let contexts: Vec<_> = (0..100)
        .map(|index: usize| Context {
            assistant: format!("a{}", index / 2 % 2).parse().ok(),
            thread: format!("t{}", index % 2).parse().ok(),
            ..context("local", &format!("s{}", index / 4))
        })
        .collect();
    let mut calls = Vec::new();
    // Round by round, so that all contexts are served at once.
    for call in 0..100 {
        for (index, context) in contexts.iter().enumerate() {
            let running = fixture.start(context, "planning__add_todo", json!({"name": format!("{index}/{call}")}));
            calls.push((index, call, running));
        }
    }
    for (index, call, running) in calls {
        let answer = structured(running.outcome().await);
        assert_eq!(answer["todo"]["name"], format!("{index}/{call}"), "a foreign answer: {answer}");
    }
    for (index, context) in contexts.iter().enumerate() {
        let expected: BTreeSet<_> = (0..100).map(|call| format!("{index}/{call}")).collect();
        assert_eq!(names(&state(&fixture, context).await), expected, "{context:?}");
    }
    assert_eq!(fixture.host.load(), (0, 0));
}

#[tokio::test]
async fn state_outlives_a_restart_of_the_host() {
    let setup = Setup::bare().planning();
    let fixture = setup.open_in(Data::new()).await;
    let mine = context("local", "mine");
    structured(fixture.call_in(&mine, "planning__create_goal", json!({"goal": "Outlive it"})).await);
    let before = state(&fixture, &mine).await;
    let Fixture { host, data } = fixture;
    drop(host);
    let again = setup.open_in(data).await;
    assert_eq!(state(&again, &mine).await, before);
    assert_eq!(state(&again, &context("local", "other")).await["goal"], json!(null));
}

/// A server with planning on this data directory.
fn served(data: &Data) -> Client {
    let config = data.write("wharf.toml", Setup::bare().planning().text());
    Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()))
}

fn add(client: &mut Client, session: &str, name: &str) -> Value {
    let answer = client.call("planning__add_todo", json!({"name": name}), json!({"dev.wharf/sessionId": session}));
    assert_eq!(answer["isError"], json!(false), "{answer}");
    answer["structuredContent"]["todo"].clone()
}

fn current(client: &mut Client, session: &str) -> Value {
    let meta = json!({"dev.wharf/sessionId": session});
    let mut answer = client.call("planning__get_current_state", json!({}), meta);
    assert_eq!(answer["isError"], json!(false), "{answer}");
    answer["structuredContent"].take()
}

#[test]
fn what_was_answered_survives_a_kill() {
    let data = Data::new();
    let mut answered = BTreeSet::new();
    for round in 0..5 {
        let mut client = served(&data);
        for index in 0..10 {
            let name = format!("{round}/{index}");
            add(&mut client, "mine", &name);
            answered.insert(name);
        }
        // More are under way when it dies; each is there as a whole or not.
        for index in 0..10 {
            let arguments = json!({"name": format!("unanswered {round}/{index}")});
            let meta = json!({"dev.wharf/sessionId": "mine"});
            client.ask("tools/call", json!({"name": "planning__add_todo", "arguments": arguments, "_meta": meta}));
        }
        client.kill();
    }
    let there = names(&current(&mut served(&data), "mine"));
    let lost: Vec<_> = answered.difference(&there).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(there.difference(&answered).all(|name| name.starts_with("unanswered ")), "{there:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_hosts_on_one_data_directory_stay_right() {
    let fixture = Setup::bare().planning().open_in(Data::new()).await;
    let shared = context("local", "shared");
    let binaries: Vec<_> = (0..2)
        .map(|binary| {
            let mut client = served(&fixture.data);
            std::thread::spawn(move || {
                for index in 0..40 {
                    add(&mut client, "shared", &format!("binary {binary}/{index}"));
                    add(&mut client, &format!("own {binary}").replace(' ', "-"), &index.to_string());
                }
                let own = names(&current(&mut client, &format!("own-{binary}")));
                drop(client.leave());
                own
            })
        })
        .collect();
    for index in 0..40 {
        let name = format!("library/{index}");
        structured(fixture.call_in(&shared, "planning__add_todo", json!({"name": name})).await);
    }
    let own: BTreeSet<_> = (0..40).map(|index| index.to_string()).collect();
    for binary in binaries {
        assert_eq!(binary.join().expect("a client"), own);
    }
    let mut expected: BTreeSet<_> = (0..40).map(|index| format!("library/{index}")).collect();
    for binary in 0..2 {
        expected.extend((0..40).map(|index| format!("binary {binary}/{index}")));
    }
    // The library sees what the others wrote, and all of it.
    assert_eq!(names(&state(&fixture, &shared).await), expected);
}

#[test]
fn a_host_that_leaves_takes_nothing_from_one_that_stays() {
    let data = Data::new();
    let mut stays = served(&data);
    add(&mut stays, "mine", "first");
    let mut leaves = served(&data);
    add(&mut leaves, "mine", "second");
    drop(leaves.leave());
    let mut dies = served(&data);
    add(&mut dies, "mine", "third");
    dies.kill();
    add(&mut stays, "mine", "fourth");
    let all: BTreeSet<_> = ["first", "second", "third", "fourth"].map(str::to_owned).into();
    assert_eq!(names(&current(&mut stays, "mine")), all);
}
