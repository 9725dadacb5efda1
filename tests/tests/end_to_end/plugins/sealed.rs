//! Nothing of an agent's reaches what installs plugins: not its channel, not a plugin,
//! not a child.

use std::fs;

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Setup, wharf};

use super::{eventually, saying};

/// A host that serves, with everything granted to `hostile` that reaches files.
fn serve(data: &Data, files: &Data) -> Client {
    let setup = Setup::new().processes("shell = true").workspace("").terminals("shell = true");
    let config = files.write("wharf.toml", setup.text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let hosts = data.path().join("hosts");
    eventually(&mut client, "the socket is there", |_| {
        fs::read_dir(&hosts)
            .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|one| one.path().join("control").exists())))
    });
    client
}

fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let result = client.call(tool, arguments, json!({}));
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or(result)
}

#[test]
fn a_contained_child_finds_neither_the_socket_nor_the_secret_nor_what_was_added() {
    let (data, files) = (Data::new(), Data::alone());
    let greeter = files.write("greeter.wasm", saying(true)).display().to_string();
    let mut client = serve(&data, &files);
    let config = files.path().join("wharf.toml");
    let added = wharf(["plugin", "add", &greeter]).config(&config).data(data.path()).run();
    assert_eq!(added.code, Some(0), "{added:?}");
    let host =
        fs::read_dir(data.path().join("hosts")).expect("is there").next().expect("one").expect("readable").path();
    let secret = fs::read_to_string(host.join("secret")).expect("readable here");
    let script = format!(
        "cd {data}; ls -a hosts plugins {host}; cat {host}/secret; \
         echo x > plugins/installed.json; rm -rf plugins hosts; mkdir -p plugins; test -S {host}/control && echo reached",
        data = data.path().display(),
        host = host.display()
    );
    let started = call(&mut client, "hostile__start_process", json!({"shell": script}));
    let id = started["ok"]["id"].as_str().unwrap_or_else(|| panic!("not started: {started}")).to_owned();
    let waited = call(&mut client, "hostile__ask_process", json!({"function": "wait", "id": id, "number": 20_000}));
    assert_eq!(waited["ok"]["reason"], "exit", "{waited}");
    let polled = call(&mut client, "hostile__ask_process", json!({"function": "poll", "id": id, "number": 65_536}));
    let printed = format!("{}{}", polled["ok"]["stdout"], polled["ok"]["stderr"]);
    assert!(printed.contains("cannot access"), "it has run and looked: {printed}");
    assert!(!printed.contains(secret.trim()) && !printed.contains("reached"), "{printed}");
    let listed = wharf(["plugin", "list", "--json"]).config(&config).data(data.path()).run();
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    let plugins = listed["plugins"].as_array().expect("a list");
    assert!(listed["hosts"] == 1 && plugins.iter().any(|plugin| plugin["name"] == "greeter"), "{listed}");
}

#[test]
fn a_plugin_and_the_agents_channel_find_no_way_there_either() {
    let (data, files) = (Data::new(), Data::alone());
    let mut client = serve(&data, &files);
    let host =
        fs::read_dir(data.path().join("hosts")).expect("is there").next().expect("one").expect("readable").path();
    let secret = fs::read_to_string(host.join("secret")).expect("readable here");
    for path in [
        host.join("secret").display().to_string(),
        format!("/workspace/../../hosts/{}/secret", host.file_name().expect("a name").to_string_lossy()),
        "/workspace/../../../plugins/installed.json".to_owned(),
    ] {
        let read = client.call("hostile__read_file", json!({ "path": path }), json!({}));
        assert!(!read.to_string().contains(secret.trim()), "{path}: {read}");
    }
    for method in ["plugins/add", "plugins/list", "plugin/add", "wharf/plugin", "control/reload"] {
        let answer = client.request(method, json!({"source": "x.wasm", "secret": secret.trim()}));
        assert!(answer["error"].is_object(), "{method}: {answer}");
    }
    for tool in ["plugin", "plugin__add", "wharf__plugin", "host__plugin_add", "host__reload"] {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": {"source": "x.wasm"}}));
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{tool}: {answer}");
    }
    let listed = client.request("tools/list", json!({}));
    let names: Vec<_> =
        listed["result"]["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.iter().all(|name| name.as_str().is_some_and(|name| name.contains("__"))), "{names:?}");
    assert!(!data.path().join("plugins").exists());
}
