//! A folder whose components are plugins, while a host serves.

use serde_json::json;
use wharf_tests::{Client, Data, Setup, wharf};

use super::{eventually, saying, seen, told};

/// A host that serves a folder, and its client.
fn serve(data: &Data, folder: &Data) -> Client {
    let config = folder.write("wharf.toml", Setup::bare().with_tables("[plugin.plain]\nprefix = false").text());
    let path = folder.path().to_str().expect("a path");
    Client::connect(wharf(["serve", "--stdio", "--plugins", path]).config(&config).data(data.path()))
}

#[test]
fn what_lies_in_the_folder_comes_changes_and_goes_for_clients() {
    let (data, folder) = (Data::new(), Data::alone());
    folder.write("first.wasm", saying(true));
    let mut client = serve(&data, &folder);
    assert_eq!(seen(&mut client), ["first__run"], "what lies there at the start is whole");
    // By copying, in two pieces.
    let whole = saying(true);
    folder.write("plain.wasm", &whole[..whole.len() / 2]);
    folder.write("plain.wasm", &whole);
    eventually(&mut client, "a new plugin is there", |client| seen(client) == ["first__run", "run"]);
    // It may have listed the new plugin before the news of it came.
    eventually(&mut client, "the client is told", |client| {
        client.request("ping", json!({}));
        told(client) >= 1
    });
    // By renaming.
    let next = folder.write("next", saying(false));
    std::fs::rename(next, folder.path().join("first.wasm")).expect("renamed");
    eventually(&mut client, "the new component answers", |client| {
        client.call("first__run", json!({}), json!({}))["content"][0]["text"] == "no"
    });
    std::fs::remove_file(folder.path().join("plain.wasm")).expect("removed");
    eventually(&mut client, "it is gone", |client| seen(client) == ["first__run"]);
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn wrong_files_are_listed_with_their_reason_and_links_lead_nowhere() {
    let (data, folder, outside) = (Data::new(), Data::alone(), Data::alone());
    let target = outside.write("outside.wasm", saying(true));
    std::os::unix::fs::symlink(target, folder.path().join("link.wasm")).expect("linked");
    folder.write("broken.wasm", "no component");
    folder.write("good.wasm", saying(true));
    folder.write("planning.wasm", saying(true));
    let mut client = serve(&data, &folder);
    assert_eq!(seen(&mut client), ["good__run"]);
    let config = folder.path().join("wharf.toml");
    let list = || wharf(["plugin", "list", "--json"]).config(&config).data(data.path()).run();
    let reason = |name: &str| {
        let listed: serde_json::Value = serde_json::from_str(&list().out).expect("JSON");
        let plugins = listed["plugins"].as_array().expect("a list").clone();
        let found = plugins.into_iter().filter(|plugin| plugin["name"] == name && plugin["state"] == "rejected");
        found.map(|plugin| plugin["reason"].as_str().unwrap_or_default().to_owned()).next().unwrap_or_default()
    };
    eventually(&mut client, "commands reach the host", |_| !reason("broken").is_empty());
    assert!(reason("broken").contains("no Wasm component"), "{}", reason("broken"));
    assert!(reason("link").contains("not followed"), "{}", reason("link"));
    assert!(reason("planning").contains("rename"), "{}", reason("planning"));
    folder.write("broken.wasm", saying(false));
    eventually(&mut client, "a file that was put right is a plugin", |client| {
        seen(client) == ["broken__run", "good__run"]
    });
}
