//! The secret that tells a shell's signals from those that programs print.

use std::fmt;

/// The fewest characters: 16 of 36 are 82 bits, and a program that guesses has
/// to print each guess.
const SHORTEST: usize = 16;
const LONGEST: usize = 128;

/// The secret that a shell sends with its signals. The code that starts the shell makes
/// it at random; it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(Box<str>);

/// Why a text is no nonce. It does not repeat the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a nonce has {SHORTEST} to {LONGEST} characters of [A-Za-z0-9]")]
pub struct InvalidNonce;

impl Nonce {
    /// Takes a nonce.
    ///
    /// # Errors
    /// Where it is too short to be a secret, too long, or holds what would end
    /// an OSC or one of its parameters.
    pub fn new(raw: &str) -> Result<Self, InvalidNonce> {
        let legal = (SHORTEST..=LONGEST).contains(&raw.len()) && raw.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if legal { Ok(Self(raw.into())) } else { Err(InvalidNonce) }
    }

    pub(super) fn is(&self, given: &str) -> bool {
        &*self.0 == given
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Nonce(..)")
    }
}
