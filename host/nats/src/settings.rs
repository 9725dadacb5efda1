//! How a host reaches NATS, and who it is there.

use std::{fmt, sync::Arc};

use async_nats::ServerAddr;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use zeroize::Zeroizing;

/// A server of NATS: `tls://nats-0.example:4222` or `nats://127.0.0.1:4222`.
#[derive(Debug, Clone)]
pub struct NatsServer(ServerAddr);

/// A text that names no server of NATS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NatsServerError {
    /// It is no address.
    #[error("write a server of NATS as tls://NAME:PORT, or as nats://NAME:PORT for one without encryption")]
    Invalid,
    /// It has a login in it, which logs would show.
    #[error("a server of NATS is named without a login: write that into a file of its own")]
    Login,
}

impl NatsServer {
    /// Whether what goes there is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.0.tls_required()
    }

    /// Whether it is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.0.host(), "localhost" | "127.0.0.1" | "::1" | "[::1]")
    }
}

impl std::str::FromStr for NatsServer {
    type Err = NatsServerError;

    fn from_str(text: &str) -> Result<Self, NatsServerError> {
        if !["tls://", "nats://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(NatsServerError::Invalid);
        }
        let address: ServerAddr = text.parse().map_err(|_| NatsServerError::Invalid)?;
        if address.has_user_pass() || address.username().is_some() {
            return Err(NatsServerError::Login);
        }
        if address.host().is_empty() {
            return Err(NatsServerError::Invalid);
        }
        Ok(Self(address))
    }
}

/// Who a host is at NATS.
#[derive(Clone, Default)]
pub enum NatsLogin {
    /// Nobody, or the one that its certificate names.
    #[default]
    None,
    /// Who has this token.
    Token(Zeroizing<String>),
    /// A user.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: Zeroizing<String>,
    },
    /// The text of a credentials file, as `nsc` writes it: a JWT and the seed of a key.
    Credentials(Zeroizing<String>),
}

impl fmt::Debug for NatsLogin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token",
            Self::Password { .. } => "Password",
            Self::Credentials(_) => "Credentials",
        })
    }
}

/// What shows host and server to each other; all PEM.
#[derive(Clone, Default)]
pub struct NatsTls {
    /// The authorities of the server; those of the system where absent.
    pub authority: Option<Vec<u8>>,
    /// The certificate of the host and its key, where the server asks for one.
    pub certificate: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
}

impl fmt::Debug for NatsTls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NatsTls")
    }
}

/// How a host reaches NATS.
#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// Servers of one NATS cluster, each of which will do.
    pub servers: Vec<NatsServer>,
    /// Who the host is there.
    pub login: NatsLogin,
    /// Certificates.
    pub tls: NatsTls,
}

/// Why settings of NATS cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsSettingsError {
    /// The text is no credentials file.
    #[error("the credentials must be a file as `nsc generate creds` writes it, with a JWT and a seed")]
    Credentials,
    /// The authority is no certificate.
    #[error("the authority of NATS must be PEM, with at least one `BEGIN CERTIFICATE`")]
    Authority,
    /// The certificate and its key cannot be used.
    #[error("the certificate for NATS and its key must be PEM, and belong together")]
    Certificate,
    /// There is no such encryption here.
    #[error("no encrypted connection can be made here")]
    Tls(#[source] rustls::Error),
}

impl NatsSettings {
    pub(crate) fn is_encrypted(&self) -> bool {
        self.servers.iter().any(NatsServer::is_encrypted)
    }

    pub(crate) fn addresses(&self) -> Vec<ServerAddr> {
        self.servers.iter().map(|server| server.0.clone()).collect()
    }
}

impl NatsTls {
    pub(crate) fn configuration(&self) -> Result<ClientConfig, NatsSettingsError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(NatsSettingsError::Tls)?;
        let builder = match &self.authority {
            Some(authority) => builder.with_root_certificates(roots(authority).ok_or(NatsSettingsError::Authority)?),
            None => builder.with_platform_verifier().map_err(NatsSettingsError::Tls)?,
        };
        let Some((certificate, key)) = &self.certificate else { return Ok(builder.with_no_client_auth()) };
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
        let key = PrivateKeyDer::from_pem_slice(key);
        let (Ok(chain), Ok(key)) = (chain, key) else { return Err(NatsSettingsError::Certificate) };
        builder.with_client_auth_cert(chain, key).map_err(|_| NatsSettingsError::Certificate)
    }
}

fn roots(authority: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_an_address_and_no_login() {
        for good in ["tls://nats-0.example:4222", "nats://127.0.0.1:4222", "tls://nats.example", "nats://[::1]:4222"] {
            good.parse::<NatsServer>().expect(good);
        }
        for bad in ["", "nats.example:4222", "http://nats.example", "tls://", "ws://nats.example"] {
            assert_eq!(bad.parse::<NatsServer>().expect_err(bad), NatsServerError::Invalid, "{bad}");
        }
        for bad in ["tls://user:secret@nats.example", "tls://token@nats.example"] {
            assert_eq!(bad.parse::<NatsServer>().expect_err(bad), NatsServerError::Login, "{bad}");
        }
    }

    #[test]
    fn only_a_server_of_this_machine_is_local() {
        let local = |text: &str| text.parse::<NatsServer>().expect(text).is_local();
        assert!(local("nats://127.0.0.1:4222") && local("nats://localhost") && local("nats://[::1]:4222"));
        assert!(!local("nats://localhost.example") && !local("tls://10.0.0.7:4222"));
    }

    #[test]
    fn certificates_that_are_none_are_refused_by_name() {
        let text = || Some(b"no PEM".to_vec());
        let refused = |tls: NatsTls| tls.configuration().map(drop).expect_err("refused").to_string();
        assert!(refused(NatsTls { authority: text(), certificate: None }).contains("authority"));
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let authority = Some(key.cert.pem().into_bytes());
        let key_text = Zeroizing::new(key.signing_key.serialize_pem().into_bytes());
        let certificate = Some((b"no PEM".to_vec(), key_text));
        assert!(refused(NatsTls { authority, certificate }).contains("certificate"));
    }
}
