//! The beginning of an encrypted file: what it is, under which key, with which salt.

use std::{fs::File, io};

use ring::rand::SystemRandom;
use wharf_files::positioned::read_at;

use crate::{
    cipher::{Cipher, random},
    keyring::{DataKeys, KeyName},
};

/// No text begins so: the first byte is not UTF-8.
const MAGIC: [u8; 8] = *b"\xFFwharfe1";
/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 48;

/// How the content of a file is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As one piece.
    Whole,
    /// In blocks of their own.
    Blocks,
}

/// The beginning of a file.
pub(crate) struct FileHeader {
    pub(crate) layout: Layout,
    pub(crate) key: KeyName,
    bytes: [u8; HEADER_BYTES],
}

impl FileHeader {
    /// That of a new file, under the current key.
    pub(crate) fn make(keys: &DataKeys, layout: Layout) -> io::Result<(Self, Cipher)> {
        let key = keys.current();
        let salt: [u8; 24] = random(&SystemRandom::new())?;
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = match layout {
            Layout::Whole => 0,
            Layout::Blocks => 1,
        };
        bytes[16..24].copy_from_slice(&key.name());
        bytes[24..].copy_from_slice(&salt);
        let cipher = key.cipher_of(&bytes)?;
        Ok((Self { layout, key: key.name(), bytes }, cipher))
    }

    /// That of these bytes; none where they begin no encrypted file.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; HEADER_BYTES] = *bytes.first_chunk()?;
        let layout = match bytes[8] {
            0 => Layout::Whole,
            1 => Layout::Blocks,
            _ => return None,
        };
        let key = *bytes[16..].first_chunk()?;
        (bytes.starts_with(&MAGIC)).then_some(Self { layout, key, bytes })
    }

    /// That of a file; none where it is not encrypted.
    pub(crate) fn read(file: &File) -> io::Result<Option<Self>> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        match read_at(file, 0, HEADER_BYTES as u64, &mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            read => read.map(|()| Self::of(&bytes)),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8; HEADER_BYTES] {
        &self.bytes
    }

    /// What decrypts the file.
    ///
    /// # Errors
    /// `InvalidData` where its key is in no keyring of this data directory.
    pub(crate) fn cipher(&self, keys: &DataKeys) -> io::Result<Cipher> {
        let problem = || {
            let problem = "it is encrypted under a key that the keyring of this data directory does not have";
            io::Error::new(io::ErrorKind::InvalidData, problem)
        };
        keys.named(self.key).ok_or_else(problem)?.cipher_of(&self.bytes)
    }
}
