//! Merging: many small segments become a larger one, and deleted documents go
//! for good. What a merge makes is found exactly as before.
//!
//! It is a step of its own after a change: if somebody else was faster, or it
//! fails, it is left to the next change. What it replaces may be too much to
//! delete in the same step; the header remembers it until it is gone.

use std::ops::Range;

use wharf_sdk::Change;

use crate::SearchError;
use crate::bytes::{ByteReader, Malformed, wide};
use crate::header::{Header, LONGEST_SPAN, Layout, Segment, Value, ValueKind};
use crate::index::Index;
use crate::postings::{PackedPostings, UnpackedBlock, blocks};
use crate::read::Values;
use crate::segment::{self, FinishedSegment, SegmentWriter, TermRecord, values_of};
use crate::store::{KEYS_PER_CALL, Store};

/// Neighbours of about one size that become one.
const TOGETHER: usize = 4;
/// Bytes of the largest segment that a merge makes, where a step is larger:
/// what the memory of a guest takes well.
const LARGEST_BYTES: usize = 12 * 1024 * 1024;
/// Bytes of the segments of the first size class, and how much larger each
/// further one is.
const FIRST_CLASS: u64 = 4 * 1024;
const CLASS_FACTOR: u64 = 4;
/// Entries that one step writes and deletes.
const STEP_ENTRIES: usize = KEYS_PER_CALL - 10;

impl<S: Store> Index<S> {
    /// Merges once where it is due, and deletes what merges have replaced.
    pub(crate) fn tidy_up(&self, seen: &Header) -> Result<(), SearchError> {
        let largest = wide((self.settings.step_bytes / 2).min(LARGEST_BYTES));
        if due(seen, largest).is_some() {
            let (header, revision) = self.header()?;
            if let Some(range) = due(&header, largest)
                && let Some((header, changes)) = self.merged(header, range)?
            {
                self.commit(&header, revision, changes)?;
                return self.clear(&header);
            }
        }
        self.clear(seen)
    }

    /// The header and the changes that make one segment of several; none where
    /// somebody else has just merged them.
    fn merged(&self, mut header: Header, range: Range<usize>) -> Result<Option<(Header, Vec<Change>)>, SearchError> {
        let old: Vec<Segment> = header.segments.drain(range.clone()).collect();
        let mut values = Vec::with_capacity(old.len());
        for segment in &old {
            let all = segment.layout.values().map(|value| (&segment.layout, value));
            match self.values(all)? {
                Ok(found) => values.push(found),
                Err(_) => return Ok(None),
            }
        }
        let first = old.first().map_or(0, |segment| segment.first);
        let last = old.last().map_or(0, |segment| segment.last);
        let documents = old.iter().map(|segment| segment.documents.saturating_sub(wide(segment.dead.len()))).sum();
        let mut changes = Vec::new();
        if documents > 0 {
            let written = self.join(&old, &values, first)?;
            let number = header.next_segment;
            header.next_segment = number.saturating_add(1);
            header.segments.insert(range.start, written.describe(number, first, last, documents));
            changes = written.put(&self.prefix, number);
        }
        let replaced: Vec<String> = old.iter().flat_map(|segment| segment.layout.all_keys(&self.prefix)).collect();
        if changes.len() + replaced.len() <= STEP_ENTRIES {
            changes.extend(replaced.into_iter().map(Change::delete));
        } else {
            header.replaced.extend(old.into_iter().map(|segment| segment.layout));
        }
        Ok(Some((header, changes)))
    }

    /// One segment of all that is alive in several neighbours.
    fn join(&self, old: &[Segment], values: &[Values], first: u64) -> Result<FinishedSegment, SearchError> {
        let mut records = Vec::new();
        for (place, (segment, values)) in old.iter().zip(values).enumerate() {
            for bucket in 0..1 << segment.layout.bucket_bits {
                let value = Value { bucket, kind: ValueKind::Postings };
                let damaged = |error: Malformed| error.at(&segment.layout.key(&self.prefix, value));
                let bucket = segment::records(values.get(&segment.layout, value)).map_err(damaged)?;
                records.extend(bucket.into_iter().map(|record| (segment::hash(record.term), record, place)));
            }
        }
        records.sort_unstable_by_key(|(hash, record, place)| (*hash, record.term, *place));
        let mut writer = SegmentWriter::new(records.iter().map(|(_, record, _)| record.size()).sum());
        let mut unpacked = UnpackedBlock::default();
        for same in records.chunk_by(|(_, one, _), (_, other, _)| one.term == other.term) {
            let Some((hash, TermRecord { term, .. }, _)) = same.first() else { continue };
            let mut packed = PackedPostings::default();
            for (_, record, place) in same {
                let segment = &old[*place];
                let (bucket, shared) = values_of(*hash, segment.layout.bucket_bits);
                let damaged = |error: Malformed| error.at(&segment.layout.key(&self.prefix, bucket));
                let positions = values[*place].get(&segment.layout, shared);
                copy(segment, first, record, positions, &mut unpacked, &mut packed).map_err(damaged)?;
            }
            if packed.count > 0 {
                writer.push(*hash, term, packed);
            }
        }
        Ok(writer.finish())
    }

