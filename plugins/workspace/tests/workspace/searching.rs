//! Finding files and lines.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};
use wharf_plugin_workspace::WharfPlugin;

use crate::{Agent, TestAgent as _};

fn places(found: &Value) -> Vec<String> {
    let matches = found["matches"].as_array().expect("matches").iter();
    matches
        .map(|hit| match hit["line"].as_u64() {
            Some(line) => format!("{}:{line}", hit["path"].as_str().expect("a path")),
            None => hit["path"].as_str().expect("a path").to_owned(),
        })
        .collect()
}

#[test]
fn lines_are_found_by_pattern_and_files_by_glob() {
    let agent = Agent::with(&[
        ("src/main.rs", "fn main() {\r\n    harbour();\r\n}\r\n"),
        ("src/deep/port.rs", "// Harbour\nfn harbour() {}\n"),
        ("notes.md", "the harbour"),
        (".hidden/x.rs", "harbour"),
    ]);
    let (found, text) = agent.answer("search_files", &json!({ "pattern": "harbour\\(\\)" }));
    assert_eq!(places(&found), ["src/main.rs:2", "src/deep/port.rs:2"]);
    assert!(text.contains("\nsrc/main.rs:2:     harbour();\n"), "{text}");
    let found = agent.ok("search_files", &json!({ "pattern": "HARBOUR", "case": "insensitive", "glob": "*.{rs,md}" }));
    assert_eq!(places(&found), ["notes.md:1", "src/main.rs:2", "src/deep/port.rs:1", "src/deep/port.rs:2"]);
    let found = agent.ok("search_files", &json!({ "glob": "**/*.rs" }));
    assert_eq!(places(&found), ["src/main.rs", "src/deep/port.rs"]);
    assert_eq!(found["matches"][1]["bytes"], 27);
    assert_eq!(places(&agent.ok("search_files", &json!({ "glob": "src/*.rs" }))), ["src/main.rs"]);
    assert_eq!(places(&agent.ok("search_files", &json!({ "glob": "*.rs", "path": "src/deep" }))), ["src/deep/port.rs"]);
    assert_eq!(
        places(&agent.ok("search_files", &json!({ "pattern": "^fn", "path": "src/main.rs" }))),
        ["src/main.rs:1"]
    );
    let found = agent.ok("search_files", &json!({ "pattern": "harbour", "hidden": true, "glob": "*.rs" }));
    assert_eq!(places(&found), [".hidden/x.rs:1", "src/main.rs:2", "src/deep/port.rs:2"]);
    assert_eq!(places(&agent.ok("search_files", &json!({ "pattern": "\\{$" }))), ["src/main.rs:1"]);
}

#[test]
fn lines_around_a_match_are_shown_where_asked_for() {
    let agent = Agent::with(&[("a", "1\n2\n3\n4\n5")]);
    let (found, text) = agent.answer("search_files", &json!({ "pattern": "[15]", "context_lines": 2 }));
    assert_eq!(found["matches"][0]["after"], json!(["2", "3"]));
    assert_eq!(found["matches"][1]["before"], json!(["3", "4"]));
    assert!(text.contains("\na:1: 1\na-2- 2\na-3- 3\na-3- 3\na-4- 4\na:5: 5"), "{text}");
}

#[test]
fn what_is_passed_over_is_counted() {
    let agent = Agent::with(&[("a", "harbour\n")]);
    agent.put("binary", b"harbour\0");
    agent.put("large", "harbour\n".repeat(1_100_000));
    fs::write(agent.folder.path().join("outside"), "harbour\n").expect("written");
    symlink("../outside", agent.at("link")).expect("linked");
    symlink("..", agent.at("above")).expect("linked");
    let (found, text) = agent.answer("search_files", &json!({ "pattern": "harbour" }));
    assert_eq!(places(&found), ["a:1"]);
    assert_eq!((&found["skipped_binary"], &found["skipped_large"]), (&json!(1), &json!(1)));
    assert!(text.contains("Passed over: 1 binary, 1 of more than 8 MiB."), "{text}");
}

#[test]
fn answers_are_bounded_in_results_in_bytes_and_in_time() {
    let agent = Agent::with(&[
        ("a", &"harbour\n".repeat(5_000)),
        ("long", &format!("{}needle{}", "x".repeat(90_000), "y".repeat(90_000))),
    ]);
    let found = agent.ok("search_files", &json!({ "pattern": "harbour", "max_results": 7 }));
    assert_eq!((places(&found).len(), &found["truncated"]), (7, &json!(true)));
    let (found, text) = agent.answer("search_files", &json!({ "pattern": "harbour", "max_results": 1_000 }));
    assert!(found["truncated"] == true && text.len() <= 16 * 1024, "{} bytes", text.len());
    let found = agent.ok("search_files", &json!({ "pattern": "needle" }));
    let line = found["matches"][0]["text"].as_str().expect("a line");
    assert!(line.contains("needle") && line.len() < 320, "{line}");
    let late = agent.call.clone().remaining(Duration::ZERO);
    let (found, text) = late.expect_answer::<WharfPlugin>("search_files", &json!({ "pattern": "harbour" }));
    assert!(found["truncated"] == true && text.contains("the time is over"), "{text}");
}

#[test]
fn a_broken_pattern_is_explained_and_a_hostile_one_costs_nothing() {
    let agent = Agent::with(&[("a", &"a".repeat(100_000))]);
    for (arguments, reason) in [
        (json!({ "pattern": "(" }), "no regular expression"),
        (json!({ "pattern": "(a{1000}){1000}" }), "no regular expression"),
        (json!({ "glob": "a[" }), "`glob` is none"),
        (json!({}), "give `pattern`"),
    ] {
        assert!(agent.refused("search_files", &arguments).contains(reason), "{arguments}");
    }
    assert_eq!(places(&agent.ok("search_files", &json!({ "pattern": "(a*)*b" }))).len(), 0);
}
