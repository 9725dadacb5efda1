//! Tokens of an authorization server: a real one, and the real binary.

mod certificates;
mod introspection;
mod issuer;
mod serving;
mod verifier;

use std::sync::Arc;

use wharf::http::{ConnectionCertificate, TokenRefused, TokenVerifier, VerifiedToken};

/// Tokens that are shown on connections of which nothing is known.
trait VerifyAlone {
    async fn verify_alone(&self, token: &str) -> Result<VerifiedToken, TokenRefused>;
}

impl VerifyAlone for Arc<dyn TokenVerifier> {
    async fn verify_alone(&self, token: &str) -> Result<VerifiedToken, TokenRefused> {
        self.verify(token, &ConnectionCertificate::Unseen).await
    }
}
