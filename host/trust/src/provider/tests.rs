use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};

use super::*;

const MESSAGE: &[u8] = b"a message";
/// Of OpenSSL, over the message: a key of 2048 bits (PKCS #1), and its signatures by PKCS #1 and PSS.
const RSA_KEY: &str = "MIIBCgKCAQEAyxTSOnWTnWo95ShFOp9oSo/WNHMm2IisKumxOFnc6wsobc4PLYxRF5Rklu/buW7fpGtL45jg7yiAhvKF435+e3OHf9yQjGYCJORPgIpZdsfLVwc6o1U8Uccb/RWWKlnrzbqLEuS69jLOk+mzZg3NkmKsajpS951iyYtF6zCKiz3/PnLj+Yy4Vku2BPWlCHfdZdO+G4H1MAkzuqZDJF+RH3srRif0ll/c1jXqjfIgYtoCLVxsZhvSm2oaQrfNqxxGy0GhPFca09Q2NO/ks2WAe1q0jFR+UpY7sNIouOq8ykFmZt1bMDB15sf/WvzdqvtBFZa+oDyNi8g7pdHY8/f99QIDAQAB";
const RSA_PKCS1: &str = "pQSrAPGTkTDN+6LQC2JvwJ6HmBYqPupFlh972bnzUHXrkniqQOXtHP1Gjx28psuCCpUx1nigcRunPhVxCAlYK6TgzCMsDfa/gF1LH3LdUTYsXlffIv/c8iGimzOrPebZe+3V9QRQOdzARyl4ySwLqNBerzRvmUOKupKxh1IXZ7IacMDaU837+6Dj9OJFTB65AjYY0hqOXTbxggpyAkn0UZDcMcqXQoUZDVUJenFDorw0v6srUFuF1sXBCdYfbgKQ0mCOQhVsIcOavZ5Fn5BnB3QX4JvP35RIrYaMX/fejvuWmyG6jZCvM80ui0lGnYqQqPBhNJIZPYNcYipgIERHGw==";
const RSA_PSS: &str = "ulQg+KmGRJJV5qmpbjko/k3l77Aq/+zttMBki5t2woiQ3jemkgVENSSFyjZTkGB6mM/h2vnTclv8qVZgvjT3JJ/aEDkaiRbM36ftgHRV+RjEZT66Or+9Xppvn1RLX7uDOugrA+UydpHZsXyp7a0M6zygUY43lY7KAkW7ONvthQaHlqeTJJcIOv/ZyNxjbfIpf2RWRLGInHwVdEDoQhBUVnpE062Eve9dzlz66aAwoMdLf5Mucd1/OClp6MrRiKQHAaw00mmb/Rd4kWMXM/kePUGqIbztGcLhMRFvi2i0PCpgzD9fQkxXgY+cz/Mjd56fWAg2QnvBKRugeoJEWnFdZQ==";

/// A scheme with a key and a signature over [`MESSAGE`].
type Signed = (SigningScheme, Vec<u8>, Vec<u8>);

fn p384() -> Signed {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_ASN1_SIGNING, &random).expect("a key");
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_ASN1_SIGNING, key.as_ref(), &random).expect("a key");
    let signature = key.sign(&random, MESSAGE).expect("a signature").as_ref().to_vec();
    (SigningScheme::EcdsaP384Sha384, key.public_key().as_ref().to_vec(), signature)
}

fn signed() -> Vec<Signed> {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key");
    let ed25519 = (key.public_key().as_ref().to_vec(), key.sign(MESSAGE).as_ref().to_vec());
    let decode = |text: &str| STANDARD.decode(text).expect("base64");
    vec![
        p384(),
        (SigningScheme::Ed25519, ed25519.0, ed25519.1),
        (SigningScheme::RsaPkcs1Sha256, decode(RSA_KEY), decode(RSA_PKCS1)),
        (SigningScheme::RsaPssSha256, decode(RSA_KEY), decode(RSA_PSS)),
    ]
}

#[test]
fn signatures_of_every_kind_of_key_are_verified() {
    for (scheme, key, mut signature) in signed() {
        assert_eq!(RingProvider.verify_raw(scheme, &key, MESSAGE, &signature).ok(), Some(()), "{}", scheme.name());
        assert!(RingProvider.verify_raw(scheme, &key, b"another message", &signature).is_err());
        signature[9] ^= 1;
        assert!(RingProvider.verify_raw(scheme, &key, MESSAGE, &signature).is_err());
    }
    let unknown = RingProvider.verify_raw(SigningScheme::MlDsa65, &[0; 32], MESSAGE, &[0; 64]);
    assert!(matches!(unknown, Err(Error::UnsupportedAlgorithm(_))));
}

#[test]
fn a_digest_is_verified_only_as_that_of_the_bytes_being_checked() {
    let (scheme, key, signature) = p384();
    let hash = |message: &[u8]| digest::digest(&digest::SHA384, message).as_ref().to_vec();
    let check = |digest: &[u8]| RingProvider.verify_prehashed(scheme, &key, digest, &signature);
    assert!(matches!(check(&hash(MESSAGE)), Err(Error::UnsupportedAlgorithm(_))), "no bytes are being checked");
    let lent = |message: &[u8], digest: &[u8]| with_message(Rc::from(message), || check(digest));
    lent(MESSAGE, &hash(MESSAGE)).expect("the signature");
    assert!(lent(MESSAGE, &hash(b"another message")).is_err());
    assert!(lent(b"another message", &hash(MESSAGE)).is_err());
    assert!(lent(b"another message", &hash(b"another message")).is_err());
    assert!(matches!(check(&hash(MESSAGE)), Err(Error::UnsupportedAlgorithm(_))), "the bytes were taken back");
}

#[test]
fn digests_are_those_of_ring() {
    for (algorithm, wanted) in [
        (HashAlgorithm::Sha2256, &digest::SHA256),
        (HashAlgorithm::Sha2384, &digest::SHA384),
        (HashAlgorithm::Sha2512, &digest::SHA512),
    ] {
        let mut hash = RingProvider.hash(algorithm).expect("a hash");
        hash.update(b"a ");
        hash.update(b"message");
        assert_eq!(hash.finalize(), digest::digest(wanted, MESSAGE).as_ref());
    }
}
