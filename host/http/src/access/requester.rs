//! Who sent a request, for the audit: made once by the guard, and carried with the request.

use std::sync::Arc;

use axum::http::Extensions;
use wharf_core::audit::{Requester, shown};

use super::client::ClientAccount;
use crate::connections::ConnectionPermit;

/// Who sent a request that this client's token opens.
pub(super) fn of_client(
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

/// Who sent the request that these belong to.
pub(crate) fn requester(extensions: &Extensions) -> Arc<Requester> {
    extensions.get::<Arc<Requester>>().cloned().unwrap_or_default()
}
