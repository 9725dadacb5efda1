//! Bytes that a program carries packed (a frame of Zstandard that says its size), and unpacks
//! when it needs them: a few milliseconds for each plugin that is called. They are a third as
//! many, and code that nobody calls stays out of memory.

use zstd::{bulk, zstd_safe::get_frame_content_size};

/// A program is packed once and started often: the highest level that takes no more memory to
/// unpack.
const LEVEL: i32 = 19;

/// Packs bytes for a program that will carry them.
///
/// # Errors
/// Where there is no memory for it.
pub fn pack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    bulk::compress(bytes, LEVEL)
}

/// Unpacks bytes of this program. Bytes that nobody packed come to none.
pub(crate) fn unpack(packed: &[u8]) -> Vec<u8> {
    bulk::decompress(packed, unpacked_size(packed)).unwrap_or_default()
}

/// How many bytes these come to.
pub(crate) fn unpacked_size(packed: &[u8]) -> usize {
    get_frame_content_size(packed).ok().flatten().and_then(|size| usize::try_from(size).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_are_fewer_and_come_back_whole() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let packed = pack(&bytes).expect("memory");
        assert!(packed.len() < bytes.len() / 2, "{}", packed.len());
        assert_eq!(unpacked_size(&packed), bytes.len());
        assert!(unpack(&packed) == bytes);
    }

    #[test]
    fn what_nobody_packed_comes_to_nothing() {
        for bytes in [&b""[..], b"abc", &[0xff; 64], &pack(b"packed").expect("memory")[..5]] {
            assert_eq!(unpack(bytes), [0; 0]);
        }
    }
}
