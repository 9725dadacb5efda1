//! The clients that the operator names, which may change while the server serves.

use std::sync::Arc;

use parking_lot::RwLock;

use super::{
    client::{ClientAccount, HttpClient},
    factory::ClientFactory,
};

/// The clients of a running server. Clones are the same.
#[derive(Clone)]
pub struct HttpClients(Arc<Clients>);

struct Clients {
    factory: Arc<ClientFactory>,
    // Read for a pointer copy.
    present: RwLock<Arc<[Arc<ClientAccount>]>>,
}

impl std::fmt::Debug for HttpClients {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("HttpClients").field(&self.0.present.read().len()).finish()
    }
}

impl HttpClients {
    pub(crate) fn new(factory: Arc<ClientFactory>, clients: &[HttpClient]) -> Self {
        let present = RwLock::new(clients.iter().map(|client| Arc::new(factory.with_token(client.clone()))).collect());
        Self(Arc::new(Clients { factory, present }))
    }

    /// Has these clients in place of those that were there. One that stays as it was keeps its
    /// sessions, and what it has asked for; what another one follows ends at once, and its next
    /// request is refused. Whether they are others now.
    pub fn renew(&self, clients: &[HttpClient]) -> bool {
        let Clients { factory, present } = &*self.0;
        let mut present = present.write();
        let account = |client: &HttpClient| {
            let kept = present.iter().find(|account| account.is_of(client, factory.tenant_of(client)));
            kept.cloned().unwrap_or_else(|| Arc::new(factory.with_token(client.clone())))
        };
        let next: Arc<[_]> = clients.iter().map(account).collect();
        let is_in = |all: &[Arc<_>], one: &Arc<_>| all.iter().any(|account| Arc::ptr_eq(account, one));
        let is_changed = next.len() != present.len() || !next.iter().all(|account| is_in(&present, account));
        present.iter().filter(|before| !is_in(&next, before)).for_each(|account| account.end());
        *present = next;
        is_changed
    }

    /// The client that shows a token.
    pub(crate) fn with_token(&self, token: &[u8]) -> Option<Arc<ClientAccount>> {
        let present = self.present();
        // All are compared, so that the time tells nothing of which one it is.
        let mut found = None;
        present.iter().rev().filter(|client| client.shows(token)).for_each(|client| found = Some(client));
        found.cloned()
    }

    /// The client of a request that another host has passed on.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<ClientAccount>> {
        self.present().iter().find(|client| client.is_named(name)).cloned()
    }

    /// The first client that may operate the host.
    pub(crate) fn operator(&self) -> Option<Arc<ClientAccount>> {
        self.present().iter().find(|client| client.may_operate()).cloned()
    }

    fn present(&self) -> Arc<[Arc<ClientAccount>]> {
        Arc::clone(&self.0.present.read())
    }
}
