//! The checksum that every stored value ends with, so that damage is an error
//! that names the entry and never a wrong answer.

use twox_hash::XxHash3_64;

use crate::bytes::Malformed;

const SEAL_BYTES: usize = 8;

/// Appends the checksum of a value. The key counts, too: a value under the key
/// of another one is damage as well.
pub(crate) fn seal(key: &str, mut value: Vec<u8>) -> Vec<u8> {
    let sum = checksum(key, &value);
    value.extend_from_slice(&sum);
    value
}

/// Takes the checksum off.
pub(crate) fn open(key: &str, mut value: Vec<u8>) -> Result<Vec<u8>, Malformed> {
    let length = value.len().checked_sub(SEAL_BYTES).ok_or(Malformed("it is too short for its checksum"))?;
    let (content, sum) = value.split_at(length);
    if checksum(key, content) != sum {
        return Err(Malformed("its checksum is wrong"));
    }
    value.truncate(length);
    Ok(value)
}

fn checksum(key: &str, value: &[u8]) -> [u8; SEAL_BYTES] {
    XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot(key.as_bytes()), value).to_le_bytes()
}
