//! Who signed, in one line, and to whom grants are pinned.
//!
//! `IDENTITY (ISSUER)` is an identity, `minisign:KEYID` and `sha256:HEX` are keys. No issuer has
//! parentheses or spaces, so the line reads one way only.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    identity::{IdentityPattern, is_issuer, is_line},
    key::is_fingerprint,
};

/// Where the part of a workflow's identity begins that changes between its releases.
const REFERENCE: &str = "@refs/";

/// Who signed: an identity with its issuer, or a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signer {
    /// An account or a workflow, as its issuer knows it.
    Identity {
        /// The address of the workflow, or of mail. It has no `*`.
        identity: String,
        /// The provider that knows the account.
        issuer: String,
    },
    /// A key that the operator trusts.
    Key {
        /// `minisign:KEYID`, or `sha256:HEX` over the DER of the public key.
        fingerprint: String,
    },
}

/// A signer to which grants are pinned, whatever else changes between releases.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinnedSigner(Pin);

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Pin {
    Exactly(Signer),
    AnyRelease { identity: IdentityPattern, issuer: String },
}

/// A line that names no signer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` names no signer; write `IDENTITY (ISSUER)`, `minisign:KEYID` or `sha256:HEX`")]
pub struct InvalidSigner {
    text: String,
}

impl Signer {
    /// What a confirmation writes: the signer of this release and of the next.
    ///
    /// The tag or branch of a workflow becomes `*`. Any workflow file but this one, and any other
    /// signer, stays another signer.
    #[must_use]
    pub fn pinned(&self) -> PinnedSigner {
        let any_release = match self {
            Self::Identity { identity, issuer } => workflow(identity).map(|identity| (identity, issuer.clone())),
            Self::Key { .. } => None,
        };
        PinnedSigner(match any_release {
            Some((identity, issuer)) => Pin::AnyRelease { identity, issuer },
            None => Pin::Exactly(self.clone()),
        })
    }

    /// Whether grants that are pinned to this signer are its own.
    #[must_use]
    pub fn is_same_as(&self, pinned: &PinnedSigner) -> bool {
        pinned.matches(self)
    }
}

impl PinnedSigner {
    /// Whether this is the signer that it was pinned to.
    #[must_use]
    pub fn matches(&self, signer: &Signer) -> bool {
        match (&self.0, signer) {
            (Pin::Exactly(pinned), signer) => pinned == signer,
            (Pin::AnyRelease { identity, issuer }, Signer::Identity { identity: found, issuer: by }) => {
                issuer == by && identity.matches(found)
            }
            (Pin::AnyRelease { .. }, Signer::Key { .. }) => false,
        }
    }

    /// Whether an identity that this pattern matches, at this issuer, may be this signer. Of two patterns it is
    /// not known for sure.
    pub(crate) fn may_be(&self, pattern: &IdentityPattern, at: &str) -> bool {
        match &self.0 {
            Pin::Exactly(Signer::Identity { identity, issuer }) => issuer == at && pattern.matches(identity),
            Pin::Exactly(Signer::Key { .. }) => false,
            Pin::AnyRelease { identity, issuer } => issuer == at && pattern.may_meet(identity),
        }
    }
}

impl FromStr for Signer {
    type Err = InvalidSigner;

    fn from_str(text: &str) -> Result<Self, InvalidSigner> {
        match parts(text) {
            Some(Parts::Identity { identity, issuer }) if !identity.contains('*') => {
                Ok(Self::Identity { identity: identity.to_owned(), issuer: issuer.to_owned() })
            }
            Some(Parts::Key { fingerprint }) => Ok(Self::Key { fingerprint: fingerprint.to_owned() }),
            Some(Parts::Identity { .. }) | None => Err(InvalidSigner::new(text)),
        }
    }
}

impl FromStr for PinnedSigner {
    type Err = InvalidSigner;

    fn from_str(text: &str) -> Result<Self, InvalidSigner> {
        match parts(text) {
            Some(Parts::Identity { identity, issuer }) if identity.contains('*') => {
                let identity = identity.parse().map_err(|_| InvalidSigner::new(text))?;
                Ok(Self(Pin::AnyRelease { identity, issuer: issuer.to_owned() }))
            }
            Some(_) | None => text.parse().map(|signer| Self(Pin::Exactly(signer))),
        }
    }
}

impl InvalidSigner {
    fn new(text: &str) -> Self {
        Self { text: wharf_core::text::line(text, 200) }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity { identity, issuer } => write!(formatter, "{identity} ({issuer})"),
            Self::Key { fingerprint } => formatter.write_str(fingerprint),
        }
    }
}

impl fmt::Display for PinnedSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Pin::AnyRelease { identity, issuer } => write!(formatter, "{identity} ({issuer})"),
            Pin::Exactly(signer) => signer.fmt(formatter),
        }
    }
}

impl Serialize for Signer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for PinnedSigner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for PinnedSigner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// What a line names.
enum Parts<'t> {
    Identity { identity: &'t str, issuer: &'t str },
    Key { fingerprint: &'t str },
}

/// The identities of a workflow at any tag or branch, where this is one of them.
fn workflow(identity: &str) -> Option<IdentityPattern> {
    let (workflow, _) = identity.strip_prefix("https://")?.split_once(REFERENCE)?;
    format!("https://{workflow}@*").parse().ok()
}

fn parts(text: &str) -> Option<Parts<'_>> {
    if is_fingerprint(text) {
        return Some(Parts::Key { fingerprint: text });
    }
    let (identity, issuer) = text.strip_suffix(')')?.rsplit_once(" (")?;
    (is_line(identity) && is_issuer(issuer)).then_some(Parts::Identity { identity, issuer })
}
