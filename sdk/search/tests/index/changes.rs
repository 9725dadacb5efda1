//! Adding and deleting: atomic with what the plugin changes, even while other calls
//! change the same index.

use std::sync::atomic::Ordering;

use wharf_sdk::{Change, ErrorCode, ToolError};
use wharf_search::{Analysis, Document, DocumentId, Index, IndexSettings, SearchError};

use crate::store::Memory;
use crate::{add, index, labels};

#[test]
fn the_changes_of_the_plugin_are_made_with_the_index_or_not_at_all() {
    let memory = Memory::default();
    let index = index(&memory);
    let document = [Document { text: "whole", ..Document::default() }];
    let put = |ids: &[DocumentId]| Ok(vec![Change::put("content", format!("{}", ids[0].0)).if_revision(0)]);
    let ids = index.add(&document, put).expect("it is added");
    assert_eq!(memory.entries().0["content"].0, ids[0].0.to_string().into_bytes());
    // Its own entry is not as expected, however often it is tried.
    let refused = index.add(&document, put);
    assert!(matches!(refused, Err(SearchError::Store(error)) if error.code == ErrorCode::Conflict));
    let failed = index.add(&document, |_| Err(ToolError::invalid("not today")));
    assert!(matches!(failed, Err(SearchError::Store(error)) if error.code == ErrorCode::Invalid));
    assert_eq!(index.statistics().expect("it is read").documents, 1);
}

#[test]
fn an_add_that_meets_others_is_tried_again() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["first"]);
    memory.conflicts.store(5, Ordering::Relaxed);
    add(&index, &["second"]);
    assert_eq!((labels(&index, "second").len(), memory.conflicts.load(Ordering::Relaxed)), (1, 0));
    memory.conflicts.store(u32::MAX, Ordering::Relaxed);
    struct Impatient<'memory>(&'memory Memory);
    impl wharf_search::Store for Impatient<'_> {
        fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<wharf_sdk::Entry>>, ToolError> {
            (&self.0).get_many(keys)
        }
        fn apply(&self, changes: Vec<Change>) -> Result<(), ToolError> {
            (&self.0).apply(changes)
        }
        fn wait_to_retry(&self, attempts: u32) -> bool {
            attempts < 3
        }
    }
    let impatient = crate::index(Impatient(&memory));
    let refused = impatient.add(&[Document { text: "third", ..Document::default() }], |_| Ok(Vec::new()));
    assert_eq!(refused, Err(SearchError::Contended { attempts: 3 }));
}

#[test]
fn writers_at_the_same_time_lose_no_document() {
    let memory = Memory::default();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..25 {
                    let ids = add(&index(memory), &[&format!("everywhere writer{writer} round{round}")]);
                    if round % 5 == 4 {
                        index(memory).delete(&ids, || Ok(Vec::new())).expect("it is deleted");
                    }
                    assert_eq!(labels(&index(memory), &format!("writer{writer}")).len().min(4), (round + 1).min(4));
                }
            });
        }
    });
    let index = index(&memory);
    assert_eq!(index.statistics().expect("it is read").documents, 80);
    assert_eq!(labels(&index, "writer0 -everywhere").len(), 0);
}

#[test]
fn deleting_is_idempotent_and_what_is_deleted_leaves_nothing() {
    let memory = Memory::default();
    let index = index(&memory);
    let mut ids = Vec::new();
    for round in 0..20 {
        ids.extend(add(&index, &[&format!("same word{round}"), "same"]));
    }
    index.delete(&ids[..1], || Ok(Vec::new())).expect("it is deleted");
    index.delete(&ids[..1], || Ok(Vec::new())).expect("again does no harm");
    assert_eq!((labels(&index, "word0").len(), index.statistics().expect("it is read").documents), (0, 39));
    for id in &ids {
        index.delete(&[*id, DocumentId(u64::MAX)], || Ok(Vec::new())).expect("it is deleted");
    }
    assert_eq!(index.statistics().expect("it is read").documents, 0);
    assert_eq!(memory.entries().0.keys().collect::<Vec<_>>(), ["i/h"]);
    assert_ne!(add(&index, &["new"]), ids[..1], "an id is never given twice");
}

#[test]
fn what_does_not_fit_one_step_is_refused_and_other_settings_are_noticed() {
    let memory = Memory::default();
    let index = index(&memory);
    let text = "word ".repeat(300_000);
    let refused = index.add(&[Document { text: &text, ..Document::default() }], |_| Ok(Vec::new()));
    assert!(matches!(refused, Err(SearchError::TooLarge { what: "bytes of one document", .. })), "{refused:?}");
    let own = |_: &[DocumentId]| Ok((0..1_000).map(|key| Change::put(format!("own/{key}"), "")).collect());
    let refused = index.add(&[Document { text: "a", ..Document::default() }], own);
    assert!(matches!(refused, Err(SearchError::TooLarge { what: "changed entries", .. })), "{refused:?}");
    add(&index, &["a", "", "!?"]);
    let analysis = Analysis { english_stems: true, ..Analysis::default() };
    let stems =
        Index::new(&memory, "i/", IndexSettings { analysis, ..IndexSettings::default() }).expect("settings are fine");
    assert_eq!(stems.statistics(), Err(SearchError::OtherAnalysis));
}

/// A store where somebody else adds documents, and so merges segments, between
/// two reads of a search.
struct Busy<'memory> {
    memory: &'memory Memory,
    once: std::cell::Cell<bool>,
}

impl wharf_search::Store for Busy<'_> {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<wharf_sdk::Entry>>, ToolError> {
        let found = (&self.memory).get_many(keys);
        if !self.once.replace(true) {
            (0..10).for_each(|_| drop(add(&index(self.memory), &["needle"])));
        }
        found
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), ToolError> {
        (&self.memory).apply(changes)
    }

    fn wait_to_retry(&self, attempts: u32) -> bool {
        (&self.memory).wait_to_retry(attempts)
    }
}

#[test]
fn a_search_whose_segments_are_merged_away_meanwhile_begins_anew() {
    let memory = Memory::default();
    (0..3).for_each(|_| drop(add(&index(&memory), &["needle"])));
    let busy = index(Busy { memory: &memory, once: std::cell::Cell::new(false) });
    let found =
        busy.search("needle", &wharf_search::Search { top: 100, ..Default::default() }).expect("it is searched");
    assert_eq!(found.hits.len(), 13);
}
