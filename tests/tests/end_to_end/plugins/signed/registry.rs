//! Signatures in a registry: published with a component, or over the manifest that names it.

use wharf_test_support::sigstore::{COSIGN_STATEMENT, SignAs};
use wharf_tests::{OciRegistry, Upstream};

use super::*;
use crate::plugins::registries::{self, WASM, descriptor, sha256};

/// The type of a bundle in a registry.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

fn sign(instance: &SigstoreInstance, bytes: &[u8]) -> String {
    instance.sign(bytes, &format!("{WORKFLOW}@refs/tags/v1"), ISSUER)
}

/// A referrer as `cosign sign` pushes it: a manifest whose subject is another one.
fn referrer(subject: &[u8], bundle: &str) -> Vec<u8> {
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": BUNDLE,
        "config": descriptor("application/vnd.oci.empty.v1+json", b"{}"),
        "layers": [descriptor(BUNDLE, bundle.as_bytes())],
        "subject": descriptor("application/vnd.oci.image.manifest.v1+json", subject),
    });
    manifest.to_string().into_bytes()
}

/// Pushes a manifest of one layer, with its signature as a referrer.
fn push(registry: &OciRegistry, (repository, tag): (&str, &str), (manifest, layer): (&[u8], &[u8]), bundle: &str) {
    let referrer = referrer(manifest, bundle);
    for blob in [layer, b"{}", bundle.as_bytes()] {
        registry.push_blob(repository, &sha256(blob), blob);
    }
    registry.push_manifest(repository, tag, None, manifest);
    registry.push_manifest(repository, &sha256(&referrer), None, &referrer);
    // This registry knows no referrers: its clients keep the list under a tag.
    let mut listed = descriptor("application/vnd.oci.image.manifest.v1+json", &referrer);
    listed["artifactType"] = json!(BUNDLE);
    let kind = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": kind, "manifests": [listed]}).to_string();
    registry.push_manifest(repository, &sha256(manifest).replace(':', "-"), Some(kind), index.as_bytes());
}

#[test]
fn a_signature_that_is_published_with_a_component_is_found_by_who_adds_it() {
    let Some(registry) = OciRegistry::start() else { return };
    let instance = SigstoreInstance::new();
    let place = of_workflow(&instance);
    let address = format!("oci://{}/team/greeter:1.2", registry.authority());
    let file = place.file("greeter.wasm");
    place.ran(&["publish", &address, "--component", &file]);
    place.refused(&["plugin", "add", &address], "`oci`");
    place.files.write("greeter.wasm.sigstore.json", sign(&instance, &saying(true)));
    let published = place.ran(&["publish", &address, "--component", &file]);
    assert!(published.contains("There already") && published.contains("with one signature"), "{published}");
    // Once more is the same.
    place.ran(&["publish", &address, "--component", &file]);
    let added = place.json(&["plugin", "add", &address]);
    let evidence = &added["receipt"]["evidence"];
    assert_eq!((&evidence["form"], &evidence["covers"]), (&json!("sigstore"), &json!("component")), "{added}");
    assert!(evidence["signer"].as_str().is_some_and(|signer| signer.contains(WORKFLOW)), "{added}");
    assert!(evidence["log_index"].is_u64() && evidence["signed_at"].is_string(), "{added}");
}

#[test]
fn a_statement_about_the_manifest_counts_for_the_component_that_it_names() {
    let Some(registry) = OciRegistry::start() else { return };
    let instance = SigstoreInstance::new();
    let place = of_workflow(&instance);
    let component = saying(true);
    let manifest = registries::manifest(&[descriptor(WASM, &component)]);
    let identity = format!("{WORKFLOW}@refs/tags/v1");
    let statement = SignAs::new(&identity, ISSUER).statement(COSIGN_STATEMENT);
    let bundle = instance.sign_as(&manifest, &statement);
    push(&registry, ("team/greeter", "1.2"), (&manifest, &component), &bundle);
    let address = format!("oci://{}/team/greeter:1.2", registry.authority());
    let added = place.json(&["plugin", "add", &address]);
    assert_eq!(added["receipt"]["evidence"]["covers"], json!("manifest"), "{added}");
    // What is kept is enough for the next host.
    let mut client = place.serve();
    assert!(seen(&mut client).contains(&"greeter__run".to_owned()));
    drop(client.leave());
}

