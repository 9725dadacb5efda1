//! What fuzzing found, and what it began with, again.

use std::{fs, path::Path};

use wharf_tests::hostile;

fn replay(target: &str, feed: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut fed = 0;
    for file in fs::read_dir(corpus).expect("a corpus") {
        let path = file.expect("a file").path();
        let bytes = fs::read(&path).expect("its bytes");
        assert!(std::panic::catch_unwind(|| feed(&bytes)).is_ok(), "{} breaks a promise", path.display());
        fed += 1;
    }
    assert!(fed > 0, "the corpus of {target} is empty");
}

#[test]
fn a_configuration_of_the_corpus_is_within_its_ceilings_or_refused_in_words() {
    replay("configuration", hostile::configuration);
}

#[test]
fn arguments_of_the_corpus_choose_no_context_and_reach_no_tool_that_was_not_named() {
    replay("arguments", hostile::arguments);
}

#[test]
fn definitions_of_the_corpus_are_fit_for_a_client_or_refused() {
    replay("definitions", hostile::definitions);
}

#[test]
fn components_of_the_corpus_are_taken_for_themselves() {
    replay("compiled", hostile::compiled);
}

#[test]
fn answers_of_the_corpus_are_fit_for_a_client_or_defects_of_their_guest() {
    replay("answers", hostile::answers);
}
