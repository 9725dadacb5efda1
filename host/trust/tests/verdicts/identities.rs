//! Identities that an instance of the test certifies.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use wharf_test_support::sigstore::{COSIGN_STATEMENT, Defect, PROVENANCE_STATEMENT, SignAs, SigstoreInstance};
use wharf_trust::{Covered, Signer, TrustPolicy};

use super::{COMPONENT, GITHUB, WORKFLOW, WORKFLOWS, changed, identity, policy, refused, verdict};

struct Author {
    instance: SigstoreInstance,
    policy: TrustPolicy,
}

fn author() -> Author {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    Author { instance, policy }
}

impl Author {
    fn sign(&self, defect: Defect) -> String {
        self.instance.sign_as(COMPONENT, &SignAs::new(WORKFLOW, GITHUB).with(defect))
    }
}

#[test]
fn what_a_trusted_workflow_signed_is_evidence() {
    let Author { instance, policy } = author();
    let evidence = verdict(&policy, COMPONENT, instance.sign(COMPONENT, WORKFLOW, GITHUB)).expect("it is trusted");
    let signer = Signer::Identity { identity: WORKFLOW.to_owned(), issuer: GITHUB.to_owned() };
    assert_eq!((evidence.signer, evidence.covers), (signer, Covered::Component));
    assert_eq!((evidence.name, evidence.log_index), (None, Some(1000)));
    assert!(evidence.signed_at.expect("the log's time").ends_with('Z'));
}

#[test]
fn statements_of_authorship_are_evidence_and_others_are_not() {
    let Author { instance, policy } = author();
    let sign = |kind| instance.sign_as(COMPONENT, &SignAs::new(WORKFLOW, GITHUB).statement(kind));
    for kind in [COSIGN_STATEMENT, PROVENANCE_STATEMENT] {
        assert_eq!(verdict(&policy, COMPONENT, sign(kind)).expect(kind).covers, Covered::Component);
        refused(verdict(&policy, b"other", sign(kind)), "over other bytes");
    }
    for kind in ["https://cosign.sigstore.dev/attestation/vuln/v1", "https://slsa.dev/verification_summary/v1"] {
        refused(verdict(&policy, COMPONENT, sign(kind)), "does not say who made it");
    }
    let not_of_this_kind = changed(&sign(COSIGN_STATEMENT), |bundle| {
        let payload = STANDARD.decode(bundle["dsseEnvelope"]["payload"].as_str().expect("text")).expect("base64");
        let payload = String::from_utf8(payload).expect("text").replace("in-toto.io/Statement", "example.com/Opinion");
        bundle["dsseEnvelope"]["payload"] = STANDARD.encode(payload).into();
    });
    refused(verdict(&policy, COMPONENT, not_of_this_kind), "does not say who made it");
}

#[test]
fn an_address_of_mail_is_an_identity() {
    let Author { instance, .. } = author();
    let policy = policy(identity("*@example.com", "https://accounts.google.com"), &instance.trusted_root());
    let sign = |mail, issuer| instance.sign(COMPONENT, mail, issuer);
    assert!(verdict(&policy, COMPONENT, sign("me@example.com", "https://accounts.google.com")).is_ok());
    refused(verdict(&policy, COMPONENT, sign("me@example.com", "https://evil.example")), "whom no rule names");
    let longer = sign("me@example.com.evil.example", "https://accounts.google.com");
    refused(verdict(&policy, COMPONENT, longer), "whom no rule names");
}

#[test]
fn a_signer_whom_no_rule_names_is_named_in_the_refusal() {
    let Author { instance, policy } = author();
    let stranger = WORKFLOW.replace("acme", "acme-evil");
    let bundle = instance.sign(COMPONENT, &stranger, GITHUB);
    refused(verdict(&policy, COMPONENT, bundle), &format!("signed by {stranger} ({GITHUB}), whom no rule names"));
}

#[test]
fn a_replayed_signature_is_refused() {
    let Author { instance, policy } = author();
    refused(verdict(&policy, b"other", instance.sign(COMPONENT, WORKFLOW, GITHUB)), "over other bytes");
}

