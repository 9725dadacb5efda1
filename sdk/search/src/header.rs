//! The header of an index: its segments, what was deleted from them, and the
//! statistics that scores are made of.

use crate::SearchError;
use crate::bytes::{ByteReader, Malformed, push, wide};
use crate::payload::Group;
use crate::seal::{self, seal};
use crate::segment::shared_buckets;

/// The format of everything that an index stores.
const FORMAT: u64 = 1;
/// Bytes that a header may take.
pub(crate) const LARGEST_BYTES: usize = 256 * 1024;
/// Buckets that a segment may have, as a power of two: with the positions and
/// what a large add stores besides, they fit one step.
pub(crate) const MOST_BUCKET_BITS: u32 = 9;
/// Numbers that a segment may span, so that they are short within it.
pub(crate) const LONGEST_SPAN: u64 = 1 << 31;
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
    /// Adds whose documents share entries, in the order of their documents.
    pub(crate) groups: Vec<Group>,
    /// What merges have replaced, while it is not deleted yet.
    pub(crate) replaced: Vec<Layout>,
}

/// One segment, as the header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) layout: Layout,
    /// Range that its documents' numbers lie in.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Documents, deleted ones included.
    pub(crate) documents: u64,
    /// Size of its values.
    pub(crate) bytes: u64,
    /// Its deleted documents from its first number, ascending.
    pub(crate) dead: Vec<u32>,
}

/// Which entries a segment consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) number: u64,
    /// How many buckets it has, as a power of two.
    pub(crate) bucket_bits: u32,
    /// Values that are stored in more than one part: which, and in how many.
    pub(crate) split: Vec<(Value, u32)>,
}

/// One of the values of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value {
    pub(crate) bucket: u32,
    pub(crate) kind: ValueKind,
}

/// What a bucket keeps apart, since only phrases need the positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueKind {
    Postings,
    Positions,
}

impl Segment {
    /// Marks a document as deleted; false where it is not there.
    pub(crate) fn bury(&mut self, document: u64) -> bool {
        let document = document.checked_sub(self.first).and_then(|document| u32::try_from(document).ok());
        let place = document.and_then(|document| Some((document, self.dead.binary_search(&document).err()?)));
        if let Some((document, place)) = place {
            self.dead.insert(place, document);
        }
        place.is_some()
    }

    pub(crate) fn is_dead(&self, document: u32) -> bool {
        self.dead.binary_search(&document).is_ok()
    }
}

impl Layout {
    /// Key of the first part of one value.
    pub(crate) fn key(&self, prefix: &str, value: Value) -> String {
        key(prefix, self.number, value, 0)
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

    /// How many these are.
    pub(crate) fn entries(&self) -> usize {
        self.values().flat_map(|value| self.keys("", value)).count()
    }

    /// Everything that it stores.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> + use<> {
        let of = |kind: ValueKind, count: u32| (0..count).map(move |bucket| Value { bucket, kind });
        of(ValueKind::Postings, 1 << self.bucket_bits).chain(of(ValueKind::Positions, shared_buckets(self.bucket_bits)))
    }
}

/// The key of one part of one value.
pub(crate) fn key(prefix: &str, segment: u64, value: Value, part: u32) -> String {
    let kind = match value.kind {
        ValueKind::Postings => 't',
        ValueKind::Positions => 'p',
    };
    match part {
        0 => format!("{prefix}{segment}{kind}{}", value.bucket),
        _ => format!("{prefix}{segment}{kind}{}.{part}", value.bucket),
    }
}

