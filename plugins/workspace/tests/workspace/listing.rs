//! Listing directories.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _};

fn paths(listing: &Value) -> Vec<&str> {
    listing["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| entry["path"].as_str().expect("a path"))
        .collect()
}

#[test]
fn directories_come_before_files_and_what_is_in_them_behind_them() {
    let agent =
        Agent::with(&[("b/inner/deep", "x"), ("b/file", "12345"), ("a.txt", "12"), ("c/x", ""), (".git/config", "x")]);
    symlink("a.txt", agent.at("link")).expect("linked");
    let (listing, text) = agent.answer("list_directory", &json!({}));
    assert_eq!(paths(&listing), ["b", "c", "a.txt", "link"]);
    assert_eq!(
        text,
        "., 4 entries:\nb/\nc/\na.txt  2 bytes\nlink  (symbolic link)\n1 hidden; `hidden` true shows them."
    );
    let deep = agent.ok("list_directory", &json!({ "depth": 3 }));
    assert_eq!(paths(&deep), ["b", "b/inner", "b/inner/deep", "b/file", "c", "c/x", "a.txt", "link"]);
    let hidden = agent.ok("list_directory", &json!({ "hidden": true, "depth": 2 }));
    assert_eq!(paths(&hidden)[..2], [".git", ".git/config"]);
    let (below, text) = agent.answer("list_directory", &json!({ "path": "b", "depth": 2 }));
    assert_eq!(paths(&below), ["b/inner", "b/inner/deep", "b/file"]);
    assert_eq!(text, "b, 3 entries:\ninner/\ninner/deep  1 bytes\nfile  5 bytes");
}

#[test]
fn what_is_left_out_is_counted_and_upper_levels_come_first() {
    let agent = Agent::with(&[("z", "x")]);
    for number in 0..1_200 {
        agent.put(&format!("many/{number:04}"), "");
    }
    let (listing, text) = agent.answer("list_directory", &json!({ "depth": 2 }));
    let paths = paths(&listing);
    assert_eq!((paths.len(), paths[1], *paths.last().expect("one")), (1_000, "many/0000", "z"));
    assert_eq!(listing["omitted"], 202);
    assert!(text.contains("202 more were left out"), "{text}");
}

#[test]
fn an_empty_directory_is_empty() {
    let agent = Agent::with(&[]);
    let (listing, text) = agent.answer("list_directory", &json!({}));
    assert_eq!((paths(&listing).len(), text.as_str()), (0, ". is empty."));
}
