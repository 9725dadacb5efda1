//! The client that asks for things over HTTP: whom it trusts, how long it waits, and
//! which addresses nobody on the way can change.
//!
//! Owns TLS, time and redirects. Knows neither components nor registries.

use std::{
    io::{self, Read as _},
    sync::Arc,
    time::Duration,
};

use ureq::{
    Agent, Body,
    http::Response,
    tls::{RootCerts, TlsConfig},
};
use url::{Host, Url};

/// How long a server may take to accept a connection, and how long it may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Addresses that one leads to after the other.
pub(crate) const REDIRECTS: u32 = 5;
/// What is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A client that asks at `address` and takes `time` for each request, the answer
/// included. It verifies TLS against the certificates that the system trusts; no redirect
/// leads out of TLS, and none is followed where `address` has none.
#[must_use]
pub fn agent(address: &Url, time: Duration) -> Agent {
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
    // A request without TLS never goes through a proxy, which could read it.
    if is_protected { config.build().into() } else { config.proxy(None).build().into() }
}

/// Asks for what is at an address. An answer of another status than 200 is none.
pub(crate) fn get(agent: &Agent, address: &Url) -> Result<Response<Body>, ureq::Error> {
    let response = agent.get(address.as_str()).call()?;
    match response.status().as_u16() {
        200 => Ok(response),
        status => Err(ureq::Error::StatusCode(status)),
    }
}

/// Whether an address is one of this machine. Only addresses count, since a resolver
/// decides what a name means.
pub(crate) fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
}

/// Whether nobody on the way can change what comes from an address, nor read what goes
/// there: it has TLS, or never leaves this machine.
#[must_use]
pub fn is_protected(address: &Url) -> bool {
    address.scheme() == "https" || (address.scheme() == "http" && is_loopback(address))
}

/// Reads an answer, at most one byte more than `limit`, and says how many have come.
pub(crate) fn read_body(response: Response<Body>, limit: u64, came: &mut dyn FnMut(u64)) -> io::Result<Vec<u8>> {
    let mut body = response.into_body().into_reader().take(limit.saturating_add(1));
    // Grows with what comes, not with what was announced.
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = body.read(&mut chunk)?;
        if read == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..read]);
        came(bytes.len() as u64);
    }
}
