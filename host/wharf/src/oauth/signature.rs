//! Signatures of tokens (RFC 7518, section 3): a published key, and the check of what was
//! signed by it. Knows nothing of claims.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk},
};
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

/// By a key that its issuer alone has.
pub(super) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// What checks signatures of one issuer. An RSA key has 2,048 to 8,192 bits.
#[derive(Clone, Debug)]
pub(super) enum VerificationKey {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of the curve, uncompressed (SEC 1, section 2.3.3).
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl VerificationKey {
    /// The key that this says; none where it is of a kind that is not known here.
    pub(super) fn new(key: &Jwk) -> Option<Self> {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
        let point = |x: &str, y: &str| Some([&[4][..], &bytes(x)?, &bytes(y)?].concat());
        match &key.algorithm {
            AlgorithmParameters::RSA(rsa) => Some(Self::Rsa { modulus: bytes(&rsa.n)?, exponent: bytes(&rsa.e)? }),
            AlgorithmParameters::EllipticCurve(on) if on.curve == EllipticCurve::P256 => {
                point(&on.x, &on.y).map(Self::P256)
            }
            AlgorithmParameters::EllipticCurve(on) if on.curve == EllipticCurve::P384 => {
                point(&on.x, &on.y).map(Self::P384)
            }
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
                bytes(&pair.x).map(Self::Ed25519)
            }
            _ => None,
        }
    }

    /// Whether keys of this kind sign by this algorithm.
    pub(super) fn is_of(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::Rsa { .. } => rsa(algorithm).is_some(),
            Self::P256(_) => algorithm == Algorithm::ES256,
            Self::P384(_) => algorithm == Algorithm::ES384,
            Self::Ed25519(_) => algorithm == Algorithm::EdDSA,
        }
    }

    /// Whether the key's owner signed this token by this algorithm, as its last part says.
    pub(super) fn signed(&self, token: &str, algorithm: Algorithm) -> bool {
        let Some((message, signature)) = token.rsplit_once('.') else { return false };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        let message = message.as_bytes();
        self.is_of(algorithm)
            && match self {
                Self::Rsa { modulus, exponent } => rsa(algorithm).is_some_and(|parameters| {
                    RsaPublicKeyComponents { n: modulus, e: exponent }.verify(parameters, message, &signature).is_ok()
                }),
                Self::P256(point) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, &signature)
                    .is_ok(),
                Self::P384(point) => UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, &signature)
                    .is_ok(),
                Self::Ed25519(key) => {
                    UnparsedPublicKey::new(&signature::ED25519, key).verify(message, &signature).is_ok()
                }
            }
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
