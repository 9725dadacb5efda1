//! The verdict: who signed, or why nobody is known to have.

use std::fmt;

use serde::{Deserialize, Serialize};
use wharf_core::text::line;

use crate::{found::SignatureForm, signer::Signer};

/// The most reasons that a refusal tells.
const MOST_REASONS: usize = 8;
/// The most bytes of one: it may quote a stranger.
const REASON_BYTES: usize = 300;

/// That a signer whom the operator trusts signed a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Who signed.
    pub signer: Signer,
    /// What the operator calls the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Which program made the signature.
    pub form: SignatureForm,
    /// What the signature is over.
    pub covers: Covered,
    /// When a log or a timestamp authority saw the signature: RFC 3339, in UTC. A signature of
    /// minisign has none, since its time is what the signer claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<String>,
    /// The entry of the transparency log, where the log has signed its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_index: Option<u64>,
}

/// What a signature is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covered {
    /// The component.
    Component,
    /// A manifest that names the component.
    Manifest,
}

impl fmt::Display for Covered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Component => "component",
            Self::Manifest => "manifest",
        })
    }
}

/// Why nobody is known to have signed a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// The operator trusts nobody.
    #[error(
        "no rule says whose signature is trusted; add a line to `[plugins] trust`, with `identity` and `issuer` or with `key`"
    )]
    NoRules,
    /// It came without a signature.
    #[error("it is not signed; ask its author for a signature of sigstore (`cosign sign`) or minisign (`minisign -S`)")]
    Unsigned,
    /// It came with signatures, none of which is trusted.
    #[error("no signature is trusted: {}", reasons.join("; "))]
    Refused {
        /// Why, for each signature: at most 8 lines of at most 300 bytes.
        reasons: Vec<String>,
    },
}

impl Untrusted {
    /// The refusal of these reasons, each of them once and bounded.
    pub(crate) fn refused(reasons: impl IntoIterator<Item = String>) -> Self {
        let mut bounded: Vec<String> = Vec::new();
        for reason in reasons {
            let reason = line(&reason, REASON_BYTES);
            if bounded.len() < MOST_REASONS && !bounded.contains(&reason) {
                bounded.push(reason);
            }
        }
        Self::Refused { reasons: bounded }
    }
}
