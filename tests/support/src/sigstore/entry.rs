//! The transparency log: entries, each in a tree of its own.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};

use super::{Defect, hex, sha256};

/// The name by which the log signs its trees.
const NAME: &str = "rekor.test";

#[derive(Debug)]
pub(super) struct TransparencyLog {
    key: KeyPair,
    entries: AtomicU64,
}

/// What the log is shown.
pub(super) enum Signed {
    /// A signature over bytes of this digest.
    Message { digest: [u8; 32], signature: Vec<u8> },
    /// A signed statement.
    Statement { envelope: [u8; 32], payload: [u8; 32], signature: Vec<u8> },
}

impl TransparencyLog {
    pub(super) fn new() -> Self {
        // Numbers unlike those in trees, where each entry is the first.
        Self { key: KeyPair::generate().expect("a key"), entries: AtomicU64::new(1000) }
    }

    pub(super) fn key(&self) -> &KeyPair {
        &self.key
    }

    /// Logs what was signed, and gives the entry as a bundle has it.
    pub(super) fn entry(&self, signed: &Signed, verifier: &str, seen: Duration, defect: Option<Defect>) -> Value {
        let number = self.entries.fetch_add(1, Relaxed);
        let (kind, body) = body(signed, verifier);
        let log = sha256(&self.key.subject_public_key_info());
        let encoded = STANDARD.encode(&body);
        let seconds = seen.as_secs();
        let mut entry = json!({
            "logIndex": number.to_string(),
            "logId": {"keyId": STANDARD.encode(log)},
            "kindVersion": {"kind": kind, "version": "0.0.1"},
            "integratedTime": seconds.to_string(),
            "canonicalizedBody": encoded,
        });
        if defect != Some(Defect::NoPromise) {
            // Canonical JSON: its fields in this order, without space.
            let promised = format!(
                r#"{{"body":"{encoded}","integratedTime":{seconds},"logID":"{}","logIndex":{number}}}"#,
                hex(&log)
            );
            let promise = self.key.sign(promised.as_bytes()).expect("a signature");
            entry["inclusionPromise"] = json!({"signedEntryTimestamp": STANDARD.encode(promise)});
        }
        if defect != Some(Defect::NoProof) {
            entry["inclusionProof"] = self.proof(body.as_bytes());
        }
        entry
    }

    /// The proof of the only entry of a tree: its leaf is the root.
    fn proof(&self, body: &[u8]) -> Value {
        let leaf = [&[0][..], body].concat();
        let root = STANDARD.encode(sha256(&leaf));
        let tree = format!("{NAME} - 1\n1\n{root}\n");
        let mut signature = sha256(&self.key.subject_public_key_info())[..4].to_vec();
        signature.extend(self.key.sign(tree.as_bytes()).expect("a signature"));
        let envelope = format!("{tree}\n\u{2014} {NAME} {}\n", STANDARD.encode(signature));
        json!({
            "logIndex": "0",
            "rootHash": root,
            "treeSize": "1",
            "hashes": [],
            "checkpoint": {"envelope": envelope},
        })
    }
}

/// The kind of an entry and its body.
fn body(signed: &Signed, verifier: &str) -> (&'static str, String) {
    let verifier = STANDARD.encode(verifier);
    let (kind, spec) = match signed {
        Signed::Message { digest, signature } => (
            "hashedrekord",
            json!({
                "data": {"hash": {"algorithm": "sha256", "value": hex(digest)}},
                "signature": {"content": STANDARD.encode(signature), "publicKey": {"content": verifier}},
            }),
        ),
        Signed::Statement { envelope, payload, signature } => (
            "dsse",
            json!({
                "envelopeHash": {"algorithm": "sha256", "value": hex(envelope)},
                "payloadHash": {"algorithm": "sha256", "value": hex(payload)},
                "signatures": [{"signature": STANDARD.encode(signature), "verifier": verifier}],
            }),
        ),
    };
    (kind, json!({"apiVersion": "0.0.1", "kind": kind, "spec": spec}).to_string())
}
