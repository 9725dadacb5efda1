//! A segment: terms with their postings, spread over buckets by the hash of the
//! term, so that a search reads only the buckets that its terms are in.

use std::collections::{BTreeMap, HashMap};

use crate::bytes::{Malformed, Reader, push_slice, wide};
use crate::header::{self, Kind, Segment, Value};
use crate::postings::{Packed, Posting, pack_positions};

/// Bytes that a bucket should have. Smaller ones make more keys, larger ones
/// make a search read more.
const BUCKET_BYTES: usize = 6 * 1024;
/// Bytes of one stored value; what is larger is stored in parts.
const VALUE_BYTES: usize = 256 * 1024;

/// The terms of a segment while it is written. Documents are numbered from the
/// start of the segment, so that it can be written wherever it comes to lie.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    terms: BTreeMap<String, Packed>,
}

/// A segment that is ready to be stored.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) buckets: u32,
    pub(crate) bytes: usize,
    pub(crate) split: Vec<(Value, u32)>,
    parts: Vec<(Value, u32, Vec<u8>)>,
}

impl Terms {
    /// Adds the terms of a document that comes after all before.
    pub(crate) fn add_document(&mut self, document: u64, terms: impl IntoIterator<Item = (String, u32)>) -> u32 {
        let mut found: HashMap<String, Vec<u32>> = HashMap::new();
        let mut words: u32 = 0;
        for (term, position) in terms {
            words = words.saturating_add(1);
            found.entry(term).or_default().push(position);
        }
        for (term, positions) in found {
            let frequency = u32::try_from(positions.len()).unwrap_or(u32::MAX);
            self.push(&term, Posting { document, frequency, words }, &pack_positions(&positions));
        }
        words
    }

    /// Adds one posting of a document that comes after all before.
    pub(crate) fn push(&mut self, term: &str, posting: Posting, positions: &[u8]) {
        if let Some(packed) = self.terms.get_mut(term) {
            packed.push(posting, positions);
        } else {
            self.terms.entry(term.to_owned()).or_default().push(posting, positions);
        }
    }

    pub(crate) fn write(&self) -> Written {
        let size = |(term, packed): (&String, &Packed)| term.len() + packed.postings.len() + packed.positions.len() + 4;
        let total: usize = self.terms.iter().map(size).sum();
        let buckets = u32::try_from(total.div_ceil(BUCKET_BYTES)).unwrap_or(u32::MAX).clamp(1, header::MOST_BUCKETS);
        let mut values: BTreeMap<Value, Vec<u8>> = BTreeMap::new();
        for bucket in 0..buckets {
            for kind in [Kind::Postings, Kind::Positions] {
                values.insert(Value { bucket, kind }, Vec::new());
            }
        }
        for (term, packed) in &self.terms {
            let bucket = bucket_of(term, buckets);
            let postings = values.entry(Value { bucket, kind: Kind::Postings }).or_default();
            push_slice(postings, term.as_bytes());
            push_slice(postings, &packed.postings);
            let positions = values.entry(Value { bucket, kind: Kind::Positions }).or_default();
            push_slice(positions, &packed.positions);
        }
        let mut written = Written { buckets, bytes: 0, split: Vec::new(), parts: Vec::new() };
        for (value, bytes) in values {
            written.add(value, &bytes);
        }
        written
    }
}

impl Written {
    fn add(&mut self, value: Value, bytes: &[u8]) {
        self.bytes += bytes.len();
        // An empty value is stored, too: an absent one means that the segment
        // is gone.
        let parts = bytes.len().div_ceil(VALUE_BYTES).max(1);
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        if parts > 1 {
            self.split.push((value, parts));
        }
        for part in 0..parts {
            let start = usize::try_from(part).unwrap_or(usize::MAX).saturating_mul(VALUE_BYTES);
            let end = bytes.len().min(start.saturating_add(VALUE_BYTES));
            self.parts.push((value, part, bytes.get(start..end).unwrap_or_default().to_vec()));
        }
    }

    /// Keys and values of the segment under a number.
    pub(crate) fn entries(&self, prefix: &str, number: u64) -> impl Iterator<Item = (String, &Vec<u8>)> {
        self.parts.iter().map(move |(value, part, bytes)| (header::key(prefix, number, *value, *part), bytes))
    }

    /// The segment for the header.
    pub(crate) fn describe(&self, number: u64, first: u64, last: u64, documents: u64) -> Segment {
        Segment {
            number,
            first,
            last,
            documents,
            bytes: wide(self.bytes),
            buckets: self.buckets,
            split: self.split.clone(),
            dead: Vec::new(),
        }
    }
}

/// The bucket of a term: FNV-1a, which is stored in effect and so never changes.
pub(crate) fn bucket_of(term: &str, buckets: u32) -> u32 {
    let hash = term
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    u32::try_from((hash ^ hash >> 32) % u64::from(buckets.max(1))).unwrap_or(0)
}

/// Every term of a bucket with its postings, in order.
pub(crate) fn terms_of(bytes: &[u8]) -> impl Iterator<Item = Result<(&str, &[u8]), Malformed>> {
    let mut reader = Reader::new(bytes);
    std::iter::from_fn(move || {
        if reader.is_empty() {
            return None;
        }
        let next = reader.text().and_then(|term| Ok((term, reader.slice()?)));
        if next.is_err() {
            reader = Reader::new(&[]);
        }
        Some(next)
    })
}

/// The positions of a bucket's terms, in the order of [`terms_of`].
pub(crate) fn positions_of(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    let mut reader = Reader::new(bytes);
    std::iter::from_fn(move || {
        if reader.is_empty() {
            return None;
        }
        let next = reader.slice();
        if next.is_err() {
            reader = Reader::new(&[]);
        }
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_too_large_is_stored_in_parts() {
        let mut terms = Terms::default();
        for document in 0..200_000 {
            terms.push("common", Posting { document, frequency: 1, words: 300 }, &pack_positions(&[7]));
        }
        let written = terms.write();
        let largest = written.entries("", 0).map(|(_, value)| value.len()).max();
        assert_eq!(largest, Some(VALUE_BYTES));
        let split = written.split.first().expect("one is split");
        let segment = written.describe(3, 0, 199_999, 200_000);
        assert_eq!(segment.keys("i/", split.0).count(), usize::try_from(split.1).expect("a few"));
        assert_eq!(segment.all_keys("i/"), written.entries("i/", 3).map(|(key, _)| key).collect::<Vec<_>>());
    }
}
