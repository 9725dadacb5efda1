//! Plugins that are replaced while they are called.

use std::{
    io::{BufRead as _, BufReader},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use serde_json::{Value, json};
use wharf::{CallRequest, PluginSpec};
use wharf_tests::{Server, Setup, bytes, context, object, replied, until, wharf, with_section};

/// The benchmark does it a thousand times.
const SWAPS: usize = 50;
/// Each is a run of the command.
const COMMANDS: usize = 5;

/// Two components that answer alike.
fn components() -> [Vec<u8>; 2] {
    let one = bytes("guest-echo");
    // Another digest, the same code.
    let other = with_section(one.clone(), "note", b"");
    [one, other]
}

fn spec(component: &[u8]) -> PluginSpec {
    PluginSpec::new("late".parse().expect("legal"), component.to_vec())
}

// Callers and swaps run at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_fails_while_its_plugin_is_replaced_and_no_old_version_stays() {
    let fixture = Setup::bare().open_in(wharf_tests::Data::new()).await;
    let components = components();
    let host = fixture.host.clone();
    let mut versions = vec![host.load_plugin(spec(&components[0])).await.expect("loads").plugin.watch()];
    let (over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (host, over, answered) = (host.clone(), Arc::clone(&over), Arc::clone(&answered));
            tokio::spawn(async move {
                let context = context("local", &format!("caller-{caller}"));
                while !over.load(Ordering::Relaxed) {
                    let arguments = object(json!({"text": "still here"}));
                    let answer = host.call(CallRequest::new(context.clone(), "late__echo", arguments)).await;
                    let answer = answer.unwrap_or_else(|error| panic!("a call failed: {error}"));
                    assert_eq!(answer.content[0].as_text(), Some("still here"));
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for swap in 1..=SWAPS {
        let plugin = host.replace_plugin(spec(&components[swap % 2])).await.expect("replaced").plugin;
        versions.push(plugin.watch());
        drop(plugin);
        let before = answered.load(Ordering::Relaxed);
        until("calls go on", || answered.load(Ordering::Relaxed) > before).await;
    }
    over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("no call failed");
    }
    let alive = || versions.iter().filter(|version| version.strong_count() > 0).count();
    until("only the last version is held", || alive() == 1).await;
    host.unload_plugin(&"late".parse().expect("legal")).expect("unloaded");
    until("nothing is held", || alive() == 0).await;
}

#[tokio::test]
async fn a_call_in_flight_finishes_on_the_version_that_it_began_with() {
    let fixture = Setup::bare().open_in(wharf_tests::Data::new()).await;
    let hostile = PluginSpec::new("late".parse().expect("legal"), bytes("guest-hostile"));
    let first = fixture.host.load_plugin(hostile).await.expect("loads").plugin.watch();
    let slow = fixture.start(&context("local", "test"), "late__sleep", json!({"milliseconds": 1_500}));
    fixture.load_is(1, 0).await;
    fixture.host.replace_plugin(spec(&components()[0])).await.expect("replaced");
    assert!(first.strong_count() > 0, "the call holds it");
    fixture.host.unload_plugin(&"late".parse().expect("legal")).expect("unloaded");
    slow.outcome().await.expect("answers as if nothing had happened");
    until("it is gone with its last call", || first.strong_count() == 0).await;
}

#[test]
fn clients_over_http_are_told_once_of_each_swap_and_none_of_their_calls_fails() {
    let server = Server::start(&Setup::bare());
    let [one, other] = components();
    let files = [server.data.write("one.wasm", one), server.data.write("other.wasm", other)];
    let plugin = |arguments: &[&str]| {
        let run = wharf([&["plugin"], arguments].concat()).config(&server.data.path().join("wharf.toml"));
        let run = run.data(server.data.path()).run();
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    };
    let path = |number: usize| files[number % 2].to_str().expect("UTF-8");
    plugin(&["add", path(0), "--name", "late"]);
    let session = server.handshake().expect("a session");
    let mut unasked = BufReader::new(server.listen(&session));
    let call = |id: usize| {
        let params = json!({"name": "late__echo", "arguments": {"text": "here"}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let (over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for caller in 1..=2 {
            let (over, answered, server, session) = (&over, &answered, &server, &session);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let reply = replied(server.say(session, &call(caller)));
                    assert_eq!(reply.message()["result"]["content"][0]["text"], "here", "{reply:?}");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // The callers must stop even where a command fails, since the scope waits for them.
        let swapped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (1..=COMMANDS).for_each(|number| plugin(&["update", "late", path(number)]));
        }));
        over.store(true, Ordering::Relaxed);
        swapped.expect("each swap is made");
    });
    assert!(answered.load(Ordering::Relaxed) > 0, "nobody called");
    // The last thing that is said before the session ends.
    plugin(&["remove", "late"]);
    assert_eq!(replied(server.send("DELETE", "/mcp", "s", &session, "")).status, 202);
    let lines = std::iter::from_fn(|| {
        let mut line = String::new();
        (unasked.read_line(&mut line).expect("a stream that ends") > 0).then_some(line)
    });
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let told = messages.filter(|message| message["method"] == "notifications/tools/list_changed").count();
    assert_eq!(told, COMMANDS + 1, "once for each swap, and for the end");
}
