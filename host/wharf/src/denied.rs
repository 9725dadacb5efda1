//! The list of what must not run: read, checked, kept below the data directory, and asked before a component is
//! compiled.
//!
//! A list is data: it grants nothing, and names what is refused by digest, by signer or by version.

mod keeper;

use std::sync::Arc;

use semver::{Version, VersionReq};
use serde::Deserialize;
use wharf_core::{Digest, PluginName, text};
use wharf_engine::{Component, ComponentAbout};
use wharf_trust::{Evidence, PinnedSigner, TrustPolicy, sha256_hex};

pub(crate) use keeper::COPY;
pub use keeper::{DenyKeeper, DenyListStatus, DenyListUnavailable};

/// Bytes of a list.
const LIST_BYTES: u64 = 4 << 20;
/// How many things a list may name.
const MOST: usize = 50_000;
/// Bytes of a reason that is told.
const REASON_BYTES: usize = 300;
/// The format of lists that this version reads.
const FORMAT: u32 = 1;

/// A component that is on the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// By what it is, by who signed it, or by its version.
    #[error("the list of `[plugins.deny]` names {what}: {reason}")]
    Listed {
        /// What of it is named.
        what: String,
        /// Why, in the words of the list.
        reason: String,
    },
    /// There is no list that is young enough, and the operator has nothing run then.
    #[error(
        "there is no list of what must not run (`[plugins.deny]`), so nothing runs but the bundled plugins: {problem}"
    )]
    NoList {
        /// Why.
        problem: String,
    },
}

/// Why a text is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDenyList {
    /// It is no JSON of this form.
    #[error("it is no list of what must not run: {0}")]
    Text(String),
    /// It is of a later version.
    #[error("it has the format {0}, and this version of Wharf reads {FORMAT}")]
    Format(u32),
    /// It names too much.
    #[error("it names {0} things, and {MOST} is what is read")]
    Long(usize),
    /// An entry names nothing, or more than can be meant.
    #[error("entry {0} names not exactly one of `digest`, `signer` and `plugin` with `versions`")]
    Entry(usize),
    /// A digest is none.
    #[error("entry {0}: a digest is written as `sha256:` or `blake3:` and 64 hexadecimal digits")]
    Digest(usize),
}

/// What a list says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeniedThings {
    pub(crate) sequence: u64,
    entries: Vec<DeniedThing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DeniedThing {
    what: Denial,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Denial {
    Component(Digest),
    Sha256(String),
    Signer(PinnedSigner),
    Versions(PluginName, VersionReq),
}

/// A list as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenList {
    format: u32,
    /// Rises with each list, so that an older one never takes the place of a newer one.
    sequence: u64,
    denied: Vec<WrittenThing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenThing {
    digest: Option<String>,
    signer: Option<PinnedSigner>,
    plugin: Option<PluginName>,
    versions: Option<VersionReq>,
    reason: String,
}

impl DeniedThings {
    /// Reads a list. One entry that is not understood makes all of it unusable: what it means to deny would run.
    ///
    /// # Errors
    /// See [`InvalidDenyList`].
    pub(crate) fn read(list: &[u8]) -> Result<Self, InvalidDenyList> {
        let written: WrittenList = serde_json::from_slice(list)
            .map_err(|error| InvalidDenyList::Text(text::line(&error.to_string(), REASON_BYTES)))?;
        if written.format != FORMAT {
            return Err(InvalidDenyList::Format(written.format));
        }
        if written.denied.len() > MOST {
            return Err(InvalidDenyList::Long(written.denied.len()));
        }
        let entries =
            written.denied.into_iter().enumerate().map(|(at, thing)| thing.read(at)).collect::<Result<_, _>>();
        Ok(Self { sequence: written.sequence, entries: entries? })
    }

    /// How many things it names.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl WrittenThing {
    fn read(self, at: usize) -> Result<DeniedThing, InvalidDenyList> {
        let what = match (self.digest, self.signer, self.plugin, self.versions) {
            (Some(digest), None, None, None) => match digest.strip_prefix("sha256:") {
                Some(hex) if hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                    Denial::Sha256(hex.to_ascii_lowercase())
                }
                Some(_) => return Err(InvalidDenyList::Digest(at)),
                None => Denial::Component(digest.parse().map_err(|_| InvalidDenyList::Digest(at))?),
            },
            (None, Some(signer), None, None) => Denial::Signer(signer),
            (None, None, Some(plugin), Some(versions)) => Denial::Versions(plugin, versions),
            _ => return Err(InvalidDenyList::Entry(at)),
        };
        Ok(DeniedThing { what, reason: text::line(&self.reason, REASON_BYTES) })
    }
}