impl Header {
    pub(crate) fn new(analysis: u64) -> Self {
        Self {
            analysis,
            next_document: 0,
            next_segment: 0,
            documents: 0,
            words: 0,
            segments: Vec::new(),
            groups: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// The segment whose range holds this number.
    pub(crate) fn segment_of(&mut self, document: u64) -> Option<&mut Segment> {
        let position = self.segments.partition_point(|segment| segment.last < document);
        self.segments.get_mut(position).filter(|segment| segment.first <= document)
    }

    /// The group that a document was added with, if there is one.
    pub(crate) fn group_of(&self, document: u64) -> Option<&Group> {
        let position = self.groups.partition_point(|group| group.first <= document);
        self.groups[..position].last().filter(|group| document - group.first < group.count)
    }

    /// Counts a deleted document of a group, and forgets the group after the
    /// last one.
    pub(crate) fn leave_group(&mut self, document: u64) {
        let position = self.groups.partition_point(|group| group.first <= document);
        let Some(position) = position.checked_sub(1) else { return };
        let group = &mut self.groups[position];
        if document - group.first < group.count {
            group.alive = group.alive.saturating_sub(1);
            if group.alive == 0 {
                self.groups.remove(position);
            }
        }
    }

    pub(crate) fn encode(&self, key: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [self.analysis, self.next_document, self.next_segment, self.documents, self.words] {
            push(&mut bytes, number);
        }
        push(&mut bytes, wide(self.segments.len()));
        for segment in &self.segments {
            let Segment { layout, first, last, documents, bytes: size, dead } = segment;
            layout.encode(&mut bytes);
            for number in [*first, last - first, *documents, *size, wide(dead.len())] {
                push(&mut bytes, number);
            }
            let mut before = 0;
            for document in dead {
                push(&mut bytes, u64::from(document - before));
                before = *document;
            }
        }
        push(&mut bytes, wide(self.groups.len()));
        for Group { first, count, size, alive } in &self.groups {
            for number in [*first, *count, *size, *alive] {
                push(&mut bytes, number);
            }
        }
        push(&mut bytes, wide(self.replaced.len()));
        self.replaced.iter().for_each(|layout| layout.encode(&mut bytes));
        let mut stored = Vec::with_capacity(bytes.len() + 16);
        push(&mut stored, FORMAT);
        stored.append(&mut seal(key, bytes));
        stored
    }

    pub(crate) fn decode(key: &str, bytes: &[u8]) -> Result<Self, SearchError> {
        let mut reader = ByteReader::new(bytes);
        let format = reader.number().map_err(|error| error.at(key))?;
        if format != FORMAT {
            return Err(SearchError::TooNew { found: format, known: FORMAT });
        }
        let content = seal::open(key, reader.rest().to_vec()).map_err(|error| error.at(key))?;
        Self::decode_rest(&mut ByteReader::new(&content)).map_err(|error| error.at(key))
    }

    fn decode_rest(reader: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        let mut header = Self::new(reader.number()?);
        header.next_document = reader.number()?;
        header.next_segment = reader.number()?;
        header.documents = reader.number()?;
        header.words = reader.number()?;
        let mut free = 0;
        for _ in 0..reader.count()? {
            let segment = decode_segment(reader)?;
            if segment.first < free
                || segment.last >= header.next_document
                || segment.layout.number >= header.next_segment
            {
                return Err(Malformed("a segment overlaps another one or the future"));
            }
            free = segment.last + 1;
            header.segments.push(segment);
        }
        let mut free = 0;
        for _ in 0..reader.count()? {
            let group = decode_group(reader)?;
            let end = group.first.checked_add(group.count).filter(|end| *end <= header.next_document);
            free = end.filter(|_| group.first >= free).ok_or(Malformed("a group of documents is impossible"))?;
            header.groups.push(group);
        }
        for _ in 0..reader.count()? {
            header.replaced.push(Layout::decode(reader)?);
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

fn decode_group(reader: &mut ByteReader<'_>) -> Result<Group, Malformed> {
    let (first, count, size, alive) = (reader.number()?, reader.number()?, reader.number()?, reader.number()?);
    if count == 0 || size < 2 || !(1..=count).contains(&alive) {
        return Err(Malformed("a group of documents is impossible"));
    }
    Ok(Group { first, count, size, alive })
}

impl Layout {
    fn encode(&self, bytes: &mut Vec<u8>) {
        for number in [self.number, u64::from(self.bucket_bits), wide(self.split.len())] {
            push(bytes, number);
        }
        for (value, parts) in &self.split {
            push(bytes, u64::from(value.bucket) * 2 + u64::from(value.kind == ValueKind::Positions));
            push(bytes, u64::from(*parts));
        }
    }

    fn decode(reader: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        let (number, bucket_bits) = (reader.number()?, reader.small()?);
        if bucket_bits > MOST_BUCKET_BITS {
            return Err(Malformed("a segment has an impossible number of buckets"));
        }
        let mut split = Vec::new();
        for _ in 0..reader.count()? {
            let (slot, parts) = (reader.small()?, reader.small()?);
            let kind = if slot % 2 == 0 { ValueKind::Postings } else { ValueKind::Positions };
            if slot / 2 >= 1 << bucket_bits || !(2..=MOST_PARTS).contains(&parts) {
                return Err(Malformed("a value has an impossible number of parts"));
            }
            split.push((Value { bucket: slot / 2, kind }, parts));
        }
        Ok(Self { number, bucket_bits, split })
    }
}

fn decode_segment(reader: &mut ByteReader<'_>) -> Result<Segment, Malformed> {
    let layout = Layout::decode(reader)?;
    let (first, span, documents, bytes) = (reader.number()?, reader.number()?, reader.number()?, reader.number()?);
    let last = first.checked_add(span).filter(|_| span < LONGEST_SPAN && documents <= span + 1);
    let last = last.ok_or(Malformed("a segment has an impossible range"))?;
    let count = reader.count()?;
    let mut dead = Vec::with_capacity(count);
    let mut before: u32 = 0;
    for position in 0..count {
        let step = reader.small()?;
        let document = before.checked_add(step).filter(|document| u64::from(*document) <= span);
        before = document.filter(|_| position == 0 || step > 0).ok_or(Malformed("a deleted document is impossible"))?;
        dead.push(before);
    }
    Ok(Segment { layout, first, last, documents, bytes, dead })
}
