//! From a granted server to a connection: names resolved once, each address
//! checked.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use url::Host;
use wharf_core::{Code, Error, OriginPolicy};

use super::{Names, target::Target};

/// How long it may take until a server is connected to.
const CONNECT: Duration = Duration::from_secs(20);

/// How long one of several addresses is tried before the next one.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Addresses of a name that are looked at.
const ADDRESSES: usize = 16;

/// Look-ups of one page at once, and of all: each holds a thread, some for long.
const LOOK_UPS: usize = 8;
static ALL_LOOK_UPS: Semaphore = Semaphore::const_new(64);

/// Ports of the proxies of this process.
static OWN_PORTS: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// The way of one page to servers.
pub(super) struct Reach {
    pub(super) policy: Arc<OriginPolicy>,
    names: Option<Names>,
    look_ups: Arc<Semaphore>,
}

impl Reach {
    pub(super) fn new(policy: Arc<OriginPolicy>, names: Option<Names>) -> Self {
        Self { policy, names, look_ups: Arc::new(Semaphore::new(LOOK_UPS)) }
    }

    /// Connects to a server that was granted, at an address that may be reached.
    pub(super) async fn connect(&self, target: &Target) -> Result<TcpStream, Error> {
        let deadline = Instant::now() + CONNECT;
        let found = timeout_at(deadline, self.resolve(&target.host))
            .await
            .map_err(|_| unreached(target, "its name could not be resolved in time"))?
            .map_err(|error| unreached(target, &error.to_string()))?;
        let mut refusal = None;
        let mut allowed = Vec::new();
        for address in found.into_iter().take(ADDRESSES) {
            match self.check(address, target.port) {
                Ok(()) => allowed.push(SocketAddr::new(address, target.port)),
                Err(error) => refusal = Some(error),
            }
        }
        let mut failure = None;
        for (index, address) in allowed.iter().enumerate() {
            let last = index + 1 == allowed.len();
            let until = if last { deadline } else { deadline.min(Instant::now() + ATTEMPT) };
            match timeout_at(until, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // For questions and answers, which is what most of it is.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => failure = Some(error.to_string()),
                Err(_) => failure = Some("it did not answer in time".to_owned()),
            }
        }
        Err(match (failure, refusal) {
            (Some(failure), _) => unreached(target, &failure),
            (None, Some(refusal)) => refusal,
            (None, None) => unreached(target, "its name leads to no address"),
        })
    }

    fn check(&self, address: IpAddr, port: u16) -> Result<(), Error> {
        let canonical = address.to_canonical();
        if (canonical.is_loopback() || canonical.is_unspecified()) && OwnPort::is(port) {
            return Err(Error::new(Code::Denied, "the proxy of a page is no server for pages"));
        }
        self.policy.address(address)
    }

    async fn resolve(&self, host: &Host) -> io::Result<Vec<IpAddr>> {
        let name = match host {
            Host::Ipv4(address) => return Ok(vec![(*address).into()]),
            Host::Ipv6(address) => return Ok(vec![(*address).into()]),
            Host::Domain(name) => name,
        };
        if let Some(found) = self.names.as_ref().and_then(|names| names(name)) {
            return Ok(found);
        }
        // Browsers trust these as they trust the machine itself, so no server of
        // names may say where they lead.
        if is_localhost(name) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let closed = |_| io::Error::other("no names are resolved any more");
        let own = Arc::clone(&self.look_ups).acquire_owned().await.map_err(closed)?;
        let common = ALL_LOOK_UPS.acquire().await.map_err(closed)?;
        let name = name.clone();
        let resolving = move || {
            // Kept until the thread is free again, whoever has stopped waiting.
            let _places = (own, common);
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        };
        tokio::task::spawn_blocking(resolving).await.map_err(io::Error::other)?
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

fn unreached(target: &Target, why: &str) -> Error {
    let message = format!("{} was not reached: {why}", target.authority);
    Error::retryable(Code::Unavailable, message)
}

/// A port that a proxy listens on, while it does.
#[derive(Debug)]
pub(super) struct OwnPort(u16);

impl OwnPort {
    pub(super) fn take(port: u16) -> Self {
        OWN_PORTS.lock().unwrap_or_else(PoisonError::into_inner).insert(port);
        Self(port)
    }

    fn is(port: u16) -> bool {
        OWN_PORTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&port)
    }
}

impl Drop for OwnPort {
    fn drop(&mut self) {
        OWN_PORTS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}
