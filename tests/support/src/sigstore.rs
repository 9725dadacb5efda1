//! A sigstore instance of one test, which signs any bytes, and a key of minisign that does.
//!
//! An instance has what the public one has: an authority that certifies identities, a log of its
//! certificates, and a transparency log of version 1. Nothing listens: a bundle is made in memory.
//!
//! ```
//! # use wharf_test_support::sigstore::{MinisignKey, SigstoreInstance};
//! let instance = SigstoreInstance::new();
//! let identity = "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1";
//! let bundle = instance.sign(b"bytes", identity, "https://token.actions.githubusercontent.com");
//! let root = instance.trusted_root();
//! let (bundle, public) = instance.sign_with_key(b"bytes");
//! let key = MinisignKey::new();
//! let (signature, public) = (key.sign(b"bytes"), key.public());
//! ```

mod authority;
mod entry;
mod minisign;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use authority::{CertificateAuthority, Certified};
use entry::{Signed, TransparencyLog};
pub use minisign::MinisignKey;

/// The type of the statement that `cosign sign` makes about an image.
pub const COSIGN_STATEMENT: &str = "https://sigstore.dev/cosign/sign/v1";
/// The type of the statement that GitHub's attestations of provenance make.
pub const PROVENANCE_STATEMENT: &str = "https://slsa.dev/provenance/v1";
const STATEMENT_PAYLOAD: &str = "application/vnd.in-toto+json";

/// An authority and two logs. Their keys end with the test.
#[derive(Debug)]
pub struct SigstoreInstance {
    authority: CertificateAuthority,
    log: TransparencyLog,
}

/// Who signs, what the signature looks like, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct SignAs<'s> {
    /// The address of a workflow, or of mail.
    pub identity: &'s str,
    /// The provider that knows the account.
    pub issuer: &'s str,
    /// The type of a statement about the bytes; a plain signature over them where absent.
    pub statement: Option<&'s str>,
    /// What the statement says, as JSON; nothing where absent.
    pub predicate: Option<&'s str>,
    /// What is wrong.
    pub defect: Option<Defect>,
}

/// What is wrong with a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// The certificate had ended when the log saw the signature.
    Expired,
    /// The certificate was never shown to the log of certificates.
    NoCertificateTimestamp,
    /// The certificate is for servers, not for code.
    NotForCode,
    /// The log's entry is of other bytes.
    OtherEntry,
    /// The bundle has no entry.
    NoEntry,
    /// The entry has no proof that the log has it.
    NoProof,
    /// The entry has no promise of the log, which tells the time.
    NoPromise,
}

impl<'s> SignAs<'s> {
    /// A plain signature without defects.
    #[must_use]
    pub fn new(identity: &'s str, issuer: &'s str) -> Self {
        Self { identity, issuer, statement: None, predicate: None, defect: None }
    }

    /// Makes it a statement of this type, such as [`COSIGN_STATEMENT`].
    #[must_use]
    pub fn statement(self, kind: &'s str) -> Self {
        Self { statement: Some(kind), ..self }
    }

    /// Spoils it.
    #[must_use]
    pub fn with(self, defect: Defect) -> Self {
        Self { defect: Some(defect), ..self }
    }
}

impl Default for SigstoreInstance {
    fn default() -> Self {
        Self::new()
    }
}

