//! Many documents in one step.

use std::sync::atomic::Ordering;

use wharf_search::{Document, DocumentId, Index, IndexSettings, Search, SearchError};

use crate::store::Memory;
use crate::{index, labels};

/// A text of about a kilobyte with a word of its own and some that others have.
fn text(number: usize) -> String {
    let words = (0..110).map(|word| format!("word{} ", (number * 31 + word * word * 17) % 9_000));
    format!("{}own{number}", words.collect::<String>())
}

fn roomy(memory: &Memory) -> Index<&Memory> {
    let settings = IndexSettings { step_bytes: 24 << 20, ..IndexSettings::default() };
    Index::new(memory, "i/", settings).expect("the settings are fine")
}

#[test]
fn five_thousand_documents_are_added_and_deleted_in_one_step_each() {
    let memory = Memory { call_bytes: Some(32 << 20), ..Memory::default() };
    let index = roomy(&memory);
    let texts: Vec<String> = (0..5_000).map(text).collect();
    let documents: Vec<_> =
        texts.iter().map(|text| Document { text, stored: text.as_bytes(), ..Document::default() }).collect();
    let ids = index.add(&documents, |_| Ok(Vec::new())).expect("it fits one step");
    assert_eq!((ids.len(), memory.writes.load(Ordering::Relaxed)), (5_000, 1));
    assert!(ids.windows(2).all(|ids| ids[1].0 == ids[0].0 + 1), "ids are consecutive");
    for number in [0, 1, 16, 17, 2_500, 4_999] {
        let found = index.search(&format!("own{number}"), &Search::default()).expect("it is searched");
        assert_eq!(found.hits.len(), 1);
        assert_eq!((found.hits[0].id, &found.hits[0].stored), (ids[number], &texts[number].clone().into_bytes()));
    }
    // Some of an entry that they share, then all.
    index.delete(&ids[3..20], || Ok(Vec::new())).expect("it is deleted");
    let stored = index.stored(&[ids[2], ids[3], ids[19], ids[20]]).expect("it is read");
    let stored: Vec<bool> = stored.iter().map(Option::is_some).collect();
    assert_eq!(stored, [true, false, false, true]);
    assert_eq!((labels(&index, "own2").len(), labels(&index, "own3").len()), (1, 0));
    index.delete(&ids, || Ok(Vec::new())).expect("it fits one step");
    assert_eq!(index.statistics().expect("it is read").documents, 0);
    assert_eq!(memory.entries().0.keys().collect::<Vec<_>>(), ["i/h"]);
}

#[test]
fn merges_that_replace_more_than_one_step_deletes_leave_nothing_behind() {
    let memory = Memory { call_bytes: Some(32 << 20), ..Memory::default() };
    let index = roomy(&memory);
    let mut ids: Vec<DocumentId> = Vec::new();
    for batch in 0..4 {
        let texts: Vec<String> = (batch * 2_500..(batch + 1) * 2_500).map(text).collect();
        let documents: Vec<_> = texts.iter().map(|text| Document { text, ..Document::default() }).collect();
        ids.extend(index.add(&documents, |_| Ok(Vec::new())).expect("it is added"));
    }
    assert!(index.statistics().expect("it is read").segments < 4, "some were merged");
    for number in [0, 7_777, 9_999] {
        assert_eq!(index.search(&format!("own{number}"), &Search::default()).expect("it is searched").hits.len(), 1);
    }
    for part in ids.chunks(2_500) {
        index.delete(part, || Ok(Vec::new())).expect("it is deleted");
    }
    for word in ["a", "b", "c"] {
        // Each change tidies up a little.
        let new = index.add(&[Document { text: word, ..Document::default() }], |_| Ok(Vec::new())).expect("added");
        index.delete(&new, || Ok(Vec::new())).expect("it is deleted");
    }
    assert_eq!(memory.entries().0.keys().collect::<Vec<_>>(), ["i/h"]);
}

#[test]
fn more_than_one_step_takes_is_refused_before_anything_is_written() {
    let memory = Memory::default();
    let index = index(&memory);
    let stored = vec![b'x'; 64 * 1024];
    let documents = vec![Document { text: "word", stored: &stored, ..Document::default() }; 60];
    let refused = index.add(&documents, |_| Ok(Vec::new()));
    assert!(matches!(refused, Err(SearchError::TooLarge { what: "changed bytes", .. })), "{refused:?}");
    assert!(memory.entries().0.is_empty());
    let stored = vec![b'x'; 64 * 1024 + 1];
    let refused = index.add(&[Document { text: "word", stored: &stored, ..Document::default() }], |_| Ok(Vec::new()));
    assert!(matches!(refused, Err(SearchError::TooLarge { what: "bytes stored with a document", .. })), "{refused:?}");
}
