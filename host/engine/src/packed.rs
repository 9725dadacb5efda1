//! Bytes that a program carries packed (a block of LZ4 behind its size), and unpacks when it
//! needs them: a few milliseconds for each plugin that is called. They are half as many, and
//! code that nobody calls stays out of memory.

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended, uncompressed_size};

/// Packs bytes for a program that will carry them.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    compress_prepend_size(bytes)
}

/// Unpacks bytes of this program. Bytes that nobody packed come to none.
pub(crate) fn unpack(packed: &[u8]) -> Vec<u8> {
    decompress_size_prepended(packed).unwrap_or_default()
}

/// How many bytes these come to.
pub(crate) fn unpacked_size(packed: &[u8]) -> usize {
    uncompressed_size(packed).map_or(0, |(size, _)| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_are_fewer_and_come_back_whole() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let packed = pack(&bytes);
        assert!(packed.len() < bytes.len() / 2, "{}", packed.len());
        assert_eq!(unpacked_size(&packed), bytes.len());
        assert!(unpack(&packed) == bytes);
    }

    #[test]
    fn what_nobody_packed_comes_to_nothing() {
        for bytes in [&b""[..], b"abc", &[0xff; 64]] {
            assert_eq!(unpack(bytes), [0; 0]);
        }
    }
}
