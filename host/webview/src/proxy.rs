//! The way of one page to the network: a proxy on the loopback that lets through what
//! the page's policy grants, and nothing else.
//!
//! The browser resolves no name and opens no connection by itself: it asks here, for
//! any part of a page. The proxy checks the origin, resolves the name once, checks each
//! address that the name has, and connects to one that was checked, so no second
//! look-up can lead elsewhere. It reads no encrypted byte. It never knows pages,
//! protocols of browsers, or owners.

mod activity;
mod answer;
mod exchange;
mod headers;
mod peer;
mod target;

use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_core::{OriginPolicy, Share};
use wharf_network::{Connector, ProxyPort};

use crate::PageShares;

pub use answer::PROXY_ANSWER;
pub use exchange::DeniedConnection;
use exchange::ProxyRules;
pub use wharf_network::NameOverrides;

/// How long to wait when the system accepts no connection, for lack of descriptors say.
const RELIEF: Duration = Duration::from_millis(100);

/// How a proxy serves.
#[derive(Clone)]
pub struct ProxySettings {
    /// Connections at once. Further ones are answered with 503.
    pub connections: usize,
    /// The page's shares: each connection takes one, and is answered with 503 where
    /// there is none.
    pub shares: Option<PageShares>,
    /// Only sockets of this user are served: the one that the browser runs as.
    /// Absent is the user of the host.
    pub user: Option<u32>,
    /// Is told of every connection that the page did not get; must not block.
    pub denied: Arc<dyn Fn(DeniedConnection) + Send + Sync>,
    /// Resolves a granted name before the system does; its addresses are checked all
    /// the same.
    pub names: Option<NameOverrides>,
}

/// The proxy of one page. Dropping it ends it, with all its connections.
pub struct Proxy {
    address: SocketAddr,
    _end: DropGuard,
}

impl Proxy {
    /// Listens on a port of the loopback that the system chooses. Needs a tokio
    /// runtime with I/O and time, and ends with it.
    ///
    /// # Errors
    /// Where the system gives no port.
    pub async fn start(policy: Arc<OriginPolicy>, settings: ProxySettings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let end = CancellationToken::new();
        let rules = Arc::new(ProxyRules {
            policy,
            reach: Connector::new(settings.names),
            denied: settings.denied,
            address,
            user: settings.user,
            end: end.clone(),
        });
        let own = ProxyPort::take(address.port());
        let accepting = accept(listener, rules, settings.connections, settings.shares, own);
        tokio::spawn(end.clone().run_until_cancelled_owned(accepting));
        Ok(Self { address, _end: end.drop_guard() })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProxySettings")
            .field("connections", &self.connections)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

async fn accept(
    listener: TcpListener,
    rules: Arc<ProxyRules>,
    connections: usize,
    shares: Option<PageShares>,
    _own: ProxyPort,
) {
    let places = Arc::new(Semaphore::new(connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "the proxy of a page was given no connection");
                sleep(RELIEF).await;
                continue;
            }
        };
        let of_page = Arc::clone(&places).try_acquire_owned().ok();
        let taken =
            of_page.and_then(|place| Some((place, shares.as_ref().map(PageShares::connection).transpose().ok()?)));
        match taken {
            Some(places) => {
                let rules = Arc::clone(&rules);
                let end = rules.end.clone();
                tokio::spawn(end.run_until_cancelled_owned(serve(rules, stream, peer, places)));
            }
            // Written to an empty buffer: nothing to wait for.
            None => drop(stream.try_write(answer::FULL)),
        }
    }
}

/// One of the connections of the page, and a share of those of its session.
type ConnectionSlots = (OwnedSemaphorePermit, Option<Share>);

async fn serve(rules: Arc<ProxyRules>, stream: TcpStream, peer: SocketAddr, _places: ConnectionSlots) {
    let (address, user) = (rules.address, rules.user);
    let looked = tokio::task::spawn_blocking(move || peer::is_of(peer, address, user)).await;
    match looked {
        Ok(Ok(true)) => exchange::serve(&rules, stream).await,
        Ok(Ok(false)) => tracing::warn!(%peer, "somebody else than the browser called at the proxy of a page"),
        Ok(Err(error)) => tracing::warn!(%error, "it cannot be told who calls at the proxy of a page"),
        Err(_) => {}
    }
}
