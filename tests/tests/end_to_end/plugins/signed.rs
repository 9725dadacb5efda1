//! Who signed a plugin: required, checked wherever a component comes from, kept with it, and what grants go by.

mod denied;
mod refused;
mod registry;

use serde_json::{Value, json};
use wharf_test_support::sigstore::{MinisignKey, SigstoreInstance};
use wharf_tests::{Client, Setup, bytes};

use super::{commands::Place, eventually, saying, seen};
use crate::grants::swapped;

/// A workflow as GitHub names it in a certificate.
const WORKFLOW: &str = "https://github.com/acme/tool/.github/workflows/release.yml";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

/// A place whose `[plugins]` table has these lines beside those that require signatures.
fn requiring(lines: &str) -> Place {
    let place = Place::new(&Setup::bare());
    rules(&place, lines);
    place
}

/// Puts other lines there.
fn rules(place: &Place, lines: &str) {
    let text = format!("{}\n[plugins]\nrequire_signature = true\n{lines}\n", Setup::bare().text());
    place.files.write("wharf.toml", text);
}

/// A place that trusts this key alone.
fn of_key(key: &MinisignKey) -> Place {
    let place = requiring("trust = [{ key = \"release.pub\", name = \"the release team\" }]");
    place.files.write("release.pub", key.public());
    place
}

/// A place that trusts the workflow of an instance, whatever the release.
fn of_workflow(instance: &SigstoreInstance) -> Place {
    let place = requiring(&format!(
        "sigstore_root = \"root.json\"\ntrust = [{{ identity = \"https://github.com/acme/*\", issuer = \"{ISSUER}\" }}]"
    ));
    place.files.write("root.json", instance.trusted_root());
    place
}

fn uses_state(client: &mut Client) -> bool {
    let result = client.call("guest__open_bucket", json!({"scope": "session", "name": "b"}), json!({}));
    result["isError"] != true
}

#[test]
fn a_signed_plugin_is_added_by_its_file_and_its_receipt_its_host_and_the_audit_say_who_signed_it() {
    let key = MinisignKey::new();
    let place = of_key(&key);
    let mut client = place.serve();
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], "require_signature");
    place.files.write("greeter.wasm.minisig", key.sign(&saying(true)));
    let signer = format!("minisign:{}", key.id());
    let added = place.json(&["plugin", "add", &place.file("greeter.wasm")]);
    let evidence = &added["receipt"]["evidence"];
    assert_eq!((&evidence["signer"], &evidence["name"]), (&json!(signer), &json!("the release team")), "{added}");
    assert_eq!((&evidence["form"], &evidence["covers"]), (&json!("minisign"), &json!("component")), "{added}");
    assert!(added["receipt"].get("signatures").is_none(), "people read what was found out: {added}");
    assert_eq!(added["hosts"][0]["plugin"]["evidence"]["signer"], json!(signer), "{added}");
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains(&format!("signed   by {signer} (the release team)")), "{info}");
    let shown = place.ran(&["grant", "greeter", "--dry-run", "--allow", "state", "--reason", "a test"]);
    assert!(shown.contains(&format!("signed  by {signer}")), "{shown}");
    eventually(&mut client, "its tool is listed", |client| seen(client).contains(&"greeter__run".to_owned()));
    drop(client.leave());
    let audit = place.ran(&["audit", "--json", "--plugin", "greeter"]);
    let line: Value = serde_json::from_str(audit.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&line["function"], &line["signer"]), (&json!("loaded"), &json!(signer)), "{line}");
    assert!(place.ran(&["audit", "--plugin", "greeter"]).contains(&format!("signed by {signer}")));
    // The next host verifies it again, from what is kept.
    let mut next = place.serve();
    assert!(seen(&mut next).contains(&"greeter__run".to_owned()));
    drop(next.leave());
    // And has it no more once nobody trusts that key.
    place.files.write("release.pub", MinisignKey::new().public());
    let mut next = place.serve();
    assert!(!seen(&mut next).contains(&"greeter__run".to_owned()));
    let state = place.state("greeter");
    assert!(state["reason"].as_str().is_some_and(|reason| reason.contains("a key that no rule has")), "{state}");
    drop(next.leave());
}

