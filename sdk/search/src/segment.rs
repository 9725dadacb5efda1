//! A segment: terms with their postings, spread over buckets by the hash of the
//! term, so that a search reads only the buckets that its terms are in.
//!
//! Within a bucket the terms lie in slots, again by hash, so that a search
//! finds its term without going through the others.

use std::collections::HashMap;

use twox_hash::XxHash3_64;
use wharf_sdk::Change;

use crate::bytes::{ByteReader, Malformed, push, push_slice, wide};
use crate::header::{self, Layout, Segment, Value, ValueKind};
use crate::postings::{PackedPostings, Posting, pack_positions};
use crate::seal::seal;

/// Bytes of postings that a bucket should have. Smaller ones make more keys,
/// larger ones make a search read more.
const BUCKET_BYTES: usize = 6 * 1024;
/// Buckets whose positions share a value, as a power of two.
const SHARED_BITS: u32 = 2;
/// Bytes of one stored value; what is larger is stored in parts.
const VALUE_BYTES: usize = 256 * 1024;
/// Terms that a slot should have, and slots that a bucket has at most, as a
/// power of two.
const SLOT_TERMS: usize = 8;
const MOST_SLOT_BITS: u8 = 12;

/// The terms of documents while they are added. Documents are numbered from
/// the start of the segment, so that it can be written wherever it comes to lie.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    numbers: HashMap<String, usize>,
    terms: Vec<PackedPostings>,
    /// Terms of the document that is added now, with their positions.
    found: Vec<(usize, u32)>,
}

impl Terms {
    /// Notes that the document that is added now has a term.
    pub(crate) fn note(&mut self, term: String, position: u32) {
        let next = self.terms.len();
        let number = match self.numbers.get(&term) {
            Some(number) => *number,
            None => {
                self.numbers.insert(term, next);
                self.terms.push(PackedPostings::default());
                next
            }
        };
        self.found.push((number, position));
    }

    /// Ends a document, which comes after all before, and counts its words.
    pub(crate) fn end_document(&mut self, document: u32) -> u32 {
        let words = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        self.found.sort_unstable();
        for run in self.found.chunk_by(|one, other| one.0 == other.0) {
            let Some(packed) = run.first().and_then(|(number, _)| self.terms.get_mut(*number)) else { continue };
            let frequency = u32::try_from(run.len()).unwrap_or(u32::MAX);
            packed.push(Posting { document, frequency, words });
            pack_positions(run.iter().map(|(_, position)| *position), &mut packed.positions);
        }
        self.found.clear();
        words
    }

    /// Adds a tag of a document that was ended, and comes after all before.
    pub(crate) fn add_tag(&mut self, document: u32, tag: &str) {
        self.note(tag_term(tag), 0);
        let Some((number, _)) = self.found.pop() else { return };
        if let Some(packed) = self.terms.get_mut(number) {
            packed.push(Posting { document, frequency: 1, words: 1 });
        }
    }

    /// The segment of all documents.
    pub(crate) fn write(mut self) -> FinishedSegment {
        let mut terms: Vec<(u64, String, usize)> =
            self.numbers.into_iter().map(|(term, number)| (hash(&term), term, number)).collect();
        terms.sort_unstable();
        let size = |(_, term, number): &(u64, String, usize)| term.len() + self.terms[*number].size() + 6;
        let mut writer = SegmentWriter::new(terms.iter().map(size).sum());
        for (hash, term, number) in terms {
            writer.push(hash, &term, std::mem::take(&mut self.terms[number]));
        }
        writer.finish()
    }
}

/// Writes terms in the order of their hashes, then their letters.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    written: FinishedSegment,
    bucket: u32,
    /// The terms of the bucket: their hashes, and where they end in `records`.
    ends: Vec<(u64, usize)>,
    records: Vec<u8>,
    positions: Vec<u8>,
}

/// A segment that is ready to be stored.
#[derive(Debug)]
pub(crate) struct FinishedSegment {
    pub(crate) bucket_bits: u32,
    pub(crate) bytes: usize,
    pub(crate) split: Vec<(Value, u32)>,
    parts: Vec<(Value, u32, Vec<u8>)>,
}

