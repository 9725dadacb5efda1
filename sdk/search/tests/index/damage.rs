//! Stored bytes that this crate did not write.

use fastrand::Rng;
use wharf_search::{Search, SearchError};

use crate::store::Memory;
use crate::{add, index};

#[test]
fn damaged_entries_are_errors_or_other_answers_and_never_a_panic() {
    let mut random = Rng::with_seed(3);
    for round in 0..3_000 {
        let memory = Memory::default();
        let index = index(&memory);
        let ids = add(&index, &["one two three two", "two three", "한국어 검색"]);
        add(&index, &["three four"]);
        {
            let mut entries = memory.entries();
            let place = random.usize(0..entries.0.len());
            let (value, _) = entries.0.values_mut().nth(place).expect("it is there");
            match random.u8(0..3) {
                0 => value.truncate(random.usize(0..=value.len())),
                1 => value.extend((0..random.usize(1..9)).map(|_| random.u8(..))),
                _ => value.iter_mut().for_each(|byte| {
                    if random.u8(0..4) == 0 {
                        *byte = random.u8(..);
                    }
                }),
            }
        }
        for query in ["two three", "\"two three\" -four", "한국어"] {
            if let Err(error) = index.search(query, &Search::default()) {
                let typed = matches!(
                    error,
                    SearchError::Corrupt { .. } | SearchError::TooNew { .. } | SearchError::OtherAnalysis
                );
                assert!(typed, "round {round}: {error}");
            }
        }
        let _any = index.delete(&ids, || Ok(Vec::new()));
        let _any = index.statistics();
    }
}

#[test]
fn a_missing_entry_is_named() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["one"]);
    memory.entries().0.remove("i/0t0");
    let error = index.search("one", &Search::default()).expect_err("it is missing");
    assert_eq!(error.to_string(), "the search index is damaged: entry `i/0t0`: it is missing");
}

#[test]
fn a_later_format_is_not_taken_for_damage() {
    let memory = Memory::default();
    let index = index(&memory);
    memory.entries().0.insert("i/h".into(), (vec![2, 0xff], 1));
    assert_eq!(index.statistics(), Err(SearchError::TooNew { found: 2, known: 1 }));
}
