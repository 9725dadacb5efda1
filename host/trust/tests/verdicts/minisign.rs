//! Signatures of minisign.

use wharf_test_support::sigstore::{MinisignKey, SigstoreInstance};
use wharf_trust::{Covered, SignatureForm, Signer, TrustPolicy};

use super::{COMPONENT, GITHUB, WORKFLOW, key, refused, verdict};

/// Of minisign itself, over `test`: see found/README.md.
const PUBLIC: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const SIGNATURE: &str = "untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1556193335\tfile:test
y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==
";
const LEGACY: &str = "untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1555779966\tfile:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==
";

fn policy(keys: &[&MinisignKey]) -> TrustPolicy {
    TrustPolicy::new(keys.iter().map(|trusted| key(&trusted.public(), Some("acme"))).collect(), None).expect("a policy")
}

#[test]
fn a_signature_of_minisign_itself_is_evidence() {
    let policy = TrustPolicy::new(vec![key(PUBLIC, None)], None).expect("a policy");
    let evidence = verdict(&policy, b"test", SIGNATURE).expect("it is trusted");
    assert_eq!(evidence.signer, Signer::Key { fingerprint: "minisign:E7620F1842B4E81F".to_owned() });
    assert_eq!((evidence.form, evidence.covers), (SignatureForm::Minisign, Covered::Component));
    assert_eq!((evidence.signed_at, evidence.log_index), (None, None));
    refused(verdict(&policy, b"Test", SIGNATURE), "over other bytes");
}

#[test]
fn a_signature_without_a_hash_is_refused_with_how_to_sign_again() {
    let policy = TrustPolicy::new(vec![key(PUBLIC, None)], None).expect("a policy");
    refused(verdict(&policy, b"test", LEGACY), "minisign -S -H");
    let author = MinisignKey::new();
    // Another key after the author's does not hide the reason.
    let policy = self::policy(&[&author, &MinisignKey::new()]);
    refused(verdict(&policy, COMPONENT, author.sign_legacy(COMPONENT)), "minisign -S -H");
}

#[test]
fn the_signers_key_is_found_among_all_that_are_trusted() {
    let author = MinisignKey::new();
    let (before, after) = (MinisignKey::new(), MinisignKey::new());
    let policy = policy(&[&before, &author, &after]);
    let evidence = verdict(&policy, COMPONENT, author.sign(COMPONENT)).expect("it is trusted");
    assert_eq!(evidence.signer.to_string(), format!("minisign:{}", author.id()));
    assert_eq!(evidence.name.as_deref(), Some("acme"));
    refused(verdict(&policy, b"other", author.sign(COMPONENT)), "over other bytes");
}

#[test]
fn a_key_that_no_rule_has_is_refused_also_with_the_id_of_one_that_is_trusted() {
    let trusted = MinisignKey::with_id([7; 8]);
    let policy = policy(&[&trusted]);
    refused(verdict(&policy, COMPONENT, MinisignKey::new().sign(COMPONENT)), "by a key that no rule has");
    refused(verdict(&policy, COMPONENT, MinisignKey::with_id([7; 8]).sign(COMPONENT)), "or forged");
}

#[test]
fn a_changed_comment_is_refused() {
    let author = MinisignKey::new();
    let changed = author.sign(COMPONENT).replace("component.wasm", "another.wasm");
    refused(verdict(&policy(&[&author]), COMPONENT, changed), "or forged");
}

#[test]
fn a_damaged_signature_is_refused() {
    let author = MinisignKey::new();
    let signature = author.sign(COMPONENT);
    let half = signature.lines().take(2).collect::<Vec<_>>().join("\n");
    refused(verdict(&policy(&[&author]), COMPONENT, half), "damaged");
}

#[test]
fn rules_of_one_form_say_so_of_signatures_of_the_other() {
    let author = MinisignKey::new();
    let instance = SigstoreInstance::new();
    let bundle = instance.sign(COMPONENT, WORKFLOW, GITHUB);
    refused(verdict(&policy(&[&author]), COMPONENT, bundle), "no rule has an `identity` or a `key` of PEM");
    let (_, public) = instance.sign_with_key(COMPONENT);
    let by_pem = super::policy(key(&public, None), &instance.trusted_root());
    refused(verdict(&by_pem, COMPONENT, author.sign(COMPONENT)), "by a key that no rule has");
}
