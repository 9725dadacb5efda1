//! Searching: which documents match a query, and how well.
//!
//! Three reads, whatever the index: the header, the buckets of the query's
//! terms in all segments, what is stored with the hits.

use std::fmt;

use crate::header::Header;
use crate::index::{DocumentId, Index};
use crate::lookup::{QueryTerms, SegmentMatches};
use crate::payload;
use crate::rank::{BestDocuments, Ranked};
use crate::read::MissingValue;
use crate::score::Term;
use crate::store::Store;
use crate::{Query, SearchError};

/// Hits that one search returns at most.
const MOST_HITS: usize = 500;
/// Tags that one search names at most.
const MOST_TAGS: usize = 64;
/// How often a search begins anew because what it read was merged away.
const ATTEMPTS: u32 = 20;

/// What a search returns.
#[derive(Clone, Copy)]
pub struct Search<'filter> {
    /// How many hits, clamped to 1 to 500.
    pub top: usize,
    /// Of each of these groups a hit must have at least one tag. At most 64
    /// tags in all.
    pub tags: &'filter [&'filter [&'filter str]],
    /// Which documents may be hits; all, where there is none. It changes no
    /// score.
    pub only: Option<&'filter dyn Fn(DocumentId) -> bool>,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self { top: 10, tags: &[], only: None }
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
    /// BM25 over the terms of the query.
    pub score: f64,
    /// What was stored with it.
    pub stored: Vec<u8>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The best first; of equal ones, the older.
    pub hits: Vec<Hit>,
    /// How many documents match.
    pub matches: MatchCount,
    /// What was looked for; it makes snippets.
    pub query: Query,
}

/// How many documents match a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchCount {
    /// So many.
    Exact(usize),
    /// So many were seen, and documents that could not be among the best hits
    /// were not looked at.
    AtLeast(usize),
}

impl MatchCount {
    /// How many there are at least.
    #[must_use]
    pub fn seen(self) -> usize {
        match self {
            Self::Exact(count) | Self::AtLeast(count) => count,
        }
    }
}

/// Why a search must begin anew: what it read was changed meanwhile.
enum AttemptError {
    Raced(String),
    Error(SearchError),
}

impl<E: Into<SearchError>> From<E> for AttemptError {
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
    pub fn search(&self, query: &str, search: &Search<'_>) -> Result<SearchResults, SearchError> {
        let query = Query::parse(query, self.settings.analysis)?;
        let tags = search.tags.iter().map(|group| group.len()).sum();
        if tags > MOST_TAGS || search.tags.len() > MOST_TAGS {
            return Err(SearchError::TooLarge { what: "tags to search for", size: tags, limit: MOST_TAGS });
        }
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let (header, revision) = self.header()?;
            match self.attempt(&query, &header, search) {
                Ok((hits, matches)) => return Ok(SearchResults { hits, matches, query }),
                Err(AttemptError::Error(error)) => return Err(error),
                // Under a header that did not change, nothing may be missing.
                Err(AttemptError::Raced(key)) if before == Some(revision) => {
                    return Err(SearchError::Corrupt { key, problem: "it is missing" });
                }
                Err(AttemptError::Raced(_)) => before = Some(revision),
            }
        }
        Err(SearchError::Contended { attempts: ATTEMPTS })
    }

    fn attempt(
        &self,
        query: &Query,
        header: &Header,
        search: &Search<'_>,
    ) -> Result<(Vec<Hit>, MatchCount), AttemptError> {
        let wanted = QueryTerms::new(query, search);
        let values = self.values(wanted.values(header))?.map_err(|MissingValue(key)| AttemptError::Raced(key))?;
        let mut segments = Vec::with_capacity(header.segments.len());
        for segment in &header.segments {
            segments.push(SegmentMatches::find(segment, &wanted, &values, &self.prefix)?);
        }
        let bm25 = self.settings.bm25;
        let weight = |term| {
            let with_term = segments.iter().map(|segment| segment.documents(term)).sum();
            bm25.term(header.documents, with_term, header.words)
        };
        let weights: Vec<Term> = (0..query.scored.len()).map(weight).collect();
        let mut best = BestDocuments::new(search.top.clamp(1, MOST_HITS));
        for segment in &segments {
            segment.rank(&weights, search.only, &mut best).map_err(|error| error.at(&self.header_key()))?;
        }
        let matches = if best.skipped { MatchCount::AtLeast(best.seen) } else { MatchCount::Exact(best.seen) };
        Ok((self.describe(header, best.into_sorted())?, matches))
    }

    fn describe(&self, header: &Header, ranked: Vec<Ranked>) -> Result<Vec<Hit>, AttemptError> {
        let mut found = self.payloads(header, ranked.iter().map(|ranked| ranked.document))?;
        let hit = |Ranked { document, score }: Ranked| {
            let payload = found
                .remove(&document)
                .ok_or_else(|| AttemptError::Raced(payload::key(&self.prefix, payload::entry_of(header, document))))?;
            Ok(Hit { id: DocumentId(document), score, stored: payload.stored })
        };
        ranked.into_iter().map(hit).collect()
    }
}
