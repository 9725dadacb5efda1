//! The index over a store in memory that counts, conflicts and can be damaged.

mod changes;
mod costs;
mod damage;
mod languages;
mod large;
mod reference;
mod scores;
mod store;
mod tags;

use wharf_search::{Document, DocumentId, Index, IndexSettings, Search, Store};

fn index<S: Store>(store: S) -> Index<S> {
    Index::new(store, "i/", IndexSettings::default()).expect("the settings are fine")
}

fn add<S: Store>(index: &Index<S>, texts: &[&str]) -> Vec<DocumentId> {
    let documents: Vec<_> = texts
        .iter()
        .map(|text| Document { text, stored: text.get(..40).unwrap_or(text).as_bytes(), ..Document::default() })
        .collect();
    index.add(&documents, |_| Ok(Vec::new())).expect("it is added")
}

fn labels<S: Store>(index: &Index<S>, query: &str) -> Vec<String> {
    let found = index.search(query, &Search::default()).expect("it is searched");
    found.hits.into_iter().map(|hit| String::from_utf8(hit.stored).expect("it was text")).collect()
}
