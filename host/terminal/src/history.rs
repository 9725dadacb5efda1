//! The last bytes of an output, found by cursors that count from the first byte
//! and never mean anything else.
//!
//! Owns what is kept and what is evicted. Never knows what the bytes are, but that
//! text is not cut inside of a character.

use std::collections::VecDeque;

/// A part of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySlice<T> {
    /// What was kept of the part asked for.
    pub content: T,
    /// The cursor of its first byte: later than asked for where that is gone.
    pub start: u64,
    /// The cursor to ask for next.
    pub next: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
}

/// What is kept of a session's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Bytes as they came.
    pub raw_bytes: usize,
    /// Bytes of text without control sequences.
    pub text_bytes: usize,
    /// Lines that went off the top of the screen; each takes some 2 KiB at 80
    /// columns.
    pub scrollback_lines: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { raw_bytes: 256 << 10, text_bytes: 256 << 10, scrollback_lines: 200 }
    }
}

/// Bytes up to a limit; the oldest go.
#[derive(Debug)]
pub(crate) struct HistoryRing {
    kept: VecDeque<u8>,
    start: u64,
    limit_bytes: usize,
}

impl HistoryRing {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { kept: VecDeque::new(), start: 0, limit_bytes }
    }

    /// The cursor behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.kept.len() as u64
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(self.limit_bytes);
        let over = (self.kept.len() + bytes.len() - skipped).saturating_sub(self.limit_bytes);
        self.kept.drain(..over);
        self.start += (over + skipped) as u64;
        self.kept.extend(&bytes[skipped..]);
    }

    /// At most `maximum_bytes` from a cursor on, or from the oldest kept byte.
    pub(crate) fn bytes(&self, from: u64, maximum_bytes: usize) -> HistorySlice<Vec<u8>> {
        let from = from.clamp(self.start, self.end());
        let first = usize::try_from(from - self.start).unwrap_or(self.kept.len());
        let last = first.saturating_add(maximum_bytes).min(self.kept.len());
        let content: Vec<u8> = self.kept.range(first..last).copied().collect();
        HistorySlice { next: from + content.len() as u64, content, start: from, evicted_before: self.start }
    }

    /// The same of a history of UTF-8, in whole characters; less than a
    /// character is nothing.
    pub(crate) fn text(&self, from: u64, maximum_bytes: usize) -> HistorySlice<String> {
        let HistorySlice { mut content, mut start, evicted_before, .. } = self.bytes(from, maximum_bytes);
        let continues = |byte: &u8| byte & 0xC0 == 0x80;
        let skipped = content.iter().take_while(|byte| continues(byte)).count();
        content.drain(..skipped);
        start += skipped as u64;
        let content = match String::from_utf8(content) {
            Ok(text) => text,
            Err(error) => {
                let whole = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(whole);
                String::from_utf8(bytes).unwrap_or_default()
            }
        };
        HistorySlice { next: start + content.len() as u64, content, start, evicted_before }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_gone_is_said_and_cursors_stay_what_they_were() {
        let mut ring = HistoryRing::new(4);
        ring.append(b"abc");
        ring.append(b"def");
        let slice = ring.bytes(0, 10);
        assert_eq!(slice, HistorySlice { content: b"cdef".to_vec(), start: 2, next: 6, evicted_before: 2 });
        assert_eq!(ring.bytes(4, 1).content, b"e");
        ring.append(b"0123456789");
        assert_eq!((ring.bytes(0, 10).content, ring.end()), (b"6789".to_vec(), 16));
        assert_eq!(ring.bytes(99, 10), HistorySlice { content: vec![], start: 16, next: 16, evicted_before: 12 });
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut ring = HistoryRing::new(100);
        ring.append("aéß".as_bytes());
        assert_eq!(ring.text(0, 2), HistorySlice { content: "a".into(), start: 0, next: 1, evicted_before: 0 });
        assert_eq!(ring.text(2, 9), HistorySlice { content: "ß".into(), start: 3, next: 5, evicted_before: 0 });
    }

    proptest! {
        #[test]
        fn reading_on_from_next_gives_the_kept_end_of_all(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
            limit in 0_usize..50,
            step in 1_usize..9,
        ) {
            let mut ring = HistoryRing::new(limit);
            pieces.iter().for_each(|piece| ring.append(piece));
            let all: Vec<u8> = pieces.concat();
            let (mut from, mut read) = (0, Vec::new());
            while from < ring.end() {
                let slice = ring.bytes(from, step);
                read.extend(slice.content);
                from = slice.next;
            }
            prop_assert_eq!(&read[..], &all[all.len().saturating_sub(limit)..]);
            prop_assert_eq!(ring.end(), all.len() as u64);
        }
    }
}
