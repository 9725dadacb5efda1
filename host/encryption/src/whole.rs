//! Small files that are encrypted as one piece and replaced as a whole.

use std::io;

use crate::{
    cipher::damaged,
    header::{FileHeader, HEADER_BYTES, Layout},
    keyring::DataKeys,
};

/// What stands in the file of this text.
pub(crate) fn encrypt(keys: &DataKeys, text: &[u8]) -> io::Result<Vec<u8>> {
    let (header, cipher) = FileHeader::make(keys, Layout::Whole)?;
    let mut bytes = header.bytes().to_vec();
    cipher.encrypt(b"whole", text, &mut bytes)?;
    Ok(bytes)
}

/// The text of a file.
pub(crate) fn decrypt(keys: &DataKeys, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let header = FileHeader::of(&bytes).filter(|header| header.layout == Layout::Whole).ok_or_else(damaged)?;
    Ok(header.cipher(keys)?.decrypt(b"whole", &mut bytes[HEADER_BYTES..])?.to_vec())
}
