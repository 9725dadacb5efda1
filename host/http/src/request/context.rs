//! On whose behalf a request is: the headers `Wharf-Session`,
//! `Wharf-Assistant` and `Wharf-Thread` name what `_meta` names elsewhere, and
//! the same rules make a context of them.

use std::sync::{Arc, atomic::Ordering};

use axum::{extract::FromRequestParts, http::request::Parts};
use serde_json::Map;
use wharf_core::Context;

use super::headers::hints;
use crate::{access::client::Client, failure::Failure, state::Shared};

/// The context of a request.
pub(crate) struct Caller(pub(crate) Context);

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
