//! Searching: which documents match a query, and how well.
//!
//! Three reads, whatever the index: the header, the buckets of the query's
//! terms in all segments, the descriptions of the hits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::bytes::{Malformed, Reader, wide};
use crate::documents;
use crate::header::{Header, Kind, Segment, Value};
use crate::index::{DocumentId, Index};
use crate::postings::{Posting, Unpack, unpack_positions};
use crate::query::Phrase;
use crate::segment::{bucket_of, positions_of, terms_of};
use crate::store::{self, Store};
use crate::{Query, SearchError};

/// Hits that one search returns at most.
const MOST_HITS: usize = 500;
/// How often a search begins anew because what it read was merged away.
const ATTEMPTS: u32 = 20;

/// What a search returns.
#[derive(Clone, Copy)]
pub struct Search<'filter> {
    /// How many hits, clamped to 1 to 500.
    pub top: usize,
    /// Which documents may be hits; all, where there is none. It changes no
    /// score.
    pub only: Option<&'filter dyn Fn(DocumentId) -> bool>,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self { top: 10, only: None }
    }
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Search").field("top", &self.top).finish_non_exhaustive()
    }
}

/// A document that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Which.
    pub id: DocumentId,
    /// Its label.
    pub label: String,
    /// BM25 over the terms of the query.
    pub score: f64,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best first; of equal ones, the older.
    pub hits: Vec<Hit>,
    /// How many documents match.
    pub matches: usize,
    /// What was looked for; it makes snippets.
    pub query: Query,
}

/// What is known of one term.
#[derive(Debug, Default)]
struct Occurrences {
    postings: Vec<Posting>,
    /// Where the positions of each posting begin; empty where none were read.
    starts: Vec<usize>,
    positions: Vec<u32>,
}

/// Why a search must begin anew: what it read was changed meanwhile.
enum Failure {
    Raced(String),
    Error(SearchError),
}

impl<E: Into<SearchError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl<S: Store> Index<S> {
    /// Finds the documents that match a query; [`Query`] says what may stand in
    /// one.
    ///
    /// # Errors
    /// [`SearchError::EmptyQuery`]; [`SearchError::Store`],
    /// [`SearchError::Corrupt`].
    pub fn search(&self, query: &str, search: &Search<'_>) -> Result<Found, SearchError> {
        let query = Query::parse(query, self.settings.analysis)?;
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let (header, revision) = self.header()?;
            match self.attempt(&query, &header, search) {
                Ok((hits, matches)) => return Ok(Found { hits, matches, query }),
                Err(Failure::Error(error)) => return Err(error),
                // Under a header that did not change, nothing may be missing.
                Err(Failure::Raced(key)) if before == Some(revision) => {
                    return Err(SearchError::Corrupt { key, problem: "it is missing" });
                }
                Err(Failure::Raced(_)) => before = Some(revision),
            }
        }
        Err(SearchError::Contended { attempts: ATTEMPTS })
    }

    fn attempt(&self, query: &Query, header: &Header, search: &Search<'_>) -> Result<(Vec<Hit>, usize), Failure> {
        let occurrences = self.occurrences(query, header)?;
        let mut scored = self.score(query, header, &occurrences);
        for phrase in &query.phrases {
            let having = having(phrase, &occurrences);
            scored.retain(|(document, _)| having.binary_search(document).is_ok());
        }
        for phrase in &query.excluded {
            let having = having(phrase, &occurrences);
            scored.retain(|(document, _)| having.binary_search(document).is_err());
        }
        if let Some(only) = search.only {
            scored.retain(|(document, _)| only(DocumentId(*document)));
        }
        let matches = scored.len();
        let better = |(first, one): &(u64, f64), (second, other): &(u64, f64)| {
            other.total_cmp(one).then_with(|| first.cmp(second))
        };
        let top = search.top.clamp(1, MOST_HITS);
        if scored.len() > top {
            scored.select_nth_unstable_by(top, better);
            scored.truncate(top);
        }
        scored.sort_by(better);
        Ok((self.describe(scored)?, matches))
    }

    /// Where the terms of the query occur, deleted documents left out.
    fn occurrences(&self, query: &Query, header: &Header) -> Result<BTreeMap<String, Occurrences>, Failure> {
        // A word that is excluded needs no positions; a phrase of several does.
        let placed: BTreeSet<&str> =
            query.all_phrases().filter(|phrase| phrase.len() > 1).flatten().map(String::as_str).collect();
        let terms: BTreeSet<&str> =
            query.scored.iter().chain(query.all_phrases().flatten()).map(String::as_str).collect();
        let mut keys: Vec<String> = Vec::new();
        let mut parts: BTreeMap<(u64, Value), std::ops::Range<usize>> = BTreeMap::new();
        for segment in &header.segments {
            for term in &terms {
                let bucket = bucket_of(term, segment.buckets);
                for kind in [Kind::Postings, Kind::Positions] {
                    if kind == Kind::Postings || placed.contains(term) {
                        let value = Value { bucket, kind };
                        parts.entry((segment.number, value)).or_insert_with(|| {
                            let start = keys.len();
                            keys.extend(segment.keys(&self.prefix, value));
                            start..keys.len()
                        });
                    }
                }
            }
        }
        let mut stored = Vec::with_capacity(keys.len());
        if !keys.is_empty() {
            for (key, value) in keys.iter().zip(store::read(&self.store, &keys)?) {
                stored.push(value.ok_or_else(|| Failure::Raced(key.clone()))?);
            }
        }
        let values: BTreeMap<(u64, Value), (Vec<u8>, &String)> = parts
            .into_iter()
            .map(|(value, range)| (value, (stored[range.clone()].concat(), &keys[range.start])))
            .collect();
        let mut found = BTreeMap::new();
        for term in terms {
            let mut occurrences = Occurrences::default();
            for segment in &header.segments {
                let bucket = bucket_of(term, segment.buckets);
                let value = |kind| values.get(&(segment.number, Value { bucket, kind }));
                let Some((postings, key)) = value(Kind::Postings) else { continue };
                let positions = if placed.contains(term) { value(Kind::Positions) } else { None };
                let positions = positions.map(|(bytes, _)| bytes.as_slice());
                occurrences.read(segment, term, postings, positions).map_err(|error| error.at(key))?;
            }
            found.insert(term.to_owned(), occurrences);
        }
        Ok(found)
    }

    /// Every document that has a term of the query, with its score.
    fn score(&self, query: &Query, header: &Header, occurrences: &BTreeMap<String, Occurrences>) -> Vec<(u64, f64)> {
        let mut shares: Vec<(u64, f64)> = Vec::new();
        for term in &query.scored {
            let Some(Occurrences { postings, .. }) = occurrences.get(term) else { continue };
            let weight = self.settings.bm25.term(header.documents, wide(postings.len()), header.words);
            shares.extend(
                postings.iter().map(|posting| (posting.document, weight.score(posting.frequency, posting.words))),
            );
        }
        // The shares of each term are in order already, and this sort merges
        // what is.
        shares.sort_by_key(|(document, _)| *document);
        shares.dedup_by(|(document, share), (kept, sum)| {
            let same = document == kept;
            if same {
                *sum += *share;
            }
            same
        });
        shares
    }

    fn describe(&self, scored: Vec<(u64, f64)>) -> Result<Vec<Hit>, Failure> {
        let keys: BTreeMap<String, u64> =
            scored.iter().map(|(document, _)| (documents::key(&self.prefix, *document), *document)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (keys, any): (Vec<String>, Vec<u64>) = keys.into_iter().unzip();
        let mut described = BTreeMap::new();
        for ((key, any), value) in keys.iter().zip(any).zip(store::read(&self.store, &keys)?) {
            let value = value.ok_or_else(|| Failure::Raced(key.clone()))?;
            described.append(&mut documents::decode(any, &value).map_err(|error| error.at(key))?);
        }
        let hit = |(document, score): (u64, f64)| {
            let description = described.remove(&document);
            let description = description.ok_or_else(|| Failure::Raced(documents::key(&self.prefix, document)))?;
            Ok(Hit { id: DocumentId(document), label: description.label, score })
        };
        scored.into_iter().map(hit).collect()
    }
}

