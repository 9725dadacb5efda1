//! sigstore's cryptography, by ring.
//!
//! The library of sigstore checks an ECDSA or RSA signature over an artifact by the artifact's
//! digest. ring takes no digest: it hashes what it verifies. So [`with_message`] lends the provider
//! the bytes for the time of one check. A digest of any other bytes is refused.

#[cfg(test)]
mod tests;

use std::{cell::RefCell, rc::Rc};

use ring::{
    digest::{self, Context},
    signature::{self, UnparsedPublicKey, VerificationAlgorithm},
};
use sigstore_verify::{
    crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme, install_default_provider},
    types::HashAlgorithm,
};

thread_local! {
    /// What the artifact of the running check is. Owned, since no borrow outlives a scope without
    /// unsafe code: one copy for each check.
    static MESSAGE: RefCell<Option<Rc<[u8]>>> = const { RefCell::new(None) };
}

/// Makes ring the process's provider, unless the app that embeds this has chosen one.
pub(crate) fn install() {
    // The error is a provider that is there: the app's, or this one.
    let _ = install_default_provider(&RingProvider);
}

/// Runs a check of a signature over these bytes.
pub(crate) fn with_message<T>(message: Rc<[u8]>, check: impl FnOnce() -> T) -> T {
    /// Takes the bytes back also where the check panics.
    struct Lent;
    impl Drop for Lent {
        fn drop(&mut self) {
            MESSAGE.set(None);
        }
    }
    MESSAGE.set(Some(message));
    let _lent = Lent;
    check()
}

#[derive(Debug)]
pub(crate) struct RingProvider;

struct RingHash(Context);

impl HashContext for RingHash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for RingProvider {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        Ok(Box::new(RingHash(Context::new(digest_algorithm(algorithm)?))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> Result<()> {
        UnparsedPublicKey::new(verification(scheme)?, key)
            .verify(data, signature)
            .map_err(|_| Error::Verification(format!("{} signature invalid", scheme.name())))
    }

    fn verify_prehashed(&self, scheme: SigningScheme, key: &[u8], digest: &[u8], signature: &[u8]) -> Result<()> {
        let unsupported = || Error::UnsupportedAlgorithm("ring verifies whole messages, no digests".to_owned());
        let message = MESSAGE.with_borrow(Clone::clone).ok_or_else(unsupported)?;
        let algorithm = digest_algorithm(scheme.hash_algorithm().ok_or_else(unsupported)?)?;
        if digest::digest(algorithm, &message).as_ref() != digest {
            return Err(Error::Verification("the digest is of other bytes than those being checked".to_owned()));
        }
        self.verify_raw(scheme, key, &message, signature)
    }
}

fn digest_algorithm(algorithm: HashAlgorithm) -> Result<&'static digest::Algorithm> {
    match algorithm {
        HashAlgorithm::Sha2256 => Ok(&digest::SHA256),
        HashAlgorithm::Sha2384 => Ok(&digest::SHA384),
        HashAlgorithm::Sha2512 => Ok(&digest::SHA512),
        other => Err(Error::UnsupportedAlgorithm(format!("ring has no {other}"))),
    }
}

fn verification(scheme: SigningScheme) -> Result<&'static dyn VerificationAlgorithm> {
    Ok(match scheme {
        SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &signature::ED25519,
        SigningScheme::RsaPkcs1Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        SigningScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        other => return Err(Error::UnsupportedAlgorithm(format!("ring has no {}", other.name()))),
    })
}
