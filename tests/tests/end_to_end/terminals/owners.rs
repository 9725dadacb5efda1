//! A terminal belongs to tenant, plugin, session and assistant, and to nobody
//! else.

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Setup, component, context, found, object};

use super::{OF_ONE, ask, here, id_of, ok, said, shell, started, until};

#[tokio::test]
async fn who_does_not_own_a_terminal_cannot_tell_it_from_one_that_never_was() {
    let other = component("guest-hostile");
    let grants = "[plugin.other.grants.terminal]\nreason = \"a test\"\nshell = true";
    let fixture = Setup::new().terminals("shell = true").plugin("other", &other, grants).open().await;
    let id = shell(&fixture, &here()).await;
    said(&fixture, &here(), &id, "echo mine").await;
    let standing = async || {
        let info = ok(&fixture, &here(), "get", &id, json!({})).await;
        // Not the output, of which more may still be printed.
        ["status", "pid", "turn", "columns", "rows", "stream"].map(|name| info[name].clone())
    };
    let before = standing().await;
    let assisted = Context { assistant: Some("a".parse().expect("legal")), ..here() };
    let strangers = [
        (context("local", "another"), "hostile", id.clone()),
        (context("another", "test"), "hostile", id.clone()),
        (assisted, "hostile", id.clone()),
        (here(), "other", id.clone()),
        (here(), "hostile", "0".repeat(id.len())),
        (here(), "hostile", id.to_uppercase()),
        (here(), "hostile", before[5].as_str().expect("a stream").to_owned()),
        (here(), "hostile", String::new()),
        (here(), "hostile", "../".repeat(10)),
        (here(), "hostile", format!("{id}\u{0}")),
    ];
    let mut told = std::collections::BTreeSet::new();
    for (stranger, plugin, asked) in &strangers {
        for function in OF_ONE {
            let mut arguments = json!({
                "function": function, "id": asked, "turn": 1, "bytes": 10, "columns": 90, "rows": 30,
            });
            let more = match function {
                "send" => json!({"text": "exit", "submit": true}),
                "press" => json!({"keys": ["C-d"]}),
                "read" => json!({"view": "text"}),
                _ => json!({}),
            };
            arguments.as_object_mut().expect("an object").extend(object(more));
            let answer = found(fixture.call_in(stranger, &format!("{plugin}__ask_terminal"), arguments).await);
            assert_eq!(answer["refused"]["code"], "not-found", "{function} by {plugin} in {stranger:?}: {answer}");
            told.insert(answer["refused"].to_string());
        }
        if *asked == id {
            let list = json!({"function": "list"});
            let listed = found(fixture.call_in(stranger, &format!("{plugin}__ask_terminal"), list).await);
            assert_eq!(listed["ok"], json!([]));
        }
    }
    assert_eq!(told.len(), 1, "all in the same words: {told:?}");
    // Its owner finds it as it was.
    assert_eq!(standing().await, before);
}

#[tokio::test]
async fn each_assistant_of_a_session_has_a_terminal_in_the_one_workspace() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let of = |name: &str| Context { assistant: Some(name.parse().expect("legal")), ..here() };
    let (one, two) = (shell(&fixture, &of("one")).await, shell(&fixture, &of("two")).await);
    said(&fixture, &of("one"), &one, "echo shared > file").await;
    let (text, _) = said(&fixture, &of("two"), &two, "cat file").await;
    assert!(text.contains("shared"), "{text}");
}

#[tokio::test]
async fn a_second_terminal_replaces_the_first_and_says_so() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let (first, other) = (shell(&fixture, &here()).await, context("local", "another"));
    let beside = shell(&fixture, &other).await;
    let second = started(&fixture, &here(), json!({})).await;
    assert_eq!(second["replaced"], json!([first]));
    let info = ok(&fixture, &here(), "get", &first, json!({})).await;
    assert_eq!((&info["status"], &info["outcome"]["reason"]), (&json!("closed"), &json!("replaced")));
    assert_eq!(info["pid"], Value::Null);
    // It can be used, and another session notices nothing.
    said(&fixture, &here(), &id_of(&second), "true").await;
    assert_ne!(ok(&fixture, &other, "get", &beside, json!({})).await["status"], "closed");
    let ids: Vec<_> = ok(&fixture, &here(), "list", "", json!({})).await.as_array().expect("a list").clone();
    assert_eq!(ids.iter().map(|info| &info["id"]).collect::<Vec<_>>(), [&json!(first), &json!(id_of(&second))]);
}

#[tokio::test]
async fn an_app_that_lets_go_of_its_host_keeps_no_terminal_of_it() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let id = shell(&fixture, &here()).await;
    let pid = ok(&fixture, &here(), "get", &id, json!({})).await["pid"].as_u64().expect("it runs");
    assert!(ask(&fixture, &here(), "list", "", json!({})).await["ok"].is_array());
    let wharf_tests::Fixture { host, data } = fixture;
    drop(host);
    wharf_tests::until("it is gone", || !std::path::Path::new(&format!("/proc/{pid}/exe")).exists()).await;
    drop(data);
}

#[tokio::test]
async fn two_hosts_on_one_directory_keep_their_terminals_apart() {
    let setup = Setup::new().terminals("shell = true");
    let one = setup.open().await;
    let id = shell(&one, &here()).await;
    let host = wharf::Host::open(setup.configuration(), one.data.path()).await.expect("a second host opens");
    let two = wharf_tests::Fixture { host: host.into(), data: wharf_tests::Data::new() };
    assert_eq!(ok(&two, &here(), "list", "", json!({})).await, json!([]));
    until(&one, &here(), &id, |info| info["pid"].is_u64()).await;
}