/// What must not run, as far as that is known.
#[derive(Debug, Clone)]
pub struct DenyList(KnownDenials);

#[derive(Debug, Clone)]
enum KnownDenials {
    Known(Arc<DeniedThings>),
    /// Nothing runs.
    Missing(String),
}

impl Default for DenyList {
    /// Nothing is denied.
    fn default() -> Self {
        Self(KnownDenials::Known(Arc::default()))
    }
}

impl DenyList {
    pub(crate) fn known(things: Arc<DeniedThings>) -> Self {
        Self(KnownDenials::Known(things))
    }

    pub(crate) fn missing(problem: String) -> Self {
        Self(KnownDenials::Missing(problem))
    }

    /// Whether it refuses the same.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (KnownDenials::Known(one), KnownDenials::Known(other)) => one == other,
            (KnownDenials::Missing(_), KnownDenials::Missing(_)) => true,
            _ => false,
        }
    }

    /// The signers on it that no rule of this policy can know. Nothing is refused for them: whether they signed it
    /// is not known.
    #[must_use]
    pub fn unknown_signers(&self, policy: &TrustPolicy) -> Vec<&PinnedSigner> {
        let KnownDenials::Known(things) = &self.0 else { return Vec::new() };
        let signers = things.entries.iter().filter_map(|thing| match &thing.what {
            Denial::Signer(signer) => Some(signer),
            Denial::Component(_) | Denial::Sha256(_) | Denial::Versions(..) => None,
        });
        signers.filter(|signer| !policy.may_know(signer)).collect()
    }

    /// Refuses a component that is on it; `evidence` says who signed it.
    pub(crate) fn check(
        &self,
        name: &PluginName,
        component: &Component,
        is_bundled: bool,
        evidence: &[Evidence],
    ) -> Result<(), Denied> {
        let things = match &self.0 {
            KnownDenials::Known(things) => things,
            KnownDenials::Missing(_) if is_bundled => return Ok(()),
            KnownDenials::Missing(problem) => return Err(Denied::NoList { problem: problem.clone() }),
        };
        let mut facts = Facts { component, sha256: None, version: None };
        for DeniedThing { what, reason } in &things.entries {
            let named = match what {
                Denial::Component(digest) if *digest == component.digest() => digest.to_string(),
                Denial::Sha256(hex) if *hex == *facts.sha256() => format!("sha256:{hex}"),
                Denial::Signer(pinned) if evidence.iter().any(|one| pinned.matches(&one.signer)) => {
                    format!("its signer {pinned}")
                }
                Denial::Versions(plugin, versions) if plugin == name => match facts.version() {
                    Some(version) if versions.matches(version) => format!("version {version} of {plugin}"),
                    // A component that hides its version is not let through for it.
                    None => format!("versions {versions} of {plugin}, and this component does not say which it is"),
                    Some(_) => continue,
                },
                _ => continue,
            };
            return Err(Denied::Listed { what: named, reason: reason.clone() });
        }
        Ok(())
    }
}

/// What is computed of a component once a list asks for it.
struct Facts<'c> {
    component: &'c Component,
    sha256: Option<String>,
    version: Option<Option<Version>>,
}

impl Facts<'_> {
    fn sha256(&mut self) -> &str {
        self.sha256.get_or_insert_with(|| sha256_hex(&self.component.bytes()))
    }

    fn version(&mut self) -> Option<&Version> {
        let version = self.version.get_or_insert_with(|| {
            let about = ComponentAbout::of(&self.component.bytes());
            about.words.get("version").and_then(|version| version.parse().ok())
        });
        version.as_ref()
    }
}

#[cfg(test)]
mod tests;
