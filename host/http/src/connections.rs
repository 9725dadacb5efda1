//! The connections that are open, and on which of them a token was shown.
//!
//! Until then a connection is a *stranger's*. Strangers have places of their own: the newest
//! always gets one, and the oldest loses its own. So nobody waits to be accepted, and no
//! number of strangers takes a place from a client. Knows neither requests nor tokens.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    HttpLimits, SessionId, TenantId,
    audit::PeerClass,
    quota::{Bounds, Quota, QuotaFull, Share},
};

use crate::{address_block::AddressBlock, failure::HttpFailure, listener::client_certificate::ConnectionCertificate};

/// How often the operator is told that strangers are turned away.
const COMPLAINT: Duration = Duration::from_secs(60);

/// How long a client waits for a place: another connection of its may be about to end.
const WAIT: Duration = Duration::from_secs(1);

/// All connections of a server.
pub(crate) struct ConnectionRegistry {
    clients: Arc<Quota>,
    /// Fires when a client has given its place back.
    left: Notify,
    most: usize,
    most_of_network: usize,
    patience: Duration,
    // A blocking lock: held for a look-up.
    strangers: Mutex<UnauthenticatedConnections>,
}

/// The connections on which no token was shown yet.
#[derive(Default)]
struct UnauthenticatedConnections {
    next: u64,
    // By their number, so that the first is the oldest.
    open: BTreeMap<u64, UnauthenticatedConnection>,
    by_network: HashMap<AddressBlock, BTreeSet<u64>>,
    shed: u64,
    complained: Option<Instant>,
}

struct UnauthenticatedConnection {
    network: Option<AddressBlock>,
    shed: CancellationToken,
}

/// The place of one connection, given back when this is dropped.
pub(crate) struct ConnectionPermit {
    connections: Arc<ConnectionRegistry>,
    number: u64,
    address: Option<IpAddr>,
    /// Fires where the place goes to another connection.
    shed: CancellationToken,
    /// The place that it has as a client.
    client: OnceLock<Share>,
    /// What is known of the client's certificate, once its handshake is over.
    certificate: OnceLock<ConnectionCertificate>,
}

impl ConnectionRegistry {
    pub(crate) fn new(limits: &HttpLimits) -> Arc<Self> {
        let clients = Quota::new(Bounds {
            resource: "connections",
            section: "[http.limits]",
            session: None,
            tenant: ("connections_per_tenant", limits.connections_per_tenant),
            host: ("connections", limits.connections),
        });
        let most = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        Arc::new(Self {
            clients,
            left: Notify::new(),
            most: most(limits.connections_without_token),
            most_of_network: most(limits.connections_without_token_per_address),
            patience: Duration::from_millis(limits.arrival_without_token_milliseconds),
            strangers: Mutex::default(),
        })
    }

    /// Gives a new connection a place, and closes the oldest stranger's where there are too
    /// many. A connection without an address came by a socket.
    pub(crate) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Arc<ConnectionPermit> {
        let address = address.map(|address| address.to_canonical());
        let (network, shed) = (address.and_then(AddressBlock::of), CancellationToken::new());
        let mut strangers = self.strangers();
        if let Some(network) = network
            && let Some(own) = strangers.by_network.get(&network).filter(|own| own.len() >= self.most_of_network)
            && let Some(oldest) = own.first().copied()
        {
            strangers.shed(oldest);
        }
        while strangers.open.len() >= self.most {
            strangers.shed_oldest();
        }
        let number = strangers.next;
        strangers.next += 1;
        strangers.open.insert(number, UnauthenticatedConnection { network, shed: shed.clone() });
        if let Some(network) = network {
            strangers.by_network.entry(network).or_default().insert(number);
        }
        drop(strangers);
        let connections = Arc::clone(self);
        let (client, certificate) = (OnceLock::new(), OnceLock::new());
        Arc::new(ConnectionPermit { connections, number, address, shed, client, certificate })
    }

    /// Closes the connection of the stranger that has been here for longest.
    pub(crate) fn shed_oldest(&self) {
        self.strangers().shed_oldest();
    }

    fn strangers(&self) -> MutexGuard<'_, UnauthenticatedConnections> {
        self.strangers.lock()
    }
}

impl UnauthenticatedConnections {
    fn remove(&mut self, number: u64) -> Option<UnauthenticatedConnection> {
        let stranger = self.open.remove(&number)?;
        if let Some(network) = stranger.network
            && let Some(own) = self.by_network.get_mut(&network)
        {
            own.remove(&number);
            if own.is_empty() {
                self.by_network.remove(&network);
            }
        }
        Some(stranger)
    }

    fn shed(&mut self, number: u64) {
        let Some(stranger) = self.remove(number) else { return };
        stranger.shed.cancel();
        self.shed += 1;
        if self.complained.is_none_or(|when| when.elapsed() >= COMPLAINT) {
            self.complained = Some(Instant::now());
            tracing::warn!(
                closed = self.shed,
                "connections without a token are closed, since there are too many of them (limits `connections_without_token` and `connections_without_token_per_address`)"
            );
        }
    }

    fn shed_oldest(&mut self) {
        if let Some(oldest) = self.open.keys().next().copied() {
            self.shed(oldest);
        }
    }
}

impl ConnectionPermit {
    /// Whether no token was shown yet.
    pub(crate) fn is_unauthenticated(&self) -> bool {
        self.client.get().is_none()
    }