#[test]
fn a_forged_signature_is_refused() {
    let Author { instance, policy } = author();
    let other = instance.sign(b"other", WORKFLOW, GITHUB);
    // Another signature of the same author, said to be over this component.
    let forged = changed(&instance.sign(COMPONENT, WORKFLOW, GITHUB), |bundle| {
        let other: serde_json::Value = serde_json::from_str(&other).expect("JSON");
        bundle["messageSignature"]["signature"] = other["messageSignature"]["signature"].clone();
    });
    refused(verdict(&policy, COMPONENT, forged), "or forged");
    let without_digest = changed(&other, |bundle| {
        bundle["messageSignature"].as_object_mut().expect("an object").remove("messageDigest");
    });
    refused(verdict(&policy, COMPONENT, without_digest), "or forged");
}

#[test]
fn a_certificate_that_had_ended_when_the_log_saw_the_signature_is_refused() {
    let author = author();
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::Expired)), "xpired");
}

#[test]
fn a_certificate_for_servers_is_refused() {
    let author = author();
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::NotForCode)), "certificate chain");
}

#[test]
fn a_certificate_that_no_log_of_certificates_has_seen_is_refused() {
    let author = author();
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::NoCertificateTimestamp)), "Certificate Timestamp");
}

#[test]
fn a_foreign_instance_is_refused() {
    let foreign = SigstoreInstance::new();
    let author = author();
    refused(verdict(&author.policy, COMPONENT, foreign.sign(COMPONENT, WORKFLOW, GITHUB)), "trusted_root.json");
    // A certificate of the trusted authority in a log of somebody else.
    let mixed = changed(&author.instance.trusted_root(), |root| {
        let foreign: serde_json::Value = serde_json::from_str(&foreign.trusted_root()).expect("JSON");
        root["tlogs"] = foreign["tlogs"].clone();
    });
    let policy = policy(identity(WORKFLOWS, GITHUB), &mixed);
    refused(verdict(&policy, COMPONENT, author.instance.sign(COMPONENT, WORKFLOW, GITHUB)), "log");
}

#[test]
fn a_bundle_whose_entry_is_of_another_artifact_is_refused() {
    let author = author();
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::OtherEntry)), "over other bytes");
}

#[test]
fn a_bundle_without_what_the_log_gave_is_refused() {
    let author = author();
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::NoEntry)), "no proof that a transparency log");
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::NoProof)), "no proof that a transparency log");
    refused(verdict(&author.policy, COMPONENT, author.sign(Defect::NoPromise)), "no verified timestamp");
}

#[test]
fn an_entry_without_a_proof_is_refused_beside_one_with_a_proof() {
    let author = author();
    let bundle = changed(&author.instance.sign(COMPONENT, WORKFLOW, GITHUB), |bundle| {
        let entries = bundle["verificationMaterial"]["tlogEntries"].as_array_mut().expect("a list");
        let mut bare = entries[0].clone();
        bare.as_object_mut().expect("an object").remove("inclusionProof");
        entries.push(bare);
    });
    refused(verdict(&author.policy, COMPONENT, bundle), "no proof that a transparency log");
}

#[test]
fn a_time_that_the_log_did_not_sign_is_refused() {
    let author = author();
    let bundle = changed(&author.sign(Defect::Expired), |bundle| {
        let time = &mut bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"];
        let seconds: u64 = time.as_str().expect("text").parse().expect("a number");
        *time = json!((seconds - 900).to_string());
    });
    refused(verdict(&author.policy, COMPONENT, bundle), "promise");
}

#[test]
fn a_bundle_of_many_entries_is_refused_before_they_are_verified() {
    let author = author();
    let bundle = changed(&author.instance.sign(COMPONENT, WORKFLOW, GITHUB), |bundle| {
        let entries = bundle["verificationMaterial"]["tlogEntries"].as_array_mut().expect("a list");
        entries.resize(9, entries[0].clone());
    });
    refused(verdict(&author.policy, COMPONENT, bundle), "more than 8 entries");
}

#[test]
fn an_identity_that_could_be_taken_for_a_pattern_or_is_no_line_is_refused() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity("https://github.com/acme/*", GITHUB), &instance.trusted_root());
    let bundle = instance.sign(COMPONENT, "https://github.com/acme/*@refs/tags/v1", GITHUB);
    refused(verdict(&policy, COMPONENT, bundle), "malformed");
    for (identity, issuer) in [
        ("https://github.com/acme/tool", "https://evil.example (x)"),
        ("https://github.com/acme/a\nb", GITHUB),
        (&format!("https://github.com/acme/{}", "a".repeat(1 << 10)), GITHUB),
    ] {
        refused(verdict(&policy, COMPONENT, instance.sign(COMPONENT, identity, issuer)), "malformed");
    }
}
