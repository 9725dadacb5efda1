//! Certificates that clients show (TLS client authentication), for tokens that are bound to one (RFC 8705).
//!
//! A client may show none. One that shows a certificate has its key: the handshake proves that. Who the client is, is for
//! its token to say.

use std::sync::Arc;

use tokio_rustls::rustls::{
    self, CertificateError, DigitallySignedStruct, DistinguishedName, OtherError, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, UnixTime, pem::PemObject as _},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use super::tls::TlsError;

/// The longest certificate of a client.
const MAX_CERTIFICATE_BYTES: usize = 16 << 10;
/// The most certificates of authorities beside it.
const MAX_INTERMEDIATES: usize = 8;

/// Which certificates a server asks its clients for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ClientCertificates<'a> {
    /// None.
    #[default]
    NotAsked,
    /// Any, also one that its client has signed itself. A client may show none.
    Any,
    /// Those that these authorities, in PEM, have issued. A client may show none.
    IssuedBy(&'a [u8]),
}

/// What a server knows of the certificate of the client at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConnectionCertificate {
    /// Nothing: TLS does not end at this server.
    #[default]
    Unseen,
    /// The client shows none.
    None,
    /// The client has shown it, and has its key. In DER.
    Shown(Arc<[u8]>),
}

impl ConnectionCertificate {
    /// That of a connection whose handshake is over.
    pub(super) fn of(connection: &rustls::CommonState) -> Self {
        match connection.peer_certificates() {
            Some([own, ..]) => Self::Shown(own.as_ref().into()),
            _ => Self::None,
        }
    }
}

impl ClientCertificates<'_> {
    /// What asks for these certificates; nothing where none is asked for.
    pub(super) fn verifier(
        self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsError> {
        let authorities = match self {
            Self::NotAsked => return Ok(None),
            Self::Any => None,
            Self::IssuedBy(authorities) => Some(issued_by(authorities, provider)?),
        };
        let algorithms = provider.signature_verification_algorithms;
        Ok(Some(Arc::new(CertificateVerifier { authorities, algorithms })))
    }
}

fn issued_by(authorities: &[u8], provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let unfit = |error: Box<dyn std::error::Error + Send + Sync>| TlsError::ClientAuthorities(Some(error));
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority.map_err(|error| unfit(Box::new(error)))?).map_err(|error| unfit(Box::new(error)))?;
    }
    if roots.is_empty() {
        return Err(TlsError::ClientAuthorities(None));
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    verifier.build().map_err(|error| unfit(Box::new(error)))
}

/// Takes a certificate whose client has its key. By RFC 8705 that is enough for a token which names the certificate.
#[derive(Debug)]
struct CertificateVerifier {
    /// What else has to hold, where the operator names authorities.
    authorities: Option<Arc<dyn ClientCertVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for CertificateVerifier {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authorities.as_ref().map_or(&[], |authorities| authorities.root_hint_subjects())
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if own.len() > MAX_CERTIFICATE_BYTES || intermediates.len() > MAX_INTERMEDIATES {
            let problem = OtherError(Arc::new(TooLargeCertificate));
            return Err(CertificateError::Other(problem).into());
        }
        match &self.authorities {
            Some(authorities) => authorities.verify_client_cert(own, intermediates, now),
            None => Ok(ClientCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, own, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, own, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "a client's certificate has at most {MAX_CERTIFICATE_BYTES} bytes, and {MAX_INTERMEDIATES} of authorities beside it"
)]
struct TooLargeCertificate;
