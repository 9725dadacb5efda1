//! Bundles of sigstore: with a certificate of an identity, or of a plain key.

use std::rc::Rc;

use sigstore_verify::{
    Error, Policy, PublicKeyVerificationPolicy, VerificationPolicy, VerificationResult, Verifier,
    trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot},
    types::{Bundle, KindVersion, SignatureContent, TransparencyLogEntry, VerificationMaterialContent},
};

use crate::{
    artifact::{SignedArtifact, covering},
    evidence::{Covered, Evidence},
    found::SignatureForm,
    identity::{is_issuer, is_line},
    key::KeyKind,
    provider,
    refusal::{Cause, Refusal},
    rule::{TrustError, TrustRule},
    signer::Signer,
    statement,
};

/// The most bytes of a trusted root: 1 MiB.
const MAX_ROOT_BYTES: usize = 1 << 20;
/// The most entries of logs, timestamps and certificates of a bundle, each: one of them is usual.
const MOST_PIECES: usize = 8;

/// Verifies bundles by one instance's root.
pub(crate) struct BundleVerifier(Verifier);

impl BundleVerifier {
    /// Reads the root; `needs_authorities` where certificates are to be verified, and not only entries
    /// of logs.
    pub(crate) fn new(root: Option<&str>, needs_authorities: bool) -> Result<Self, TrustError> {
        provider::install();
        let text = root.unwrap_or(SIGSTORE_PRODUCTION_TRUSTED_ROOT);
        if text.len() > MAX_ROOT_BYTES {
            return Err(TrustError::RootTooLong { most: MAX_ROOT_BYTES });
        }
        let root = TrustedRoot::from_json(text).map_err(|error| TrustError::Root(Box::new(error)))?;
        let lacking = match &root {
            root if root.tlogs.is_empty() => Some("transparency logs (`tlogs`)"),
            root if needs_authorities && root.certificate_authorities.is_empty() => {
                Some("authorities (`certificateAuthorities`)")
            }
            root if needs_authorities && root.ctlogs.is_empty() => Some("logs of certificates (`ctlogs`)"),
            _ => None,
        };
        if let Some(lacking) = lacking {
            return Err(TrustError::RootLacks { lacking });
        }
        Verifier::new(&root).map(Self).map_err(|error| TrustError::Root(Box::new(error)))
    }

    /// Verifies a bundle, and that a rule accepts its signer.
    pub(crate) fn verify(
        &self,
        artifact: SignedArtifact<'_>,
        text: &str,
        rules: &[TrustRule],
    ) -> Result<Evidence, Refusal> {
        let bundle = read(text)?;
        statement::check(&bundle)?;
        self.verify_signer(artifact, &bundle, rules)
    }

    /// The same for a statement about the component, whatever it says.
    pub(crate) fn verify_statement(
        &self,
        artifact: SignedArtifact<'_>,
        text: &str,
        rules: &[TrustRule],
    ) -> Result<Evidence, Refusal> {
        let bundle = read(text)?;
        match bundle.content {
            SignatureContent::DsseEnvelope(_) => self.verify_signer(artifact, &bundle, rules),
            _ => Err(Refusal::unusable("the bundle has no statement")),
        }
    }

    fn verify_signer(
        &self,
        artifact: SignedArtifact<'_>,
        bundle: &Bundle,
        rules: &[TrustRule],
    ) -> Result<Evidence, Refusal> {
        match &bundle.verification_material.content {
            VerificationMaterialContent::PublicKey(_) => self.verify_keys(artifact, bundle, rules),
            _ => self.verify_identity(artifact, bundle, rules),
        }
    }

    fn verify_identity(
        &self,
        artifact: SignedArtifact<'_>,
        bundle: &Bundle,
        rules: &[TrustRule],
    ) -> Result<Evidence, Refusal> {
        // The library knows no patterns, so the rules are asked below.
        let policy = VerificationPolicy::any_identity();
        let (result, covers) = covering(artifact, |bytes| self.run(bytes, bundle, &policy))?;
        if !(result.certificate_verified() && result.sct_verified() && result.tlog_verified()) {
            return Err(Refusal::unusable("the bundle's certificate or its entry in the log was not verified"));
        }
        let identity = result.identity().map(|identity| identity.as_str().to_owned());
        let (Some(identity), Some(issuer)) = (identity, result.issuer().map(str::to_owned)) else {
            return Err(Refusal::unusable("the certificate names no address of a workflow or of mail, or no issuer"));
        };
        // A star would be taken for a pattern where grants are pinned to it.
        if !is_line(&identity) || identity.contains('*') || !is_issuer(&issuer) {
            return Err(Refusal::unusable(format!(
                "the certificate's identity or issuer is malformed: {identity} ({issuer})"
            )));
        }
        let accepts = |rule: &TrustRule| match rule {
            TrustRule::Identity { identity: pattern, issuer: trusted } => {
                *trusted == issuer && pattern.matches(&identity)
            }
            TrustRule::Key { .. } => false,
        };
        let is_trusted = rules.iter().any(accepts);
        let signer = Signer::Identity { identity, issuer };
        if !is_trusted {
            return Err(Refusal::unusable(format!("it is signed by {signer}, whom no rule names")));
        }
        Ok(evidence(signer, None, bundle, &result, covers))
    }

