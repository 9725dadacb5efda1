//! What a search costs, however large the index.

use fastrand::Rng;
use wharf_search::{Document, Search};

use crate::index;
use crate::store::Memory;

#[test]
fn a_search_takes_at_most_three_host_calls_whatever_the_corpus() {
    for size in [10, 1_000, 20_000] {
        let mut random = Rng::with_seed(7);
        let memory = Memory::default();
        let index = index(&memory);
        let texts: Vec<String> = (0..size)
            .map(|_| {
                let mut word = || {
                    let rarest = random.usize(1..8_000);
                    format!("word{}", random.usize(0..=rarest))
                };
                let words = (0..50).map(|_| word());
                words.collect::<Vec<_>>().join(" ")
            })
            .collect();
        for batch in texts.chunks(500) {
            let documents: Vec<_> =
                batch.iter().map(|text| Document { text, stored: b"document", ..Document::default() }).collect();
            index.add(&documents, |_| Ok(Vec::new())).expect("it is added");
        }
        for query in ["word1 word70 word4000", "\"word1 word2\" word3", "word5 -word6", "absent"] {
            let (reads, found) = memory.reads_of(|| index.search(query, &Search::default()));
            assert!(found.is_ok() && reads <= 3, "{size} documents, {query}: {reads} host calls");
        }
        let statistics = index.statistics().expect("it is read");
        assert_eq!(statistics.documents, size);
        assert!(statistics.segments <= 16, "{size} documents lie in {} segments", statistics.segments);
    }
}

#[test]
fn adding_one_document_is_one_read_and_one_write_but_for_merges() {
    let memory = Memory::default();
    let index = index(&memory);
    let mut writes = 0;
    for round in 0..512 {
        crate::add(&index, &[&format!("document number{round}")]);
        writes += 1;
    }
    let made = memory.writes.load(std::sync::atomic::Ordering::Relaxed);
    assert!(made - writes <= 512 / 3, "{} merges", made - writes);
    assert!(index.statistics().expect("it is read").segments <= 24);
}

#[test]
fn a_large_segment_is_freed_of_what_was_deleted_from_it() {
    let memory = Memory::default();
    let index = index(&memory);
    let texts: Vec<String> = (0..2_500)
        .map(|document| (0..80).map(|word| format!("w{} ", (document * 7 + word * word * 13) % 9_000)).collect())
        .collect();
    let documents: Vec<_> = texts.iter().map(|text| Document { text, ..Document::default() }).collect();
    let ids = index.add(&documents, |_| Ok(Vec::new())).expect("it is added");
    let size = || memory.entries().0.values().map(|(value, _)| value.len()).sum::<usize>();
    let before = size();
    index.delete(&ids[..2_000], || Ok(Vec::new())).expect("it is deleted");
    assert!(size() * 5 < before * 2, "{} of {before} bytes are left", size());
}
