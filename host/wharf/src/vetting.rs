//! Whether a component may be loaded at all, before anything is made of it: who signed it, and whether it is
//! denied. What it may use then is said elsewhere.

use std::path::Path;

use serde::{Deserialize, Serialize};
use wharf_core::{Digest, PluginName, text::with_causes};
use wharf_engine::Component;
use wharf_sources::{FetchedFile, FetchedFiles, signatures_beside};
use wharf_trust::{Evidence, FoundSignature, SignedArtifact, Signer, Untrusted};

use crate::{
    configuration::{ComponentPlace, Configuration, KnownComponent},
    denied::{Denied, DenyKeeper, DenyList},
};

/// Bytes of signatures that are kept of a component: they go into its receipt, and strangers may add some in a
/// registry.
const KEPT_BYTES: usize = 512 << 10;

/// The signatures that lie where a component does. Nothing of them is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSignatures {
    /// Those that can be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<FoundSignature>,
    /// The manifest by which a registry names the component, which they may be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// What was found and is no signature, in words.
    #[serde(skip)]
    pub problems: Vec<String>,
}

impl FoundSignatures {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.signatures.is_empty()
    }

    /// Those beside the file of a component.
    #[must_use]
    pub fn beside(component: &Path) -> Self {
        let mut found = Self::default();
        for file in signatures_beside(component) {
            match file {
                Ok(file) => found.take(&file),
                Err(error) => found.problems.push(with_causes(&error)),
            }
        }
        found
    }

    fn take(&mut self, FetchedFile { from, bytes }: &FetchedFile) {
        let kept: usize = self.signatures.iter().map(|signature| signature.text().len()).sum();
        match FoundSignature::read(bytes) {
            Ok(signature) if kept + signature.text().len() <= KEPT_BYTES => self.signatures.push(signature),
            Ok(_) => self
                .problems
                .push(format!("{from}: the signatures before it have {kept} bytes, and {KEPT_BYTES} are kept")),
            Err(error) => self.problems.push(format!("{from}: {error}")),
        }
    }
}

impl From<FetchedFiles> for FoundSignatures {
    fn from(fetched: FetchedFiles) -> Self {
        let mut found = Self::default();
        for file in &fetched.files {
            found.take(file);
        }
        // Only what a signature may be over is kept.
        let manifest = fetched.manifest.filter(|_| !found.signatures.is_empty());
        found.manifest = manifest.and_then(|manifest| String::from_utf8(manifest).ok());
        found
    }
}

/// A component with where it was taken from, and the signatures there.
#[derive(Debug)]
pub struct SourcedComponent {
    /// The component.
    pub component: Component,
    /// Where it was taken from; nothing where it is part of the binary.
    pub place: Option<ComponentPlace>,
    /// The signatures there.
    pub found: FoundSignatures,
}

impl SourcedComponent {
    /// Of a component that was read from this file.
    #[must_use]
    pub fn of_file(component: Component, place: ComponentPlace, file: &Path) -> Self {
        Self { component, place: Some(place), found: FoundSignatures::beside(file) }
    }

    /// The same with each function of the component as a tool, where that is said.
    #[must_use]
    pub fn with_functions(self, functions: bool) -> Self {
        Self { component: self.component.with_functions(functions), ..self }
    }

    /// Of a component that is part of the binary.
    #[must_use]
    pub fn bundled(component: Component) -> Self {
        Self { component, place: None, found: FoundSignatures::default() }
    }
}

/// What is known of a component that may be loaded.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Vetted {
    /// Who signed it, of those whom `[plugins] trust` names; each once.
    pub evidence: Vec<Evidence>,
}

impl Vetted {
    /// Who signed it: the first, where several did.
    #[must_use]
    pub fn signer(&self) -> Option<&Signer> {
        self.evidence.first().map(|evidence| &evidence.signer)
    }

    /// What grants go by.
    #[must_use]
    pub fn known(&self, digest: Digest) -> KnownComponent<'_> {
        KnownComponent { digest, evidence: &self.evidence }
    }
}

/// Why a component must not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unvetted {
    /// Nobody signed it who is trusted, and its place needs that.
    #[error("its component comes from `{}`, and `[plugins] require_signature` asks for a signature there: {why}", place.as_str())]
    Signature {
        /// Where it comes from.
        place: ComponentPlace,
        /// What is wrong with its signatures, or that there is none.
        why: String,
    },
    /// It is on the list of what must not run.
    #[error(transparent)]
    Denied(#[from] Denied),
}

impl Configuration {
    /// What must not run, for a command beside the hosts of this data directory. Blocks.
    #[must_use]
    pub fn denied(&self, data: &Path) -> DenyList {
        DenyKeeper::of(Some(data)).current(self.trust.deny.as_ref())
    }

    /// Who signed a component, and whether it may be loaded. Costs a few milliseconds where it was signed.
    ///
    /// # Errors
    /// See [`Unvetted`].
    pub fn vet(&self, name: &PluginName, sourced: &SourcedComponent, denied: &DenyList) -> Result<Vetted, Unvetted> {
        let SourcedComponent { component, place, found } = sourced;
        let trust = &self.trust;
        let mut vetted = Vetted::default();
        let is_asked = |place: &ComponentPlace| !trust.policy.trusts_nobody() || trust.required.contains(place);
        if let Some(place) = place.filter(is_asked) {
            let bytes = component.bytes();
            let artifact = SignedArtifact {
                component: &bytes,
                manifest: found.manifest.as_ref().map(|manifest| manifest.as_bytes()),
            };
            match trust.policy.verify_all(artifact, &found.signatures) {
                Ok(evidence) => vetted.evidence = evidence,
                Err(untrusted) if trust.required.contains(&place) => {
                    return Err(Unvetted::Signature { place, why: told(&untrusted, &found.problems) });
                }
                Err(Untrusted::Refused { reasons }) => {
                    tracing::warn!(plugin = %name, "its signature does not count: {}", reasons.join("; "));
                }
                Err(_) => {}
            }
        }
        denied.check(name, component, place.is_none(), &vetted.evidence)?;
        Ok(vetted)
    }
}

fn told(untrusted: &Untrusted, problems: &[String]) -> String {
    match problems.is_empty() {
        true => with_causes(untrusted),
        false => format!("{}; {}", with_causes(untrusted), problems.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use wharf_test_support::sigstore::MinisignKey;

    use super::*;

    #[test]
    fn strangers_cannot_fill_a_receipt_with_signatures() {
        let comment = "x".repeat(200_000);
        let signature = MinisignKey::new().sign(b"component").replacen(
            "untrusted comment:",
            &format!("untrusted comment: {comment}"),
            1,
        );
        let files =
            (0..16).map(|at| FetchedFile { from: format!("number {at}"), bytes: signature.clone().into_bytes() });
        let fetched = FetchedFiles { files: files.collect(), manifest: Some(b"{}".to_vec()) };
        let found = FoundSignatures::from(fetched);
        assert_eq!((found.signatures.len(), found.problems.len()), (2, 14));
        assert!(
            found.problems[0].contains("number 2") && found.problems[0].contains("are kept"),
            "{:?}",
            found.problems[0]
        );
        let none = FetchedFiles { files: Vec::new(), manifest: Some(b"{}".to_vec()) };
        assert_eq!(
            FoundSignatures::from(none),
            FoundSignatures::default(),
            "a manifest that nobody signed is not kept"
        );
    }
}
