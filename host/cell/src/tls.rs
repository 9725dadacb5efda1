//! What shows the hosts of a cell to each other: a certificate on both sides of each connection.

use std::{error, fmt, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
    version::TLS13,
};

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
}

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
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider)).build();
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(verifier.map_err(unusable)?)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(unusable)?;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(unusable)?;
        server.alpn_protocols = vec![HTTP_2.to_vec()];
        client.alpn_protocols = vec![HTTP_2.to_vec()];
        // A resumed session would outlive the certificate that it began with.
        client.resumption = rustls::client::Resumption::disabled();
        Ok(Self { server: Arc::new(server), client: Arc::new(client) })
    }
}

fn read(certificates: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(certificates).collect::<Result<_, _>>().ok()
}

fn unusable<E: error::Error + Send + Sync + 'static>(error: E) -> PeerTlsError {
    PeerTlsError::Unusable(Box::new(error))
}
