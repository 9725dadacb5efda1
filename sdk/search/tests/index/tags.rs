//! Narrowing a search by tags.

use wharf_search::{Document, Search, SearchError};

use crate::index;
use crate::store::Memory;

fn found(memory: &Memory, query: &str, tags: &[&[&str]]) -> Vec<String> {
    let found = index(memory).search(query, &Search { tags, ..Search::default() }).expect("it is searched");
    found.hits.into_iter().map(|hit| String::from_utf8(hit.stored).expect("it was text")).collect()
}

#[test]
fn a_hit_has_a_tag_of_every_group_and_no_word_finds_a_tag() {
    let memory = Memory::default();
    let add = |text: &str, tags: &[&str]| {
        let document = Document { text, tags, stored: text.as_bytes() };
        index(&memory).add(&[document], |_| Ok(Vec::new())).expect("it is added")
    };
    let one = add("fish one", &["content 1", "text/plain"]);
    add("fish two", &["content 2", "text/plain", "text/plain"]);
    add("fish three", &["content 2", "text/html"]);
    add("fish four", &[]);
    let all = index(&memory).search("fish", &Search::default()).expect("it is searched");
    assert_eq!(all.hits.len(), 4);
    assert_eq!(found(&memory, "fish", &[&["content 2"]]), ["fish two", "fish three"]);
    assert_eq!(found(&memory, "fish", &[&["content 1", "content 2"], &["text/plain"]]), ["fish one", "fish two"]);
    assert_eq!(found(&memory, "fish -two", &[&["content 2"]]), ["fish three"]);
    assert_eq!(found(&memory, "fish", &[&["content"]]), [""; 0]);
    assert_eq!(found(&memory, "fish", &[&[]]), [""; 0], "no tag of an empty group");
    assert_eq!(found(&memory, "content plain html", &[]), [""; 0]);
    // Scores are of all documents, and tags are no words of theirs.
    let two = index(&memory).search("fish", &Search { tags: &[&["text/html"]], ..Search::default() });
    let two = two.expect("it is searched");
    assert!(all.hits.iter().any(|hit| *hit == two.hits[0]));
    assert_eq!(index(&memory).statistics().expect("it is read").words, 8);
    index(&memory).delete(&one, || Ok(Vec::new())).expect("it is deleted");
    assert_eq!(found(&memory, "fish", &[&["text/plain"]]), ["fish two"]);
}

#[test]
fn tags_have_limits() {
    let memory = Memory::default();
    let index = index(&memory);
    let long = "x".repeat(129);
    for tags in [vec!["tag"; 17], vec![long.as_str()]] {
        let refused = index.add(&[Document { text: "a", tags: &tags, stored: b"" }], |_| Ok(Vec::new()));
        assert!(matches!(refused, Err(SearchError::TooLarge { .. })), "{refused:?}");
    }
    let refused = index.search("a", &Search { tags: &[&["tag"; 65]], ..Search::default() });
    assert!(matches!(refused, Err(SearchError::TooLarge { .. })), "{refused:?}");
}
