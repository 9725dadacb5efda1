//! Merging: many small segments become a larger one, and deleted documents go
//! for good. What a merge makes is found exactly as before.
//!
//! It is a step of its own after a change: if somebody else was faster, or it
//! fails, it is left to the next change.

use std::ops::Range;

use wharf_sdk::Change;

use crate::SearchError;
use crate::bytes::{Malformed, Reader, wide};
use crate::header::{Header, Kind, Segment, Value};
use crate::index::Index;
use crate::postings::Unpack;
use crate::segment::{Terms, positions_of, terms_of};
use crate::store::{self, KEYS_PER_CALL, Store};

/// Neighbours of about one size that become one.
const TOGETHER: usize = 8;
/// Bytes of the largest segment that a merge makes: what one step can read and
/// write well.
const LARGEST_BYTES: u64 = 2 * 1024 * 1024;
/// Entries that one merge takes in. What it makes has at most as many.
const MOST_ENTRIES: u64 = 480;
/// Bytes of the segments of each size class. Any two of the last one fit one
/// merge; larger segments are merged no more.
const CLASSES: [u64; 4] = [4 * 1024, 32 * 1024, 256 * 1024, 700 * 1024];

impl<S: Store> Index<S> {
    /// Merges once where it is due.
    pub(crate) fn tidy_up(&self, seen: &Header) -> Result<(), SearchError> {
        if due(seen).is_none() {
            return Ok(());
        }
        let (header, revision) = self.header()?;
        let Some(range) = due(&header) else { return Ok(()) };
        let Some((header, changes)) = self.merged(header, range)? else { return Ok(()) };
        self.commit(&header, revision, changes)
    }

    /// The header and the changes that make one segment of several; none where
    /// somebody else has just merged them.
    fn merged(&self, mut header: Header, range: Range<usize>) -> Result<Option<(Header, Vec<Change>)>, SearchError> {
        let old: Vec<Segment> = header.segments.drain(range.clone()).collect();
        let mut terms = Terms::default();
        let first = old.first().map_or(0, |segment| segment.first);
        let last = old.last().map_or(0, |segment| segment.last);
        for segment in &old {
            let keys = segment.all_keys(&self.prefix);
            let Some(values) = join(segment, store::read(&self.store, &keys)?) else { return Ok(None) };
            for (bucket, pair) in (0..).zip(values.chunks(2)) {
                let [postings, positions] = pair else { continue };
                copy(segment, first, postings, positions, &mut terms).map_err(|error| {
                    let key = segment.keys(&self.prefix, Value { bucket, kind: Kind::Postings }).next();
                    error.at(&key.unwrap_or_default())
                })?;
            }
        }
        let mut changes: Vec<Change> =
            old.iter().flat_map(|segment| segment.all_keys(&self.prefix)).map(Change::delete).collect();
        let documents = old.iter().map(|segment| segment.documents.saturating_sub(wide(segment.dead.len())));
        let documents: u64 = documents.sum();
        if documents > 0 {
            let written = terms.write();
            let number = header.next_segment;
            header.next_segment = number.saturating_add(1);
            changes.extend(written.entries(&self.prefix, number).map(|(key, value)| Change::put(key, value.clone())));
            header.segments.insert(range.start, written.describe(number, first, last, documents));
        }
        // A segment of odd proportions is left as it is.
        Ok((changes.len() < KEYS_PER_CALL).then_some((header, changes)))
    }
}

/// Values of a segment from their parts; none where one is gone.
fn join(segment: &Segment, parts: Vec<Option<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let mut parts = parts.into_iter();
    segment
        .values()
        .map(|value| parts.by_ref().take(segment.keys("", value).count()).collect::<Option<Vec<_>>>())
        .map(|parts| parts.map(|parts| parts.concat()))
        .collect()
}

/// Copies the postings of a bucket whose documents are alive.
fn copy(segment: &Segment, first: u64, postings: &[u8], positions: &[u8], into: &mut Terms) -> Result<(), Malformed> {
    let mut positions = positions_of(positions);
    for term in terms_of(postings) {
        let (term, postings) = term?;
        let positions = positions.next().ok_or(Malformed("a term has no positions"))??;
        let mut positions = Reader::new(positions);
        let mut unpack = Unpack::new(postings, segment.first, segment.last);
        while let Some(mut posting) = unpack.next()? {
            let places = positions.numbers(posting.frequency)?;
            if !segment.is_dead(posting.document) {
                posting.document -= first;
                into.push(term, posting, places);
            }
        }
    }
    Ok(())
}

/// The segments to merge now: neighbours of about one size, or else one that is
/// a quarter dead. The former frees the dead as well.
fn due(header: &Header) -> Option<Range<usize>> {
    let segments = &header.segments;
    for class in CLASSES {
        let mut start = 0;
        while start < segments.len() {
            let small = |segment: &&Segment| segment.bytes <= class;
            let run = segments[start..].iter().take_while(small).count();
            if run >= TOGETHER
                && let Some(count) = fitting(&segments[start..start + run])
            {
                return Some(start..start + count);
            }
            start += run + 1;
        }
    }
    let dead = |segment: &Segment| wide(segment.dead.len()).saturating_mul(4) >= segment.documents.max(1);
    segments.iter().position(dead).map(|position| position..position + 1)
}

/// How many of these, from the first, one merge can take.
fn fitting(segments: &[Segment]) -> Option<usize> {
    let (mut bytes, mut keys) = (0_u64, 0_u64);
    let fits = segments.iter().take_while(|segment| {
        bytes = bytes.saturating_add(segment.bytes);
        keys = keys.saturating_add(u64::from(segment.buckets) * 2);
        bytes <= LARGEST_BYTES && keys <= MOST_ENTRIES
    });
    Some(fits.count()).filter(|count| *count >= 2)
}
