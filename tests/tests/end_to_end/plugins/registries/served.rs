//! Plugins from a real registry.

use std::fs;

use wharf_tests::{OciRegistry, Setup};

use super::*;
use crate::plugins::{commands::Place, eventually, seen};

/// Puts a component there as `wkg oci push` lays it out; the digest of its manifest.
fn push(registry: &OciRegistry, tag: &str, component: &[u8]) -> String {
    push_as(registry, tag, WASM, component, &json!({}))
}

/// The same with a type of the layer, and annotations that tell manifests apart.
fn push_as(registry: &OciRegistry, tag: &str, kind: &str, component: &[u8], annotations: &Value) -> String {
    for blob in [component, b"{}"] {
        registry.push_blob("team/greeter", &sha256(blob), blob);
    }
    let named = manifest(&[descriptor(kind, component)]);
    let mut named: Value = serde_json::from_slice(&named).expect("a manifest");
    named["annotations"] = annotations.clone();
    registry.push_manifest("team/greeter", tag, None, named.to_string().as_bytes())
}

fn reference(registry: &OciRegistry, version: &str) -> String {
    format!("oci://{}/team/greeter{version}", registry.authority())
}

#[test]
fn a_plugin_is_added_by_tag_and_updated_to_what_the_tag_names_then() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    let mut client = place.serve();
    let first = push(&registry, "1.2", &saying(true));
    let address = reference(&registry, ":1.2");
    let added = place.json(&["plugin", "add", &address]);
    let receipt = &added["receipt"];
    assert_eq!((&receipt["source"], &receipt["manifest"]), (&json!(address), &json!(first)), "{added}");
    assert_eq!((&receipt["name"], &receipt["tools"]), (&json!("greeter"), &json!(["run"])));
    eventually(&mut client, "its tool is listed", |client| seen(client).contains(&"greeter__run".to_owned()));
    let kept = place.data.path().join("plugins/components").read_dir().expect("is there").next().expect("one");
    assert_eq!(fs::read(kept.expect("readable").path()).expect("readable"), saying(true));

    let out = place.ran(&["plugin", "update", "greeter"]);
    assert!(out.contains("the same component") && out.contains(&format!("manifest {first}")), "{out}");
    let second = push(&registry, "1.2", &saying(false));
    assert_ne!(first, second);
    let updated = place.json(&["plugin", "update", "greeter"]);
    assert_eq!(updated["receipt"]["manifest"], json!(second), "{updated}");
    assert_eq!(updated["receipt"]["replaced"], receipt["digest"]);
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains(&address) && info.contains(&second), "{info}");
    place.ran(&["plugin", "remove", "greeter"]);
    drop(client.leave());
}

#[test]
fn what_is_published_can_be_added_and_no_tag_is_moved_by_accident() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    let (first, second) =
        (place.data.write("greeter.wasm", saying(true)), place.data.write("other.wasm", saying(false)));
    let [first, second] = [&first, &second].map(|file| file.to_str().expect("a plain path"));
    let address = reference(&registry, ":1.2");
    let told = place.ran(&["publish", &address, "--component", first]);
    let by_digest =
        told.lines().find_map(|line| line.strip_prefix("  always this very component: ")).expect("told").to_owned();
    assert!(told.starts_with(&format!("Published {address}\n")), "{told}");
    let added = place.json(&["plugin", "add", &address]);
    assert_eq!(added["receipt"]["tools"], json!(["run"]), "{added}");
    assert!(by_digest.ends_with(added["receipt"]["manifest"].as_str().expect("a digest")), "{by_digest}: {added}");

    let again = place.ran(&["publish", &address, "--component", first]);
    assert!(again.starts_with("There already:") && again.contains(&by_digest), "{again}");
    let refused = place.run(&["publish", &address, "--component", second]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("raise the version") && refused.err.contains("--replace"), "{refused:?}");
    let replaced = place.ran(&["publish", &address, "--component", second, "--replace"]);
    assert!(replaced.starts_with("Published") && !replaced.contains(&by_digest), "{replaced}");
    // The first one is still there by its digest.
    place.ran(&["plugin", "update", "greeter", &by_digest]);

    let fixed = place.run(&["publish", &by_digest, "--component", first]);
    assert!(fixed.err.contains("by its digest"), "{fixed:?}");
    let bad = place.data.write("bad.wasm", "no component");
    let bad = place.run(&["publish", &address, "--component", bad.to_str().expect("plain"), "--replace"]);
    assert!(bad.code == Some(3) && bad.err.contains("no Wasm"), "{bad:?}");
}

#[test]
fn a_reference_by_digest_stays_what_it_is_whatever_the_tag_names() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    let first = push(&registry, "1.2", &saying(true));
    let address = reference(&registry, &format!("@{first}"));
    let added = place.json(&["plugin", "add", &address]);
    push(&registry, "1.2", &saying(false));
    let updated = place.json(&["plugin", "update", "greeter"]);
    assert_eq!(updated["receipt"], added["receipt"]);
    // Until another source is said.
    let moved = place.json(&["plugin", "update", "greeter", &reference(&registry, ":1.2")]);
    assert_eq!(moved["receipt"]["source"], json!(reference(&registry, ":1.2")));
    assert_ne!(moved["receipt"]["digest"], added["receipt"]["digest"]);
}

