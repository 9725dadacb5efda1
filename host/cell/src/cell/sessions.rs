//! Sessions of the protocol of 2025-11-25, which outlive their hosts.

use std::sync::Arc;

use async_trait::async_trait;
use wharf_core::{
    Error,
    handle::Handle,
    service::{SessionShelf, ShelvedSession},
};

use super::{
    Cell, OtherHost,
    routing::{moving, unavailable},
};
use crate::{Incarnation, SessionName, peer::NotConnected, roster::Known, suspicion::Verdict};

impl Cell {
    /// The other host that has a session of the protocol; nothing where it is here. A session
    /// whose host has ended is taken over by the host that is asked for it first.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now.
    pub async fn host_of_session(&self, id: &Handle) -> Result<Option<OtherHost>, Error> {
        let (shared, own) = (&self.shared, self.incarnation());
        let maker = id.incarnation().map(Incarnation::from);
        let Some(maker) = maker.filter(|maker| *maker != own) else { return Ok(None) };
        if let Some(other) = self.living(maker).await? {
            return Ok(Some(other));
        }
        match shared.adopted.get(id) {
            Some(host) if host == own => return Ok(None),
            Some(host) => {
                if let Some(other) = self.living(host).await? {
                    return Ok(Some(other));
                }
            }
            None => {}
        }
        let adopted = shared.sessions.adopt(&SessionName::of(id), own).await;
        let Some(host) = adopted.map_err(unavailable)? else { return Ok(None) };
        shared.adopted.insert(*id, host);
        if host == own {
            return Ok(None);
        }
        // Where it has died a moment ago, the next request finds another one.
        self.living(host).await?.map(Some).ok_or_else(moving)
    }

    /// Another host, while it lives. One that refuses connections is looked at: no request is lost
    /// with it that was not sent.
    async fn living(&self, host: Incarnation) -> Result<Option<OtherHost>, Error> {
        let shared = &self.shared;
        let Known::Alive(peer) = shared.suspicion.find(host).await.map_err(unavailable)? else { return Ok(None) };
        let reached = shared.links.get(&peer).await;
        let is_refused = matches!(reached, Err(NotConnected::Refused | NotConnected::Broken(_)));
        if is_refused && matches!(shared.suspicion.of(&peer, self.incarnation()).await, Verdict::Dead) {
            return Ok(None);
        }
        Ok(Some(OtherHost { shared: Arc::clone(shared), peer, home: None }))
    }
}

#[async_trait]
impl SessionShelf for Cell {
    async fn begun(&self, id: &Handle, session: ShelvedSession) -> Result<(), Error> {
        let name = SessionName::of(id);
        let beginning = self.shared.sessions.begin(&name, &session, self.incarnation());
        beginning.await.map_err(unavailable)
    }

    async fn taken_over(&self, id: &Handle) -> Result<Option<ShelvedSession>, Error> {
        self.shared.sessions.read(&SessionName::of(id), self.incarnation()).await.map_err(unavailable)
    }

    async fn set(&self, id: &Handle, settings: &str) -> Result<(), Error> {
        self.shared.sessions.set(&SessionName::of(id), settings, self.incarnation()).await.map_err(unavailable)
    }

    async fn ended(&self, id: &Handle) -> Result<bool, Error> {
        self.shared.adopted.remove(id);
        self.shared.sessions.end(&SessionName::of(id), self.incarnation()).await.map_err(unavailable)
    }
}
