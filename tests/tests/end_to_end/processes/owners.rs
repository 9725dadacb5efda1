//! A process belongs to tenant, plugin and session, and to nobody else.

use serde_json::json;
use wharf_tests::{Setup, component, context, found, object};

use super::{ask, here, shell};

#[tokio::test]
async fn who_does_not_own_a_process_cannot_tell_it_from_one_that_never_was() {
    let other = component("guest-hostile");
    let grants = "[plugin.other.grants.process]\nreason = \"a test\"\nshell = true";
    let fixture = Setup::new().processes("shell = true").plugin("other", &other, grants).open().await;
    let id = shell(&fixture, &here(), "read line; sleep 1000").await;
    let before = ask(&fixture, &here(), "poll", &id, json!({"number": 10})).await;
    let strangers = [
        (context("local", "another"), "hostile", id.clone()),
        (context("another", "test"), "hostile", id.clone()),
        (here(), "other", id.clone()),
        (here(), "hostile", "0".repeat(32)),
        (here(), "hostile", id.to_uppercase()),
        (here(), "hostile", String::new()),
        (here(), "hostile", "../".repeat(10)),
    ];
    for (stranger, plugin, id) in &strangers {
        let functions = [
            ("poll", json!({"number": 10})),
            ("wait", json!({"number": 10})),
            ("wait", json!({"number": 10, "text": "a"})),
            ("read", json!({})),
            ("head", json!({"number": 1})),
            ("tail", json!({"number": 1})),
            ("write", json!({"number": 10})),
            ("close-input", json!({})),
            ("signal", json!({"text": "kill"})),
            ("stop", json!({})),
        ];
        for (function, more) in functions {
            let mut arguments = json!({"function": function, "id": id});
            arguments.as_object_mut().expect("an object").extend(object(more));
            let answer = found(fixture.call_in(stranger, &format!("{plugin}__ask_process"), arguments).await);
            assert_eq!(answer["refused"]["code"], "not-found", "{function} by {plugin} in {stranger:?}: {answer}");
        }
        if id == &strangers[0].2 {
            let listed = found(
                fixture
                    .call_in(stranger, &format!("{plugin}__ask_process"), json!({"function": "list", "id": ""}))
                    .await,
            );
            assert_eq!(listed["ok"], json!([]));
        }
    }
    // Its owner finds it as it was, and not even a poll was counted.
    let after = ask(&fixture, &here(), "poll", &id, json!({"number": 10})).await;
    assert_eq!(
        (&after["ok"]["process"]["status"], &after["ok"]["process"]["pid"]),
        (&json!("running"), &before["ok"]["process"]["pid"])
    );
    assert_eq!(fixture.host.poll_totals().expect("there are processes").polls, 2);
    ask(&fixture, &here(), "stop", &id, json!({})).await;
}

#[tokio::test]
async fn two_hosts_on_one_directory_keep_their_processes_apart() {
    let setup = Setup::new().processes("shell = true").workspace("");
    let one = setup.open().await;
    let id = shell(&one, &here(), "sleep 1000").await;
    let host = wharf::Host::open(setup.configuration(), one.data.path()).await.expect("a second host opens");
    let two = wharf_tests::Fixture { host: host.into(), data: wharf_tests::Data::new() };
    assert_eq!(ask(&two, &here(), "list", "", json!({})).await["ok"], json!([]), "it lives, and is not lost");
    assert_eq!(ask(&one, &here(), "poll", &id, json!({"number": 1})).await["ok"]["process"]["status"], "running");
    ask(&one, &here(), "stop", &id, json!({})).await;
}
