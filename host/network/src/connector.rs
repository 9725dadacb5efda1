//! Connects to granted servers: resolves each name once, and checks each address.

use std::{
    collections::BTreeSet,
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    net::TcpStream,
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use url::Host;
use wharf_core::{Code, Error, Server};

/// How long one of several addresses is tried before the next one.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Most addresses of a name that are tried.
const ADDRESSES: usize = 16;

/// Most concurrent look-ups of one page or tenant, and below them of all: each holds a
/// thread, some for long.
const LOOK_UPS: usize = 8;
static ALL_LOOK_UPS: Semaphore = Semaphore::const_new(64);

/// Ports of the proxies of this process.
static PROXY_PORTS: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Resolves a name to addresses, or leaves it to the system.
pub type NameOverrides = Arc<dyn Fn(&str) -> Option<Vec<IpAddr>> + Send + Sync>;

/// Connects one page, or the plugins of one tenant, to servers.
#[derive(Clone)]
pub struct Connector {
    names: Option<NameOverrides>,
    look_ups: Arc<Semaphore>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connector").field("names", &self.names.is_some()).finish_non_exhaustive()
    }
}

impl Connector {
    /// A connector that asks `names` before the system. It checks the addresses of both.
    #[must_use]
    pub fn new(names: Option<NameOverrides>) -> Self {
        Self { names, look_ups: Arc::new(Semaphore::new(LOOK_UPS)) }
    }

    /// Connects to a granted server, at an address that passes `check`.
    ///
    /// # Errors
    /// The error of `check` where no address passes; `unavailable` where the server is
    /// not reached by `deadline`.
    pub async fn connect(
        &self,
        server: &Server,
        deadline: Instant,
        check: impl Fn(IpAddr) -> Result<(), Error>,
    ) -> Result<TcpStream, Error> {
        let found = timeout_at(deadline, self.resolve(&server.host))
            .await
            .map_err(|_| unreached(server, "its name could not be resolved in time"))?
            .map_err(|error| unreached(server, &error.to_string()))?;
        let mut refusal = None;
        let mut allowed = Vec::new();
        for address in found.into_iter().take(ADDRESSES) {
            match not_a_proxy(address, server.port).and_then(|()| check(address)) {
                Ok(()) => allowed.push(SocketAddr::new(address, server.port)),
                Err(error) => refusal = Some(error),
            }
        }
        let mut failure = None;
        for (index, address) in allowed.iter().enumerate() {
            let last = index + 1 == allowed.len();
            let until = if last { deadline } else { deadline.min(Instant::now() + ATTEMPT) };
            match timeout_at(until, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Most connections carry short requests and their answers.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => failure = Some(error.to_string()),
                Err(_) => failure = Some("it did not answer in time".to_owned()),
            }
        }
        Err(match (failure, refusal) {
            (Some(failure), _) => unreached(server, &failure),
            (None, Some(refusal)) => refusal,
            (None, None) => unreached(server, "its name leads to no address"),
        })
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
        // Browsers trust these names as they trust the machine itself, so no name server
        // may resolve them.
        if is_localhost(name) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let closed = |_| io::Error::other("no names are resolved any more");
        let own = Arc::clone(&self.look_ups).acquire_owned().await.map_err(closed)?;
        let common = ALL_LOOK_UPS.acquire().await.map_err(closed)?;
        let name = name.clone();
        let resolving = move || {
            // Held until the thread is free again, even where the caller stopped waiting.
            let _permits = (own, common);
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        };
        tokio::task::spawn_blocking(resolving).await.map_err(io::Error::other)?
    }
}

fn not_a_proxy(address: IpAddr, port: u16) -> Result<(), Error> {
    let canonical = address.to_canonical();
    if (canonical.is_loopback() || canonical.is_unspecified()) && ProxyPort::is(port) {
        return Err(Error::new(Code::Denied, "the proxy of a page is no server"));
    }
    Ok(())
}

/// Whether a name stands for this machine: requests to
/// such a name go to addresses of the loopback alone, whatever a resolver answers.
#[must_use]
pub fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

fn unreached(server: &Server, why: &str) -> Error {
    let message = format!("{} was not reached: {why}", server.authority);
    Error::retryable(Code::Unavailable, message)
}

/// The port of a page's proxy, while that listens: no connector of this
/// process connects to it.
#[derive(Debug)]
pub struct ProxyPort(u16);

impl ProxyPort {
    /// Protects the port until this is dropped.
    #[must_use]
    pub fn take(port: u16) -> Self {
        PROXY_PORTS.lock().insert(port);
        Self(port)
    }

    fn is(port: u16) -> bool {
        PROXY_PORTS.lock().contains(&port)
    }
}

impl Drop for ProxyPort {
    fn drop(&mut self) {
        PROXY_PORTS.lock().remove(&self.0);
    }
}
