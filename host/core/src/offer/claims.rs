//! Which addresses of resources are whose.

use serde::{Deserialize, Serialize};

/// Claims of one plugin.
pub const MAX_CLAIMS: usize = 16;
/// Length of an address, and of a template of addresses.
pub const MAX_URI_BYTES: usize = 2 << 10;
const MAX_CLAIM_BYTES: usize = 256;

/// Schemes that lead into the client or its machine, and the host's own.
const NOBODYS: [&str; 7] = ["about", "blob", "data", "file", "javascript", "view-source", "wharf"];
/// Schemes whose names belong to hosts of the network.
const OF_HOSTS: [&str; 4] = ["http", "https", "ws", "wss"];

/// The beginnings of the addresses that one plugin answers for; none where it
/// has no resources.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Claims(Vec<String>);

/// Why a claim is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClaim {
    /// There are none, or too many.
    #[error("it claims {0} beginnings of addresses; a plugin with resources claims 1 to {MAX_CLAIMS}")]
    Count(usize),
    /// It is no beginning of an address.
    #[error(
        "it claims `{0}`, which is no beginning of an address: a scheme in lower case, its colon, and printable ASCII \
         without spaces and braces, at most {MAX_CLAIM_BYTES} bytes in all"
    )]
    Malformed(String),
    /// No plugin has this scheme.
    #[error("it claims `{0}`; addresses of this scheme are not for plugins")]
    Nobodys(String),
    /// It claims the whole network, or hosts that only begin alike.
    #[error("it claims `{0}`; a claim of this scheme names the host and ends it with a slash")]
    WithoutHost(String),
}

impl Claims {
    /// Checks what a plugin claims.
    ///
    /// # Errors
    /// Where there are none or too many, or one of them is malformed or may not be claimed.
    pub fn new(claimed: Vec<String>) -> Result<Self, InvalidClaim> {
        if claimed.is_empty() || claimed.len() > MAX_CLAIMS {
            return Err(InvalidClaim::Count(claimed.len()));
        }
        claimed.iter().try_for_each(|claim| check(claim))?;
        Ok(Self(claimed))
    }

    /// Whether this address is one of them.
    #[must_use]
    pub fn cover(&self, uri: &str) -> bool {
        uri.len() <= MAX_URI_BYTES && self.0.iter().any(|claim| uri.starts_with(claim.as_str()))
    }

    /// Whether an address could be one of both: the two claims that overlap.
    #[must_use]
    pub fn overlap<'c>(&'c self, other: &'c Self) -> Option<(&'c str, &'c str)> {
        let pairs = self.0.iter().flat_map(|mine| other.0.iter().map(move |theirs| (mine, theirs)));
        pairs
            .map(|(mine, theirs)| (mine.as_str(), theirs.as_str()))
            .find(|(mine, theirs)| mine.starts_with(theirs) || theirs.starts_with(mine))
    }

    /// Whether there are none: the plugin has no resources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

fn check(claim: &str) -> Result<(), InvalidClaim> {
    let shown = || crate::text::line(claim, MAX_CLAIM_BYTES);
    let legal = claim.len() <= MAX_CLAIM_BYTES && claim.bytes().all(|byte| is_uri_byte(byte) && !b"{}".contains(&byte));
    let scheme = claim.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme));
    let Some(scheme) = scheme.filter(|_| legal) else { return Err(InvalidClaim::Malformed(shown())) };
    if NOBODYS.contains(&scheme) {
        return Err(InvalidClaim::Nobodys(shown()));
    }
    if OF_HOSTS.contains(&scheme) {
        let host = claim[scheme.len()..].strip_prefix("://").and_then(|rest| rest.split_once('/'));
        if host.is_none_or(|(host, _)| host.is_empty()) {
            return Err(InvalidClaim::WithoutHost(shown()));
        }
    }
    Ok(())
}

/// Two letters at least: a single one is a drive.
fn is_scheme(scheme: &str) -> bool {
    let mut bytes = scheme.bytes();
    scheme.len() >= 2
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte))
}

/// Printable ASCII without spaces.
pub(super) fn is_uri_byte(byte: u8) -> bool {
    (b'!'..=b'~').contains(&byte)
}
