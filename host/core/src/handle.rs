//! Handles of what the host owns and hands out by name.
//!
//! Knows nothing of what one stands for: rooms wrap it in a type of their own.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// 128 random bits, as 32 hexadecimal digits: nobody guesses one, and it is
/// never an id of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Handle(u128);

/// A text that cannot be a handle, and so names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a handle is 32 hexadecimal digits")]
pub struct NoHandle;

impl Handle {
    /// A new one that nobody can guess.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }
}

impl FromStr for Handle {
    type Err = NoHandle;

    fn from_str(raw: &str) -> Result<Self, NoHandle> {
        let digits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if raw.len() != 32 || !raw.bytes().all(digits) {
            return Err(NoHandle);
        }
        u128::from_str_radix(raw, 16).map(Self).map_err(|_| NoHandle)
    }
}

impl TryFrom<String> for Handle {
    type Error = NoHandle;

    fn try_from(raw: String) -> Result<Self, NoHandle> {
        raw.parse()
    }
}

impl From<Handle> for String {
    fn from(handle: Handle) -> Self {
        handle.to_string()
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_reads_as_it_was_written_and_nothing_else_reads_as_one() {
        let handle = Handle::random().expect("randomness");
        assert_eq!(handle.to_string().parse(), Ok(handle));
        assert_eq!(serde_json::to_value(handle).expect("a text"), handle.to_string());
        assert_ne!(handle, Handle::random().expect("randomness"));
        for other in ["", "1234", "+0000000000000000000000000000001", &"F".repeat(32), &"0".repeat(33)] {
            assert_eq!(other.parse::<Handle>(), Err(NoHandle), "{other}");
        }
    }
}
