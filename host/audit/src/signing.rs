//! Signs where chains stand, with an Ed25519 key that those who can write the files should not have.
//!
//! A signature is over [`SUBJECT`], the name of the file, a line break, and the chain before the line
//! that has it, as 64 hexadecimal digits.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer, pem::PemObject as _};
use wharf_core::Digest;

use crate::chain::Chain;

/// What is signed begins with this.
const SUBJECT: &str = "wharf audit head 1\n";
/// What precedes an Ed25519 key in its `SubjectPublicKeyInfo`: RFC 8410.
const ED25519_INFO: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Digits of a digest that name a key.
const NAME_DIGITS: usize = 16;

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no Ed25519 key as PEM; `openssl genpkey -algorithm ed25519` makes one, and `openssl pkey -pubout` writes its \
     public half"
)]
pub struct InvalidAuditKey;

/// The key of a host.
pub struct AuditSigner {
    pair: Ed25519KeyPair,
    public: AuditKey,
}

/// The public half of a key.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditKey([u8; 32]);

impl fmt::Debug for AuditSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditSigner").field("public", &self.public).finish_non_exhaustive()
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("AuditKey").field(&self.name()).finish()
    }
}

impl AuditSigner {
    /// Reads a private key: PKCS #8 as PEM.
    ///
    /// # Errors
    /// [`InvalidAuditKey`].
    pub fn read(pem: &[u8]) -> Result<Self, InvalidAuditKey> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|_| InvalidAuditKey)?;
        // OpenSSL leaves the public half out, which is computed then.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.secret_pkcs8_der()).map_err(|_| InvalidAuditKey)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| InvalidAuditKey)?;
        Ok(Self { pair, public: AuditKey(public) })
    }

    /// The half that others may have.
    #[must_use]
    pub fn public(&self) -> &AuditKey {
        &self.public
    }

    /// Signs where the chain of a file stands.
    pub(crate) fn sign(&self, file: &str, chain: Chain) -> String {
        STANDARD.encode(self.pair.sign(&subject(file, chain)))
    }
}

impl AuditKey {
    /// Reads a public key, or the public half of a private one, as PEM.
    ///
    /// # Errors
    /// [`InvalidAuditKey`].
    pub fn read(pem: &[u8]) -> Result<Self, InvalidAuditKey> {
        let Ok(info) = SubjectPublicKeyInfoDer::from_pem_slice(pem) else {
            return AuditSigner::read(pem).map(|signer| signer.public);
        };
        let key = info.strip_prefix(&ED25519_INFO[..]).ok_or(InvalidAuditKey)?;
        key.try_into().map(Self).map_err(|_| InvalidAuditKey)
    }

    /// Names it: the first 16 digits of the BLAKE3 of its bytes.
    #[must_use]
    pub fn name(&self) -> String {
        Digest::of(&self.0).to_hex().chars().take(NAME_DIGITS).collect()
    }

    /// Whether this signature says that the chain of a file stands here.
    pub(crate) fn verifies(&self, signature: &str, file: &str, chain: Chain) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        UnparsedPublicKey::new(&ED25519, self.0).verify(&subject(file, chain), &signature).is_ok()
    }
}

fn subject(file: &str, chain: Chain) -> Vec<u8> {
    format!("{SUBJECT}{file}\n{}", chain.to_hex()).into_bytes()
}
