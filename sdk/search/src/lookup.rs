//! What a query needs of each segment: which values to read, and the terms in
//! them with their conditions.

use std::collections::BTreeMap;

use crate::bytes::{Malformed, wide};
use crate::header::{Header, Layout, Segment, Value};
use crate::postings::{UnpackedBlock, blocks};
use crate::query::Phrase;
use crate::rank::{self, BestDocuments, Conditions, PostingList};
use crate::read::Values;
use crate::score::Term;
use crate::segment::{self, TermRecord, tag_term, values_of};
use crate::{DocumentId, Query, Search, SearchError, phrase};

/// Terms to look up, whatever segment they are in.
#[derive(Debug)]
pub(crate) struct QueryTerms<'query> {
    query: &'query Query,
    /// Hashes of all words of the query. Sorted, since the seed of a hash map
    /// would be one more host call.
    hashes: BTreeMap<&'query str, u64>,
    /// The groups of tags as terms.
    tags: Vec<Vec<(String, u64)>>,
}

impl<'query> QueryTerms<'query> {
    pub(crate) fn new(query: &'query Query, search: &Search<'_>) -> Self {
        let words = query.scored.iter().chain(query.all_phrases().flatten());
        let hashes = words.map(|term| (term.as_str(), segment::hash(term))).collect();
        let term = |tag: &&str| {
            let term = tag_term(tag);
            let hash = segment::hash(&term);
            (term, hash)
        };
        Self { query, hashes, tags: search.tags.iter().map(|group| group.iter().map(term).collect()).collect() }
    }

    /// The values that its terms are in.
    pub(crate) fn values<'header>(
        &self,
        header: &'header Header,
    ) -> impl Iterator<Item = (&'header Layout, Value)> + use<'_, 'query, 'header> {
        header.segments.iter().flat_map(move |segment| {
            let layout = &segment.layout;
            let values = |hash: &u64| values_of(*hash, layout.bucket_bits);
            let tags = self.tags.iter().flatten().map(|(_, hash)| hash);
            let postings = self.hashes.values().chain(tags).map(values).map(|(postings, _)| postings);
            let phrases = self.query.all_phrases().filter(|phrase| phrase.len() > 1).flatten();
            let placed = phrases.filter_map(|term| self.hashes.get(term.as_str()));
            let wanted: Vec<Value> = postings.chain(placed.map(values).map(|(_, positions)| positions)).collect();
            wanted.into_iter().map(move |value| (layout, value))
        })
    }
}

/// What a segment has of a query.
pub(crate) struct SegmentMatches<'values> {
    segment: &'values Segment,
    /// The terms that make the score; none for those that the segment lacks.
    scored: Vec<Option<TermRecord<'values>>>,
    /// How many documents have each of them.
    counts: Vec<u64>,
    conditions: Conditions,
}

/// A segment and its values.
struct SegmentValues<'values> {
    segment: &'values Segment,
    values: &'values Values,
    prefix: &'values str,
}

impl<'values> SegmentMatches<'values> {
    pub(crate) fn find(
        segment: &'values Segment,
        wanted: &QueryTerms<'_>,
        values: &'values Values,
        prefix: &'values str,
    ) -> Result<Self, SearchError> {
        let source = SegmentValues { segment, values, prefix };
        let hash = |term: &str| wanted.hashes.get(term).copied().unwrap_or_default();
        let (mut scored, mut counts) = (Vec::new(), Vec::new());
        for term in &wanted.query.scored {
            let record = source.find(term, hash(term))?;
            let count = record.map(|record| alive(segment, &record)).transpose();
            counts.push(count.map_err(|error| source.damaged(error, hash(term)))?.unwrap_or(0));
            scored.push(record);
        }
        let mut conditions = Conditions::default();
        if !segment.dead.is_empty() {
            conditions.excluded.push(segment.dead.clone());
        }
        for phrase in &wanted.query.phrases {
            conditions.required.push(source.having(phrase, hash)?);
        }
        for phrase in &wanted.query.excluded {
            conditions.excluded.push(source.having(phrase, hash)?);
        }
        for group in &wanted.tags {
            let mut having = Vec::new();
            for (term, hash) in group {
                having.extend(source.documents(term, *hash)?);
            }
            having.sort_unstable();
            conditions.required.push(having);
        }
        Ok(Self { segment, scored, counts, conditions })
    }