    /// From how near it comes.
    pub(crate) fn origin(&self) -> PeerClass {
        origin(self.address)
    }

    /// The address that it comes from; none where it comes by a socket in the file system.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Says what is known of the client's certificate, of which a connection has one.
    pub(crate) fn identify(&self, certificate: ConnectionCertificate) {
        let _ = self.certificate.set(certificate);
    }

    /// What is known of the client's certificate.
    pub(crate) fn certificate(&self) -> ConnectionCertificate {
        self.certificate.get().cloned().unwrap_or_default()
    }

    /// Moves the connection to the places of clients, since one of this tenant has shown a
    /// token. A connection on which several show theirs counts as the first one's.
    ///
    /// # Errors
    /// `limit`, where no such place came free within a second.
    pub(crate) async fn authenticate(&self, tenant: &TenantId) -> Result<(), HttpFailure> {
        if !self.is_unauthenticated() {
            return Ok(());
        }
        let place = match timeout(WAIT, self.place(tenant)).await {
            Ok(place) => place,
            Err(_) => self.take(tenant).map_err(wharf_core::Error::from)?,
        };
        // Requests of one connection come one after the other; of two at once, one counts.
        let _ = self.client.set(place);
        self.connections.strangers().remove(self.number);
        Ok(())
    }

    async fn place(&self, tenant: &TenantId) -> Share {
        loop {
            let left = self.connections.left.notified();
            if let Ok(place) = self.take(tenant) {
                return place;
            }
            left.await;
        }
    }

    fn take(&self, tenant: &TenantId) -> Result<Share, QuotaFull> {
        self.connections.clients.take(tenant, &SessionId::default_session(), 1)
    }

    /// Returns once a stranger has been here for too long or its place has gone to a newer
    /// one; never for a client.
    pub(crate) async fn revoked(&self) {
        tokio::select! {
            () = self.shed.cancelled() => return,
            () = sleep(self.connections.patience) => {}
        }
        if self.connections.strangers().remove(self.number).is_none() && !self.shed.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.strangers().remove(self.number);
        if self.client.take().is_some() {
            self.connections.left.notify_waiters();
        }
    }
}

fn origin(address: Option<IpAddr>) -> PeerClass {
    match address {
        None => PeerClass::Socket,
        Some(address) if address.is_loopback() => PeerClass::Loopback,
        Some(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => PeerClass::Private,
        Some(IpAddr::V6(address)) if address.is_unique_local() || address.is_unicast_link_local() => PeerClass::Private,
        Some(_) => PeerClass::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(strangers: u64, of_address: u64, clients: u64) -> Arc<ConnectionRegistry> {
        ConnectionRegistry::new(&HttpLimits {
            connections: clients,
            connections_per_tenant: clients,
            connections_without_token: strangers,
            connections_without_token_per_address: of_address,
            ..HttpLimits::default()
        })
    }

    fn admit(connections: &Arc<ConnectionRegistry>, address: &str) -> Arc<ConnectionPermit> {
        connections.admit(Some(address.parse().expect("an address")))
    }

    fn shed(permits: &[Arc<ConnectionPermit>]) -> Vec<bool> {
        permits.iter().map(|permit| permit.shed.is_cancelled()).collect()
    }

    #[tokio::test]
    async fn the_oldest_stranger_makes_room_and_a_client_never_does() {
        let connections = connections(2, 100, 10);
        let first = admit(&connections, "127.0.0.1");
        first.authenticate(&TenantId::local()).await.expect("a place");
        let others: Vec<_> = (0..3).map(|_| admit(&connections, "127.0.0.1")).collect();
        assert_eq!(shed(&others), [true, false, false]);
        assert!(!first.shed.is_cancelled() && !first.is_unauthenticated());
        drop(others);
        assert!(connections.strangers().open.is_empty());
    }

    #[test]
    fn an_address_with_too_many_strangers_loses_its_own_and_nobody_elses() {
        let connections = connections(100, 2, 10);
        let other = admit(&connections, "192.0.2.7");
        let own: Vec<_> = (1..=3).map(|host| admit(&connections, &format!("2001:db8::{host}"))).collect();
        let neighbour = admit(&connections, "2001:db8:0:1::1");
        assert_eq!(shed(&own), [true, false, false], "all of a /64 are one address");
        let local: Vec<_> = (0..5).map(|_| admit(&connections, "::ffff:127.0.0.1")).collect();
        assert_eq!(shed(&local), [false; 5], "all clients of this machine share one");
        assert_eq!(shed(&[other, neighbour]), [false; 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_too_many_waits_a_moment_is_refused_and_stays_a_stranger() {
        let connections = connections(10, 10, 1);
        let (one, other) = (connections.admit(None), connections.admit(None));
        one.authenticate(&TenantId::local()).await.expect("a place");
        one.authenticate(&TenantId::local()).await.expect("it has one");
        assert!(other.authenticate(&TenantId::local()).await.is_err());
        assert!(other.is_unauthenticated());
        let tenant = TenantId::local();
        let (introduced, ()) = tokio::join!(other.authenticate(&tenant), async { drop(one) });
        introduced.expect("the place of who left meanwhile");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_so_long_and_a_client_stays() {
        let connections = connections(10, 10, 10);
        let (stranger, client) = (connections.admit(None), connections.admit(None));
        client.authenticate(&TenantId::local()).await.expect("a place");
        stranger.revoked().await;
        assert!(tokio::time::timeout(Duration::from_secs(3_600), client.revoked()).await.is_err());
    }
}