#[test]
fn a_host_that_serves_drops_what_nobody_trusted_has_signed_any_more() {
    let (key, another) = (MinisignKey::new(), MinisignKey::new());
    let place = of_key(&key);
    place.files.write("greeter.wasm.minisig", key.sign(&saying(true)));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let mut client = place.serve();
    assert!(seen(&mut client).contains(&"greeter__run".to_owned()));
    let text = another.public();
    rules(&place, &format!("trust = [{{ public_key = \"{}\" }}]", text.lines().nth(1).expect("a key")));
    eventually(&mut client, "it is gone", |client| !seen(client).contains(&"greeter__run".to_owned()));
    rules(&place, "trust = [{ key = \"release.pub\" }]");
    eventually(&mut client, "it is back", |client| seen(client).contains(&"greeter__run".to_owned()));
    drop(client.leave());
}

#[test]
fn what_the_confirmed_signer_signs_next_keeps_the_grants_and_nobody_elses_does() {
    let (instance, foreign) = (SigstoreInstance::new(), MinisignKey::new());
    let place = requiring(&format!(
        "sigstore_root = \"root.json\"\ntrust = [{{ identity = \"https://github.com/acme/*\", issuer = \"{ISSUER}\" }}, {{ \
         public_key = \"{}\" }}]",
        foreign.public().lines().nth(1).expect("a key")
    ));
    place.files.write("root.json", instance.trusted_root());
    let release = |component: &[u8], version: &str| {
        place.files.write("guest.wasm", component);
        let identity = format!("{WORKFLOW}@refs/tags/{version}");
        place.files.write("guest.wasm.sigstore.json", instance.sign(component, &identity, ISSUER));
    };
    release(&bytes("guest-hostile"), "v1");
    let mut client = place.serve();
    place.ran(&["plugin", "add", &place.file("guest.wasm")]);
    let granted = place.ran(&["grant", "guest", "--allow", "state", "--reason", "counts", "--pin", "signer"]);
    assert!(granted.contains(&format!("+signer = \"{WORKFLOW}@* ({ISSUER})\"")), "{granted}");
    assert!(granted.contains("+pin = \"signer\"") && !granted.contains("+digest"), "{granted}");
    assert!(uses_state(&mut client));

    release(&swapped("next", b""), "v2");
    let updated = place.ran(&["plugin", "update", "guest"]);
    assert!(updated.contains("It may use: state") && !updated.contains("--confirm"), "{updated}");
    assert!(uses_state(&mut client), "the same signer");

    // One that is trusted to sign plugins, and is not the one that was confirmed.
    let another = swapped("another", b"");
    place.files.write("guest.wasm", &another);
    std::fs::remove_file(place.file("guest.wasm.sigstore.json")).expect("removed");
    place.files.write("guest.wasm.minisig", foreign.sign(&another));
    place.ran(&["plugin", "update", "guest"]);
    assert!(!uses_state(&mut client));
    let withheld = place.state("guest")["withheld"].as_str().expect("withheld").to_owned();
    assert!(withheld.contains(&format!("was signed by minisign:{}", foreign.id())), "{withheld}");
    assert!(withheld.contains(WORKFLOW), "{withheld}");
    place.ran(&["grant", "guest", "--confirm"]);
    assert!(uses_state(&mut client), "the operator confirmed the other signer");
    let written = std::fs::read_to_string(place.file("wharf.toml")).expect("read");
    assert!(written.contains(&format!("signer = \"minisign:{}\"", foreign.id())), "{written}");
    // Back to one component: what the signer signs next has nothing.
    let pinned = place.ran(&["grant", "guest", "--pin", "digest"]);
    assert!(pinned.contains("+digest") && pinned.contains("-pin = \"signer\""), "{pinned}");
    assert!(uses_state(&mut client));
    drop(client.leave());
}

