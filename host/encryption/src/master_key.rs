//! The key that the operator has.

use std::fmt;

use zeroize::Zeroizing;

use crate::cipher::KEY_BYTES;

/// What the key is derived for (BLAKE3, `derive_key`).
const KEY: &str = "wharf 2026-11-29 master key of encryption at rest";
/// What its name is derived for.
const NAME: &str = "wharf 2026-11-29 name of a master key of encryption at rest";
/// Characters of a name: enough to tell the keys of one operator apart.
const NAME_CHARACTERS: usize = 16;

/// The least bytes that the text of a master key has. A text is no password: it is not stretched, so it has to be
/// random, as 64 hexadecimal digits are that a machine made.
pub const SHORTEST_MASTER_KEY: usize = 32;

/// The key that wraps the data keys of a data directory. It is wiped when it is dropped, and never printed.
pub struct MasterKey {
    key: Zeroizing<[u8; KEY_BYTES]>,
    name: String,
}

/// A text that is no master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a master key is one line of at least {SHORTEST_MASTER_KEY} random characters; `openssl rand -hex 32` makes one"
)]
pub struct InvalidMasterKey;

impl MasterKey {
    /// The key of a text, without the white space around it.
    ///
    /// # Errors
    /// Where the text is too short, or has several lines.
    pub fn new(text: &str) -> Result<Self, InvalidMasterKey> {
        let text = text.trim();
        if text.len() < SHORTEST_MASTER_KEY || text.contains(['\n', '\r']) {
            return Err(InvalidMasterKey);
        }
        let name = blake3::Hash::from_bytes(blake3::derive_key(NAME, text.as_bytes()));
        Ok(Self {
            key: Zeroizing::new(blake3::derive_key(KEY, text.as_bytes())),
            name: name.to_hex()[..NAME_CHARACTERS].to_owned(),
        })
    }

    /// Its name, which tells nothing of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.key
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MasterKey").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_key_is_long_has_a_name_and_is_not_printed() {
        let text = "0123456789abcdef0123456789abcdef";
        let key = MasterKey::new(&format!("  {text}\n")).expect("long enough");
        assert_eq!(key.name(), MasterKey::new(text).expect("the same").name());
        assert_ne!(key.name(), MasterKey::new(&text.replace('0', "1")).expect("another").name());
        let shown = format!("{key:?}");
        assert!(shown.contains(key.name()) && !shown.contains("key: ["), "{shown}");
        for bad in ["", &text[1..], "0123456789abcdef\n0123456789abcdef\n"] {
            assert_eq!(MasterKey::new(bad).map(|_| ()), Err(InvalidMasterKey), "{bad:?}");
        }
    }
}
