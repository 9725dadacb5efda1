//! An authority that issues certificates for one test. Only programs that are
//! told to trust it do.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// Authorities of this process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The authority. Its key ends with the test.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// When a certificate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Now.
    Now,
    /// Not any more.
    Before,
    /// Not yet.
    Later,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// One with a key of its own.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Without a name of its own it would be taken for another one with a broken signature.
        let number = NUMBER.fetch_add(1, Relaxed);
        parameters.distinguished_name.push(DnType::CommonName, format!("test authority {number}"));
        let key = KeyPair::generate().expect("a key");
        let pem = parameters.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    /// Its certificate, for programs that are to trust it (`SSL_CERT_FILE`).
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate of this name and its key, both PEM.
    ///
    /// # Panics
    /// Where the name is not valid.
    #[must_use]
    pub fn certificate(&self, name: &str, holds: Holds) -> (String, String) {
        let (certificate, key) = self.sign(name, holds);
        (certificate.pem(), key.serialize_pem())
    }

    /// What a server of this name serves with.
    ///
    /// # Panics
    /// Where the name is not valid.
    #[must_use]
    pub fn certify(&self, name: &str, holds: Holds) -> Arc<ServerConfig> {
        let (certificate, key) = self.sign(name, holds);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions that the provider has")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("they belong together");
        Arc::new(config)
    }

    fn sign(&self, name: &str, holds: Holds) -> (Certificate, KeyPair) {
        let mut parameters = CertificateParams::new([name.to_owned()]).expect("a name");
        (parameters.not_before, parameters.not_after) = match holds {
            Holds::Now => (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1)),
            Holds::Before => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
            Holds::Later => (date_time_ymd(2119, 1, 1), date_time_ymd(2120, 1, 1)),
        };
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate, key)
    }
}
