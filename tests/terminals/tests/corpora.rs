//! What fuzzing found, and what it began with, again.

#![cfg(target_os = "linux")]

use std::{fs, path::Path};

use wharf_terminal_bench::hostile;

fn replay(target: &str, feed: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut fed = 0;
    for file in fs::read_dir(corpus).expect("a corpus") {
        feed(&fs::read(file.expect("a file").path()).expect("its bytes"));
        fed += 1;
    }
    assert!(fed > 0, "the corpus of {target} is empty");
}

#[test]
fn the_stream_and_the_screen_take_all_of_their_corpus() {
    replay("stream", hostile::stream);
}

#[test]
fn the_detector_takes_all_of_its_corpus() {
    replay("detector", hostile::detector);
}
