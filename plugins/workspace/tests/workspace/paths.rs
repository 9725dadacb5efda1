//! Which paths the tools take, and that nothing outside the workspace is ever
//! read, written or named.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use crate::{Agent, SHOWN, TestAgent as _};

/// Every tool that takes a path of the workspace, with this one.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let edit = json!([{ "start_line": 1, "end_line": 1, "content": "x" }]);
    vec![
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("write_file", json!({ "path": path, "content": "x", "mode": "a" })),
        ("list_directory", json!({ "path": path })),
        ("replace_lines_in_file", json!({ "path": path, "replacements": edit })),
        ("search_files", json!({ "path": path, "pattern": "." })),
    ]
}

#[test]
fn what_leads_out_is_refused_by_every_tool() {
    let agent = Agent::with(&[("a/b", "inside\n")]);
    fs::write(agent.folder.path().join("secret"), "secret\n").expect("written");
    symlink("../secret", agent.at("relative")).expect("linked");
    symlink("..", agent.at("above")).expect("linked");
    symlink("/etc/passwd", agent.at("absolute")).expect("linked");
    symlink("a/../../secret", agent.at("round")).expect("linked");
    let paths = [
        "../secret",
        "a/../../secret",
        "/etc/passwd",
        "/home/agent/workspace/../secret",
        "/home/agent/workspaces/a",
        "relative",
        "above/secret",
        "absolute",
        "round",
    ];
    for path in paths {
        for (tool, arguments) in calls(path) {
            let refused = agent.refused(tool, &arguments);
            assert!(refused.starts_with("invalid") && refused.contains("leads out"), "{tool} {path}: {refused}");
            assert!(!refused.contains("root:"), "{refused}");
        }
    }
    assert_eq!(fs::read_to_string(agent.folder.path().join("secret")).expect("read"), "secret\n");
    let refused = agent.refused("read_file", &json!({ "path": "../secret" }));
    assert!(refused.contains(&format!("relative to `{SHOWN}`")), "{refused}");
}

#[test]
fn links_inside_are_followed_and_stay_links() {
    let agent = Agent::with(&[("src/main.rs", "one\n")]);
    symlink("src/main.rs", agent.at("link")).expect("linked");
    symlink(format!("{SHOWN}/src"), agent.at("folder")).expect("linked");
    assert_eq!(agent.ok("read_file", &json!({ "path": "link" }))["path"], "src/main.rs");
    agent.ok("write_file", &json!({ "path": "folder/main.rs", "content": "two\n" }));
    assert_eq!(agent.content("src/main.rs"), "two\n");
    agent.ok("write_file", &json!({ "path": "link", "content": "three\n" }));
    assert_eq!(agent.content("src/main.rs"), "three\n");
    assert!(fs::symlink_metadata(agent.at("link")).expect("there").is_symlink());
}

#[test]
fn paths_as_processes_print_them_are_taken() {
    let agent = Agent::with(&[("src/main.rs", "one\n")]);
    let real = agent.at("src/main.rs").display().to_string();
    for path in [&format!("{SHOWN}/src/main.rs"), &real, "./src/./main.rs", "src/x/../main.rs"] {
        assert_eq!(agent.ok("read_file", &json!({ "path": path }))["path"], "src/main.rs", "{path}");
    }
}

#[test]
fn sockets_and_the_like_are_named_and_not_opened() {
    let agent = Agent::with(&[]);
    let _socket = UnixListener::bind(agent.at("socket")).expect("bound");
    for (tool, arguments) in calls("socket") {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.contains("a pipe, a socket or a device"), "{tool}: {refused}");
    }
    let (listed, text) = agent.answer("list_directory", &json!({}));
    assert_eq!(listed["entries"][0]["kind"], "other");
    assert!(text.contains("(pipe, socket or device)"), "{text}");
}

#[test]
fn a_directory_is_no_file_and_a_file_no_directory() {
    let agent = Agent::with(&[("folder/file", "x\n")]);
    for (tool, arguments) in calls("folder") {
        if !matches!(tool, "list_directory" | "search_files") {
            let refused = agent.refused(tool, &arguments);
            assert!(refused.contains("is a directory"), "{tool}: {refused}");
        }
    }
    let refused = agent.refused("list_directory", &json!({ "path": "folder/file" }));
    assert!(refused.contains("is a file, not a directory"), "{refused}");
    for (tool, arguments) in calls("folder/file/below") {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.contains("`folder/file` is no directory"), "{tool}: {refused}");
    }
    let refused = agent.refused("write_file", &json!({ "path": "new/", "content": "" }));
    assert!(refused.contains("is a directory"), "{refused}");
}

#[test]
fn reading_makes_nothing_and_says_that_the_workspace_is_empty() {
    let agent = Agent::new();
    let (listed, text) = agent.answer("list_directory", &json!({}));
    assert_eq!(
        (&listed["entries"], text.as_str()),
        (&json!([]), "The workspace is empty; nothing was written to it yet.")
    );
    assert_eq!(agent.ok("search_files", &json!({ "glob": "*" }))["matches"], json!([]));
    for (tool, arguments) in calls("src/a") {
        if tool != "write_file" {
            let refused = agent.refused(tool, &arguments);
            assert!(refused.starts_with("not-found") && refused.contains("workspace is empty"), "{tool}: {refused}");
        }
    }
    assert!(!agent.at(".").exists(), "reading made the workspace");
    let agent = Agent::with(&[("there", "x\n")]);
    for (tool, arguments) in calls("src/a") {
        if tool != "write_file" {
            let refused = agent.refused(tool, &arguments);
            assert!(refused.starts_with("not-found") && refused.contains("list_directory"), "{tool}: {refused}");
        }
    }
    assert_eq!(agent.names(), ["there"], "reading made a directory");
}