impl SegmentWriter {
    /// For about so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let buckets = (bytes * 5 / 8).div_ceil(BUCKET_BYTES).max(1);
        let bucket_bits = usize::BITS - (buckets - 1).leading_zeros();
        let bucket_bits = bucket_bits.min(header::MOST_BUCKET_BITS);
        let written = FinishedSegment { bucket_bits, bytes: 0, split: Vec::new(), parts: Vec::new() };
        Self { written, bucket: 0, ends: Vec::new(), records: Vec::new(), positions: Vec::new() }
    }

    pub(crate) fn push(&mut self, hash: u64, term: &str, packed: PackedPostings) {
        let bucket = top_bits(hash, self.written.bucket_bits);
        while self.bucket < bucket {
            self.end_bucket();
        }
        let count = packed.count;
        let (postings, positions) = packed.finish();
        push_slice(&mut self.records, term.as_bytes());
        push(&mut self.records, u64::from(count));
        push(&mut self.records, wide(self.positions.len()));
        push(&mut self.records, wide(positions.len()));
        push_slice(&mut self.records, &postings);
        self.ends.push((hash, self.records.len()));
        self.positions.extend_from_slice(&positions);
    }

    pub(crate) fn finish(mut self) -> FinishedSegment {
        while self.bucket < 1 << self.written.bucket_bits {
            self.end_bucket();
        }
        self.written
    }

    fn end_bucket(&mut self) {
        let wanted = self.ends.len().div_ceil(SLOT_TERMS).next_power_of_two();
        let slot_bits = u8::try_from(wanted.trailing_zeros()).unwrap_or(0).min(MOST_SLOT_BITS);
        let mut bytes = Vec::with_capacity(self.records.len() + (4 << slot_bits) + 1);
        bytes.push(slot_bits);
        let mut ends = self.ends.iter().peekable();
        let mut end = 0;
        for slot in 0..1_u32 << slot_bits {
            let in_slot = |hash: u64| top_bits(hash << self.written.bucket_bits, slot_bits.into()) == slot;
            while let Some((_, next)) = ends.next_if(|(hash, _)| in_slot(*hash)) {
                end = *next;
            }
            bytes.extend_from_slice(&u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes());
        }
        bytes.append(&mut self.records);
        self.ends.clear();
        self.written.add(Value { bucket: self.bucket, kind: ValueKind::Postings }, &bytes);
        self.bucket += 1;
        let shared = 1 << SHARED_BITS.min(self.written.bucket_bits);
        if self.bucket.is_multiple_of(shared) {
            let value = Value { bucket: (self.bucket - 1) >> SHARED_BITS, kind: ValueKind::Positions };
            self.written.add(value, &std::mem::take(&mut self.positions));
        }
    }
}

impl FinishedSegment {
    fn add(&mut self, value: Value, bytes: &[u8]) {
        self.bytes += bytes.len();
        // An empty value is stored, too: an absent one means that the segment
        // is gone.
        let parts = u32::try_from(bytes.len().div_ceil(VALUE_BYTES).max(1)).unwrap_or(u32::MAX);
        if parts > 1 {
            self.split.push((value, parts));
        }
        let mut chunks = bytes.chunks(VALUE_BYTES);
        for part in 0..parts {
            self.parts.push((value, part, chunks.next().unwrap_or_default().to_vec()));
        }
    }

    /// The changes that store it under a number.
    pub(crate) fn put(&self, prefix: &str, number: u64) -> Vec<Change> {
        let parts = self.parts.iter().map(|(value, part, bytes)| {
            let key = header::key(prefix, number, *value, *part);
            let value = seal(&key, bytes.clone());
            Change::put(key, value)
        });
        parts.collect()
    }

    /// The segment for the header.
    pub(crate) fn describe(&self, number: u64, first: u64, last: u64, documents: u64) -> Segment {
        Segment {
            first,
            last,
            documents,
            bytes: wide(self.bytes),
            layout: Layout { number, bucket_bits: self.bucket_bits, split: self.split.clone() },
            dead: Vec::new(),
        }
    }
}

/// The term that a tag is kept as. Words have no such letter.
pub(crate) fn tag_term(tag: &str) -> String {
    format!("\0{tag}")
}

/// Whether a term is a tag, which has no positions.
pub(crate) fn is_tag(term: &str) -> bool {
    term.starts_with('\0')
}

/// The hash of a term, which is stored in effect and so never changes.
pub(crate) fn hash(term: &str) -> u64 {
    XxHash3_64::oneshot(term.as_bytes())
}

/// The values that a term's postings and positions are in.
pub(crate) fn values_of(hash: u64, bucket_bits: u32) -> (Value, Value) {
    let bucket = top_bits(hash, bucket_bits);
    let positions = Value { bucket: bucket >> SHARED_BITS, kind: ValueKind::Positions };
    (Value { bucket, kind: ValueKind::Postings }, positions)
}

/// How many values of positions so many buckets have.
pub(crate) fn shared_buckets(bucket_bits: u32) -> u32 {
    1 << bucket_bits.saturating_sub(SHARED_BITS)
}

fn top_bits(hash: u64, bits: u32) -> u32 {
    // A shift by all 64 bits would overflow.
    let top = if bits == 0 { 0 } else { hash >> (u64::BITS - bits) };
    u32::try_from(top).unwrap_or(0)
}

