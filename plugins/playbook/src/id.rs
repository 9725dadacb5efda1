//! What a playbook is called: 128 random bits, so that an id tells nothing of
//! other playbooks, cannot be guessed and never returns.

use std::fmt;

use wharf_sdk::ToolError;

use crate::limits::{self, check_length};

const PREFIX: &str = "pb_";
const RANDOM_BYTES: usize = 16;

/// The id of a playbook that may or may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaybookId(String);

impl PlaybookId {
    /// An id that was never given before.
    pub(crate) fn random() -> Result<Self, ToolError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| ToolError::unavailable(format!("there is no randomness for an id now: {error}")))?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(Self(format!("{PREFIX}{digits}")))
    }

    /// The id as a model writes it. A text that cannot be an id is the id of no playbook.
    pub(crate) fn parse(raw: &str) -> Result<Self, ToolError> {
        check_length("id", raw, limits::ID)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match raw.strip_prefix(PREFIX) {
            Some(digits) if digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(is_digit) => Ok(Self(raw.into())),
            _ => Err(unknown(raw)),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlaybookId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Names no other playbook, since it may belong to another owner.
pub(crate) fn unknown(id: impl fmt::Display) -> ToolError {
    ToolError::not_found(format!("there is no playbook `{id}`; list_playbooks shows yours"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_read_back_and_no_two_are_the_same() {
        let ids: BTreeSet<_> = (0..1_000).map(|_| PlaybookId::random().expect("randomness").0).collect();
        assert_eq!(ids.len(), 1_000);
        for id in ids {
            assert_eq!(PlaybookId::parse(&id).map(|id| id.0), Ok(id));
        }
    }

    #[test]
    fn what_cannot_be_an_id_is_the_id_of_nothing() {
        for raw in ["", "pb_", "1", "pb_0123456789abcdef0123456789abcdeF", "xx_0123456789abcdef0123456789abcdef"] {
            assert_eq!(PlaybookId::parse(raw), Err(unknown(raw)), "{raw}");
        }
        assert!(PlaybookId::parse(&"x".repeat(65)).is_err_and(|error| error.message.contains("65 characters")));
    }
}
