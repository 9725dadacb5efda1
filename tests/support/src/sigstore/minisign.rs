//! A key of minisign.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use blake2::{Blake2b512, Digest as _};
use ring::{
    rand::{SecureRandom as _, SystemRandom},
    signature::{Ed25519KeyPair, KeyPair as _},
};

/// What a signature over a hash begins with, and a key.
const HASHED: &[u8] = b"ED";
/// What a signature over the bytes themselves begins with, which minisign made before 0.10.
const LEGACY: &[u8] = b"Ed";
const TRUSTED_COMMENT: &str = "timestamp:1700000000\tfile:component.wasm\thashed";

/// A key that signs as `minisign -S` does. It ends with the test.
#[derive(Debug)]
pub struct MinisignKey {
    id: [u8; 8],
    pair: Ed25519KeyPair,
}

impl Default for MinisignKey {
    fn default() -> Self {
        Self::new()
    }
}

impl MinisignKey {
    /// A key with an id of its own.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn new() -> Self {
        let mut id = [0; 8];
        SystemRandom::new().fill(&mut id).expect("random bytes");
        Self::with_id(id)
    }

    /// A new key with this id.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn with_id(id: [u8; 8]) -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self { id, pair: Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key") }
    }

    /// The id as minisign shows it.
    #[must_use]
    pub fn id(&self) -> String {
        self.id.iter().rev().map(|byte| format!("{byte:02X}")).collect()
    }

    /// The public key: the two lines of minisign.pub.
    #[must_use]
    pub fn public(&self) -> String {
        let key = STANDARD.encode([LEGACY, &self.id, self.pair.public_key().as_ref()].concat());
        format!("untrusted comment: minisign public key {}\n{key}\n", self.id())
    }

    /// A signature over these bytes: the four lines of a .minisig file.
    #[must_use]
    pub fn sign(&self, bytes: &[u8]) -> String {
        self.write(HASHED, &Blake2b512::digest(bytes))
    }

    /// A signature in the form that minisign made before 0.10.
    #[must_use]
    pub fn sign_legacy(&self, bytes: &[u8]) -> String {
        self.write(LEGACY, bytes)
    }

    fn write(&self, algorithm: &[u8], signed: &[u8]) -> String {
        let signature = self.pair.sign(signed);
        let comment = self.pair.sign(&[signature.as_ref(), TRUSTED_COMMENT.as_bytes()].concat());
        format!(
            "untrusted comment: signature from minisign secret key\n{}\ntrusted comment: {TRUSTED_COMMENT}\n{}\n",
            STANDARD.encode([algorithm, &self.id, signature.as_ref()].concat()),
            STANDARD.encode(comment.as_ref()),
        )
    }
}
