//! Which terminal.

use std::{fmt, str::FromStr};

use crate::TerminalError;

/// The handle of a terminal: 128 random bits as 32 hexadecimal digits. It is
/// never a process id of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TerminalId(u128);

impl TerminalId {
    /// A new id that nobody can guess.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }
}

impl FromStr for TerminalId {
    type Err = TerminalError;

    /// A text that cannot be an id is one that names nothing.
    fn from_str(raw: &str) -> Result<Self, TerminalError> {
        let digits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if raw.len() != 32 || !raw.bytes().all(digits) {
            return Err(TerminalError::NotFound);
        }
        u128::from_str_radix(raw, 16).map(Self).map_err(|_| TerminalError::NotFound)
    }
}

impl fmt::Display for TerminalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Debug for TerminalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_as_it_was_written_and_nothing_else_reads_as_one() {
        let id = TerminalId::random().expect("randomness");
        assert_eq!(id.to_string().parse::<TerminalId>().expect("its own text"), id);
        assert_ne!(id, TerminalId::random().expect("randomness"));
        for other in ["", "1234", "+0000000000000000000000000000001", &"F".repeat(32), &"0".repeat(33)] {
            assert!(matches!(other.parse::<TerminalId>(), Err(TerminalError::NotFound)), "{other}");
        }
    }
}
