//! AES-256-GCM with random nonces, over what one key is for.

use std::{fmt, io};

use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;
/// Bytes of a nonce, which stands before what it was used for.
pub(crate) const NONCE_BYTES: usize = 12;
/// Bytes of a tag, which stands behind it.
pub(crate) const TAG_BYTES: usize = 16;
/// What encryption adds.
pub(crate) const ADDED_BYTES: usize = NONCE_BYTES + TAG_BYTES;

/// Encrypts and decrypts under one key.
pub(crate) struct Cipher {
    key: LessSafeKey,
    random: SystemRandom,
}

impl fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cipher").finish_non_exhaustive()
    }
}

impl Cipher {
    /// # Errors
    /// Never in practice: the key has the length of the algorithm.
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> io::Result<Self> {
        let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| io::Error::other("a key has a wrong length"))?;
        Ok(Self { key: LessSafeKey::new(key), random: SystemRandom::new() })
    }

    /// Appends the nonce, the ciphertext and the tag. `place` has to be the same when it is decrypted.
    ///
    /// # Errors
    /// Where the system has no random bytes.
    pub(crate) fn encrypt(&self, place: &[u8], text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let nonce: [u8; NONCE_BYTES] = random(&self.random)?;
        out.extend_from_slice(&nonce);
        let begin = out.len();
        out.extend_from_slice(text);
        let sealed = &mut out[begin..];
        let tag = self.key.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), sealed);
        let tag: Tag = tag.map_err(|_| io::Error::other("it is too long to be encrypted"))?;
        out.extend_from_slice(tag.as_ref());
        Ok(())
    }

    /// Decrypts in place and says what was encrypted.
    ///
    /// # Errors
    /// `InvalidData` where it was changed, was encrypted for another place or under another key.
    pub(crate) fn decrypt<'b>(&self, place: &[u8], bytes: &'b mut [u8]) -> io::Result<&'b mut [u8]> {
        let Some((nonce, sealed)) = bytes.split_first_chunk_mut::<NONCE_BYTES>() else { return Err(damaged()) };
        let nonce = Nonce::assume_unique_for_key(*nonce);
        self.key.open_in_place(nonce, Aad::from(place), sealed).map_err(|_| damaged())
    }
}

/// So many random bytes.
pub(crate) fn random<const BYTES: usize>(from: &SystemRandom) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    from.fill(&mut bytes).map_err(|_| io::Error::other("the system has no random bytes"))?;
    Ok(bytes)
}

/// What is said of content that does not decrypt.
pub(crate) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what is encrypted here was changed, or belongs to another place")
}
