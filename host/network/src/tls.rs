//! Encrypted connections, verified against the certificates that the system trusts.

use std::sync::Arc;

use rustls::{ClientConfig, crypto::ring, pki_types::ServerName};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::{net::TcpStream, sync::OnceCell};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;
use wharf_core::{Code, Error, Server};

/// Encrypts connections; reads the certificates of the system at the first use.
#[derive(Debug, Default)]
pub(crate) struct TlsClient {
    config: OnceCell<Arc<ClientConfig>>,
}

impl TlsClient {
    pub(crate) async fn connect(&self, server: &Server, stream: TcpStream) -> Result<TlsStream<TcpStream>, Error> {
        let config = self.config.get_or_try_init(read).await?;
        let name = match &server.host {
            Host::Domain(name) => ServerName::try_from(name.strip_suffix('.').unwrap_or(name).to_owned()),
            Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        };
        let name = name.map_err(|_| Error::new(Code::Invalid, "no certificate can have the name of this server"))?;
        TlsConnector::from(Arc::clone(config)).connect(name, stream).await.map_err(|error| {
            Error::new(Code::Unavailable, format!("{} cannot be spoken to in private: {error}", server.authority))
        })
    }
}

async fn read() -> Result<Arc<ClientConfig>, Error> {
    let reading = || {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        Ok::<_, rustls::Error>(Arc::new(config))
    };
    let failed = |why: String| {
        Error::new(Code::Unavailable, format!("the certificates that this system trusts cannot be read: {why}"))
    };
    let read = tokio::task::spawn_blocking(reading).await.map_err(|error| failed(error.to_string()))?;
    read.map_err(|error| failed(error.to_string()))
}
