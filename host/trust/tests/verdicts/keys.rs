//! Plain keys: of cosign, as PEM.

use wharf_test_support::sigstore::{COSIGN_STATEMENT, Defect, MinisignKey, SigstoreInstance};
use wharf_trust::{Covered, KeyError, Signer, TrustPolicy, TrustedKey};

use super::{COMPONENT, GITHUB, WORKFLOWS, identity, key, policy, refused, verdict};

const RSA_1024: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCnhdfoOA5vf5GhnvjrqwYmKz8s
EVIHstNp1MwTSvI0fpzkL258GoLw5H2LdpY+Sj1h9tEVgTWkjfGjAHOqzckBe33Y
dQhZd3sUYPJyVf3t09xKzidBcRsUTZHFsFTxfGz8xU6txxbibRBCUup2/OjeEROm
XMePjOjjitUOpD8Y9QIDAQAB
-----END PUBLIC KEY-----";
const P521: &str = "-----BEGIN PUBLIC KEY-----
MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBvgv1et0m7UDorKz90u7PP9bTN5lw
JuODVd5IRagFAulxBYB0d0nnQYBo87GVDo6qg+iJzEGnnqZuMk82sZ+j8HwAxd6u
x2meU/QFBwbMcRcjSifekh+TGd8NREut9izl7UxMfHxYNZD/jOUHAzMsbtK8bsBC
Sfaa/VXziqLNC2on6X8=
-----END PUBLIC KEY-----";

#[test]
fn what_a_trusted_key_signed_is_evidence_with_the_name_that_the_operator_gave_it() {
    let instance = SigstoreInstance::new();
    for statement in [None, Some(COSIGN_STATEMENT)] {
        let (bundle, public) = instance.sign_with_key_as(COMPONENT, statement, None);
        let policy = policy(key(&public, Some("acme")), &instance.trusted_root());
        let evidence = verdict(&policy, COMPONENT, &bundle).expect("it is trusted");
        let fingerprint = TrustedKey::read(&public).expect("a key").fingerprint().to_owned();
        assert_eq!(evidence.signer, Signer::Key { fingerprint });
        assert_eq!((evidence.name.as_deref(), evidence.covers), (Some("acme"), Covered::Component));
        assert!(evidence.signed_at.is_some() && evidence.log_index.is_some());
        refused(verdict(&policy, b"other", &bundle), "over other bytes");
    }
}

#[test]
fn the_signers_key_is_found_among_all_that_are_trusted() {
    let instance = SigstoreInstance::new();
    let (bundle, public) = instance.sign_with_key(COMPONENT);
    let (_, other) = instance.sign_with_key(COMPONENT);
    let ed25519 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
        -----END PUBLIC KEY-----";
    let rules = [ed25519, &other, &MinisignKey::new().public(), &public].map(|public| key(public, None)).to_vec();
    let policy = TrustPolicy::new(rules, Some(&instance.trusted_root())).expect("a policy");
    assert!(verdict(&policy, COMPONENT, bundle).is_ok());
}

#[test]
fn a_key_that_no_rule_has_is_refused() {
    let instance = SigstoreInstance::new();
    let (bundle, _) = instance.sign_with_key(COMPONENT);
    let (_, other) = instance.sign_with_key(COMPONENT);
    let by_key = policy(key(&other, None), &instance.trusted_root());
    refused(verdict(&by_key, COMPONENT, &bundle), "a plain key that no rule has");
    let by_identity = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    refused(verdict(&by_identity, COMPONENT, &bundle), "no rule has a `key` of PEM");
}

#[test]
fn a_bundle_of_a_trusted_key_is_refused_without_the_log() {
    let instance = SigstoreInstance::new();
    for (defect, why) in [
        (Defect::NoEntry, "no proof that a transparency log"),
        (Defect::NoProof, "no proof that a transparency log"),
        (Defect::OtherEntry, "over other bytes"),
    ] {
        let (bundle, public) = instance.sign_with_key_as(COMPONENT, None, Some(defect));
        refused(verdict(&policy(key(&public, None), &instance.trusted_root()), COMPONENT, bundle), why);
    }
    let (bundle, public) = instance.sign_with_key(COMPONENT);
    let foreign = SigstoreInstance::new().trusted_root();
    refused(verdict(&policy(key(&public, None), &foreign), COMPONENT, bundle), "trusted_root.json");
}

#[test]
fn a_key_is_read_from_every_form_that_programs_write() {
    let minisign = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let file = format!("untrusted comment: minisign public key E7620F1842B4E81F\r\n{minisign}\r\n");
    for text in [minisign, &file, &format!("  {minisign}\n")] {
        assert_eq!(TrustedKey::read(text).expect(text).fingerprint(), "minisign:E7620F1842B4E81F");
    }
    let pem = include_str!("found/a.pub");
    let fingerprint = TrustedKey::read(pem).expect("a key").fingerprint().to_owned();
    assert!(fingerprint.starts_with("sha256:") && fingerprint.len() == 71, "{fingerprint}");
}

#[test]
fn what_is_no_public_key_is_refused_with_what_to_give() {
    let read = |text: &str| TrustedKey::read(text).expect_err(text);
    assert_eq!(read(""), KeyError::Unknown);
    assert_eq!(read("RWQf6LRCGA9i5"), KeyError::Unknown);
    assert_eq!(read("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----"), KeyError::Unsupported);
    assert_eq!(read("-----BEGIN CERTIFICATE-----\nYWJjZA==\n-----END CERTIFICATE-----"), KeyError::Unknown);
    assert_eq!(read("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nYWJj\n"), KeyError::Private);
    assert_eq!(read(RSA_1024), KeyError::Unsupported);
    assert_eq!(read(P521), KeyError::Unsupported);
    assert_eq!(read(&"A".repeat(20 << 10)), KeyError::TooLong { most: 16 << 10 });
    let two = MinisignKey::new().public() + &MinisignKey::new().public();
    assert_eq!(read(&two), KeyError::Unknown);
}
