//! Signatures over the manifest by which a registry names a component.

use ring::digest::{SHA256, digest};
use serde_json::json;
use wharf_test_support::sigstore::{COSIGN_STATEMENT, MinisignKey, SignAs, SigstoreInstance};
use wharf_trust::{Covered, Evidence, SignedArtifact, TrustPolicy, Untrusted};

use super::{COMPONENT, GITHUB, WORKFLOW, WORKFLOWS, found, identity, key, policy, refused};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn named(component: &[u8]) -> String {
    let hex: String = digest(&SHA256, component).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn manifest(layers: &[&[u8]]) -> String {
    let layers: Vec<_> = layers.iter().map(|layer| json!({"digest": named(layer), "size": layer.len()})).collect();
    json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": {"digest": named(b"{}")}, "layers": layers}).to_string()
}

fn verdict(policy: &TrustPolicy, manifest: &str, signature: &str) -> Result<Evidence, Untrusted> {
    let artifact = SignedArtifact { component: COMPONENT, manifest: Some(manifest.as_bytes()) };
    policy.verify(artifact, &[found(signature)])
}

#[test]
fn a_signature_over_the_manifest_covers_the_component_that_it_names() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let manifest = manifest(&[b"other", COMPONENT]);
    for sign in [SignAs::new(WORKFLOW, GITHUB), SignAs::new(WORKFLOW, GITHUB).statement(COSIGN_STATEMENT)] {
        let bundle = instance.sign_as(manifest.as_bytes(), &sign);
        assert_eq!(verdict(&policy, &manifest, &bundle).expect("it is trusted").covers, Covered::Manifest);
    }
    let (bundle, public) = instance.sign_with_key(manifest.as_bytes());
    let by_key = super::policy(key(&public, None), &instance.trusted_root());
    assert_eq!(verdict(&by_key, &manifest, &bundle).expect("it is trusted").covers, Covered::Manifest);
    let author = MinisignKey::new();
    let by_minisign = TrustPolicy::new(vec![key(&author.public(), None)], None).expect("a policy");
    let signature = author.sign(manifest.as_bytes());
    assert_eq!(verdict(&by_minisign, &manifest, &signature).expect("it is trusted").covers, Covered::Manifest);
}

#[test]
fn a_signature_over_the_component_is_evidence_beside_any_manifest() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let bundle = instance.sign(COMPONENT, WORKFLOW, GITHUB);
    assert_eq!(verdict(&policy, "{}", &bundle).expect("it is trusted").covers, Covered::Component);
}

#[test]
fn a_signed_manifest_that_does_not_name_the_component_is_refused() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let author = MinisignKey::new();
    let by_minisign = TrustPolicy::new(vec![key(&author.public(), None)], None).expect("a policy");
    let digest = named(COMPONENT);
    for manifest in [
        manifest(&[]),
        manifest(&[b"other"]),
        json!({"schemaVersion": 2, "config": {"digest": digest}, "layers": []}).to_string(),
        json!({"schemaVersion": 2, "mediaType": "text/plain", "layers": [{"digest": digest}]}).to_string(),
        json!({"layers": [{"digest": digest}]}).to_string(),
        json!({"schemaVersion": 1, "layers": [{"digest": digest}]}).to_string(),
        json!({"schemaVersion": 2, "layers": [{"digest": digest.to_uppercase()}]}).to_string(),
        format!(r#"{{"schemaVersion":2,"layers":[],"layers":[{{"digest":"{digest}"}}]}}"#),
        digest.clone(),
    ] {
        let bundle = instance.sign(manifest.as_bytes(), WORKFLOW, GITHUB);
        refused(verdict(&policy, &manifest, &bundle), "does not name this component");
        refused(verdict(&by_minisign, &manifest, &author.sign(manifest.as_bytes())), "does not name this component");
    }
}

#[test]
fn a_signature_over_another_manifest_is_refused() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let signed = manifest(&[COMPONENT]);
    let bundle = instance.sign(signed.as_bytes(), WORKFLOW, GITHUB);
    refused(verdict(&policy, &manifest(&[COMPONENT, b"more"]), &bundle), "over other bytes");
    // One byte of space more: the registry's bytes count, not what they say.
    refused(verdict(&policy, &format!("{signed} "), &bundle), "over other bytes");
}

#[test]
fn a_manifest_that_is_too_long_is_refused_before_it_is_read() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let long = manifest(&[COMPONENT]) + &" ".repeat(1 << 20);
    let bundle = instance.sign(long.as_bytes(), WORKFLOW, GITHUB);
    refused(verdict(&policy, &long, &bundle), "more than 1048576 bytes");
}
