//! What a registry asks for before it shows something, and where it may have that checked.

use http_auth::ChallengeRef;
use url::Url;
use wharf_core::text;

use super::error::OciError;
use crate::client::is_loopback;

/// Bytes of a realm in an error: a registry chooses it.
const REALM_BYTES: usize = 200;

/// What a registry asks for.
#[derive(Debug)]
pub(super) enum Challenge {
    /// A login, sent to the registry itself.
    Basic,
    /// A token, which somebody else may give out.
    Bearer {
        /// The server that does.
        realm: Url,
        /// What the registry is called there.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads what stands in `WWW-Authenticate`. A token is preferred: the registry then
    /// never sees the login.
    pub(super) fn read<'a>(registry: &Url, values: impl Iterator<Item = &'a str>) -> Result<Self, OciError> {
        let unknown = || OciError::Challenge { registry: registry.to_string() };
        let mut basic = None;
        for value in values {
            for challenge in http_auth::parse_challenges(value).map_err(|_| unknown())? {
                if challenge.scheme.eq_ignore_ascii_case("bearer") {
                    let realm = parameter(&challenge, "realm").and_then(|realm| Url::parse(&realm).ok());
                    let realm = realm.ok_or_else(unknown)?;
                    if !is_allowed(&realm, registry) {
                        let realm = text::line(realm.as_str(), REALM_BYTES);
                        return Err(OciError::Realm { registry: registry.to_string(), realm });
                    }
                    return Ok(Self::Bearer { realm, service: parameter(&challenge, "service") });
                }
                if challenge.scheme.eq_ignore_ascii_case("basic") {
                    basic = Some(Self::Basic);
                }
            }
        }
        basic.ok_or_else(unknown)
    }
}

fn parameter(challenge: &ChallengeRef<'_>, name: &str) -> Option<String> {
    let mut parameters = challenge.params.iter();
    parameters.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_unescaped())
}

/// Tokens come over TLS. A registry of this machine may have one beside it that gives them
/// out; any other one may not send us to what listens here.
fn is_allowed(realm: &Url, registry: &Url) -> bool {
    let is_nameless = realm.username().is_empty() && realm.password().is_none();
    let is_local = realm.scheme() == "http" && is_loopback(realm) && is_loopback(registry);
    is_nameless && (realm.scheme() == "https" || is_local)
}
