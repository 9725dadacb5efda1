//! What makes connections private: rustls, with the cryptography of ring.

use std::{fmt, ops::Range, sync::Arc, time::SystemTime};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};
use x509_cert::{Certificate, der::Decode as _};

use super::client_certificate::ClientCertificates;

/// A certificate with its key, ready to serve.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    validity: Option<Range<SystemTime>>,
}

/// Why nothing can be served with a certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// There is no certificate in the text.
    #[error("the certificate must be PEM, with at least one `BEGIN CERTIFICATE`")]
    Certificate(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// There is no key in the text.
    #[error("the key must be PEM, with one `BEGIN PRIVATE KEY`")]
    Key(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There are no authorities of clients in the text.
    #[error("the authorities of clients must be PEM, with at least one `BEGIN CERTIFICATE`")]
    ClientAuthorities(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The two do not fit.
    #[error("the certificate and the key cannot be used together")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Tls {
    /// Of a chain of certificates and the key of its first one, both PEM. Asks clients for no certificate.
    ///
    /// # Errors
    /// Where one of them is not valid, or they do not belong together.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        Self::asking(ClientCertificates::NotAsked, certificates, key)
    }

    /// The same, which asks clients for these certificates.
    ///
    /// # Errors
    /// As [`Tls::new`], and where the authorities of clients are none.
    pub fn asking(clients: ClientCertificates<'_>, certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(Some(Box::new(error))))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate(None));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(Box::new(error)))?;
        let validity = chain.first().and_then(validity);
        let provider = Arc::new(ring::default_provider());
        let asked = clients.verifier(&provider)?;
        let builder = ServerConfig::builder_with_provider(provider);
        let unusable = |error| TlsError::Unusable(Box::<rustls::Error>::new(error));
        let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
        let builder = match asked {
            Some(asked) => builder.with_client_cert_verifier(asked),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), validity })
    }

    /// From when until when the certificate is valid, without those above it; nothing where it does
    /// not say so in a form that is understood.
    #[must_use]
    pub fn validity(&self) -> Option<&Range<SystemTime>> {
        self.validity.as_ref()
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

fn validity(certificate: &CertificateDer<'_>) -> Option<Range<SystemTime>> {
    let validity = Certificate::from_der(certificate).ok()?.tbs_certificate.validity;
    Some(validity.not_before.to_system_time()..validity.not_after.to_system_time())
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls")
    }
}
