//! Sessions of the older era that outlive their host: what of them is written down, and what the
//! protocol crate reads again where it is to go on with one.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use wharf_core::{
    TenantId,
    handle::Handle,
    service::{PassedClient, SessionShelf, ShelvedSession},
    text::with_causes,
};

use super::request_scope::{self, SessionReply};
use crate::session_settings::SettingsShelf;

/// Bytes of the parameters of a session at most. One with more ends with its host.
const MOST_BYTES: usize = 64 << 10;

/// The sessions of one client, as they are written down.
#[derive(Clone)]
pub(super) struct ClientShelf {
    shelf: Arc<dyn SessionShelf>,
    /// The client: no other one goes on with its sessions, not even of its tenant.
    owner: Arc<str>,
}

impl ClientShelf {
    pub(super) fn new(shelf: Arc<dyn SessionShelf>, tenant: &TenantId, client: &PassedClient) -> Self {
        let client = match client {
            PassedClient::Named(name) => ("token", name.as_str()),
            PassedClient::Issued(tenant) => ("issued", tenant.as_str()),
        };
        let owner = serde_json::json!([tenant.as_str(), client.0, client.1]).to_string();
        Self { shelf, owner: owner.into() }
    }

    /// Forgets a session that has ended. Whether it was one of this host's, begun here or not.
    pub(super) async fn ended(&self, id: &str) -> bool {
        let Ok(id) = id.parse::<Handle>() else { return false };
        let ended = async {
            let is_own = self.shelf.taken_over(&id).await?.is_some_and(|session| *session.owner == *self.owner);
            Ok(is_own && self.shelf.ended(&id).await?)
        };
        ended.await.unwrap_or_else(|error: wharf_core::Error| {
            tracing::debug!("a session that has ended stays written down: {}", with_causes(&error));
            false
        })
    }
}

#[async_trait]
impl SettingsShelf for ClientShelf {
    async fn set(&self, id: &str, settings: &str) {
        let Ok(id) = id.parse::<Handle>() else { return };
        if let Err(error) = self.shelf.set(&id, settings).await {
            tracing::debug!("what the client of a session has set is not written down: {}", with_causes(&error));
        }
    }

    async fn settings(&self, id: &str) -> Option<String> {
        let found = self.shelf.taken_over(&id.parse().ok()?).await.ok()??;
        (*found.owner == *self.owner).then_some(found.settings)
    }
}

#[async_trait]
impl SessionStore for ClientShelf {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Ok(id) = id.parse::<Handle>() else { return Ok(None) };
        let found = self.shelf.taken_over(&id).await.inspect_err(|error| {
            // In place of what the protocol crate would say.
            request_scope::reply(SessionReply::Refused(error.clone().into()));
        })?;
        match found.filter(|found| *found.owner == *self.owner) {
            Some(found) => Ok(Some(SessionState::new(serde_json::from_str(&found.parameters)?))),
            None => Ok(None),
        }
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let parameters = serde_json::to_string(&state.initialize_params)?;
        if parameters.len() > MOST_BYTES {
            tracing::debug!(bytes = parameters.len(), "a session ends with its host: its parameters are too long");
            return Ok(());
        }
        let session = ShelvedSession { owner: self.owner.to_string(), parameters, settings: String::new() };
        Ok(self.shelf.begun(&id.parse()?, session).await?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        // The table of sessions has forgotten it already, with what it was told.
        let _ = id;
        Ok(())
    }
}
