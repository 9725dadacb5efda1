//! Where a component is fetched from: a file, or an address on the web.
//!
//! What comes is hostile: as much is read as a component may have, in a time that ends.
//! TLS is verified against the certificates that the system trusts. Nothing here looks
//! at what was fetched.

use std::{
    fmt,
    io::{self, Read as _},
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use ureq::{
    Agent,
    tls::{RootCerts, TlsConfig},
};
use url::{Host, Url};

use crate::component::read_component;

/// How long the whole of it may take.
const TIME: Duration = Duration::from_secs(10 * 60);
/// How long a server may take to accept a connection, and how long it may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Addresses that one leads to after the other.
const REDIRECTS: u32 = 5;
/// What is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Where a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Address(Url),
}

/// Why a text names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It is no address.
    #[error("`{0}` is no address")]
    Address(String),
    /// What comes could be another component, put there on the way.
    #[error(
        "what comes over `http:` may be changed on its way: use `https:`, or a file; only this machine may be asked so"
    )]
    Unprotected,
    /// A scheme that is not known.
    #[error("`{0}:` is not known: name a file or an `https:` address")]
    Scheme(String),
    /// A password would be kept in the receipt.
    #[error(
        "an address with a user or password is not taken, since it is kept with the plugin; fetch the file yourself"
    )]
    Password,
}

/// Why a component cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server cannot be reached, is not the one it should be, or refuses.
    #[error("cannot fetch {address}")]
    Request {
        /// From where.
        address: Url,
        /// Why.
        #[source]
        source: Box<ureq::Error>,
    },
    /// What was sent broke off.
    #[error("{address} broke off")]
    Broken {
        /// From where.
        address: Url,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// More comes than a component may have.
    #[error("{from} has more than {limit} bytes (limit `component_bytes` of the host)")]
    TooLarge {
        /// From where.
        from: String,
        /// What it may have.
        limit: u64,
    },
}

impl FromStr for PluginSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if !text.contains("://") {
            return Ok(Self::File(text.into()));
        }
        let address = Url::parse(text).map_err(|_| SourceError::Address(text.to_owned()))?;
        if !address.username().is_empty() || address.password().is_some() {
            return Err(SourceError::Password);
        }
        match address.scheme() {
            "https" => Ok(Self::Address(address)),
            "http" if is_loopback(&address) => Ok(Self::Address(address)),
            "http" => Err(SourceError::Unprotected),
            other => Err(SourceError::Scheme(other.to_owned())),
        }
    }
}

/// Addresses alone: what a name means is somebody else's word.
pub(crate) fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
}

impl fmt::Display for PluginSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Address(address) => formatter.write_str(address.as_str()),
        }
    }
}

impl PluginSource {
    /// The last part of it without its ending: what the plugin may be called.
    #[must_use]
    pub fn stem(&self) -> Option<String> {
        let path = match self {
            Self::File(path) => path.as_path(),
            Self::Address(address) => Path::new(address.path()),
        };
        Some(path.file_stem()?.to_str()?.replace('_', "-"))
    }

    /// Fetches it, at most `limit` bytes, and says now and then how many have come.
    /// Blocks.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn fetch(&self, limit: u64, came: &mut dyn FnMut(u64)) -> Result<Vec<u8>, FetchError> {
        let bytes = match self {
            Self::File(path) => {
                read_component(path, limit).map_err(|source| FetchError::File { path: path.clone(), source })?
            }
            Self::Address(address) => download(address, limit, came)?,
        };
        if bytes.len() as u64 > limit {
            return Err(FetchError::TooLarge { from: self.to_string(), limit });
        }
        Ok(bytes)
    }
}

/// At most one byte more than `limit`.
fn download(address: &Url, limit: u64, came: &mut dyn FnMut(u64)) -> Result<Vec<u8>, FetchError> {
    let request = |source: ureq::Error| FetchError::Request { address: address.clone(), source: Box::new(source) };
    let response = agent(address, TIME).get(address.as_str()).call().map_err(request)?;
    if response.status() != 200 {
        return Err(request(ureq::Error::StatusCode(response.status().as_u16())));
    }
    let announced = response.body().content_length();
    if announced.is_some_and(|bytes| bytes > limit) {
        return Err(FetchError::TooLarge { from: address.to_string(), limit });
    }
    let mut body = response.into_body().into_reader().take(limit.saturating_add(1));
    // Grows with what comes, not with what was announced.
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = body.read(&mut chunk).map_err(|source| FetchError::Broken { address: address.clone(), source })?;
        if read == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..read]);
        came(bytes.len() as u64);
    }
}

