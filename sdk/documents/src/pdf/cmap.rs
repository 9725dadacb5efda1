//! [`ToUnicode`]: what the codes of a font mean, as the document says. Ranges
//! stay ranges, however much they claim to span.

use super::lexer::{Lexer, Object};

/// Entries of one map. The largest fonts have half as many characters.
const MOST_ENTRIES: usize = 1 << 17;
/// Characters that one code may mean.
const MOST_UNITS: usize = 64;

struct CodeRange {
    first: u32,
    last: u32,
    /// UTF-16 of the first code; the last unit counts up with the codes.
    text: Vec<u16>,
}

#[derive(Default)]
pub(super) struct ToUnicode {
    entries: Vec<CodeRange>,
}

impl ToUnicode {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes, 0);
        // What stands before a word is what it is about.
        let mut operands: Vec<Object<'_>> = Vec::new();
        while let Some(object) = lexer.next(false) {
            match object {
                Object::Word(b"beginbfchar" | b"beginbfrange") => operands.clear(),
                Object::Word(b"endbfchar") => {
                    operands.chunks_exact(2).for_each(|pair| map.range(&pair[0], &pair[0], &pair[1]));
                    operands.clear();
                }
                Object::Word(b"endbfrange") => {
                    operands.chunks_exact(3).for_each(|range| map.range(&range[0], &range[1], &range[2]));
                    operands.clear();
                }
                Object::Word(_) => {}
                operand if operands.len() < MOST_ENTRIES => operands.push(operand),
                _ => {}
            }
        }
        // The first of two for one code stays the first.
        map.entries.sort_by_key(|entry| entry.first);
        map
    }

    fn range(&mut self, first: &Object<'_>, last: &Object<'_>, target: &Object<'_>) {
        let (Some(first), Some(last)) = (code(first), code(last)) else { return };
        match target {
            Object::String(text) => self.add(first, last, text),
            Object::Array(texts) => {
                for (code, text) in (first..=last).zip(texts) {
                    if let Object::String(text) = text {
                        self.add(code, code, text);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, first: u32, last: u32, text: &[u8]) {
        let units = text.chunks(2).take(MOST_UNITS).map(|pair| match pair {
            [high, low] => u16::from_be_bytes([*high, *low]),
            single => u16::from(single[0]),
        });
        let text: Vec<u16> = units.collect();
        if last >= first && !text.is_empty() && self.entries.len() < MOST_ENTRIES {
            self.entries.push(CodeRange { first, last, text });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds what a code means, and says whether it means anything.
    pub(super) fn push(&self, code: u32, out: &mut String) -> bool {
        let after = self.entries.partition_point(|entry| entry.first <= code);
        let Some(entry) = self.entries[..after].last().filter(|entry| code <= entry.last) else { return false };
        let step = u16::try_from((code - entry.first) & 0xFFFF).unwrap_or(0);
        let last = entry.text.len() - 1;
        let units = entry.text.iter().enumerate().map(|(at, unit)| match at == last {
            true => unit.wrapping_add(step),
            false => *unit,
        });
        out.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        true
    }
}

fn code(object: &Object<'_>) -> Option<u32> {
    match object {
        Object::String(bytes) if (1..=4).contains(&bytes.len()) => {
            Some(bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
        }
        _ => None,
    }
}
