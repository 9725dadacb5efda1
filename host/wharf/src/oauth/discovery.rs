//! What an issuer says of itself (RFC 8414, or OpenID Connect Discovery), and documents that it has.

use std::{io::Read, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use wharf_core::text::with_causes;
use wharf_sources::{agent, is_protected};

/// How long the issuer may take for one document.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a document may have; the largest issuers have some tens of kilobytes.
const MOST_BYTES: u64 = 1 << 20;

/// The address that the issuer gives under this name, such as `jwks_uri`. Blocks.
///
/// # Errors
/// What is wrong with what it says, or that it says nothing.
pub(super) fn place_of(issuer: &str, name: &str) -> Result<Url, String> {
    let base = Url::parse(issuer).map_err(|error| error.to_string())?;
    let path = base.path().trim_end_matches('/');
    // RFC 8414, section 3.1, and OpenID Connect Discovery, section 4.
    let places =
        [format!("/.well-known/oauth-authorization-server{path}"), format!("{path}/.well-known/openid-configuration")];
    let mut problem = String::new();
    for place in places {
        let mut address = base.clone();
        address.set_path(&place);
        let described = document::<Map<String, Value>>(&address);
        let text = |described: &Map<String, Value>, name: &str| described.get(name)?.as_str().map(str::to_owned);
        problem = match described.map(|described| (text(&described, "issuer"), text(&described, name))) {
            Ok((Some(of), Some(place))) if of == issuer => match Url::parse(&place) {
                Ok(place) if is_protected(&place) => return Ok(place),
                _ => format!("{address} gives an address for `{name}` that somebody on the way could change"),
            },
            Ok((Some(of), None)) if of == issuer => format!("{address} names no `{name}`"),
            Ok((of, _)) => {
                format!("{address} is of the issuer {}", wharf_core::text::line(&of.unwrap_or_default(), 200))
            }
            Err(error) => error,
        };
    }
    Err(problem)
}

/// A document of JSON. Blocks.
///
/// # Errors
/// Why it cannot be had.
pub(super) fn document<T: DeserializeOwned>(address: &Url) -> Result<T, String> {
    let response = agent(address, PATIENCE).get(address.as_str()).call();
    let response = response.map_err(|error| format!("{address}: {}", with_causes(&error)))?;
    if response.status() != 200 {
        return Err(format!("{address} answers {}", response.status()));
    }
    read(address, &mut response.into_body().into_reader())
}

/// What an answer has, which is JSON of a limited size.
pub(super) fn read<T: DeserializeOwned>(address: &Url, body: &mut dyn Read) -> Result<T, String> {
    let mut bytes = Vec::new();
    body.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("{address}: {error}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{address} has more than {MOST_BYTES} bytes"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{address}: {error}"))
}
