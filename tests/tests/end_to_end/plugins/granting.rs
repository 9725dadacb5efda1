//! A plugin from its arrival to its end beside a host that serves: added, asked for its
//! grants, granted, called, replaced, confirmed, removed, with an audit trail of all.

use serde_json::{Value, json};
use wharf_tests::{Client, Setup, bytes};

use super::commands::Place;
use crate::grants::swapped;

/// A host that serves, and a plugin that was added to it and is granted nothing.
fn with_guest() -> (Place, Client) {
    let place = Place::new(&Setup::new());
    place.files.write("guest.wasm", bytes("guest-hostile"));
    let client = place.serve();
    place.ran(&["plugin", "add", &place.file("guest.wasm")]);
    (place, client)
}

/// Whether a call may use state, or what it is told instead.
fn uses_state(client: &mut Client) -> Result<(), String> {
    let result = client.call("guest__open_bucket", json!({"scope": "session", "name": "b"}), json!({}));
    match result["isError"].as_bool() {
        Some(true) => Err(result["content"][0]["text"].as_str().expect("text").to_owned()),
        _ => Ok(()),
    }
}

#[test]
fn a_plugin_is_granted_to_while_it_is_served_and_loses_it_with_its_component() {
    let (place, mut client) = with_guest();
    let refused = uses_state(&mut client).expect_err("nothing is granted");
    assert!(refused.contains("[plugin.guest.grants.state]"), "{refused}");

    let shown = place.ran(&["grant", "guest", "--dry-run", "--allow", "state", "--reason", "counts"]);
    assert!(shown.contains("added by `wharf plugin add`") && shown.contains("It could keep entries"), "{shown}");
    uses_state(&mut client).expect_err("nothing was written");
    let granted = place.ran(&["grant", "guest", "--allow", "state", "--reason", "counts"]);
    assert!(granted.contains("A running host has taken it: guest may use state"), "{granted}");
    uses_state(&mut client).expect("granted");

    place.files.write("guest.wasm", swapped("other", b""));
    let replaced = place.ran(&["plugin", "update", "guest"]);
    assert!(replaced.contains("wharf grant guest --confirm"), "{replaced}");
    assert!(!replaced.contains("[plugin.guest.grants.state]"), "that stands there already: {replaced}");
    let refused = uses_state(&mut client).expect_err("another component");
    assert!(refused.contains("wharf grant guest --confirm"), "{refused}");
    assert!(place.state("guest")["withheld"].as_str().is_some_and(|why| why.contains("has changed")));
    assert!(place.ran(&["plugin", "list"]).contains("may use nothing: its component has changed"));
    let receipt = &place.json(&["plugin", "info", "guest"])["receipt"];
    assert_eq!(receipt["grants"], json!([]), "{receipt}");
    place.ran(&["grant", "guest", "--confirm"]);
    uses_state(&mut client).expect("confirmed");

    // In one step, so that no call finds it without.
    place.files.write("guest.wasm", swapped("third", b""));
    let replaced = place.ran(&["plugin", "update", "guest", "--confirm"]);
    assert!(replaced.contains("It may use: state") && !replaced.contains("--confirm"), "{replaced}");
    uses_state(&mut client).expect("confirmed with it");

    let revoked = place.ran(&["grant", "guest", "--revoke", "all"]);
    assert!(revoked.contains("guest may use nothing"), "{revoked}");
    uses_state(&mut client).expect_err("taken back");
    place.ran(&["plugin", "remove", "guest"]);
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");

    let audit = place.ran(&["audit", "--json", "--plugin", "guest"]);
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let changes: Vec<_> = lines.iter().filter(|line| line["kind"] == "change").collect();
    let changes: Vec<_> = changes.iter().map(|line| (line["function"].as_str(), line["asked"].as_str())).collect();
    let (&(last, why), changes) = changes.split_last().expect("changes");
    // wharf.toml goes on speaking of it.
    assert!(last == Some("rejected") && why.is_some_and(|why| why.contains("[plugin.guest]")), "{audit}");
    let (may_use_state, nothing) = (Some("state"), Some("nothing"));
    let expected = [
        (Some("loaded"), nothing),
        (Some("granted"), may_use_state),
        (Some("replaced"), nothing),
        (Some("granted"), may_use_state),
        (Some("replaced"), may_use_state),
        (Some("granted"), nothing),
        (Some("unloaded"), None),
    ];
    assert_eq!(changes, expected, "{audit}");
    assert!(lines.iter().any(|line| line["outcome"] == "denied"), "{audit}");
}

/// What a tool of the guest's answers, be it that it was refused.
fn told(client: &mut Client, tool: &str, arguments: Value) -> String {
    let result = client.call(&format!("guest__{tool}"), arguments, json!({}));
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

#[test]
fn what_nobody_could_use_when_the_host_began_is_there_once_it_is_granted() {
    let (place, mut client) = with_guest();
    let uses = [
        ("process", "start_process", json!({"program": "true"})),
        ("terminal", "start_terminal", json!({"program": "cat"})),
    ];
    for (capability, tool, arguments) in uses.clone() {
        let refused = told(&mut client, tool, arguments);
        assert!(refused.contains(&format!("[plugin.guest.grants.{capability}]")), "{refused}");
    }
    place.ran(&["grant", "guest", "--allow", "process=true", "--allow", "terminal=cat", "--reason", "a test"]);
    for (_, tool, arguments) in uses {
        let started = told(&mut client, tool, arguments);
        assert!(started.starts_with("{\"ok\":"), "{started}");
    }
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}
