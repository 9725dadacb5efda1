//! Verdicts over components: signatures of other people's programs, and of an instance made here, as
//! they are and spoiled.

mod forms;
mod identities;
mod keys;
mod manifests;
mod minisign;
mod others;
mod rules;
mod signers;

use serde_json::Value;
use wharf_trust::{Evidence, FoundSignature, SignedArtifact, TrustPolicy, TrustRule, TrustedKey, Untrusted};

const COMPONENT: &[u8] = b"\0asm component of a test";
const WORKFLOW: &str = "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1";
const WORKFLOWS: &str = "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/*";
const GITHUB: &str = "https://token.actions.githubusercontent.com";

fn identity(pattern: &str, issuer: &str) -> TrustRule {
    TrustRule::Identity { identity: pattern.parse().expect("a pattern"), issuer: issuer.to_owned() }
}

fn key(text: &str, name: Option<&str>) -> TrustRule {
    TrustRule::Key { key: TrustedKey::read(text).expect("a key"), name: name.map(str::to_owned) }
}

fn policy(rule: TrustRule, root: &str) -> TrustPolicy {
    TrustPolicy::new(vec![rule], Some(root)).expect("a policy")
}

fn found(text: impl AsRef<[u8]>) -> FoundSignature {
    FoundSignature::read(text.as_ref()).expect("a signature")
}

/// The verdict over a component with one signature.
fn verdict(policy: &TrustPolicy, component: &[u8], signature: impl AsRef<[u8]>) -> Result<Evidence, Untrusted> {
    policy.verify(SignedArtifact { component, manifest: None }, &[found(signature)])
}

/// The only reason of a refusal.
fn reason(verdict: Result<Evidence, Untrusted>) -> String {
    match verdict {
        Err(Untrusted::Refused { reasons }) if reasons.len() == 1 => reasons[0].clone(),
        other => panic!("no refusal for one reason: {other:?}"),
    }
}

#[track_caller]
fn refused(verdict: Result<Evidence, Untrusted>, why: &str) {
    let reason = reason(verdict);
    assert!(reason.contains(why), "`{reason}` does not say `{why}`");
}

/// A bundle after a change of its JSON.
fn changed(bundle: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut bundle = serde_json::from_str(bundle).expect("JSON");
    change(&mut bundle);
    bundle.to_string()
}