#[test]
fn what_the_signer_signs_next_gets_no_more_than_was_granted_however_much_it_asks_for() {
    let signer = MinisignKey::new();
    let place =
        requiring(&format!("trust = [{{ public_key = \"{}\" }}]", signer.public().lines().nth(1).expect("a key")));
    let release = |name: &str| {
        place.files.write("guest.wasm", bytes(name));
        place.files.write("guest.wasm.minisig", signer.sign(&bytes(name)));
    };
    // It computes, and asks for nothing.
    release("guest-echo");
    let mut client = place.serve();
    place.ran(&["plugin", "add", &place.file("guest.wasm")]);
    place.ran(&["grant", "guest", "--allow", "state", "--reason", "counts", "--pin", "signer"]);
    release("guest-hostile");
    let updated = place.ran(&["plugin", "update", "guest"]);
    assert!(updated.contains("It asks for more than before: events, process, state"), "{updated}");
    assert!(updated.contains("[plugin.guest.grants.process]"), "{updated}");
    assert!(uses_state(&mut client), "what was granted");
    let started = client.call("guest__start_process", json!({"shell": "true"}), json!({}));
    let told = started.to_string();
    assert!(told.contains("denied") && told.contains("[plugin.guest.grants.process]"), "{told}");
    let about = place.json(&["plugin", "info", "guest"]).to_string();
    assert!(about.contains("\"state\"") && place.ran(&["grant", "guest"]).contains("process"), "{about}");
    drop(client.leave());
}

#[test]
fn grants_are_bound_to_no_signer_that_there_is_not() {
    let place = Place::new(&Setup::bare());
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let unsigned = ["grant", "greeter", "--allow", "state", "--reason", "counts", "--pin", "signer"];
    place.refused(&unsigned, "--pin digest");
    let text = "[plugin.greeter]\npin = \"signer\"";
    place.files.write("wharf.toml", text);
    place.refused(&["plugin", "list"], "no `signer`");
}

#[test]
fn a_file_in_the_folder_of_plugins_is_served_once_its_signature_has_come() {
    let key = MinisignKey::new();
    let place = requiring("trust = [{ key = \"release.pub\" }]\nfolder = \"folder\"");
    place.files.write("release.pub", key.public());
    std::fs::create_dir(place.files.path().join("folder")).expect("made");
    place.files.write("folder/greeter.wasm", saying(true));
    let mut client = place.serve();
    assert!(!seen(&mut client).contains(&"greeter__run".to_owned()));
    let state = place.state("greeter");
    assert!(state["reason"].as_str().is_some_and(|reason| reason.contains("`folder`")), "{state}");
    place.files.write("folder/greeter.wasm.minisig", key.sign(&saying(true)));
    eventually(&mut client, "it is served", |client| seen(client).contains(&"greeter__run".to_owned()));
    drop(client.leave());
}

#[test]
fn a_host_needs_signatures_of_the_places_that_it_is_told_and_says_what_is_missing() {
    let key = MinisignKey::new();
    let place = Place::new(&Setup::bare());
    place.files.write("release.pub", key.public());
    place.files.write("wharf.toml", "[plugins]\nrequire_signature = true");
    place.refused(&["plugin", "list"], "without `trust` refuses every plugin");
    place.files.write("wharf.toml", "[plugins]\nrequire_signature = [\"web\"]\ntrust = [{ key = \"release.pub\" }]");
    place.refused(&["plugin", "list"], "require_signature");
    for (rule, told) in [
        ("{ identity = \"https://github.com/acme/*\" }", "`issuer`"),
        ("{ identity = \"*\", issuer = \"https://issuer.example\" }", "identity"),
        ("{ key = \"missing.pub\" }", "missing.pub"),
        ("{ public_key = \"RWQ\" }", "public_key"),
        ("{ key = \"release.pub\", issuer = \"https://issuer.example\" }", "`identity` and `issuer`"),
        ("{ name = \"nobody\" }", "`identity` and `issuer`"),
    ] {
        place.files.write("wharf.toml", format!("[plugins]\ntrust = [{rule}]"));
        place.refused(&["plugin", "list"], told);
    }
    // Files of this machine may go without, those from elsewhere not.
    place.files.write(
        "wharf.toml",
        "[plugins]\nrequire_signature = [\"https\", \"oci\"]\ntrust = [{ key = \"release.pub\" }]",
    );
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
}