/// Asks at this address, for so long in all.
pub(crate) fn agent(address: &Url, time: Duration) -> Agent {
    let is_protected = address.scheme() == "https";
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        // A redirect out of TLS is refused; one of this machine leads nowhere.
        .https_only(is_protected)
        .max_redirects(if is_protected { REDIRECTS } else { 0 })
        .timeout_global(Some(time))
        .timeout_resolve(Some(SILENCE))
        .timeout_connect(Some(SILENCE))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .user_agent(concat!("wharf/", env!("CARGO_PKG_VERSION")));
    // The way to this machine leads over nobody else.
    if is_protected { config.build().into() } else { config.proxy(None).build().into() }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        net::TcpListener,
        thread::{self, JoinHandle},
    };

    use super::*;

    /// A server that answers one request with these bytes.
    fn answering(answer: Vec<u8>) -> (PluginSource, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let address = format!("http://{}/some/my_tool.wasm", listener.local_addr().expect("bound"));
        let answering = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let _ = stream.read(&mut [0; 4096]);
            // A client that has read enough is gone.
            let _ = stream.write_all(&answer);
        });
        (address.parse().expect("the loopback"), answering)
    }

    fn fetched(answer: &[u8], limit: u64) -> Result<Vec<u8>, FetchError> {
        let (source, answering) = answering(answer.to_vec());
        let fetched = source.fetch(limit, &mut |_| {});
        answering.join().expect("answered");
        fetched
    }

    #[test]
    fn a_source_is_a_file_or_an_address_that_nobody_on_the_way_can_change() {
        let parse = |text: &str| text.parse::<PluginSource>();
        assert_eq!(parse("a/my_tool.wasm"), Ok(PluginSource::File("a/my_tool.wasm".into())));
        let address = parse("https://example.com/x/my_tool.wasm?v=1").expect("protected");
        assert_eq!(address.stem().as_deref(), Some("my-tool"));
        for loopback in ["http://127.0.0.1:1/x.wasm", "http://[::1]/x.wasm"] {
            assert!(matches!(parse(loopback), Ok(PluginSource::Address(_))), "{loopback}");
        }
        for unprotected in
            ["http://example.com/x", "http://localhost/x", "http://127.0.0.1.example.com/", "http://10.0.0.1/"]
        {
            assert_eq!(parse(unprotected), Err(SourceError::Unprotected), "{unprotected}");
        }
        assert_eq!(parse("file:///x"), Err(SourceError::Scheme("file".into())));
        assert_eq!(parse("https://me:secret@example.com/x"), Err(SourceError::Password));
        assert!(matches!(parse("https://"), Err(SourceError::Address(_))));
    }

    #[test]
    fn what_comes_is_taken_up_to_the_limit_whatever_was_announced() {
        let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        assert_eq!(fetched(ok, 5).expect("fits"), b"hello");
        assert!(matches!(fetched(ok, 4), Err(FetchError::TooLarge { limit: 4, .. })));
        let endless = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(), &[b'x'; 300_000]].concat();
        assert!(matches!(fetched(&endless, 1_000), Err(FetchError::TooLarge { .. })));
        let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n";
        assert!(matches!(fetched(huge, 1_000), Err(FetchError::TooLarge { .. })));
        let broken = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello";
        assert!(matches!(fetched(broken, 1_000), Err(FetchError::Broken { .. })));
    }

    #[test]
    fn a_refusal_or_a_way_elsewhere_is_no_component() {
        let missing = fetched(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 10).expect_err("missing");
        assert!(wharf_core::text::with_causes(&missing).contains("404"), "{missing:?}");
        let elsewhere = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/x\r\nContent-Length: 0\r\n\r\n";
        assert!(matches!(fetched(elsewhere, 10), Err(FetchError::Request { .. })));
    }

    #[test]
    fn a_server_without_tls_is_not_taken_for_one_with_it() {
        let (source, answering) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx".to_vec());
        let protected: PluginSource = source.to_string().replace("http:", "https:").parse().expect("an address");
        assert!(matches!(protected.fetch(10, &mut |_| {}), Err(FetchError::Request { .. })));
        answering.join().expect("answered");
    }
}
