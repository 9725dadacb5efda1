//! Files that come in and go out.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::{Agent, TestAgent as _};

/// An agent with a folder `in` to read from and `out` to write to.
fn agent() -> Agent {
    let mut agent = Agent::new();
    let (inbox, outbox) = (agent.folder.path().join("in"), agent.folder.path().join("out"));
    for folder in [&inbox, &outbox] {
        fs::create_dir(folder).expect("made");
    }
    fs::create_dir(inbox.join("deep")).expect("made");
    fs::write(inbox.join("deep/data.bin"), b"\0\xff data").expect("written");
    agent.call = agent.call.clone().exchange("in", inbox, false).exchange("out", outbox, true);
    agent
}

#[test]
fn files_come_in_and_go_out_byte_by_byte() {
    let agent = agent();
    let (copied, text) = agent.answer("import_file", &json!({ "exchange": "in", "path": "deep/data.bin" }));
    assert_eq!((&copied["to"], &copied["bytes"]), (&json!("data.bin"), &json!(7)));
    assert_eq!(text, "Copied deep/data.bin to data.bin: 7 bytes.");
    let copied = agent.ok("import_file", &json!({ "exchange": "in", "path": "deep/data.bin", "to": "a/b/" }));
    assert_eq!(copied["to"], "a/b/data.bin");
    assert_eq!(fs::read(agent.at("a/b/data.bin")).expect("read"), b"\0\xff data");
    let export = json!({ "path": "a/b/data.bin", "exchange": "out", "to": "results/final.bin" });
    assert_eq!(agent.ok("export_file", &export)["overwritten"], false);
    assert_eq!(fs::read(agent.folder.path().join("out/results/final.bin")).expect("read"), b"\0\xff data");
}

#[test]
fn what_is_there_is_replaced_only_where_that_is_said() {
    let agent = agent();
    agent.put("data.bin", "mine");
    let import = json!({ "exchange": "in", "path": "deep/data.bin" });
    let refused = agent.refused("import_file", &import);
    assert!(refused.starts_with("conflict") && refused.contains("`overwrite` true"), "{refused}");
    assert_eq!(agent.content("data.bin"), "mine");
    let copied = agent.ok("import_file", &json!({ "exchange": "in", "path": "deep/data.bin", "overwrite": true }));
    assert_eq!(copied["overwritten"], true);
    agent.ok("export_file", &json!({ "path": "data.bin", "exchange": "out" }));
    assert!(agent.refused("export_file", &json!({ "path": "data.bin", "exchange": "out" })).contains("already"));
}

#[test]
fn an_unknown_folder_or_file_is_answered_with_those_there_are() {
    let agent = agent();
    let refused = agent.refused("import_file", &json!({ "exchange": "inbox", "path": "a" }));
    assert!(refused.starts_with("not-found") && refused.contains("there are `in`, `out`"), "{refused}");
    let refused = agent.refused("import_file", &json!({ "exchange": "in", "path": "data.bin" }));
    assert!(refused.contains("it has: deep"), "{refused}");
    let refused = Agent::with(&[("a", "")]).refused("export_file", &json!({ "exchange": "out", "path": "a" }));
    assert!(refused.contains("the operator named none"), "{refused}");
}

#[test]
fn nothing_leaves_by_links_or_into_a_folder_for_reading() {
    let agent = agent();
    agent.put("a", "x");
    let refused = agent.refused("export_file", &json!({ "path": "a", "exchange": "in" }));
    assert!(refused.starts_with("denied") && refused.contains("for reading only"), "{refused}");
    fs::write(agent.folder.path().join("secret"), "secret").expect("written");
    symlink("../secret", agent.at("out")).expect("linked");
    symlink("../secret", agent.folder.path().join("in/secret")).expect("linked");
    symlink("..", agent.folder.path().join("out/above")).expect("linked");
    for (tool, arguments) in [
        ("import_file", json!({ "exchange": "in", "path": "../secret" })),
        ("import_file", json!({ "exchange": "in", "path": "secret" })),
        ("import_file", json!({ "exchange": "in", "path": "deep/data.bin", "to": "../x" })),
        ("export_file", json!({ "exchange": "out", "path": "out" })),
        ("export_file", json!({ "exchange": "out", "path": "a", "to": "above/x" })),
        ("export_file", json!({ "exchange": "out", "path": "a", "to": "/tmp/x" })),
    ] {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.starts_with("invalid") && refused.contains("leads out"), "{arguments}: {refused}");
    }
    assert!(!agent.folder.path().join("x").exists());
}

#[test]
fn a_file_that_is_too_large_is_not_copied() {
    let agent = agent();
    let file = fs::File::create(agent.folder.path().join("in/sparse")).expect("made");
    file.set_len((256 << 20) + 1).expect("grown");
    let refused = agent.refused("import_file", &json!({ "exchange": "in", "path": "sparse" }));
    assert!(refused.starts_with("limit"), "{refused}");
    assert!(agent.names().is_empty());
}
