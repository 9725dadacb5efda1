//! On whose behalf a request is: the headers `Wharf-Session`,
//! `Wharf-Assistant` and `Wharf-Thread` name what `_meta` names elsewhere, and
//! the same rules make a context of them.

use std::sync::{Arc, atomic::Ordering};

use axum::{extract::FromRequestParts, http::request::Parts};
use serde_json::Map;
use wharf_core::Context;

use super::headers::context_claims;
use crate::{access::client::ClientAccount, failure::HttpFailure, state::ServerState};

/// The context of a request.
pub(crate) struct RequestContext(pub(crate) Context);

impl FromRequestParts<Arc<ServerState>> for RequestContext {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let client = parts.extensions.get::<Arc<ClientAccount>>();
        let rules = client.map_or(&server.services.rules, |client| &client.rules);
        let claims = context_claims(&parts.headers)?;
        if rules.require_session && claims.session.is_none() && rules.fallback_session.is_none() {
            return Err(HttpFailure::invalid("this host requires a session: send the header `Wharf-Session`"));
        }
        let resolved = rules.resolve(&claims, &mut Map::new())?;
        if resolved.defaulted && !server.warned_of_default.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                session = %resolved.context.session,
                "a request over HTTP names no session, so all that do not share one; the header `Wharf-Session` names it"
            );
        }
        Ok(Self(resolved.context))
    }
}