#[test]
fn a_registry_with_referrers_is_asked_for_them_and_what_it_makes_up_does_not_count() {
    let instance = SigstoreInstance::new();
    let (component, manifest) = (saying(true), registries::manifest(&[descriptor(WASM, &saying(true))]));
    for (signed, counts) in [(saying(true), true), (saying(false), false)] {
        let place = of_workflow(&instance);
        let bundle = sign(&instance, &signed);
        let referrer = referrer(&manifest, &bundle);
        let (referrers, by_digest, blob) = (
            format!("/v2/team/greeter/referrers/{}", sha256(&manifest)),
            format!("/v2/team/greeter/manifests/{}", sha256(&referrer)),
            format!("/v2/team/greeter/blobs/{}", sha256(bundle.as_bytes())),
        );
        let registry = registries::registry(&component, move |_, path, connection| {
            let answer = if path == referrers {
                let listed = descriptor("application/vnd.oci.image.manifest.v1+json", &referrer);
                json!({"schemaVersion": 2, "manifests": [listed]}).to_string().into_bytes()
            } else if path == by_digest {
                referrer.clone()
            } else if path == blob {
                bundle.clone().into_bytes()
            } else {
                return false;
            };
            Upstream::send(connection, "", &answer);
            true
        });
        let address = format!("oci://{}/team/greeter:1.2", registry.authority());
        match counts {
            true => drop(place.ran(&["plugin", "add", &address])),
            false => place.refused(&["plugin", "add", &address], "`oci`"),
        }
        assert!(registries::paths(&registry).iter().any(|path| path.contains("/referrers/")));
    }
}

/// The type of a list of what must not run.
const DENY_LIST: &str = "application/vnd.wharf.deny-list.v1+json";

/// Pushes a list as `oras push` does, with its signature as a referrer.
fn push_list(registry: &OciRegistry, list: &Value, bundle: impl FnOnce(&[u8]) -> String) {
    let list = list.to_string();
    let manifest = registries::manifest(&[descriptor(DENY_LIST, list.as_bytes())]);
    let bundle = bundle(list.as_bytes());
    push(registry, ("team/denied", "latest"), (&manifest, list.as_bytes()), &bundle);
}

#[test]
fn a_list_of_what_must_not_run_is_taken_from_a_registry_where_it_is_signed() {
    let Some(registry) = OciRegistry::start() else { return };
    let (instance, stranger) = (SigstoreInstance::new(), SigstoreInstance::new());
    let place = Place::new(&Setup::bare());
    place.files.write("root.json", instance.trusted_root());
    let tables = format!(
        "[plugins]\nsigstore_root = \"root.json\"\n[plugins.deny]\nsource = \"oci://{}/team/denied:latest\"\n\
         trust = [{{ identity = \"https://github.com/acme/*\", issuer = \"{ISSUER}\" }}]\nfails = \"closed\"",
        registry.authority()
    );
    place.files.write("wharf.toml", format!("{}\n{tables}\n", Setup::bare().text()));
    let list = |sequence: u64, denied: Value| json!({"format": 1, "sequence": sequence, "denied": denied});
    push_list(&registry, &list(1, json!([])), |list| sign(&stranger, list));
    place.refused(&["plugin", "denied", "--refresh"], "does not count");
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], "nothing runs but the bundled plugins");
    push_list(&registry, &list(1, json!([])), |list| sign(&instance, list));
    assert_eq!(place.json(&["plugin", "denied", "--refresh"])["list"]["sequence"], json!(1));
    let digest = &place.json(&["plugin", "add", &place.file("greeter.wasm")])["receipt"]["digest"];
    push_list(&registry, &list(2, json!([{"digest": digest, "reason": "it leaks"}])), |list| sign(&instance, list));
    assert_eq!(place.json(&["plugin", "denied", "--refresh"])["list"]["sequence"], json!(2));
    let mut client = place.serve();
    assert!(!seen(&mut client).contains(&"greeter__run".to_owned()), "it leaks");
    drop(client.leave());
}
