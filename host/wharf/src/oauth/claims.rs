//! What a token says (RFC 7519, section 4.1), and whether it may be shown here and now.
//! Reads no signature: nothing of this counts before that holds.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// What clocks may differ by, in seconds.
const LEEWAY_SECONDS: f64 = 60.0;

/// Why a token is refused, for the client that shows it, which learns nothing of keys.
const ANOTHER_ISSUER: &str = "it is of another issuer";
const MISSING: &str = "it needs `exp`, `iss`, `aud` and `sub`";
const EXPIRED: &str = "it has expired";
const NOT_YET: &str = "it does not hold yet (`nbf`)";
const ANOTHER_AUDIENCE: &str = "it is for somebody else (`aud`)";
const NO_TIME: &str = "its `nbf` is no time";

/// Whether these claims, which the issuer itself has given (RFC 7662, section 2.2), are for this audience and hold now.
pub(super) fn check_introspected(
    claims: &Map<String, Value>,
    issuer: &str,
    audience: &str,
) -> Result<(), &'static str> {
    // The issuer need not name itself, and says that the token is active; what else it says counts.
    let mut whole = claims.clone();
    whole.entry("iss").or_insert_with(|| issuer.into());
    whole.entry("exp").or_insert_with(|| f64::from(u32::MAX).into());
    check(&whole, issuer, audience)
}

/// Whether these claims are of this issuer, for this audience, and hold now.
pub(super) fn check(claims: &Map<String, Value>, issuer: &str, audience: &str) -> Result<(), &'static str> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let expires = claims.get("exp").and_then(Value::as_f64).ok_or(MISSING)?;
    let (of, for_whom) = (claims.get("iss").ok_or(MISSING)?, claims.get("aud").ok_or(MISSING)?);
    if !claims.get("sub").is_some_and(Value::is_string) {
        return Err(MISSING);
    }
    if expires < now - LEEWAY_SECONDS {
        return Err(EXPIRED);
    }
    if let Some(from) = claims.get("nbf")
        && from.as_f64().ok_or(NO_TIME)? > now + LEEWAY_SECONDS
    {
        return Err(NOT_YET);
    }
    // One text: a list of issuers is not what the claim may be.
    if of.as_str() != Some(issuer) {
        return Err(ANOTHER_ISSUER);
    }
    let is_named = match for_whom {
        Value::String(one) => one == audience,
        Value::Array(all) => all.iter().any(|one| one.as_str() == Some(audience)),
        _ => false,
    };
    if is_named { Ok(()) } else { Err(ANOTHER_AUDIENCE) }
}