    /// How many documents have a term of the query, by its place in it.
    pub(crate) fn documents(&self, term: usize) -> u64 {
        self.counts.get(term).copied().unwrap_or_default()
    }

    /// Offers its documents.
    pub(crate) fn rank(
        &self,
        weights: &[Term],
        only: Option<&dyn Fn(DocumentId) -> bool>,
        best: &mut BestDocuments,
    ) -> Result<(), Malformed> {
        let lists = self.scored.iter().zip(weights).filter_map(|(record, weight)| Some((record.as_ref()?, weight)));
        let mut lists =
            lists.map(|(record, weight)| PostingList::new(record, *weight)).collect::<Result<Vec<_>, _>>()?;
        rank::rank(self.segment.first, &mut lists, &self.conditions, only, best)
    }
}

impl<'values> SegmentValues<'values> {
    fn find(&self, term: &str, hash: u64) -> Result<Option<TermRecord<'values>>, SearchError> {
        let bits = self.segment.layout.bucket_bits;
        let bucket = self.values.get(&self.segment.layout, values_of(hash, bits).0);
        segment::find(bucket, term, hash, bits).map_err(|error| self.damaged(error, hash))
    }

    /// The documents that have a term.
    fn documents(&self, term: &str, hash: u64) -> Result<Vec<u32>, SearchError> {
        let Some(record) = self.find(term, hash)? else { return Ok(Vec::new()) };
        phrase::documents(&record).map_err(|error| self.damaged(error, hash))
    }

    /// The documents that have a phrase.
    fn having(&self, phrase: &Phrase, hash: impl Fn(&str) -> u64) -> Result<Vec<u32>, SearchError> {
        let Some(first) = phrase.first() else { return Ok(Vec::new()) };
        if phrase.len() == 1 {
            return self.documents(first, hash(first));
        }
        let mut terms = Vec::with_capacity(phrase.len());
        for term in phrase {
            let hash = hash(term);
            let Some(record) = self.find(term, hash)? else { return Ok(Vec::new()) };
            let positions = values_of(hash, self.segment.layout.bucket_bits).1;
            terms.push((record, self.values.get(&self.segment.layout, positions)));
        }
        phrase::having(&terms).map_err(|error| self.damaged(error, hash(first)))
    }

    fn damaged(&self, error: Malformed, hash: u64) -> SearchError {
        let layout = &self.segment.layout;
        error.at(&layout.key(self.prefix, values_of(hash, layout.bucket_bits).0))
    }
}

/// How many documents have a term, deleted ones not counted. Only the blocks
/// that may hold a deleted one are unpacked.
fn alive(segment: &Segment, record: &TermRecord<'_>) -> Result<u64, Malformed> {
    let mut alive = u64::from(record.count);
    if segment.dead.is_empty() {
        return Ok(alive);
    }
    let mut unpacked = UnpackedBlock::default();
    let mut dead = segment.dead.as_slice();
    for block in blocks(record.postings, record.count)? {
        let of_block;
        (of_block, dead) = dead.split_at(dead.partition_point(|document| *document <= block.last));
        if of_block.last().is_some_and(|last| block.before.is_none_or(|before| *last > before)) {
            unpacked.read(&block)?;
            let documents = &unpacked.documents[..unpacked.count];
            let gone = of_block.iter().filter(|document| documents.binary_search(document).is_ok()).count();
            alive = alive.saturating_sub(wide(gone));
        }
    }
    Ok(alive)
}
