//! Which life of a host.

use std::{fmt, io, num::NonZeroU32};

use serde::{Deserialize, Serialize};

/// One life of a host in its cell: a host that starts again, or was taken for dead, has another
/// one. Handles begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(NonZeroU32);

impl Incarnation {
    /// A new one. The database refuses one that a host has already.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn random() -> io::Result<Self> {
        loop {
            let number = getrandom::u32().map_err(io::Error::other)?;
            if let Some(number) = NonZeroU32::new(number) {
                return Ok(Self(number));
            }
        }
    }

    /// The number.
    #[must_use]
    pub fn number(self) -> NonZeroU32 {
        self.0
    }

    /// As databases keep it.
    #[must_use]
    pub fn to_i64(self) -> i64 {
        i64::from(self.0.get())
    }

    /// From what a database keeps; nothing where that is no incarnation.
    #[must_use]
    pub fn from_i64(number: i64) -> Option<Self> {
        u32::try_from(number).ok().and_then(NonZeroU32::new).map(Self)
    }
}

impl From<NonZeroU32> for Incarnation {
    fn from(number: NonZeroU32) -> Self {
        Self(number)
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:08x}", self.0)
    }
}
