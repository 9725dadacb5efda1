//! Which stream.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StreamError;

/// The handle of a stream: 128 random bits as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct StreamId(u128);

impl StreamId {
    /// A new id that nobody can guess.
    pub(super) fn random() -> Result<Self, StreamError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(StreamError::Randomness)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }
}

impl FromStr for StreamId {
    type Err = StreamError;

    /// A text that cannot be an id is one that names nothing.
    fn from_str(raw: &str) -> Result<Self, StreamError> {
        let digits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if raw.len() != 32 || !raw.bytes().all(digits) {
            return Err(StreamError::NotFound);
        }
        u128::from_str_radix(raw, 16).map(Self).map_err(|_| StreamError::NotFound)
    }
}

impl TryFrom<String> for StreamId {
    type Error = StreamError;

    fn try_from(raw: String) -> Result<Self, StreamError> {
        raw.parse()
    }
}

impl From<StreamId> for String {
    fn from(id: StreamId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
