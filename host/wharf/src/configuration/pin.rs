//! Pins: which component a plugin's grants were given to, or whose components, and what happens to
//! them when the component is another one.
//!
//! What was confirmed stands in `wharf.toml` and nowhere else, so grants can be given
//! ahead of time and a deployment needs no prompt.

use serde::Deserialize;
use wharf_core::{Digest, Grants, PluginName};
use wharf_trust::{Evidence, PinnedSigner, Signer};

/// `pin` of a plugin: what a component may use that is not the confirmed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// Nothing, until it is confirmed: it is loaded without any grant. The
    /// default where `digest` is written.
    Digest,
    /// Nothing, unless it was signed by the confirmed `signer`: what that one signs next keeps the
    /// grants, and has no more than they say. The default where `signer` is written.
    Signer,
    /// Nothing, and it is not even loaded.
    Refuse,
    /// All that the plugin was granted. Wharf warns at each start.
    None,
}

impl Pin {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Signer => "signer",
            Self::Refuse => "refuse",
            Self::None => "none",
        }
    }
}

/// What a plugin may use with one component of its.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EffectiveGrants {
    /// What its calls may use.
    pub grants: Grants,
    /// Why that is not what the configuration grants, where it is not.
    pub withheld: Option<Unconfirmed>,
    /// What the operator should know, as sentences about the plugin.
    pub warnings: Vec<String>,
}

/// What is known of a component before it runs.
#[derive(Debug, Clone, Copy)]
pub struct KnownComponent<'c> {
    /// Its digest.
    pub digest: Digest,
    /// Who signed it, of those whom `[plugins] trust` names.
    pub evidence: &'c [Evidence],
}

impl KnownComponent<'_> {
    /// Of a component that nobody is known to have signed.
    #[must_use]
    pub fn unsigned(digest: Digest) -> Self {
        Self { digest, evidence: &[] }
    }

    /// Who signed it: the first, where several did.
    #[must_use]
    pub fn signer(&self) -> Option<&Signer> {
        self.evidence.first().map(|evidence| &evidence.signer)
    }
}

/// What the operator confirmed of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmed {
    /// One component.
    Component(Digest),
    /// Whatever this one signs.
    Signer(PinnedSigner),
}

impl Confirmed {
    /// Whether a component is what was confirmed.
    #[must_use]
    pub fn is(&self, component: KnownComponent<'_>) -> bool {
        match self {
            Self::Component(digest) => *digest == component.digest,
            Self::Signer(pinned) => component.evidence.iter().any(|one| pinned.matches(&one.signer)),
        }
    }
}

impl std::fmt::Display for Confirmed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Component(digest) => digest.fmt(formatter),
            Self::Signer(pinned) => pinned.fmt(formatter),
        }
    }
}

/// A component that the operator has not confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unconfirmed {
    /// The plugin.
    pub plugin: PluginName,
    /// What was confirmed, if anything was.
    pub confirmed: Option<Box<Confirmed>>,
    /// The digest of the component.
    pub found: Digest,
    /// Who signed it, of those whom `[plugins] trust` names.
    pub signer: Option<Box<Signer>>,
}

impl std::fmt::Display for Unconfirmed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plugin, confirmed, found, signer } = self;
        match (confirmed.as_deref(), signer) {
            (Some(Confirmed::Component(confirmed)), _) => {
                write!(formatter, "its component has changed: its digest is {found}, and {confirmed} was confirmed")?;
            }
            (Some(Confirmed::Signer(pinned)), Some(signer)) => {
                write!(formatter, "its component {found} was signed by {signer}, and {pinned} was confirmed")?;
            }
            (Some(Confirmed::Signer(pinned)), None) => write!(
                formatter,
                "its component {found} was signed by nobody whom `[plugins] trust` names, and {pinned} was confirmed"
            )?,
            (None, _) => write!(formatter, "its digest is {found}, and none was confirmed")?,
        }
        write!(formatter, "; the operator confirms it with `wharf grant {plugin} --confirm`")
    }
}

impl std::error::Error for Unconfirmed {}
