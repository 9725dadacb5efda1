//! The header of an index: its segments, what was deleted from them, and the
//! statistics that scores are made of.

use crate::SearchError;
use crate::bytes::{Malformed, Reader, push, wide};

/// The format of everything that an index stores.
const FORMAT: u64 = 1;
/// Bytes that a header may take.
pub(crate) const LARGEST_BYTES: usize = 256 * 1024;
/// Buckets that a segment may have: as many as one step can delete and write
/// anew, two entries each, so that every segment can be merged.
pub(crate) const MOST_BUCKETS: u32 = 240;
/// Parts that a value may have.
const MOST_PARTS: u32 = 1_000;

/// What an index consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The settings of the analysis, as [`crate::Analysis`] writes them.
    pub(crate) analysis: u64,
    /// Number of the next document. Numbers are never given twice.
    pub(crate) next_document: u64,
    /// Number of the next segment, likewise.
    pub(crate) next_segment: u64,
    /// Documents that are not deleted.
    pub(crate) documents: u64,
    /// Words of these documents.
    pub(crate) words: u64,
    /// In the order of their documents, which never overlap.
    pub(crate) segments: Vec<Segment>,
}

/// One segment, as the header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    /// Range that its documents' numbers lie in.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Documents, deleted ones included.
    pub(crate) documents: u64,
    /// Size of its values.
    pub(crate) bytes: u64,
    pub(crate) buckets: u32,
    /// Values that are stored in more than one part: which, and in how many.
    pub(crate) split: Vec<(Value, u32)>,
    /// Numbers of its deleted documents, ascending.
    pub(crate) dead: Vec<u64>,
}

/// One of the values of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value {
    pub(crate) bucket: u32,
    pub(crate) kind: Kind,
}

/// What a bucket keeps apart, since only phrases need the positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Postings,
    Positions,
}

impl Segment {
    pub(crate) fn is_dead(&self, document: u64) -> bool {
        self.dead.binary_search(&document).is_ok()
    }

    /// Keys of the parts of one value.
    pub(crate) fn keys(&self, prefix: &str, value: Value) -> impl Iterator<Item = String> {
        let parts = self.split.iter().find(|(split, _)| *split == value).map_or(1, |(_, parts)| *parts);
        let (prefix, number) = (prefix.to_owned(), self.number);
        (0..parts).map(move |part| key(&prefix, number, value, part))
    }

    /// Keys of everything that it stores.
    pub(crate) fn all_keys(&self, prefix: &str) -> Vec<String> {
        self.values().flat_map(|value| self.keys(prefix, value)).collect()
    }

    /// Everything that it stores.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> + use<> {
        (0..self.buckets).flat_map(|bucket| [Kind::Postings, Kind::Positions].map(|kind| Value { bucket, kind }))
    }
}

/// The key of one part of one value.
pub(crate) fn key(prefix: &str, segment: u64, value: Value, part: u32) -> String {
    let kind = match value.kind {
        Kind::Postings => 't',
        Kind::Positions => 'p',
    };
    match part {
        0 => format!("{prefix}{segment}{kind}{}", value.bucket),
        _ => format!("{prefix}{segment}{kind}{}.{part}", value.bucket),
    }
}

impl Header {
    pub(crate) fn new(analysis: u64) -> Self {
        Self { analysis, next_document: 0, next_segment: 0, documents: 0, words: 0, segments: Vec::new() }
    }

    /// The segment whose range holds this number.
    pub(crate) fn segment_of(&mut self, document: u64) -> Option<&mut Segment> {
        let position = self.segments.partition_point(|segment| segment.last < document);
        self.segments.get_mut(position).filter(|segment| segment.first <= document)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [FORMAT, self.analysis, self.next_document, self.next_segment, self.documents, self.words] {
            push(&mut bytes, number);
        }
        push(&mut bytes, wide(self.segments.len()));
        for segment in &self.segments {
            let Segment { number, first, last, documents, bytes: size, buckets, split, dead } = segment;
            for number in [*number, *first, *last, *documents, *size, u64::from(*buckets), wide(split.len())] {
                push(&mut bytes, number);
            }
            for (value, parts) in split {
                push(&mut bytes, u64::from(value.bucket) * 2 + u64::from(value.kind == Kind::Positions));
                push(&mut bytes, u64::from(*parts));
            }
            push(&mut bytes, wide(dead.len()));
            let mut before = *first;
            for document in dead {
                push(&mut bytes, document - before);
                before = *document;
            }
        }
        bytes
    }

    pub(crate) fn decode(key: &str, bytes: &[u8]) -> Result<Self, SearchError> {
        let mut reader = Reader::new(bytes);
        let format = reader.number().map_err(|error| error.at(key))?;
        if format != FORMAT {
            return Err(SearchError::TooNew { found: format, known: FORMAT });
        }
        Self::decode_rest(&mut reader).map_err(|error| error.at(key))
    }

    fn decode_rest(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut header = Self::new(reader.number()?);
        header.next_document = reader.number()?;
        header.next_segment = reader.number()?;
        header.documents = reader.number()?;
        header.words = reader.number()?;
        let mut free = 0;
        for _ in 0..reader.count()? {
            let segment = decode_segment(reader)?;
            if segment.first < free || segment.last >= header.next_document || segment.number >= header.next_segment {
                return Err(Malformed("a segment overlaps another one or the future"));
            }
            free = segment.last + 1;
            header.segments.push(segment);
        }
        reader.end()?;
        let alive: Option<u64> = header
            .segments
            .iter()
            .try_fold(0_u64, |sum, segment| sum.checked_add(segment.documents.checked_sub(wide(segment.dead.len()))?));
        if alive != Some(header.documents) {
            return Err(Malformed("it counts other documents than its segments have"));
        }
        Ok(header)
    }
}

fn decode_segment(reader: &mut Reader<'_>) -> Result<Segment, Malformed> {
    let (number, first, last) = (reader.number()?, reader.number()?, reader.number()?);
    let (documents, bytes, buckets) = (reader.number()?, reader.number()?, reader.small()?);
    if last < first || last - first >= u64::MAX / 2 || documents > last - first + 1 {
        return Err(Malformed("a segment has an impossible range"));
    }
    if !(1..=MOST_BUCKETS).contains(&buckets) {
        return Err(Malformed("a segment has an impossible number of buckets"));
    }
    let mut split = Vec::new();
    for _ in 0..reader.count()? {
        let (slot, parts) = (reader.small()?, reader.small()?);
        let kind = if slot % 2 == 0 { Kind::Postings } else { Kind::Positions };
        if slot / 2 >= buckets || !(2..=MOST_PARTS).contains(&parts) {
            return Err(Malformed("a value has an impossible number of parts"));
        }
        split.push((Value { bucket: slot / 2, kind }, parts));
    }
    let count = reader.count()?;
    let mut dead = Vec::with_capacity(count);
    let mut before = first;
    for position in 0..count {
        let step = reader.number()?;
        let document = before.checked_add(step).filter(|document| *document <= last);
        before = document.filter(|_| position == 0 || step > 0).ok_or(Malformed("a deleted document is impossible"))?;
        dead.push(before);
    }
    Ok(Segment { number, first, last, documents, bytes, buckets, split, dead })
}
