//! Signatures that other programs made.

use sigstore_verify::trust_root::SIGSTORE_STAGING_TRUSTED_ROOT;
use wharf_test_support::sigstore::SigstoreInstance;
use wharf_trust::{Covered, SignatureForm, Signer, TrustPolicy};

use super::{GITHUB, changed, identity, key, policy, reason, refused, verdict};

const BLOB: &[u8] = include_bytes!("found/blob.txt");
const BLOB_BUNDLE: &str = include_str!("found/blob.sigstore.json");
const ACCOUNTS: &str = "https://github.com/login/oauth";
const A: &[u8] = include_bytes!("found/a.txt");
const A_KEY: &str = include_str!("found/a.pub");
const A_KEY_BUNDLE: &str = include_str!("found/a.key.sigstore.json");
const A_STATEMENT: &str = include_str!("found/a.statement.sigstore.json");
const BEACON: &str = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/";
const CONDA: &[u8] = include_bytes!("found/signed-package-2.1.0-hb0f4dca_0.conda");
const CONDA_BUNDLE: &str = include_str!("found/conda.sigstore.json");
const NO_ENTRY: &str = include_str!("found/no-entry.sigstore.json");

fn public(pattern: &str, issuer: &str) -> TrustPolicy {
    TrustPolicy::new(vec![identity(pattern, issuer)], None).expect("the library's root")
}

#[test]
fn a_bundle_of_cosign_is_evidence_for_its_identity_by_the_root_that_the_library_has() {
    let evidence = verdict(&public("w.*@gmail.com", ACCOUNTS), BLOB, BLOB_BUNDLE).expect("it is trusted");
    assert!(evidence.signer.to_string().ends_with("@gmail.com (https://github.com/login/oauth)"));
    assert_eq!((evidence.form, evidence.covers), (SignatureForm::Sigstore, Covered::Component));
    // The timestamp's time: the log's is a second later.
    assert_eq!(evidence.signed_at.as_deref(), Some("2025-12-03T18:36:42Z"));
    assert_eq!(evidence.log_index, Some(738_312_748));
}

#[test]
fn a_bundle_of_cosign_is_refused_for_another_identity_or_issuer() {
    refused(verdict(&public("w.*@example.com", ACCOUNTS), BLOB, BLOB_BUNDLE), "whom no rule names");
    refused(verdict(&public("w.*@gmail.com", GITHUB), BLOB, BLOB_BUNDLE), "whom no rule names");
}

#[test]
fn a_bundle_of_cosign_is_refused_over_other_bytes() {
    let policy = public("w.*@gmail.com", ACCOUNTS);
    refused(verdict(&policy, b"other", BLOB_BUNDLE), "over other bytes");
    refused(verdict(&policy, A, BLOB_BUNDLE), "over other bytes");
}

#[test]
fn a_changed_bundle_of_cosign_is_refused_whatever_was_changed() {
    let policy = public("w.*@gmail.com", ACCOUNTS);
    let entry = |bundle: &mut serde_json::Value| bundle["verificationMaterial"]["tlogEntries"][0].take();
    let without_entry = changed(BLOB_BUNDLE, |bundle| {
        entry(bundle);
        bundle["verificationMaterial"]["tlogEntries"] = serde_json::json!([]);
    });
    refused(verdict(&policy, BLOB, without_entry), "no proof that a transparency log");
    for pointer in [
        "/verificationMaterial/certificate/rawBytes",
        "/verificationMaterial/tlogEntries/0/canonicalizedBody",
        "/verificationMaterial/tlogEntries/0/inclusionPromise/signedEntryTimestamp",
        "/verificationMaterial/tlogEntries/0/inclusionProof/rootHash",
        "/verificationMaterial/timestampVerificationData/rfc3161Timestamps/0/signedTimestamp",
        "/messageSignature/signature",
        "/messageSignature/messageDigest/digest",
    ] {
        let spoiled = changed(BLOB_BUNDLE, |bundle| {
            let value = bundle.pointer_mut(pointer).expect(pointer);
            let text = value.as_str().expect("text");
            // A digit in the middle: no padding, and past every header.
            let middle = text.len() / 2;
            let digit = if &text[middle..=middle] == "A" { "B" } else { "A" };
            *value = format!("{}{digit}{}", &text[..middle], &text[middle + 1..]).into();
        });
        reason(verdict(&policy, BLOB, spoiled));
    }
}

#[test]
fn a_bundle_of_a_plain_key_is_evidence_for_that_key_alone() {
    let trusted = TrustPolicy::new(vec![key(A_KEY, Some("its author"))], None).expect("a policy");
    let evidence = verdict(&trusted, A, A_KEY_BUNDLE).expect("it is trusted");
    assert!(matches!(&evidence.signer, Signer::Key { fingerprint } if fingerprint.starts_with("sha256:")));
    assert_eq!(evidence.name.as_deref(), Some("its author"));
    refused(verdict(&trusted, BLOB, A_KEY_BUNDLE), "or over other bytes");
    let (_, other) = SigstoreInstance::new().sign_with_key(A);
    let others = TrustPolicy::new(vec![key(&other, None)], None).expect("a policy");
    refused(verdict(&others, A, A_KEY_BUNDLE), "a plain key that no rule has");
}

#[test]
fn a_statement_of_a_workflow_is_evidence_by_the_root_of_its_instance() {
    let rule = identity(&format!("{BEACON}*"), GITHUB);
    let evidence =
        verdict(&policy(rule.clone(), SIGSTORE_STAGING_TRUSTED_ROOT), A, A_STATEMENT).expect("it is trusted");
    assert!(evidence.signer.to_string().starts_with(BEACON));
    assert!(evidence.log_index.is_some());
    let elsewhere = TrustPolicy::new(vec![rule], None).expect("a policy");
    reason(verdict(&elsewhere, A, A_STATEMENT));
    let staging = policy(identity(&format!("{BEACON}*"), GITHUB), SIGSTORE_STAGING_TRUSTED_ROOT);
    refused(verdict(&staging, BLOB, A_STATEMENT), "over other bytes");
}

#[test]
fn a_statement_that_does_not_say_who_made_the_component_is_no_evidence() {
    let policy = public("https://github.com/prefix-dev/*", GITHUB);
    refused(verdict(&policy, CONDA, CONDA_BUNDLE), "schemas.conda.org");
}

#[test]
fn a_bundle_that_no_log_has_is_no_evidence() {
    refused(verdict(&public("*@example.com", ACCOUNTS), BLOB, NO_ENTRY), "no proof that a transparency log");
}
