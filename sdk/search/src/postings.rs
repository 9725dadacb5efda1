//! The postings of one term: where it occurs, packed.
//!
//! A posting is a step from the document before (of the first one, from the
//! start of the segment), how often the term occurs, and how many words the
//! document has. The last is here, though it repeats, so that a search need not
//! read the lengths of all documents. Positions are apart: only phrases read
//! them.

use crate::bytes::{Malformed, Reader, push};

/// One document that has the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) document: u64,
    /// How often the term occurs in it, at least once.
    pub(crate) frequency: u32,
    /// Words of the document.
    pub(crate) words: u32,
}

/// The postings of one term while they are written.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    last: Option<u64>,
    pub(crate) postings: Vec<u8>,
    pub(crate) positions: Vec<u8>,
}

impl Packed {
    /// Appends a posting whose document counts from the start of the segment
    /// and comes after all before; `positions` as [`pack_positions`] makes them.
    pub(crate) fn push(&mut self, posting: Posting, positions: &[u8]) {
        let step = posting.document - self.last.unwrap_or(0);
        self.last = Some(posting.document);
        // Most terms occur once, which a bit says.
        let once = u64::from(posting.frequency == 1);
        push(&mut self.postings, step << 1 | once);
        if once == 0 {
            push(&mut self.postings, u64::from(posting.frequency));
        }
        push(&mut self.postings, u64::from(posting.words));
        self.positions.extend_from_slice(positions);
    }
}

/// Ascending positions of a term within a document.
pub(crate) fn pack_positions(positions: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(positions.len());
    let mut before = 0;
    for position in positions {
        push(&mut bytes, u64::from(position - before));
        before = *position;
    }
    bytes
}

/// Reads positions back into `into`.
pub(crate) fn unpack_positions(bytes: &[u8], into: &mut Vec<u32>) -> Result<(), Malformed> {
    let mut reader = Reader::new(bytes);
    let mut position: u32 = 0;
    while !reader.is_empty() {
        position = position.checked_add(reader.small()?).ok_or(Malformed("a position is too large"))?;
        into.push(position);
    }
    Ok(())
}

/// Goes through the postings of one term of the segment that begins at `first`
/// and ends at `last`.
pub(crate) struct Unpack<'bytes> {
    reader: Reader<'bytes>,
    first: u64,
    last: u64,
    before: Option<u64>,
}

impl<'bytes> Unpack<'bytes> {
    pub(crate) fn new(bytes: &'bytes [u8], first: u64, last: u64) -> Self {
        Self { reader: Reader::new(bytes), first, last, before: None }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Posting>, Malformed> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let head = self.reader.number()?;
        let step = head >> 1;
        if step == 0 && self.before.is_some() {
            return Err(Malformed("a document comes twice"));
        }
        let document = self.before.unwrap_or(self.first).checked_add(step);
        let document = document.filter(|document| *document <= self.last);
        let document = document.ok_or(Malformed("a document is not of this segment"))?;
        self.before = Some(document);
        let frequency = if head & 1 == 1 { 1 } else { self.reader.small()? };
        let words = self.reader.small()?;
        if frequency == 0 || frequency > words {
            return Err(Malformed("a term occurs impossibly often"));
        }
        Ok(Some(Posting { document, frequency, words }))
    }
}