impl Occurrences {
    /// Appends those of one segment.
    fn read(
        &mut self,
        segment: &Segment,
        term: &str,
        postings: &[u8],
        positions: Option<&[u8]>,
    ) -> Result<(), Malformed> {
        for (place, stored) in terms_of(postings).enumerate() {
            let (stored, postings) = stored?;
            if stored != term {
                continue;
            }
            let positions = positions.map(|bytes| match positions_of(bytes).nth(place) {
                Some(positions) => positions.map(Reader::new),
                None => Err(Malformed("a term has no positions")),
            });
            let mut positions = positions.transpose()?;
            let mut unpack = Unpack::new(postings, segment.first, segment.last);
            while let Some(posting) = unpack.next()? {
                let places = positions.as_mut().map(|reader| reader.numbers(posting.frequency)).transpose()?;
                if segment.is_dead(posting.document) {
                    continue;
                }
                if let Some(places) = places {
                    self.starts.push(self.positions.len());
                    unpack_positions(places, &mut self.positions)?;
                }
                self.postings.push(posting);
            }
            return Ok(());
        }
        Ok(())
    }

    /// The positions in one document; none where it lacks the term.
    fn positions(&self, document: u64) -> Option<&[u32]> {
        let place = self.postings.binary_search_by_key(&document, |posting| posting.document).ok()?;
        let start = *self.starts.get(place)?;
        let end = self.starts.get(place + 1).copied().unwrap_or(self.positions.len());
        self.positions.get(start..end)
    }
}

/// The documents that have a phrase, ascending.
fn having(phrase: &Phrase, occurrences: &BTreeMap<String, Occurrences>) -> Vec<u64> {
    let Some(terms) = phrase.iter().map(|term| occurrences.get(term)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let Some(rarest) = terms.iter().min_by_key(|term| term.postings.len()) else { return Vec::new() };
    let candidates = rarest.postings.iter().map(|posting| posting.document);
    if terms.len() == 1 {
        return candidates.collect();
    }
    candidates.filter(|document| follow(&terms, *document)).collect()
}

/// Whether the terms follow each other somewhere in the document.
fn follow(terms: &[&Occurrences], document: u64) -> bool {
    let places: Option<Vec<&[u32]>> = terms.iter().map(|term| term.positions(document)).collect();
    let Some(places) = places else { return false };
    let Some((first, others)) = places.split_first() else { return false };
    first.iter().any(|start| {
        (1..)
            .zip(others)
            .all(|(offset, places)| start.checked_add(offset).is_some_and(|place| places.binary_search(&place).is_ok()))
    })
}