/// A term of a bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermRecord<'bytes> {
    pub(crate) term: &'bytes str,
    /// How many documents of the segment have it.
    pub(crate) count: u32,
    pub(crate) postings: &'bytes [u8],
    positions: (usize, usize),
}

impl<'bytes> TermRecord<'bytes> {
    /// Its positions in the value that holds them.
    pub(crate) fn positions<'value>(&self, value: &'value [u8]) -> Result<&'value [u8], Malformed> {
        let (start, size) = self.positions;
        let positions = start.checked_add(size).and_then(|end| value.get(start..end));
        positions.ok_or(Malformed("a term has no positions"))
    }

    /// How many bytes it takes, about.
    pub(crate) fn size(&self) -> usize {
        self.term.len() + self.postings.len() + self.positions.1 + 6
    }

    fn read(reader: &mut ByteReader<'bytes>) -> Result<Self, Malformed> {
        let (term, count) = (reader.text()?, reader.small()?);
        let positions = (reader.size()?, reader.size()?);
        let postings = reader.slice()?;
        Ok(Self { term, count, postings, positions })
    }
}

/// Finds a term in its bucket.
pub(crate) fn find<'bytes>(
    bucket: &'bytes [u8],
    term: &str,
    hash: u64,
    bucket_bits: u32,
) -> Result<Option<TermRecord<'bytes>>, Malformed> {
    let (slots, records) = slots(bucket)?;
    let slot_bits = slots.len().trailing_zeros().saturating_sub(2);
    let slot = top_bits(hash << bucket_bits, slot_bits);
    let slot = usize::try_from(slot).unwrap_or(usize::MAX);
    let end = |slot: usize| slots.chunks_exact(4).nth(slot).map_or(0, offset);
    let start = slot.checked_sub(1).map_or(0, end);
    let mut reader = ByteReader::new(records.get(start..end(slot)).ok_or(Malformed("a slot is not of its bucket"))?);
    while !reader.is_empty() {
        let record = TermRecord::read(&mut reader)?;
        if record.term == term {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Every term of a bucket, in order.
pub(crate) fn records(bucket: &[u8]) -> Result<Vec<TermRecord<'_>>, Malformed> {
    let mut reader = ByteReader::new(slots(bucket)?.1);
    let mut records = Vec::new();
    while !reader.is_empty() {
        records.push(TermRecord::read(&mut reader)?);
    }
    Ok(records)
}

/// The ends of the slots, and the records that lie in them.
fn slots(bucket: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let (bits, rest) = bucket.split_first().ok_or(Malformed("it ends too early"))?;
    let size = if *bits > MOST_SLOT_BITS { usize::MAX } else { 4 << bits };
    rest.split_at_checked(size).ok_or(Malformed("it has an impossible number of slots"))
}

fn offset(bytes: &[u8]) -> usize {
    let offset = bytes.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_too_large_is_stored_in_parts() {
        let mut packed = PackedPostings::default();
        for document in 0..400_000 {
            packed.push(Posting { document, frequency: 1 + document % 2, words: document % 999 });
        }
        let mut writer = SegmentWriter::new(packed.size());
        writer.push(hash("common"), "common", packed);
        let written = writer.finish();
        let largest = written.parts.iter().map(|(_, _, bytes)| bytes.len()).max();
        assert_eq!(largest, Some(VALUE_BYTES));
        let split = written.split.first().expect("one is split");
        let segment = written.describe(3, 0, 399_999, 400_000);
        assert_eq!(segment.layout.keys("i/", split.0).count(), usize::try_from(split.1).expect("a few"));
        let mut keys: Vec<_> = written.put("i/", 3).into_iter().map(|change| change.key).collect();
        let mut all = segment.layout.all_keys("i/");
        keys.sort();
        all.sort();
        assert_eq!(all, keys);
    }

    #[test]
    fn every_term_of_a_bucket_is_found_and_no_other() {
        let mut terms = Terms::default();
        for number in 0..3_000 {
            terms.note(format!("term{number}"), number);
        }
        terms.end_document(0);
        let written = terms.write();
        assert!(written.bucket_bits >= 2, "{} bits", written.bucket_bits);
        for number in 0..3_100 {
            let term = format!("term{number}");
            let value = values_of(hash(&term), written.bucket_bits).0;
            let bucket = written.parts.iter().find(|(other, _, _)| *other == value).expect("it has one");
            let found = find(&bucket.2, &term, hash(&term), written.bucket_bits).expect("it is whole");
            assert_eq!(found.map(|record| record.term), (number < 3_000).then_some(&*term));
        }
    }
}
