//! Writing whole files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;
use wharf_plugin_workspace::WharfPlugin;

use crate::{Agent, TestAgent as _};

#[test]
fn a_file_is_made_with_the_directories_on_the_way_replaced_and_added_to() {
    let agent = Agent::new();
    let (made, text) = agent.answer("write_file", &json!({ "path": "a/b/c.txt", "content": "하나\n" }));
    assert_eq!((&made["created"], &made["bytes_written"]), (&json!(true), &json!(7)));
    assert_eq!(text, "Made a/b/c.txt: 7 bytes.");
    let replaced = agent.ok("write_file", &json!({ "path": "a/b/c.txt", "content": "two" }));
    assert_eq!(replaced["created"], false);
    agent.ok("write_file", &json!({ "path": "a/b/c.txt", "content": "+three", "mode": "a" }));
    assert_eq!(agent.content("a/b/c.txt"), "two+three");
    agent.ok("write_file", &json!({ "path": "new", "content": "", "mode": "a" }));
    assert_eq!(agent.content("new"), "");
    assert_eq!(agent.names(), ["a", "new"], "something was left beside");
}

#[test]
fn a_new_script_is_said_to_need_its_permission_and_one_that_is_replaced_is_not() {
    let agent = Agent::with(&[("run.sh", "#!/bin/sh\n")]);
    let (_, text) = agent.answer("write_file", &json!({ "path": "other.sh", "content": "#!/bin/sh\n" }));
    assert!(text.contains("chmod +x"), "{text}");
    let (_, text) = agent.answer("write_file", &json!({ "path": "run.sh", "content": "#!/bin/sh\ntrue\n" }));
    assert!(!text.contains("chmod"), "{text}");
}

#[test]
fn whoever_reads_meanwhile_sees_the_file_before_or_after_and_never_half() {
    let agent = Agent::with(&[("shared", &"a".repeat(100_000))]);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let content = agent.content("shared");
                assert_eq!(content.len(), 100_000);
                assert!(content.bytes().all(|byte| byte == content.as_bytes()[0]), "a file was seen half written");
            }
        });
        for letter in ["b", "c"].into_iter().cycle().take(100) {
            agent.ok("write_file", &json!({ "path": "shared", "content": letter.repeat(100_000) }));
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_workspace_for_reading_is_not_written_to() {
    let agent = Agent::with(&[("a", "one\n")]);
    let reader = agent.call.clone().workspace_read_only();
    let edit = json!([{ "start_line": 1, "end_line": 1, "content": "x" }]);
    for (tool, arguments) in [
        ("write_file", json!({ "path": "a", "content": "x" })),
        ("replace_lines_in_file", json!({ "path": "a", "replacements": edit })),
    ] {
        let refused = reader.expect_refusal::<WharfPlugin>(tool, &arguments);
        assert!(refused.starts_with("denied"), "{tool}: {refused}");
    }
    assert_eq!(agent.content("a"), "one\n");
}