#[test]
fn the_receipt_follows_a_tag_that_names_the_same_component_by_another_manifest() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    push(&registry, "1.2", &saying(true));
    let added = place.json(&["plugin", "add", &reference(&registry, ":1.2")]);
    let signed = push_as(&registry, "1.2", WASM, &saying(true), &json!({"org.example": "again"}));
    place.ran(&["plugin", "update", "greeter"]);
    let receipt = place.json(&["plugin", "info", "greeter"])["receipt"].clone();
    assert_eq!(receipt["manifest"], json!(signed));
    assert_eq!((&receipt["digest"], &receipt["added"]), (&added["receipt"]["digest"], &added["receipt"]["added"]));
}

#[test]
fn a_named_digest_holds_whatever_a_registry_has() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    push(&registry, "1.2", &saying(true));
    let address = reference(&registry, ":1.2");
    let other = wharf::Digest::of(&saying(false)).to_string();
    place.refused(&["plugin", "add", &address, "--digest", &other], "nothing was changed");
    assert!(!place.data.path().join("plugins").exists());
    let digest = wharf::Digest::of(&saying(true)).to_string();
    place.ran(&["plugin", "add", &address, "--digest", &digest, "--name", "polite"]);
    push(&registry, "1.2", &saying(false));
    place.refused(&["plugin", "update", "polite"], &other);
}

#[test]
fn what_is_not_there_or_no_component_is_refused_with_what_to_do() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    let digest = push(&registry, "1.2", &saying(true));
    let refused = |version: &str, word: &str| place.refused(&["plugin", "add", &reference(&registry, version)], word);
    refused(":9.9", "has no `team/greeter/manifests/9.9`");
    refused(&format!("@{}", sha256(b"nothing")), "whether name and tag are right");
    refused("", "add `:TAG`");
    push_as(&registry, "image", "application/vnd.oci.image.layer.v1.tar+gzip", b"abc", &json!({}));
    refused(":image", "no layer of Wasm");
    push(&registry, "text", b"no component");
    refused(":text", "no Wasm component");
    let kind = "application/vnd.oci.image.index.v1+json";
    let mut entry = json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 1});
    entry["platform"] = json!({"architecture": "wasm", "os": "wasip2"});
    let index = json!({"schemaVersion": 2, "mediaType": kind, "manifests": [entry]}).to_string();
    registry.push_manifest("team/greeter", "all", Some(kind), index.as_bytes());
    refused(":all", &format!("name one of them: {} (wasip2/wasm)", reference(&registry, &format!("@{digest}"))));
    assert!(!place.data.path().join("plugins").exists(), "nothing is kept of any");
}

#[test]
fn every_type_that_tools_push_wasm_as_is_taken() {
    let Some(registry) = OciRegistry::start() else { return };
    for (tag, kind) in [
        ("wasm-to-oci", "application/vnd.wasm.content.layer.v1+wasm"),
        ("wasmcloud", "application/vnd.module.wasm.content.layer.v1+wasm"),
        ("runwasi", "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm"),
        ("wkg", WASM),
    ] {
        let digest = push_as(&registry, tag, kind, &saying(true), &json!({}));
        let source: PluginSource = reference(&registry, &format!(":{tag}")).parse().expect("a reference");
        let fetched = source.fetch(1 << 20, &RegistryLogins::none(), &mut |_| {}).expect(kind);
        assert_eq!(fetched, FetchedComponent { component: saying(true), manifest: Some(digest) });
    }
}

#[test]
fn a_registry_of_ones_own_gets_the_login_that_is_written_for_it() {
    // `secret`, as htpasswd writes it.
    let further = "auth: {htpasswd: {realm: here, path: \"FILES/htpasswd\"}}\n";
    let line = "me:$2b$12$VmXhxDSevLQD3gZ0HADOHenoyZkY3k0PfjAde.p6bQthP4Sd71jUG\n";
    let headers = "Authorization: Basic bWU6c2VjcmV0\r\n";
    let Some(registry) = OciRegistry::configured(further, &[("htpasswd", line)], headers) else { return };
    push(&registry, "1.2", &saying(true));
    let place = Place::new(&Setup::bare());
    place.refused(&["plugin", "add", &reference(&registry, ":1.2")], "only after a login");
    let source: PluginSource = reference(&registry, ":1.2").parse().expect("a reference");
    let login = json!({"auths": {registry.authority(): {"auth": "bWU6c2VjcmV0"}}}).to_string();
    let logins = RegistryLogins::in_file(&registry.files().write_private("config.json", login));
    let fetched = source.fetch(1 << 20, &logins, &mut |_| {}).expect("is shown");
    assert_eq!(fetched.component, saying(true));
}
