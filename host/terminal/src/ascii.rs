//! Runs of printable ASCII, of which most of what programs print consists.
//!
//! Never knows what the bytes around a run are.

/// The same byte eight times.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// How many bytes at the start are printable ASCII, from the space on.
pub(crate) fn printable_prefix(bytes: &[u8]) -> usize {
    prefix(bytes, |step| {
        let delete = step ^ all(0x7f);
        controls(step) | delete.wrapping_sub(all(1)) & !delete | step
    })
}

/// How many bytes at the start are no control characters of ASCII but DEL.
pub(crate) fn prefix_without_controls(bytes: &[u8]) -> usize {
    prefix(bytes, controls)
}

/// Sets the highest bit of the first byte below the space. What it says of the
/// bytes behind that one may be wrong.
fn controls(step: u64) -> u64 {
    step.wrapping_sub(all(b' ')) & !step
}

/// How many bytes there are before the first whose highest bit is set in what
/// is made of eight of them.
fn prefix(bytes: &[u8], find: impl Fn(u64) -> u64) -> usize {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let (step, length) = match rest.first_chunk::<8>() {
            Some(step) => (u64::from_le_bytes(*step), 8),
            None => (rest.iter().rev().fold(0, |step, byte| step << 8 | u64::from(*byte)), rest.len()),
        };
        let found = find(step) & all(0x80);
        let before = (found.trailing_zeros() / 8) as usize;
        if found != 0 || length < 8 {
            return at + before.min(length);
        }
        at += 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_none() {
        for length in 0..100 {
            for end in [b"\n".as_slice(), b"\x1b", b"\x7f", b"\x80", b"\xff", b"\0", b""] {
                let bytes = [&b" ~az"[..].repeat(25)[..length], end, b"text"].concat();
                let run = if end.is_empty() { length + 4 } else { length };
                assert_eq!(printable_prefix(&bytes), run);
            }
        }
    }

    #[test]
    fn what_is_no_control_goes_on() {
        for length in 0..40 {
            let bytes = [&"é\u{7f}~ 界".as_bytes().repeat(10)[..length], b"\x1f rest of it\n"].concat();
            assert_eq!(prefix_without_controls(&bytes), length);
            assert_eq!(prefix_without_controls(&bytes[..length]), length);
        }
    }
}