    fn verify_keys(
        &self,
        artifact: SignedArtifact<'_>,
        bundle: &Bundle,
        rules: &[TrustRule],
    ) -> Result<Evidence, Refusal> {
        let mut refusal = Refusal::other_key("it is signed with a plain key, and no rule has a `key` of PEM");
        for rule in rules {
            let TrustRule::Key { key, name } = rule else { continue };
            let KeyKind::Sigstore(public) = &key.kind else { continue };
            let policy = PublicKeyVerificationPolicy::new(public.clone());
            match covering(artifact, |bytes| self.run(bytes, bundle, &policy)) {
                Ok((result, covers)) => {
                    if !result.tlog_verified() {
                        return Err(Refusal::unusable("the bundle's entry in the log was not verified"));
                    }
                    let signer = Signer::Key { fingerprint: key.fingerprint().to_owned() };
                    return Ok(evidence(signer, name.clone(), bundle, &result, covers));
                }
                // The bundle does not tell its key, so another key looks like other bytes.
                Err(later) if later.cause == Cause::OtherBytes => {
                    let reason = "it is signed with a plain key that no rule has, or over other bytes";
                    refusal = refusal.or(Refusal::other_bytes(reason));
                }
                Err(later) => refusal = refusal.or(later),
            }
        }
        Err(refusal)
    }

    fn run(&self, bytes: &[u8], bundle: &Bundle, policy: &dyn Policy) -> Result<VerificationResult, Refusal> {
        let verify = || self.0.verify(bytes, bundle, policy);
        let result = match bundle.content {
            // Its statement is signed whole, and small.
            SignatureContent::DsseEnvelope(_) => verify(),
            _ => provider::with_message(Rc::from(bytes), verify),
        };
        result.map_err(|error| refusal(&error))
    }
}

/// Reads a bundle within bounds.
fn read(text: &str) -> Result<Bundle, Refusal> {
    let bundle = Bundle::from_json(text)
        .map_err(|error| Refusal::unusable(format!("the bundle of sigstore cannot be read: {error}")))?;
    check_pieces(&bundle)?;
    Ok(bundle)
}

/// Bounds the work of a bundle, and asks a proof of each entry: the library asks one of any.
fn check_pieces(bundle: &Bundle) -> Result<(), Refusal> {
    let material = &bundle.verification_material;
    let certificates = match &material.content {
        VerificationMaterialContent::X509CertificateChain { certificates } => certificates.len(),
        _ => 0,
    };
    let timestamps = material.timestamp_verification_data.rfc3161_timestamps.len();
    if material.tlog_entries.len().max(certificates).max(timestamps) > MOST_PIECES {
        return Err(Refusal::unusable(format!(
            "the bundle has more than {MOST_PIECES} entries of logs, timestamps or certificates"
        )));
    }
    let has_proof = |entry: &TransparencyLogEntry| entry.inclusion_proof.is_some();
    if material.tlog_entries.is_empty() || !material.tlog_entries.iter().all(has_proof) {
        return Err(Refusal::unusable(
            "the bundle has no proof that a transparency log has its signature; sign without `--tlog-upload=false`, or \
             with minisign, which has no log",
        ));
    }
    Ok(())
}

fn evidence(
    signer: Signer,
    name: Option<String>,
    bundle: &Bundle,
    result: &VerificationResult,
    covers: Covered,
) -> Evidence {
    // The log signs the number with the promise of version 1, and with the proof of version 2.
    let is_signed = |entry: &&TransparencyLogEntry| {
        entry.inclusion_promise.is_some() || entry.kind_version == KindVersion::HashedRekordV002
    };
    Evidence {
        signer,
        name,
        form: SignatureForm::Sigstore,
        covers,
        signed_at: result.verified_timestamps().iter().min().map(ToString::to_string),
        log_index: bundle.verification_material.tlog_entries.iter().find(is_signed).map(|entry| entry.log_index.get()),
    }
}

fn refusal(error: &Error) -> Refusal {
    match error {
        Error::ArtifactMismatch(_) => Refusal::other_bytes("the bundle is over other bytes; fetch both again"),
        Error::SignatureInvalid(_) => {
            Refusal::other_bytes("the bundle's signature is over other bytes, or forged; fetch both again")
        }
        Error::Certificate(error) => {
            Refusal::unusable(format!("{error}; sign again, or name the signer's instance by its trusted_root.json"))
        }
        Error::TransparencyLog(error) => {
            Refusal::unusable(format!("{error}; sign again, or name the log's instance by its trusted_root.json"))
        }
        Error::Timestamp(error) => Refusal::unusable(format!("{error}; sign again")),
        other => Refusal::unusable(format!("the bundle of sigstore is not usable: {other}")),
    }
}
