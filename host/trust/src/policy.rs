//! The operator's rules, and the verdict over a component by them.

use std::{fmt, sync::Arc};

use minisign_verify::PublicKey;

use crate::{
    artifact::{SignedArtifact, covering},
    evidence::{Evidence, Untrusted},
    found::{FoundSignature, SignatureForm},
    key::{KeyKind, TrustedKey},
    minisign::MinisignSignature,
    refusal::Refusal,
    rule::{self, TrustError, TrustRule},
    signer::{PinnedSigner, Signer},
    sigstore::BundleVerifier,
};

/// How many signatures of one component are looked at.
const MOST_SIGNATURES: usize = 16;

/// Whose signatures the operator trusts. Clones share it.
#[derive(Clone, Default)]
pub struct TrustPolicy(Arc<Rules>);

#[derive(Default)]
struct Rules {
    rules: Vec<TrustRule>,
    /// Absent where no rule is about sigstore.
    bundles: Option<BundleVerifier>,
}

impl TrustPolicy {
    /// Makes a policy of rules, and of a sigstore instance's root.
    ///
    /// `root` is the text of a trusted_root.json; absent, it is the public-good instance's that the
    /// library carries. It is read only where a rule needs it.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn new(rules: Vec<TrustRule>, root: Option<&str>) -> Result<Self, TrustError> {
        rule::check(&rules)?;
        let needs_authorities = rules.iter().any(|rule| matches!(rule, TrustRule::Identity { .. }));
        let needs_logs = rules
            .iter()
            .any(|rule| matches!(rule, TrustRule::Key { key: TrustedKey { kind: KeyKind::Sigstore(_), .. }, .. }));
        let bundles = match needs_authorities || needs_logs {
            true => Some(BundleVerifier::new(root, needs_authorities)?),
            false => None,
        };
        Ok(Self(Arc::new(Rules { rules, bundles })))
    }

    /// Whether no signature can be trusted, since there is no rule.
    #[must_use]
    pub fn trusts_nobody(&self) -> bool {
        self.0.rules.is_empty()
    }

    /// Verifies signatures of a component until a rule accepts one.
    ///
    /// Takes the time of hashing the component once or twice for each signature; the first 16 are
    /// looked at.
    ///
    /// # Errors
    /// [`Untrusted`], which says why for each signature.
    pub fn verify(&self, artifact: SignedArtifact<'_>, found: &[FoundSignature]) -> Result<Evidence, Untrusted> {
        self.verify_up_to(1, artifact, found).map(|mut evidence| evidence.swap_remove(0))
    }

    /// Verifies all signatures of a component: who signed it, each signer once and at least one. The first is the one
    /// that [`Self::verify`] returns.
    ///
    /// # Errors
    /// [`Untrusted`], where no rule accepts any.
    pub fn verify_all(
        &self,
        artifact: SignedArtifact<'_>,
        found: &[FoundSignature],
    ) -> Result<Vec<Evidence>, Untrusted> {
        self.verify_up_to(MOST_SIGNATURES, artifact, found)
    }

    fn verify_up_to(
        &self,
        most: usize,
        artifact: SignedArtifact<'_>,
        found: &[FoundSignature],
    ) -> Result<Vec<Evidence>, Untrusted> {
        if self.trusts_nobody() {
            return Err(Untrusted::NoRules);
        }
        if found.is_empty() {
            return Err(Untrusted::Unsigned);
        }
        let (mut accepted, mut reasons) = (Vec::<Evidence>::new(), Vec::new());
        for signature in found.iter().take(MOST_SIGNATURES) {
            match self.0.verify(artifact, signature) {
                Ok(evidence) if accepted.iter().any(|known| known.signer == evidence.signer) => {}
                Ok(evidence) => accepted.push(evidence),
                Err(refusal) => reasons.push(refusal.reason),
            }
            if accepted.len() == most {
                break;
            }
        }
        if accepted.is_empty() { Err(Untrusted::refused(reasons)) } else { Ok(accepted) }
    }

    /// Whether a rule may accept a signature of this signer. Where none does, nothing is known to be signed by it.
    #[must_use]
    pub fn may_know(&self, signer: &PinnedSigner) -> bool {
        self.0.rules.iter().any(|rule| match rule {
            TrustRule::Identity { identity, issuer } => signer.may_be(identity, issuer),
            TrustRule::Key { key, .. } => signer.matches(&Signer::Key { fingerprint: key.fingerprint().to_owned() }),
        })
    }
}

impl TrustPolicy {
    /// Verifies who said something about a component: a statement of any type, in a bundle of sigstore.
    /// They vouch for what they say. Whether somebody vouches for the component, [`Self::verify`] tells.
    ///
    /// # Errors
    /// [`Untrusted`].
    pub fn verify_statement(&self, artifact: SignedArtifact<'_>, bundle: &str) -> Result<Evidence, Untrusted> {
        if self.trusts_nobody() {
            return Err(Untrusted::NoRules);
        }
        let verified = self.0.bundles().and_then(|bundles| bundles.verify_statement(artifact, bundle, &self.0.rules));
        verified.map_err(|refusal| Untrusted::refused([refusal.reason]))
    }
}

impl Rules {
    fn bundles(&self) -> Result<&BundleVerifier, Refusal> {
        self.bundles.as_ref().ok_or_else(|| {
            Refusal::unusable("it is signed with sigstore, and no rule has an `identity` or a `key` of PEM")
        })
    }

    fn verify(&self, artifact: SignedArtifact<'_>, found: &FoundSignature) -> Result<Evidence, Refusal> {
        match found.form() {
            SignatureForm::Minisign => self.verify_minisign(artifact, found.text()),
            SignatureForm::Sigstore => self.bundles()?.verify(artifact, found.text(), &self.rules),
        }
    }

    fn verify_minisign(&self, artifact: SignedArtifact<'_>, text: &str) -> Result<Evidence, Refusal> {
        let signature = MinisignSignature::parse(text)?;
        let mut refusal = Refusal::other_key("it is signed with minisign, by a key that no rule has");
        for (key, trusted, name) in self.rules.iter().filter_map(minisign_key) {
            match covering(artifact, |bytes| signature.verify(key, bytes)) {
                Ok(((), covers)) => {
                    return Ok(Evidence {
                        signer: Signer::Key { fingerprint: trusted.fingerprint().to_owned() },
                        name: name.clone(),
                        form: SignatureForm::Minisign,
                        covers,
                        signed_at: None,
                        log_index: None,
                    });
                }
                Err(later) => refusal = refusal.or(later),
            }
        }
        Err(refusal)
    }
}

impl fmt::Debug for TrustPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TrustPolicy").field("rules", &self.0.rules).finish_non_exhaustive()
    }
}

fn minisign_key(rule: &TrustRule) -> Option<(&PublicKey, &TrustedKey, &Option<String>)> {
    match rule {
        TrustRule::Key { key, name } => match &key.kind {
            KeyKind::Minisign(public) => Some((public, key, name)),
            KeyKind::Sigstore(_) => None,
        },
        TrustRule::Identity { .. } => None,
    }
}
