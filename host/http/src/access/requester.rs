//! Who sent a request, for the audit: made once by the guard, and carried with the request.

use std::sync::Arc;

use axum::http::Extensions;
use wharf_core::audit::{PeerClass, Refusal, RefusedFor, Requester, shown};

use super::client::ClientAccount;
use crate::connections::ConnectionPermit;

/// Who sent a request that this client's token opens.
pub(crate) fn of_client(
    client: &ClientAccount,
    subject: Option<&str>,
    permit: Option<&ConnectionPermit>,
) -> Arc<Requester> {
    Arc::new(Requester {
        token: client.token_name().map(Into::into),
        subject: subject.map(shown),
        address: permit.and_then(ConnectionPermit::address),
    })
}

/// A request that shows nothing which opens what it asks for.
pub(crate) fn stranger(why: RefusedFor, permit: Option<&ConnectionPermit>) -> Refusal {
    Refusal::of_stranger(why, near(permit), permit.and_then(ConnectionPermit::address))
}

/// From how near a request came.
pub(super) fn near(permit: Option<&ConnectionPermit>) -> PeerClass {
    permit.map_or(PeerClass::Unknown, ConnectionPermit::origin)
}

/// Who sent the request that these belong to.
pub(crate) fn requester(extensions: &Extensions) -> Arc<Requester> {
    extensions.get::<Arc<Requester>>().cloned().unwrap_or_default()
}
