//! The lines of `[plugins] trust`, and what is wrong with those that are no policy.

use std::error::Error;

use crate::{
    identity::{IDENTITY_LIMIT_BYTES, IdentityPattern, is_issuer},
    key::TrustedKey,
};

/// One line of `[plugins] trust`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustRule {
    /// Who has a certificate of this identity, at this issuer.
    Identity {
        /// The identity, in which `*` stands for any text.
        identity: IdentityPattern,
        /// The issuer, exactly: the address of the provider that knows the account.
        issuer: String,
    },
    /// Who has this key.
    Key {
        /// The public key.
        key: TrustedKey,
        /// What the operator calls it.
        name: Option<String>,
    },
}

/// Why rules are no policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// An issuer is none.
    #[error(
        "`issuer` is the whole address of one provider of identities, in fewer than {IDENTITY_LIMIT_BYTES} bytes and \
         without `*`, such as https://token.actions.githubusercontent.com"
    )]
    Issuer,
    /// Two keys have one fingerprint, so grants could not tell them apart.
    #[error("two different keys have the fingerprint {fingerprint}; trust one of them, and make the other one anew")]
    SameFingerprint {
        /// The fingerprint.
        fingerprint: String,
    },
    /// The root is longer than any.
    #[error("the trusted root has more than {most} bytes; give the trusted_root.json of one sigstore instance")]
    RootTooLong {
        /// The most bytes.
        most: usize,
    },
    /// The root is none.
    #[error("the trusted root is not usable; give the trusted_root.json of a sigstore instance")]
    Root(#[source] Box<dyn Error + Send + Sync>),
    /// The root lacks what a rule needs.
    #[error("the trusted root has no {lacking}, without which no signature of a rule can be verified")]
    RootLacks {
        /// The list that is empty.
        lacking: &'static str,
    },
}

/// Checks what each rule says, and that no two of them can be taken for one another.
pub(crate) fn check(rules: &[TrustRule]) -> Result<(), TrustError> {
    for (number, rule) in rules.iter().enumerate() {
        match rule {
            TrustRule::Identity { issuer, .. } if !is_issuer(issuer) => return Err(TrustError::Issuer),
            TrustRule::Identity { .. } => {}
            TrustRule::Key { key, .. } => {
                let is_other = |rule: &TrustRule| match rule {
                    TrustRule::Key { key: other, .. } => other != key && other.fingerprint() == key.fingerprint(),
                    TrustRule::Identity { .. } => false,
                };
                if rules[..number].iter().any(is_other) {
                    return Err(TrustError::SameFingerprint { fingerprint: key.fingerprint().to_owned() });
                }
            }
        }
    }
    Ok(())
}
