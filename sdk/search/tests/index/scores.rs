//! Scores, at every moment those of the textbook.

use fastrand::Rng;
use wharf_search::{Document, DocumentId, MatchCount, Search};

use crate::reference::{QueryTerms, Reference};
use crate::store::Memory;
use crate::{add, index, labels};

fn word(random: &mut Rng) -> String {
    // Some words are common and most are rare.
    let rarest = random.usize(1..60);
    let word = random.usize(0..=rarest);
    format!("w{word}")
}

fn words(random: &mut Rng, count: usize) -> Vec<String> {
    (0..count).map(|_| word(random)).collect()
}

fn wanted(random: &mut Rng) -> QueryTerms {
    let phrases = |random: &mut Rng, most: usize| (0..random.usize(0..=most)).map(|_| words(random, 2)).collect();
    let count = random.usize(1..4);
    let mut wanted = QueryTerms { words: words(random, count), ..QueryTerms::default() };
    if random.u8(0..3) == 0 {
        wanted.phrases = phrases(random, 1);
        wanted.excluded = phrases(random, 2);
    }
    if random.u8(0..4) == 0 {
        wanted.excluded.push(words(random, 1));
    }
    wanted
}

#[test]
fn scores_are_those_of_the_textbook_after_any_adds_deletes_and_merges() {
    for seed in 0..12 {
        let mut random = Rng::with_seed(seed);
        let memory = Memory::default();
        let index = index(&memory);
        let mut reference = Reference::default();
        for round in 0..60 {
            let texts: Vec<String> = (0..random.usize(0..12))
                .map(|_| {
                    let count = random.usize(0..40);
                    words(&mut random, count).join(" ")
                })
                .collect();
            let documents: Vec<_> = texts.iter().map(|text| Document { text, ..Document::default() }).collect();
            let old: Vec<DocumentId> = reference.documents.keys().filter(|_| random.u8(0..12) == 0).copied().collect();
            let ids = index.replace(&old, &documents, |_| Ok(Vec::new())).expect("it is changed");
            old.iter().for_each(|id| drop(reference.documents.remove(id)));
            ids.iter().zip(&texts).for_each(|(id, text)| reference.add(*id, text));

            let wanted = wanted(&mut random);
            let found =
                index.search(&wanted.text(), &Search { top: 500, ..Search::default() }).expect("it is searched");
            let expected = reference.search(&wanted);
            assert_eq!(found.matches.seen(), expected.len(), "seed {seed}, round {round}: {}", wanted.text());
            for (hit, (_, score)) in found.hits.iter().zip(&expected) {
                assert!((hit.score - score).abs() < 1e-9, "seed {seed}, round {round}: {} {score}", hit.score);
                let own = expected.iter().find(|(id, _)| *id == hit.id).expect("it matches");
                assert!((hit.score - own.1).abs() < 1e-9);
            }
            let statistics = index.statistics().expect("it is read");
            let total: usize = reference.documents.values().map(Vec::len).sum();
            assert_eq!(statistics.documents, u64::try_from(reference.documents.len()).expect("few"));
            assert_eq!(statistics.words, u64::try_from(total).expect("few"));
            assert!(statistics.segments < 24, "small segments are merged: {}", statistics.segments);
        }
    }
}

#[test]
fn a_phrase_is_exact_and_what_is_excluded_is_not_found() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["the quick brown fox", "the brown quick fox", "a fox, quick and brown", "nothing"]);
    assert_eq!(labels(&index, "\"quick brown\""), ["the quick brown fox"]);
    assert_eq!(labels(&index, "fox -\"quick brown\" -and"), ["the brown quick fox"]);
    assert_eq!(labels(&index, "\"brown fox quick\""), [""; 0]);
    assert_eq!(labels(&index, "nothing \"quick brown\" \"the quick\""), ["the quick brown fox"]);
}

#[test]
fn a_filter_chooses_among_hits_and_changes_no_score() {
    let memory = Memory::default();
    let index = index(&memory);
    let ids = add(&index, &["one fish", "two fish", "red fish", "blue"]);
    let all = index.search("fish", &Search::default()).expect("it is searched");
    let only = |id: DocumentId| id != ids[0];
    let some =
        index.search("fish", &Search { top: 1, only: Some(&only), ..Search::default() }).expect("it is searched");
    assert_eq!((all.matches.seen(), some.matches.seen(), some.hits.len()), (3, 2, 1));
    assert_eq!(some.hits[0], all.hits[1]);
}

#[test]
fn the_best_hits_are_the_same_whether_others_are_passed_over_or_not() {
    let mut random = Rng::with_seed(11);
    let memory = Memory::default();
    let index = index(&memory);
    for _ in 0..3 {
        // Any two words stand together in some documents, any three in few.
        let texts: Vec<String> = (0..700)
            .map(|_| {
                let count = random.usize(5..35);
                let words: Vec<String> = (0..count).map(|_| format!("w{}", random.u32(0..300))).collect();
                words.join(" ")
            })
            .collect();
        let documents: Vec<_> = texts.iter().map(|text| Document { text, ..Document::default() }).collect();
        index.add(&documents, |_| Ok(Vec::new())).expect("it is added");
    }
    let mut passed_over = 0;
    for _ in 0..200 {
        let query = [0; 3].map(|_| format!("w{}", random.u32(0..300))).join(" ");
        let search = |top| index.search(&query, &Search { top, ..Search::default() }).expect("it is searched");
        let (all, best) = (search(500), search(5));
        let MatchCount::Exact(matches) = all.matches else { panic!("{query}: all were looked at") };
        assert_eq!(best.hits, all.hits[..5.min(all.hits.len())], "{query}");
        match best.matches {
            MatchCount::Exact(count) => assert_eq!(count, matches, "{query}"),
            MatchCount::AtLeast(count) => {
                assert!(count <= matches, "{query}: {count} of {matches}");
                passed_over += 1;
            }
        }
    }
    assert!(passed_over > 100, "{passed_over} searches passed documents over");
}
