//! Handles of what the host owns and hands out by name.
//!
//! Knows nothing of what one stands for: each crate wraps it in a type of its own.

mod mint;

use std::{
    fmt, io,
    num::NonZeroU32,
    str::FromStr,
    time::{SystemTime, UNIX_EPOCH},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid, Variant, Version, fmt::Simple};

pub use mint::HandleMint;

/// A UUID (RFC 9562) as 32 hexadecimal digits: of version 4, which nobody guesses, of
/// version 7 where later ones sort behind earlier ones, or of version 8, which nobody
/// guesses and which names its host. Never an id of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Handle(Uuid);

/// A text that cannot be a handle, and so names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a handle is 32 hexadecimal digits")]
pub struct NoHandle;

impl Handle {
    /// A new one that nobody can guess.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(Builder::from_random_bytes(bytes).into_uuid()))
    }

    /// A new one that sorts behind those of earlier milliseconds. It tells when it was made,
    /// and has 74 random bits.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn ordered() -> io::Result<Self> {
        let mut bytes = [0; 10];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        Ok(Self(Builder::from_unix_timestamp_millis(milliseconds, &bytes).into_uuid()))
    }

    /// The incarnation of the host that it names: its first 32 bits where it is of
    /// version 8. Anybody can write any, so that it proves nothing.
    #[must_use]
    pub fn incarnation(&self) -> Option<NonZeroU32> {
        let Self(uuid) = self;
        let names_a_host = uuid.get_version() == Some(Version::Custom) && uuid.get_variant() == Variant::RFC4122;
        // The first of its fields is those 32 bits.
        let (first, ..) = uuid.as_fields();
        NonZeroU32::new(first).filter(|_| names_a_host)
    }
}

impl FromStr for Handle {
    type Err = NoHandle;

    fn from_str(raw: &str) -> Result<Self, NoHandle> {
        // The one form that it is written in: two texts never name the same.
        let uuid = raw.parse::<Simple>().map_err(|_| NoHandle)?;
        if raw.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(NoHandle);
        }
        Ok(Self(uuid.into_uuid()))
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
        fmt::Display::fmt(self.0.as_simple(), formatter)
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
    fn a_new_handle_is_a_random_uuid() {
        assert_eq!(Handle::random().expect("randomness").0.get_version(), Some(uuid::Version::Random));
    }

    #[test]
    fn an_ordered_handle_is_a_uuid_of_its_time() {
        let handle = Handle::ordered().expect("randomness");
        assert_eq!(handle.0.get_version(), Some(uuid::Version::SortRand));
        let (seconds, _) = handle.0.get_timestamp().expect("a time").to_unix();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        assert!(now.abs_diff(seconds) < 600, "{seconds} at {now}");
        assert_ne!(handle, Handle::ordered().expect("randomness"));
    }

    #[test]
    fn a_handle_reads_as_it_was_written_and_nothing_else_reads_as_one() {
        let handle = Handle::random().expect("randomness");
        assert_eq!(handle.to_string().parse(), Ok(handle));
        assert_eq!(serde_json::to_value(handle).expect("a text"), handle.to_string());
        assert_ne!(handle, Handle::random().expect("randomness"));
        let hyphenated = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        for other in ["", "1234", "+0000000000000000000000000000001", hyphenated, &"F".repeat(32), &"0".repeat(33)] {
            assert_eq!(other.parse::<Handle>(), Err(NoHandle), "{other}");
        }
    }
}
