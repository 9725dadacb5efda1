//! What a client shows to be let in: owns which texts are tokens, and their comparison. It
//! knows no transport, and not whose a token is.

use std::{fmt, io};

const SHORTEST: usize = 16;
const LONGEST: usize = 1_024;

/// A bearer token. Only its digest is kept; two are compared in constant time.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(blake3::Hash);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is {SHORTEST} to {LONGEST} bytes of [A-Za-z0-9._~+/=-]")]
pub struct InvalidToken;

/// Why a text is no digest of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest of a token is 64 hexadecimal digits; `wharf token new` prints one")]
pub struct InvalidDigest;

impl Token {
    /// The token of this text.
    ///
    /// # Errors
    /// Where a client could not send it, or it is too short to be a secret.
    pub fn new(text: &str) -> Result<Self, InvalidToken> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        match text.len() {
            SHORTEST..=LONGEST if text.bytes().all(legal) => Ok(Self(blake3::hash(text.as_bytes()))),
            _ => Err(InvalidToken),
        }
    }

    /// The token that has this digest: BLAKE3 as 64 hexadecimal digits.
    ///
    /// # Errors
    /// Where the text is no such digest.
    pub fn of_digest(digest: &str) -> Result<Self, InvalidDigest> {
        blake3::Hash::from_hex(digest).map(Self).map_err(|_| InvalidDigest)
    }

    /// Its digest, which may be written where the token may not.
    #[must_use]
    pub fn digest(&self) -> String {
        self.0.to_hex().to_string()
    }

    /// A new token that nobody can guess, as text: 256 random bits.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn generate() -> io::Result<String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
    }

    /// Whether a client showed it. How long that takes tells nothing of the
    /// token: digests are compared in constant time.
    #[must_use]
    pub fn is(&self, shown: &[u8]) -> bool {
        shown.len() <= LONGEST && self.0 == blake3::hash(shown)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_alone_and_never_shown() {
        let text = Token::generate().expect("randomness");
        let token = Token::new(&text).expect("legal");
        assert!(token.is(text.as_bytes()));
        for other in ["", "x", &text[1..], &format!("{text}0"), &text.to_uppercase()] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert_ne!(text, Token::generate().expect("randomness"));
        assert_eq!(format!("{token:?}"), "Token");
        let again = Token::of_digest(&token.digest()).expect("a digest");
        assert!(again.is(text.as_bytes()) && !again.is(token.digest().as_bytes()));
        assert_eq!(Token::of_digest(&text[1..]).err(), Some(InvalidDigest));
        for illegal in ["", "short", "with a space in it", "with-a-line\n-break-in"] {
            assert!(Token::new(illegal).is_err(), "{illegal}");
        }
    }
}
