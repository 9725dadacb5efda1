//! Each algorithm, by keys that sign for real.

use jsonwebtoken::Algorithm;
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512,
        RsaEncoding, RsaKeyPair,
    },
};
use serde_json::json;

use super::*;

/// Made for these tests by `openssl genpkey -algorithm RSA -outform DER`; it opens nothing.
const RSA: &[u8] = include_bytes!("rsa.der");
const MESSAGE: &str = "eyJhbGciOiJ4In0.eyJzdWIiOiJhZGEifQ";

fn key(description: serde_json::Value) -> VerificationKey {
    VerificationKey::new(&serde_json::from_value(description).expect("a JSON Web Key")).expect("a key of a known kind")
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key signs by this algorithm and no other; another text or signature does not hold.
fn holds(key: &VerificationKey, algorithm: Algorithm, signature: &[u8]) {
    let token = |message: &str, signature: &[u8]| format!("{message}.{}", text(signature));
    for tried in ALGORITHMS {
        assert_eq!(key.signed(&token(MESSAGE, signature), tried), tried == algorithm, "{algorithm:?} as {tried:?}");
    }
    let mut changed = signature.to_vec();
    changed[0] ^= 1;
    for (message, signature) in [
        ("eyJhbGciOiJ4In0.eyJzdWIiOiJib2IifQ", signature),
        (MESSAGE, &changed),
        (MESSAGE, &[]),
        (MESSAGE, &signature[1..]),
    ] {
        assert!(!key.signed(&token(message, signature), algorithm), "{algorithm:?}");
    }
    assert!(!key.signed(&format!("{MESSAGE}.{}=", text(signature)), algorithm), "one form alone is right");
}

#[test]
fn signatures_by_rsa_hold() {
    let pair = RsaKeyPair::from_der(RSA).expect("a key");
    let parts = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
    let key = key(json!({"kty": "RSA", "n": text(&parts.n), "e": text(&parts.e)}));
    let algorithms: [(Algorithm, &'static dyn RsaEncoding); 6] = [
        (Algorithm::RS256, &RSA_PKCS1_SHA256),
        (Algorithm::RS384, &RSA_PKCS1_SHA384),
        (Algorithm::RS512, &RSA_PKCS1_SHA512),
        (Algorithm::PS256, &RSA_PSS_SHA256),
        (Algorithm::PS384, &RSA_PSS_SHA384),
        (Algorithm::PS512, &RSA_PSS_SHA512),
    ];
    for (algorithm, encoding) in algorithms {
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), MESSAGE.as_bytes(), &mut signature).expect("signed");
        holds(&key, algorithm, &signature);
    }
}

#[test]
fn signatures_by_curves_hold() {
    let random = SystemRandom::new();
    for (algorithm, signing, curve, size) in [
        (Algorithm::ES256, &ECDSA_P256_SHA256_FIXED_SIGNING, "P-256", 32),
        (Algorithm::ES384, &ECDSA_P384_SHA384_FIXED_SIGNING, "P-384", 48),
    ] {
        let bytes = EcdsaKeyPair::generate_pkcs8(signing, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(signing, bytes.as_ref(), &random).expect("a key");
        let (x, y) = pair.public_key().as_ref()[1..].split_at(size);
        let key = key(json!({"kty": "EC", "crv": curve, "x": text(x), "y": text(y)}));
        holds(&key, algorithm, pair.sign(&random, MESSAGE.as_bytes()).expect("signed").as_ref());
    }
    let bytes = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
    let pair = Ed25519KeyPair::from_pkcs8(bytes.as_ref()).expect("a key");
    let key = key(json!({"kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref())}));
    holds(&key, Algorithm::EdDSA, pair.sign(MESSAGE.as_bytes()).as_ref());
}

#[test]
fn keys_of_other_kinds_are_none() {
    for other in [
        json!({"kty": "oct", "k": "c2VjcmV0"}),
        json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}),
        json!({"kty": "RSA", "n": "not base64!", "e": "AQAB"}),
    ] {
        assert!(VerificationKey::new(&serde_json::from_value(other.clone()).expect("a key")).is_none(), "{other}");
    }
}
