//! Plugins that the operator adds, replaces and removes over HTTP: looked at first.

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Reply, wharf};

use super::Operated;
use crate::plugins::saying;

const PLUGINS: &str = "/v1/operator/plugins";

fn asked(host: &Operated, change: &Value, dry_run: bool) -> Reply {
    host.ask("POST", PLUGINS, Some(json!({"change": change, "dry_run": dry_run})))
}

#[track_caller]
fn changed(host: &Operated, change: &Value, dry_run: bool) -> Value {
    let reply = asked(host, change, dry_run);
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

fn is_there(host: &Operated, plugin: &str) -> bool {
    let listed = host.get(PLUGINS);
    listed["plugins"].as_array().expect("a list").iter().any(|one| one["name"] == plugin)
}

fn says(host: &Operated) -> Value {
    let reply = host.ask("POST", "/v1/operator/tools/greeter__run/calls", Some(json!({"arguments": {}})));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["content"][0]["text"].clone()
}

#[test]
fn a_plugin_is_looked_at_then_added_replaced_and_removed_while_hosts_serve() {
    let host = Operated::start("# Ours.\n");
    // Beside the configuration, where a confined host reads.
    let (data, files) = (&host.server.data, &host.server.data);
    let other = wharf(["serve", "--stdio"]).config(&data.path().join("wharf.toml")).data(data.path());
    let mut agent = Client::connect(other);
    host.until("/v1/operator/hosts", "hosts", 2);
    let file = files.write("greeter.wasm", saying(true)).display().to_string();

    let add = |digest: Value| json!({"add": {"source": file, "digest": digest}});
    let found = changed(&host, &add(Value::Null), true);
    let digest = found["component"]["digest"].clone();
    assert!(found["is_done"] == false && found["plugin"] == "greeter" && digest.is_string(), "{found}");
    assert_eq!(found["component"]["tools"], json!(["run"]), "{found}");
    assert!(!is_there(&host, "greeter"), "a look adds nothing");
    // What was looked at is what is added: the file is another one by now.
    files.write("greeter.wasm", saying(false));
    let refused = asked(&host, &add(digest.clone()), false);
    assert!(refused.status == 400 && refused.body.contains("its digest is"), "{refused:?}");
    files.write("greeter.wasm", saying(true));
    assert_eq!(changed(&host, &add(digest.clone()), false)["is_done"], true);
    assert_eq!(says(&host), "yes");
    let text = agent.call("greeter__run", json!({}), json!({}))["content"][0]["text"].clone();
    assert_eq!(text, "yes", "the other host has it, too");
    let again = asked(&host, &add(digest.clone()), false);
    assert!(again.status == 400 && again.body.contains("greeter"), "{again:?}");

    files.write("greeter.wasm", saying(false));
    let update = |digest: &Value| json!({"update": {"plugin": "greeter", "digest": digest}});
    let found = changed(&host, &update(&Value::Null), true);
    assert!(found["before"] == digest && found["component"]["digest"] != digest, "{found}");
    assert_eq!(says(&host), "yes");
    changed(&host, &update(&found["component"]["digest"]), false);
    assert_eq!(says(&host), "no");

    let remove = json!({"remove": {"plugin": "greeter"}});
    assert_eq!(changed(&host, &remove, true)["is_done"], false);
    assert_eq!(says(&host), "no");
    assert_eq!(changed(&host, &remove, false)["component"], Value::Null);
    assert!(!is_there(&host, "greeter"));
    let gone = asked(&host, &remove, false);
    assert!(gone.status == 400 && gone.body.contains("greeter"), "{gone:?}");
}

#[test]
fn a_pinned_plugin_shows_what_came_in_its_place_and_takes_it_only_by_its_digest() {
    let host = Operated::start("");
    let files = &host.server.data;
    let file = files.write("greeter.wasm", saying(true)).display().to_string();
    changed(&host, &json!({"add": {"source": file, "pinned": true}}), false);
    files.write("greeter.wasm", saying(false));
    let update = |digest: &Value| json!({"update": {"plugin": "greeter", "digest": digest}});
    let found = changed(&host, &update(&Value::Null), true);
    let refused = asked(&host, &update(&Value::Null), false);
    assert!(refused.status == 400 && refused.body.contains("digest"), "{refused:?}");
    assert_eq!(says(&host), "yes");
    changed(&host, &update(&found["component"]["digest"]), false);
    assert_eq!(says(&host), "no");
    files.write("greeter.wasm", saying(true));
    assert_eq!(asked(&host, &update(&Value::Null), false).status, 400, "it stays pinned");
}

#[test]
fn what_cannot_be_added_says_why_and_changes_nothing() {
    let (host, outside) = (Operated::start(""), Data::alone());
    let files = &host.server.data;
    let far = outside.write("far.wasm", saying(true)).display().to_string();
    let is_confined = host.server.log().contains("this host is confined ") && !host.server.log().contains("in part");
    let text = files.write("text.wasm", "no component").display().to_string();
    let good = files.write("greeter.wasm", saying(true)).display().to_string();
    let before = host.get(PLUGINS);
    let out_of_reach = is_confined.then(|| (json!({"add": {"source": far}}), "this host is confined"));
    for (change, word) in out_of_reach.into_iter().chain([
        (json!({"add": {"source": "greeter.wasm"}}), "whole path"),
        (json!({"add": {"source": "/nowhere/greeter.wasm"}}), "greeter.wasm"),
        (json!({"add": {"source": "/dev/zero", "name": "zero"}}), "/dev/zero"),
        (json!({"add": {"source": text}}), "text.wasm"),
        (json!({"add": {"source": good, "name": "No Name"}}), "name"),
        (json!({"add": {"source": good, "name": "planning"}}), "planning"),
        (json!({"add": {"source": good, "digest": "md5:1"}}), "blake3"),
        (json!({"add": {"source": "http://localhost/greeter.wasm"}}), "https"),
        (json!({"update": {"plugin": "planning"}}), "no plugin planning was added"),
        (json!({"remove": {"plugin": "planning"}}), "was not added by command"),
        (json!({"fly": {}}), "fly"),
    ]) {
        let refused = asked(&host, &change, false);
        assert!(refused.status == 400 && refused.body.contains(word), "{change}: {refused:?}");
    }
    assert_eq!(host.get(PLUGINS), before);
}
