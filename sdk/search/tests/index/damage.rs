//! Stored bytes that this crate did not write.

use fastrand::Rng;
use wharf_search::{Search, SearchError};

use crate::store::Memory;
use crate::{add, index};

const QUERIES: [&str; 3] = ["two three", "\"two three\" -four", "한국어"];

#[test]
fn damaged_entries_are_errors_that_name_them_and_never_other_answers() {
    let mut random = Rng::with_seed(3);
    for round in 0..3_000 {
        let memory = Memory::default();
        let index = index(&memory);
        let ids = add(&index, &["one two three two", "two three", "한국어 검색"]);
        add(&index, &["three four"]);
        let healthy = QUERIES.map(|query| index.search(query, &Search::default()));
        let damaged = damage(&memory, &mut random);
        for (query, healthy) in QUERIES.into_iter().zip(healthy) {
            match index.search(query, &Search::default()) {
                // What is damaged was not read.
                Ok(found) => assert_eq!(Ok(found), healthy, "round {round}: {damaged}"),
                Err(SearchError::Corrupt { key, .. }) => assert_eq!(key, damaged, "round {round}"),
                Err(SearchError::TooNew { .. }) => assert_eq!(damaged, "i/h", "round {round}"),
                Err(error) => panic!("round {round}: {damaged}: {error}"),
            }
        }
        let _any = index.delete(&ids, || Ok(Vec::new()));
        let _any = index.statistics();
    }
}

/// Changes an entry, and says which.
fn damage(memory: &Memory, random: &mut Rng) -> String {
    let mut entries = memory.entries();
    let place = random.usize(0..entries.0.len());
    let (key, (value, _)) = entries.0.iter_mut().nth(place).expect("it is there");
    let before = value.clone();
    while *value == before {
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
    key.clone()
}

#[test]
fn a_value_under_the_key_of_another_one_is_damage() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["one"]);
    add(&index, &["two"]);
    {
        let mut entries = memory.entries();
        let other = entries.0["i/0t0"].clone();
        entries.0.insert("i/1t0".into(), other);
    }
    let error = index.search("two", &Search::default()).expect_err("it is another one");
    assert_eq!(error.to_string(), "the search index is damaged: entry `i/1t0`: its checksum is wrong");
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
