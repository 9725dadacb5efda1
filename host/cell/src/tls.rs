//! What shows the hosts of a cell to each other: a certificate on both sides of each connection.

use std::{
    error, fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier as _},
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject as _},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
    version::TLS13,
};

use crate::PeerAddress;

/// HTTP/2, the one protocol between hosts.
const HTTP_2: &[u8] = b"h2";

/// Reads the certificates of a host anew.
pub type ReadCertificates = Arc<dyn Fn() -> Result<PeerTls, Box<dyn error::Error + Send + Sync>> + Send + Sync>;

/// The certificate of a host, and the authority that signed those of all hosts of its cell. The
/// authority must sign no others: who shows a certificate of it is a host of the cell.
#[derive(Clone)]
pub struct PeerTls {
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) client: Arc<ClientConfig>,
    chain: Vec<CertificateDer<'static>>,
    as_host: Arc<WebPkiServerVerifier>,
    as_client: Arc<dyn ClientCertVerifier>,
}

/// Why the other hosts do not accept a certificate.
#[derive(Debug, thiserror::Error)]
#[error("the other hosts do not accept the certificate of this host")]
pub struct CertificateUnfit(#[source] rustls::Error);

/// Nobody asks how long a certificate is valid beyond this.
const LONGEST_VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

impl fmt::Debug for PeerTls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PeerTls")
    }
}

/// Why a certificate cannot be used between hosts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerTlsError {
    /// The text has no certificate.
    #[error("the certificate of this host must be PEM, with at least one `BEGIN CERTIFICATE`")]
    Certificate,
    /// The text has no key.
    #[error("the key of this host must be PEM, with one `BEGIN PRIVATE KEY`")]
    Key,
    /// The text has no authority.
    #[error("the authority of the cell must be PEM, with at least one `BEGIN CERTIFICATE`")]
    Authority,
    /// They do not fit.
    #[error("the certificate, the key and the authority of the cell cannot be used together")]
    Unusable(#[source] Box<dyn error::Error + Send + Sync>),
    /// A file of them cannot be read.
    #[error("the certificates of this host cannot be read")]
    Unreadable(#[source] Box<dyn error::Error + Send + Sync>),
}

impl PeerTls {
    /// Of a chain of certificates, the key of its first one, and the authorities of the cell, all
    /// PEM.
    ///
    /// # Errors
    /// Where one of them is not valid, or they do not belong together.
    pub fn new(certificates: &[u8], key: &[u8], authorities: &[u8]) -> Result<Self, PeerTlsError> {
        let chain = read(certificates).filter(|chain| !chain.is_empty()).ok_or(PeerTlsError::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| PeerTlsError::Key)?;
        let mut roots = RootCertStore::empty();
        for authority in read(authorities).ok_or(PeerTlsError::Authority)? {
            roots.add(authority).map_err(|_| PeerTlsError::Authority)?;
        }
        if roots.is_empty() {
            return Err(PeerTlsError::Authority);
        }
        let (provider, roots) = (Arc::new(ring::default_provider()), Arc::new(roots));
        let as_client = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider)).build();
        let as_client = as_client.map_err(unusable)?;
        let as_host = WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider)).build();
        let as_host = as_host.map_err(unusable)?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(Arc::clone(&as_client))
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(unusable)?;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain.clone(), key)
            .map_err(unusable)?;
        server.alpn_protocols = vec![HTTP_2.to_vec()];
        client.alpn_protocols = vec![HTTP_2.to_vec()];
        // A resumed session would outlive the certificate that it began with.
        client.resumption = rustls::client::Resumption::disabled();
        Ok(Self { server: Arc::new(server), client: Arc::new(client), chain, as_host, as_client })
    }

    /// For how long from `now` on the other hosts accept the certificate of the host at this
    /// address, when it calls and when it is called: to the second, and ten years at most.
    ///
    /// # Errors
    /// Where they do not accept it now.
    pub fn valid_for(&self, address: &PeerAddress, now: SystemTime) -> Result<Duration, CertificateUnfit> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let check = |after: Duration| self.check(address, UnixTime::since_unix_epoch(now + after));
        check(Duration::ZERO).map_err(CertificateUnfit)?;
        let (mut valid, mut over) = (0, LONGEST_VALIDITY.as_secs());
        while over - valid > 1 {
            let middle = valid.midpoint(over);
            let is_valid = check(Duration::from_secs(middle)).is_ok();
            *(if is_valid { &mut valid } else { &mut over }) = middle;
        }
        Ok(Duration::from_secs(valid))
    }

    fn check(&self, address: &PeerAddress, at: UnixTime) -> Result<(), rustls::Error> {
        let Some((own, between)) = self.chain.split_first() else { return Ok(()) };
        let name = address.server_name().ok_or(rustls::Error::General("the address has no name".to_owned()))?;
        self.as_host.verify_server_cert(own, between, &name, &[], at)?;
        self.as_client.verify_client_cert(own, between, at).map(drop)
    }
}

fn read(certificates: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(certificates).collect::<Result<_, _>>().ok()
}

fn unusable<E: error::Error + Send + Sync + 'static>(error: E) -> PeerTlsError {
    PeerTlsError::Unusable(Box::new(error))
}
