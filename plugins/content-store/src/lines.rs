//! Where the lines of a content are: which of its passages a line begins in,
//! without reading any of them.
//!
//! For each passage two numbers, packed: its bytes and the line breaks in it.

use std::ops::Range;

use wharf_sdk::ToolError;

/// Bytes and line breaks of each passage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LineIndex {
    passages: Vec<(u32, u32)>,
}

/// Where a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineStart {
    /// The passage that it begins in, from 0. The one after the last where it
    /// begins at the very end.
    pub(crate) passage: usize,
    /// Line breaks of this passage that come before it.
    pub(crate) breaks: u32,
}

impl LineIndex {
    pub(crate) fn of<'text>(passages: impl Iterator<Item = &'text str>) -> Self {
        let count = |text: &str| {
            let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
            (number(text.len()), number(breaks))
        };
        Self { passages: passages.map(count).collect() }
    }

    pub(crate) fn passages(&self) -> usize {
        self.passages.len()
    }

    /// Where a line begins, counted from 1; none where there is no such line.
    pub(crate) fn place(&self, line: u32) -> Option<LineStart> {
        let mut before = line.checked_sub(1)?;
        if before == 0 {
            return Some(LineStart { passage: 0, breaks: 0 });
        }
        for (passage, (_, breaks)) in self.passages.iter().enumerate() {
            if before <= *breaks {
                return Some(LineStart { passage, breaks: before });
            }
            before -= breaks;
        }
        None
    }

    /// As many passages from `first` on as have at least `bytes` together.
    pub(crate) fn enough(&self, first: usize, bytes: usize) -> Range<usize> {
        let mut sum = 0;
        let rest = self.passages.iter().enumerate().skip(first);
        for (passage, (size, _)) in rest {
            sum += *size as usize;
            if sum >= bytes {
                return first..passage + 1;
            }
        }
        first..self.passages.len().max(first)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.passages.len() * 3);
        for (size, breaks) in &self.passages {
            push(&mut bytes, *size);
            push(&mut bytes, *breaks);
        }
        bytes
    }

    pub(crate) fn decode(key: &str, bytes: &[u8]) -> Result<Self, ToolError> {
        let mut rest = bytes;
        let mut passages = Vec::new();
        while !rest.is_empty() {
            let pair = take(&mut rest).and_then(|size| Some((size, take(&mut rest)?)));
            passages.push(pair.ok_or_else(|| {
                ToolError::internal(format!("the stored entry `{key}` is damaged; delete_content removes its content"))
            })?);
        }
        Ok(Self { passages })
    }
}

/// Sizes are far below 4 GiB: a text has at most 8 MiB.
fn number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// LEB128: seven bits a byte, the last one below 128.
fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_passages_that_they_begin_in() {
        let lines = LineIndex::of(["a\nb\n", "c ", "d\n\n", "e"].into_iter());
        let place = |line| lines.place(line).map(|LineStart { passage, breaks }| (passage, breaks));
        assert_eq!(place(0), None);
        assert_eq!(place(1), Some((0, 0)));
        assert_eq!(place(2), Some((0, 1)));
        // Line 3 begins where the first passage ends.
        assert_eq!(place(3), Some((0, 2)));
        assert_eq!(place(4), Some((2, 1)));
        assert_eq!(place(5), Some((2, 2)));
        assert_eq!(place(6), None);
    }

    #[test]
    fn what_is_stored_is_read_back_and_damage_is_an_error() {
        let text = "x".repeat(300);
        let lines = LineIndex::of([text.as_str(), "\n", ""].into_iter());
        let bytes = lines.encode();
        assert_eq!(LineIndex::decode("l", &bytes), Ok(lines));
        assert!(LineIndex::decode("l", &bytes[..bytes.len() - 1]).is_err());
        assert!(LineIndex::decode("l", &[0xff; 12]).is_err());
    }
}