impl SigstoreInstance {
    /// One with keys of its own.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn new() -> Self {
        Self { authority: CertificateAuthority::new(), log: TransparencyLog::new() }
    }

    /// What a verifier has to know of it: a trusted_root.json.
    #[must_use]
    pub fn trusted_root(&self) -> String {
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [trusted_log("https://rekor.test", self.log.key())],
            "certificateAuthorities": [{
                "subject": {"organization": "wharf", "commonName": "test"},
                "uri": "https://fulcio.test",
                "certChain": {"certificates": [{"rawBytes": STANDARD.encode(self.authority.certificate())}]},
                "validFor": {"start": "2020-01-01T00:00:00Z"},
            }],
            "ctlogs": [trusted_log("https://ct.test", self.authority.log_key())],
            "timestampAuthorities": [],
        })
        .to_string()
    }

    /// A bundle with a signature over these bytes, made now.
    #[must_use]
    pub fn sign(&self, bytes: &[u8], identity: &str, issuer: &str) -> String {
        self.sign_as(bytes, &SignAs::new(identity, issuer))
    }

    /// A bundle over these bytes, with or without defects.
    ///
    /// # Panics
    /// Where the identity is not ASCII.
    #[must_use]
    pub fn sign_as(&self, bytes: &[u8], sign: &SignAs<'_>) -> String {
        let now = now();
        let Certified { der, pem, key } = self.authority.certify(sign, now);
        let material = json!({"certificate": {"rawBytes": STANDARD.encode(der)}});
        let says = sign.statement.map(|kind| (kind, sign.predicate.unwrap_or("{}")));
        self.bundle(bytes, &key, &pem, material, says, sign.defect, now)
    }

    /// A bundle over these bytes by a new plain key, as `cosign sign-blob --key` makes it, and the
    /// public key as PEM.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn sign_with_key(&self, bytes: &[u8]) -> (String, String) {
        self.sign_with_key_as(bytes, None, None)
    }

    /// As [`SigstoreInstance::sign_with_key`], as a statement of this type and with a defect.
    ///
    /// # Panics
    /// Where no key can be made.
    #[must_use]
    pub fn sign_with_key_as(&self, bytes: &[u8], statement: Option<&str>, defect: Option<Defect>) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let public = key.public_key_pem();
        let material = json!({"publicKey": {"hint": STANDARD.encode(sha256(&key.subject_public_key_info()))}});
        let says = statement.map(|kind| (kind, "{}"));
        (self.bundle(bytes, &key, &public, material, says, defect, now()), public)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a bundle, each once")]
    fn bundle(
        &self,
        bytes: &[u8],
        key: &KeyPair,
        verifier: &str,
        mut material: Value,
        statement: Option<(&str, &str)>,
        defect: Option<Defect>,
        seen: Duration,
    ) -> String {
        let (field, content, signed) = content(bytes, key, statement);
        let logged = match defect {
            Some(Defect::OtherEntry) => self::content(b"other bytes", key, statement).2,
            _ => signed,
        };
        material["tlogEntries"] = match defect {
            Some(Defect::NoEntry) => json!([]),
            _ => json!([self.log.entry(&logged, verifier, seen, defect)]),
        };
        material["timestampVerificationData"] = json!({});
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": material,
            field: content,
        })
        .to_string()
    }
}

/// A signature by this key: its field of a bundle, its content, and what the log is shown.
fn content(bytes: &[u8], key: &KeyPair, statement: Option<(&str, &str)>) -> (&'static str, Value, Signed) {
    let Some((kind, predicate)) = statement else {
        let signature = key.sign(bytes).expect("a signature");
        let content = json!({
            "messageDigest": {"algorithm": "SHA2_256", "digest": STANDARD.encode(sha256(bytes))},
            "signature": STANDARD.encode(&signature),
        });
        return ("messageSignature", content, Signed::Message { digest: sha256(bytes), signature });
    };
    let payload = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "component", "digest": {"sha256": hex(&sha256(bytes))}}],
        "predicateType": kind,
        "predicate": serde_json::from_str::<Value>(predicate).expect("JSON"),
    })
    .to_string();
    let encoded = format!("DSSEv1 {} {STATEMENT_PAYLOAD} {} {payload}", STATEMENT_PAYLOAD.len(), payload.len());
    let signature = key.sign(encoded.as_bytes()).expect("a signature");
    let content = json!({
        "payloadType": STATEMENT_PAYLOAD,
        "payload": STANDARD.encode(&payload),
        "signatures": [{"sig": STANDARD.encode(&signature)}],
    });
    let envelope = sha256(content.to_string().as_bytes());
    ("dsseEnvelope", content, Signed::Statement { envelope, payload: sha256(payload.as_bytes()), signature })
}

fn trusted_log(address: &str, key: &KeyPair) -> Value {
    let public = key.subject_public_key_info();
    json!({
        "baseUrl": address,
        "hashAlgorithm": "SHA2_256",
        "publicKey": {
            "rawBytes": STANDARD.encode(&public),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": {"start": "2020-01-01T00:00:00Z"},
        },
        "logId": {"keyId": STANDARD.encode(sha256(&public))},
    })
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970")
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("32 bytes")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
