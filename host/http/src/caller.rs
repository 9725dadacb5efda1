//! On whose behalf a request is: the headers `Wharf-Session`,
//! `Wharf-Assistant` and `Wharf-Thread` name what `_meta` names elsewhere, and
//! the same rules make a context of them.

use std::sync::{Arc, atomic::Ordering};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, request::Parts},
};
use serde_json::Map;
use wharf_core::{Code, Context, ContextHints, Error};

use super::{Failure, Shared, client::Client, guard};

pub(super) const SESSION: HeaderName = HeaderName::from_static("wharf-session");
pub(super) const ASSISTANT: HeaderName = HeaderName::from_static("wharf-assistant");
pub(super) const THREAD: HeaderName = HeaderName::from_static("wharf-thread");

/// The context of a request.
pub(super) struct Caller(pub(super) Context);

impl FromRequestParts<Arc<Shared>> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let client = parts.extensions.get::<Arc<Client>>();
        let rules = client.map_or(&shared.services.rules, |client| &client.rules);
        let hints = hints(&parts.headers)?;
        if rules.require_session && hints.session.is_none() && rules.fallback_session.is_none() {
            return Err(Failure::invalid("this host requires a session: send the header `Wharf-Session`"));
        }
        let resolved = rules.resolve(&hints, &mut Map::new())?;
        if resolved.defaulted && !shared.warned_of_default.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                session = %resolved.context.session,
                "a request over HTTP names no session, so all that do not share one; the header `Wharf-Session` names it"
            );
        }
        Ok(Self(resolved.context))
    }
}

/// What the headers of a request say of its context.
///
/// # Errors
/// `invalid` where one is there twice or is no text.
pub(super) fn hints(headers: &HeaderMap) -> Result<ContextHints, Error> {
    Ok(ContextHints {
        session: text(headers, &SESSION)?,
        assistant: text(headers, &ASSISTANT)?,
        thread: text(headers, &THREAD)?,
        ..ContextHints::default()
    })
}

/// A header of ours, which is there at most once.
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Error> {
    let twice = || Error::new(Code::Invalid, format!("send the header `{name}` once"));
    let value = guard::single(headers, name).map_err(|_| twice())?;
    let illegal = |_| Error::new(Code::Invalid, format!("the header `{name}` must be ASCII"));
    value.map(|value| value.to_str().map(str::to_owned)).transpose().map_err(illegal)
}
