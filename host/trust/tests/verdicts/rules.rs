//! Rules and policies, and what a verdict says where it is none.

use sigstore_verify::trust_root::SIGSTORE_PRODUCTION_TRUSTED_ROOT;
use wharf_test_support::sigstore::{MinisignKey, SigstoreInstance};
use wharf_trust::{
    Evidence, IdentityPattern, InvalidIdentityPattern, SignedArtifact, TrustError, TrustPolicy, Untrusted,
};

use super::{COMPONENT, GITHUB, WORKFLOW, WORKFLOWS, changed, found, identity, key, policy, verdict};

const ARTIFACT: SignedArtifact<'_> = SignedArtifact { component: COMPONENT, manifest: None };

#[test]
fn a_policy_without_rules_trusts_nobody() {
    let nobody = TrustPolicy::new(Vec::new(), Some("no root")).expect("a policy");
    assert!(nobody.trusts_nobody() && TrustPolicy::default().trusts_nobody());
    let signature = MinisignKey::new().sign(COMPONENT);
    assert_eq!(verdict(&nobody, COMPONENT, signature), Err(Untrusted::NoRules));
    assert!(Untrusted::NoRules.to_string().contains("`[plugins] trust`"));
}

#[test]
fn a_component_without_a_signature_is_unsigned() {
    let policy = TrustPolicy::new(vec![key(&MinisignKey::new().public(), None)], None).expect("a policy");
    assert!(!policy.trusts_nobody());
    assert_eq!(policy.verify(ARTIFACT, &[]), Err(Untrusted::Unsigned));
}

#[test]
fn one_trusted_signature_among_others_is_enough() {
    let (author, stranger) = (MinisignKey::new(), MinisignKey::new());
    let policy = TrustPolicy::new(vec![key(&author.public(), None)], None).expect("a policy");
    let signatures = [found(stranger.sign(COMPONENT)), found(author.sign(COMPONENT))];
    assert!(policy.verify(ARTIFACT, &signatures).is_ok());
}

#[test]
fn all_signers_that_rules_know_are_told_each_once() {
    let (author, company, stranger) = (MinisignKey::new(), MinisignKey::new(), MinisignKey::new());
    let rules = [&author, &company].map(|signer| key(&signer.public(), None));
    let policy = TrustPolicy::new(rules.to_vec(), None).expect("a policy");
    let signatures = [&stranger, &company, &author, &company].map(|signer| found(signer.sign(COMPONENT)));
    let all = policy.verify_all(ARTIFACT, &signatures).expect("two count");
    let signers: Vec<_> = all.iter().map(|evidence| evidence.signer.clone()).collect();
    let of = |signer: &MinisignKey| verdict(&policy, COMPONENT, signer.sign(COMPONENT)).expect("known").signer;
    assert_eq!(signers, [of(&company), of(&author)]);
    assert_eq!(policy.verify(ARTIFACT, &signatures).as_ref(), Ok(&all[0]));
    assert!(policy.verify_all(ARTIFACT, &signatures[..1]).is_err());
}

#[test]
fn whether_a_rule_may_know_a_signer_is_told() {
    let author = MinisignKey::new();
    let rules = vec![key(&author.public(), None), identity(WORKFLOWS, GITHUB)];
    let policy = TrustPolicy::new(rules, Some(&SigstoreInstance::new().trusted_root())).expect("a policy");
    let of_author = verdict(&policy, COMPONENT, author.sign(COMPONENT)).expect("known").signer.to_string();
    let of_workflow = format!("{WORKFLOW} ({GITHUB})");
    let any_release = "https://github.com/acme/tool/.github/workflows/*";
    for known in [of_author, of_workflow, format!("{any_release} ({GITHUB})")] {
        assert!(policy.may_know(&known.parse().expect("a signer")), "{known}");
    }
    let others = [
        "minisign:0123456789ABCDEF".to_owned(),
        format!("sha256:{}", "0".repeat(64)),
        format!("{WORKFLOW} (https://issuer.example)"),
        format!("https://github.com/acme/other/* ({GITHUB})"),
    ];
    for other in others {
        assert!(!policy.may_know(&other.parse().expect("a signer")), "{other}");
        assert!(!TrustPolicy::default().may_know(&other.parse().expect("a signer")), "{other}");
    }
}

#[test]
fn no_more_than_sixteen_signatures_are_looked_at() {
    let (author, stranger) = (MinisignKey::new(), MinisignKey::new());
    let policy = TrustPolicy::new(vec![key(&author.public(), None)], None).expect("a policy");
    let mut signatures = vec![found(stranger.sign(COMPONENT)); 15];
    signatures.push(found(author.sign(COMPONENT)));
    assert!(policy.verify(ARTIFACT, &signatures).is_ok());
    signatures.insert(0, found(stranger.sign(COMPONENT)));
    assert!(policy.verify(ARTIFACT, &signatures).is_err());
}

