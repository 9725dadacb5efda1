//! Signatures that do not count, each refused before anything is compiled.

use wharf_test_support::sigstore::{Defect, SignAs};
use wharf_tests::Upstream;

use super::*;

/// Tries to add the component of the place with this signature of sigstore beside it.
#[track_caller]
fn refused(place: &Place, bundle: &str, word: &str) {
    place.files.write("greeter.wasm.sigstore.json", bundle);
    place.refused(&["plugin", "add", &place.file("greeter.wasm")], word);
    assert_eq!(place.state("greeter"), Value::Null, "nothing was added");
}

#[test]
fn forged_expired_foreign_replayed_and_stripped_signatures_are_refused_and_say_why() {
    let instance = SigstoreInstance::new();
    let place = of_workflow(&instance);
    let (component, identity) = (saying(true), format!("{WORKFLOW}@refs/tags/v1"));
    let sign = SignAs::new(&identity, ISSUER);
    let good = instance.sign_as(&component, &sign);
    refused(&place, &SigstoreInstance::new().sign_as(&component, &sign), "`file`");
    refused(&place, &instance.sign_as(&saying(false), &sign), "`file`");
    refused(&place, &instance.sign(&component, "https://github.com/evil/tool@refs/tags/v1", ISSUER), "evil");
    refused(&place, &instance.sign(&component, &identity, "https://issuer.example"), "issuer.example");
    for defect in [
        Defect::Expired,
        Defect::NoCertificateTimestamp,
        Defect::NotForCode,
        Defect::OtherEntry,
        Defect::NoEntry,
        Defect::NoProof,
        Defect::NoPromise,
    ] {
        refused(&place, &instance.sign_as(&component, &SignAs { defect: Some(defect), ..sign.clone() }), "`file`");
    }
    refused(&place, &good.replacen("\"signature\":\"M", "\"signature\":\"N", 1), "`file`");
    refused(&place, "{}", "greeter.wasm.sigstore.json");
    refused(&place, &"x".repeat(300_000), "signature");
    // Of several, one that counts is enough.
    place.files.write("greeter.wasm.sigstore", &good);
    place.files.write("greeter.wasm.sigstore.json", instance.sign_as(&saying(false), &sign));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
}

#[test]
fn a_component_that_was_changed_or_lost_its_signature_takes_no_signed_ones_place() {
    let key = MinisignKey::new();
    let place = of_key(&key);
    place.files.write("greeter.wasm.minisig", key.sign(&saying(true)));
    let mut client = place.serve();
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let digest = place.state("greeter")["digest"].clone();
    place.files.write("greeter.wasm", saying(false));
    place.refused(&["plugin", "update", "greeter"], "over other bytes, or forged");
    std::fs::remove_file(place.file("greeter.wasm.minisig")).expect("removed");
    place.refused(&["plugin", "update", "greeter"], "require_signature");
    let cache = place.data.path().join("plugins/components").read_dir().expect("is there").count();
    assert_eq!((&place.state("greeter")["digest"], cache), (&digest, 1));
    eventually(&mut client, "the one before is served", |client| seen(client).contains(&"greeter__run".to_owned()));
    drop(client.leave());
}

#[test]
fn signatures_lie_beside_an_address_and_one_may_be_named() {
    let key = MinisignKey::new();
    let place = of_key(&key);
    let signature = key.sign(&saying(true));
    let beside = signature.clone();
    let answer = move |head: &str, path: &str| match path {
        "/greeter.wasm" | "/bare.wasm" => Some(saying(true)),
        "/greeter.wasm.minisig" => Some(beside.clone().into_bytes()),
        _ => {
            assert!(head.starts_with("GET "), "{head}");
            None
        }
    };
    let server = Upstream::start(move |head, connection| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        match answer(head, path) {
            Some(bytes) => Upstream::send(connection, "", &bytes),
            None => crate::plugins::registries::not_found(connection),
        }
    });
    let address = |name: &str| format!("http://{}/{name}.wasm", server.authority());
    place.ran(&["plugin", "add", &address("greeter")]);
    place.refused(&["plugin", "add", &address("bare")], "`https`");
    let file = place.files.write("kept.minisig", &signature).display().to_string();
    place.ran(&["plugin", "add", &address("bare"), "--signature", &file]);
    place.refused(
        &["plugin", "add", &address("bare"), "--name", "other", "--signature", &place.file("wharf.toml")],
        "signature",
    );
}
