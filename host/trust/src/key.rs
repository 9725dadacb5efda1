//! Public keys that the operator trusts: of minisign, and PEM as cosign and OpenSSL write it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minisign_verify::PublicKey;
use ring::digest::{SHA256, digest};
use sigstore_verify::{
    crypto::{KeyAlgorithm, VerificationKey, validate_raw_public_key},
    types::DerPublicKey,
};

/// No key is longer: one of RSA with 8192 bits has 1.5 KiB.
const MAX_KEY_BYTES: usize = 16 << 10;
/// Bytes of a key of minisign: two of the algorithm, eight of the key's id, 32 of the key.
const MINISIGN_KEY_BYTES: usize = 42;
const MINISIGN_PREFIX: &str = "minisign:";
const SHA256_PREFIX: &str = "sha256:";

/// A public key whose signatures the operator trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    fingerprint: String,
    pub(crate) kind: KeyKind,
}

/// What a key verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Signatures of minisign.
    Minisign(PublicKey),
    /// Bundles of sigstore that have no certificate.
    Sigstore(DerPublicKey),
}

/// A text that is no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is longer than any key.
    #[error("the key has more than {most} bytes; give one public key")]
    TooLong {
        /// The most bytes.
        most: usize,
    },
    /// It is the half that nobody else may have.
    #[error("this is a private key; give its public half: `cosign public-key --key FILE`, `openssl pkey -pubout`")]
    Private,
    /// It has neither form.
    #[error(
        "this is no public key; give the line or the file that `minisign -G` writes to minisign.pub, or PEM that begins \
         with -----BEGIN PUBLIC KEY-----"
    )]
    Unknown,
    /// No signature of such a key is checked.
    #[error("such keys are not supported; use ECDSA on P-256 or P-384, Ed25519, or RSA of 2048 to 8192 bits")]
    Unsupported,
}

impl TrustedKey {
    /// Reads a public key: a file or a bare line of minisign, or PEM.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn read(text: &str) -> Result<Self, KeyError> {
        if text.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong { most: MAX_KEY_BYTES });
        }
        let text = text.trim();
        if text.contains("PRIVATE KEY-----") {
            return Err(KeyError::Private);
        }
        if text.starts_with("-----BEGIN ") { Self::from_pem(text) } else { Self::from_minisign(text) }
    }

    /// What names the key: `minisign:KEYID`, or `sha256:HEX` over the DER of the public key.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn from_minisign(text: &str) -> Result<Self, KeyError> {
        let mut lines = text.lines().map(str::trim);
        let line = match lines.next() {
            Some(comment) if comment.starts_with("untrusted comment:") => lines.next(),
            line => line,
        };
        let line = line.filter(|_| lines.next().is_none()).ok_or(KeyError::Unknown)?;
        let bytes = STANDARD.decode(line).map_err(|_| KeyError::Unknown)?;
        if bytes.len() != MINISIGN_KEY_BYTES {
            return Err(KeyError::Unknown);
        }
        let key = PublicKey::from_base64(line).map_err(|_| KeyError::Unknown)?;
        // Minisign shows the id as a number, and keeps it with its last byte first.
        let id: String = bytes[2..10].iter().rev().map(|byte| format!("{byte:02X}")).collect();
        Ok(Self { fingerprint: format!("{MINISIGN_PREFIX}{id}"), kind: KeyKind::Minisign(key) })
    }

    fn from_pem(text: &str) -> Result<Self, KeyError> {
        let key = DerPublicKey::from_pem(text).map_err(|_| KeyError::Unknown)?;
        match KeyAlgorithm::from_spki(&key).map_err(|_| KeyError::Unsupported)? {
            KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::Ed25519 | KeyAlgorithm::Rsa => {}
            // ring knows none of the others.
            _ => return Err(KeyError::Unsupported),
        }
        let parsed = VerificationKey::from_spki(&key).map_err(|_| KeyError::Unsupported)?;
        validate_raw_public_key(parsed.scheme(), parsed.as_bytes()).map_err(|_| KeyError::Unsupported)?;
        let fingerprint = format!("{SHA256_PREFIX}{}", sha256_hex(key.as_bytes()));
        Ok(Self { fingerprint, kind: KeyKind::Sigstore(key) })
    }
}

/// Whether a text has the form of a fingerprint.
pub(crate) fn is_fingerprint(text: &str) -> bool {
    if let Some(id) = text.strip_prefix(MINISIGN_PREFIX) {
        return id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
    }
    text.strip_prefix(SHA256_PREFIX).is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// SHA-256, as registries and fingerprints write it.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
