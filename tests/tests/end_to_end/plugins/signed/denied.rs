//! What must not run: taken away from hosts that serve, and kept away.

use super::*;

/// A place with a signed list that denies nothing yet, and the key of it.
fn listing() -> (Place, MinisignKey) {
    let key = MinisignKey::new();
    let place = Place::new(&Setup::bare());
    place.files.write("list.pub", key.public());
    let text = "[plugins.deny]\nsource = \"deny.json\"\ntrust = [{ key = \"list.pub\" }]\nfails = \"closed\"";
    place.files.write("wharf.toml", format!("{}\n{text}\n", Setup::bare().text()));
    deny(&place, &key, 1, &json!([]));
    (place, key)
}

fn deny(place: &Place, key: &MinisignKey, sequence: u64, denied: &Value) {
    let list = json!({"format": 1, "sequence": sequence, "denied": denied}).to_string();
    place.files.write("deny.json.minisig", key.sign(list.as_bytes()));
    place.files.write("deny.json", list);
}

#[test]
fn a_plugin_that_is_denied_is_gone_from_hosts_that_serve_and_cannot_be_added_again() {
    let (place, key) = listing();
    let mut client = place.serve();
    let added = place.json(&["plugin", "add", &place.file("greeter.wasm")]);
    eventually(&mut client, "it is served", |client| seen(client).contains(&"greeter__run".to_owned()));
    let digest = &added["receipt"]["digest"];
    deny(&place, &key, 2, &json!([{"digest": digest, "reason": "it leaks"}]));
    eventually(&mut client, "it is gone", |client| !seen(client).contains(&"greeter__run".to_owned()));
    let state = place.state("greeter");
    assert!(
        state["state"] == "rejected" && state["reason"].as_str().is_some_and(|why| why.contains("it leaks")),
        "{state}"
    );
    place.ran(&["plugin", "remove", "greeter"]);
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], "it leaks");
    let status = place.json(&["plugin", "denied"]);
    assert_eq!((&status["list"]["sequence"], &status["list"]["denied"]), (&json!(2), &json!(1)), "{status}");
    // An older list brings nothing back.
    deny(&place, &key, 1, &json!([]));
    place.refused(&["plugin", "denied", "--refresh"], "an older list");
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], "it leaks");
    deny(&place, &key, 3, &json!([]));
    // The host may have looked first, so which of the two finds it is open.
    assert_eq!(place.json(&["plugin", "denied", "--refresh"])["list"]["sequence"], json!(3));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    drop(client.leave());
    assert!(place.ran(&["audit", "--plugin", "greeter"]).contains("greeter rejected: the list"));
    let audit = place.ran(&["audit", "--json", "--plugin", "greeter"]);
    assert!(audit.lines().any(|line| line.contains("\"rejected\"") && line.contains("it leaks")), "{audit}");
}

#[test]
fn a_host_that_has_no_list_and_needs_one_serves_what_is_bundled_alone() {
    let (place, _) = listing();
    std::fs::remove_file(place.file("deny.json")).expect("removed");
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], "nothing runs but the bundled plugins");
    place.refused(&["plugin", "denied", "--refresh"], "deny.json");
    let place = Place::new(&Setup::bare());
    place.refused(&["plugin", "denied"], "[plugins.deny]");
}