#[test]
fn reasons_are_few_short_lines_each_told_once() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity("nobody@example.com", GITHUB), &instance.trusted_root());
    let long = format!("https://github.com/{}", "a".repeat(900));
    let mut signatures = vec![found(instance.sign(COMPONENT, &long, GITHUB)); 2];
    let number = |number| found(instance.sign(COMPONENT, &format!("{number}@example.com"), GITHUB));
    signatures.extend((0..14).map(number));
    let Err(Untrusted::Refused { reasons }) = policy.verify(ARTIFACT, &signatures) else { panic!("they are refused") };
    assert_eq!(reasons.len(), 8);
    assert!(reasons.iter().all(|reason| reason.len() <= 300 && !reason.contains('\n')), "{reasons:?}");
    assert!(reasons[1].contains("0@example.com"), "the second is the same as the first, and left out");
}

#[test]
fn a_root_is_read_only_where_a_rule_needs_it() {
    let minisign = || key(&MinisignKey::new().public(), None);
    assert!(TrustPolicy::new(vec![minisign()], Some("no root")).is_ok());
    let error = |rule, root: &str| TrustPolicy::new(vec![rule], Some(root)).expect_err("no policy");
    assert!(matches!(error(identity(WORKFLOWS, GITHUB), "no root"), TrustError::Root(_)));
    assert!(matches!(error(identity(WORKFLOWS, GITHUB), &" ".repeat(2 << 20)), TrustError::RootTooLong { .. }));
    let instance = SigstoreInstance::new();
    let (_, public) = instance.sign_with_key(COMPONENT);
    for (list, key_needs_it) in [("tlogs", true), ("certificateAuthorities", false), ("ctlogs", false)] {
        let root = changed(&instance.trusted_root(), |root| root[list] = serde_json::json!([]));
        let message = error(identity(WORKFLOWS, GITHUB), &root).to_string();
        assert!(message.contains(list), "{message}");
        assert_eq!(TrustPolicy::new(vec![key(&public, None)], Some(&root)).is_err(), key_needs_it, "{list}");
    }
    assert!(TrustPolicy::new(vec![identity(WORKFLOWS, GITHUB)], Some(SIGSTORE_PRODUCTION_TRUSTED_ROOT)).is_ok());
}

#[test]
fn an_issuer_is_a_whole_address() {
    for wrong in ["", "*", "https://*.example", "https://a b", "https://a (b)", &"a".repeat(1024)] {
        let error = TrustPolicy::new(vec![identity(WORKFLOWS, wrong)], None).expect_err(wrong);
        assert!(matches!(error, TrustError::Issuer), "{wrong}");
    }
}

#[test]
fn two_keys_of_one_fingerprint_are_no_policy() {
    let (first, second) = (MinisignKey::with_id([1; 8]), MinisignKey::with_id([1; 8]));
    let rules = |keys: [&MinisignKey; 2]| keys.map(|trusted| key(&trusted.public(), None)).to_vec();
    let error = TrustPolicy::new(rules([&first, &second]), None).expect_err("no policy").to_string();
    assert!(error.contains("minisign:0101010101010101"), "{error}");
    assert!(TrustPolicy::new(rules([&first, &first]), None).is_ok());
}

#[test]
fn a_star_stands_for_any_text_and_nothing_else_does() {
    let matches = |pattern: &str, identity: &str| pattern.parse::<IdentityPattern>().expect(pattern).matches(identity);
    assert!(matches("https://github.com/acme/*@refs/tags/v*", "https://github.com/acme/x/y@refs/tags/v1.2"));
    assert!(matches("*@example.com", "me@example.com") && matches("a?c", "a?c"));
    assert!(!matches("a?c", "abc") && !matches("ABC", "abc") && !matches("abc", "abcd") && !matches("bcd", "abcd"));
    assert_eq!(WORKFLOWS.parse::<IdentityPattern>().expect("a pattern").to_string(), WORKFLOWS);
    let error = |pattern: &str| pattern.parse::<IdentityPattern>().expect_err(pattern);
    for malformed in ["", "a\nb", "a\u{202e}b", "a\0b", &"a".repeat(1024)] {
        assert_eq!(error(malformed), InvalidIdentityPattern::Malformed { most: 1023 });
    }
    assert_eq!((error("*"), error("***")), (InvalidIdentityPattern::Everybody, InvalidIdentityPattern::Everybody));
}

#[test]
fn evidence_is_kept_and_read_again() {
    let instance = SigstoreInstance::new();
    let policy = policy(identity(WORKFLOWS, GITHUB), &instance.trusted_root());
    let evidence = verdict(&policy, COMPONENT, instance.sign(COMPONENT, WORKFLOW, GITHUB)).expect("it is trusted");
    let kept = serde_json::to_value(&evidence).expect("JSON");
    assert_eq!(kept["signer"], format!("{WORKFLOW} ({GITHUB})"));
    assert_eq!((&kept["form"], &kept["covers"]), (&"sigstore".into(), &"component".into()));
    assert_eq!(serde_json::from_value::<Evidence>(kept).expect("what was kept"), evidence);
}
