//! BM25 as it is written in books, over documents in a list.

use std::collections::{BTreeMap, BTreeSet};

use wharf_search::{Analysis, DocumentId};

#[derive(Default)]
pub(crate) struct Reference {
    pub(crate) documents: BTreeMap<DocumentId, Vec<String>>,
}

/// A query in parts, so that nothing is shared with the parser.
#[derive(Default)]
pub(crate) struct QueryTerms {
    pub(crate) words: Vec<String>,
    pub(crate) phrases: Vec<Vec<String>>,
    pub(crate) excluded: Vec<Vec<String>>,
}

impl QueryTerms {
    pub(crate) fn text(&self) -> String {
        let mut parts = self.words.clone();
        parts.extend(self.phrases.iter().map(|phrase| format!("\"{}\"", phrase.join(" "))));
        parts.extend(self.excluded.iter().map(|phrase| format!("-\"{}\"", phrase.join(" "))));
        parts.join(" ")
    }
}

impl Reference {
    pub(crate) fn add(&mut self, id: DocumentId, text: &str) {
        let words = Analysis::default().tokens(text).into_iter().map(|token| token.term);
        self.documents.insert(id, words.collect());
    }

    /// All documents that match, the best first.
    pub(crate) fn search(&self, wanted: &QueryTerms) -> Vec<(DocumentId, f64)> {
        let count = |size: usize| f64::from(u32::try_from(size).expect("a small corpus"));
        let total: usize = self.documents.values().map(Vec::len).sum();
        let (documents, average) = (count(self.documents.len()), count(total) / count(self.documents.len()));
        let terms: BTreeSet<&String> = wanted.words.iter().chain(wanted.phrases.iter().flatten()).collect();
        let has = |words: &[String], phrase: &Vec<String>| words.windows(phrase.len()).any(|window| window == phrase);
        let mut found = Vec::new();
        for (id, words) in &self.documents {
            let mut score = 0.0;
            for term in &terms {
                let frequency = count(words.iter().filter(|word| word == term).count());
                let with = count(self.documents.values().filter(|words| words.contains(term)).count());
                let rarity = (1.0 + (documents - with + 0.5) / (with + 0.5)).ln();
                let long = 1.0 - 0.75 + 0.75 * count(words.len()) / average;
                score += rarity * frequency * 2.2 / (frequency + 1.2 * long);
            }
            let wanted_all = wanted.phrases.iter().all(|phrase| has(words, phrase));
            if score > 0.0 && wanted_all && !wanted.excluded.iter().any(|phrase| has(words, phrase)) {
                found.push((*id, score));
            }
        }
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        found
    }
}