    /// Deletes what merges have replaced, as much as one step takes.
    fn clear(&self, seen: &Header) -> Result<(), SearchError> {
        if seen.replaced.is_empty() {
            return Ok(());
        }
        let (mut header, revision) = self.header()?;
        let mut room = STEP_ENTRIES;
        let fits = |layout: &&Layout| {
            let left = room.checked_sub(layout.entries());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let count = header.replaced.iter().take_while(fits).count();
        let gone = header.replaced.drain(..count);
        let changes: Vec<Change> = gone.flat_map(|layout| layout.all_keys(&self.prefix)).map(Change::delete).collect();
        if changes.is_empty() { Ok(()) } else { self.commit(&header, revision, changes) }
    }
}

/// Copies the postings of a term whose documents are alive.
fn copy(
    segment: &Segment,
    first: u64,
    record: &TermRecord<'_>,
    positions: &[u8],
    unpacked: &mut UnpackedBlock,
    into: &mut PackedPostings,
) -> Result<(), Malformed> {
    let shift = u32::try_from(segment.first - first).map_err(|_| Malformed("a segment is too far away"))?;
    let mut positions = ByteReader::new(record.positions(positions)?);
    let tag = segment::is_tag(record.term);
    for block in blocks(record.postings, record.count)? {
        unpacked.read(&block)?;
        for mut posting in unpacked.postings() {
            let places = if tag { &[] } else { positions.numbers(posting.frequency)? };
            if !segment.is_dead(posting.document) {
                posting.document =
                    posting.document.checked_add(shift).ok_or(Malformed("a document is not of this segment"))?;
                into.positions.extend_from_slice(places);
                into.push(posting);
            }
        }
    }
    Ok(())
}

/// The segments to merge now: neighbours of about one size, or else one that is
/// a quarter dead. The former frees the dead as well.
fn due(header: &Header, largest: u64) -> Option<Range<usize>> {
    let segments = &header.segments;
    let classes = std::iter::successors(Some(FIRST_CLASS), |class| class.checked_mul(CLASS_FACTOR));
    for class in classes.take_while(|class| *class < largest * CLASS_FACTOR / 2) {
        let class = class.min(largest / 2);
        let mut start = 0;
        while start < segments.len() {
            let run = segments[start..].iter().take_while(|segment| segment.bytes <= class).count();
            if let Some(range) = fitting(&segments[start..start + run], largest) {
                return Some(start + range.start..start + range.end);
            }
            start += run + 1;
        }
    }
    let dead = |segment: &Segment| wide(segment.dead.len()).saturating_mul(4) >= segment.documents.max(1);
    segments.iter().position(dead).map(|position| position..position + 1)
}

/// Which neighbours of a run to merge. One that is larger than all others
/// together stays out: merging it again and again for little would make every
/// change slow.
fn fitting(run: &[Segment], largest: u64) -> Option<Range<usize>> {
    let mut total: u64 = run.iter().map(|segment| segment.bytes).sum();
    let mut start = 0;
    while run.len() - start >= TOGETHER && run[start].bytes > total - run[start].bytes {
        total -= run[start].bytes;
        start += 1;
    }
    let run = &run[start..];
    if run.len() < TOGETHER {
        return None;
    }
    let from = run.first().map_or(0, |segment| segment.first);
    let mut bytes = 0_u64;
    let fits = run.iter().take_while(|segment| {
        bytes = bytes.saturating_add(segment.bytes);
        bytes <= largest && segment.last - from < LONGEST_SPAN
    });
    Some(fits.count()).filter(|count| *count >= 2).map(|count| start..start + count)
}
