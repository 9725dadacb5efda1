//! BM25: how well a document answers, from how often it has a term, how rare
//! the term is and how long the document.

use crate::SearchError;

/// The two constants of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How soon more occurrences of a term stop counting: 0 and more.
    pub k1: f64,
    /// How much longer documents are held back: 0 to 1.
    pub b: f64,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

impl Bm25 {
    pub(crate) fn check(self) -> Result<Self, SearchError> {
        if !(self.k1.is_finite() && self.k1 >= 0.0) {
            return Err(SearchError::InvalidSettings("k1 of BM25 must be 0 or more"));
        }
        if !(0.0..=1.0).contains(&self.b) {
            return Err(SearchError::InvalidSettings("b of BM25 must be 0 to 1"));
        }
        Ok(self)
    }

    /// What one term is worth in `documents`, of which `with_term` have it.
    pub(crate) fn term(self, documents: u64, with_term: u64, words: u64) -> Term {
        let (documents, with_term) = (float(documents), float(with_term));
        let rarity = (1.0 + (documents - with_term + 0.5) / (with_term + 0.5)).ln();
        Term { constants: self, weight: rarity * (self.k1 + 1.0), average: float(words) / documents.max(1.0) }
    }
}

/// A term in an index as it is now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    constants: Bm25,
    weight: f64,
    average: f64,
}

impl Term {
    pub(crate) fn score(self, frequency: u32, words: u32) -> f64 {
        let Bm25 { k1, b } = self.constants;
        let frequency = f64::from(frequency);
        self.weight * frequency / (frequency + k1 * (1.0 - b + b * f64::from(words) / self.average))
    }

    /// What no document scores above that has the term at most so often, and
    /// at least so many words.
    pub(crate) fn bound(self, most: u32, least_words: u32) -> f64 {
        // A little more, for sums are rounded.
        self.score(most, least_words) * (1.0 + 1e-9)
    }
}

/// Counts are far below 2^53, where this would begin to round.
#[expect(clippy::cast_precision_loss, reason = "counts of documents and words are exact in a float")]
fn float(count: u64) -> f64 {
    count as f64
}
