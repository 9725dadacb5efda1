//! Files of the session's workspace, taken in.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::json;
use tempfile::TempDir;

use crate::{Agent, TestAgent as _};

const TOOL: &str = "add_content_from_workspace";

/// An agent with a workspace below a folder.
fn agent() -> (TempDir, Agent) {
    let folder = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(folder.path().join("files/reports")).expect("made");
    let call = Agent::new().0.workspace(folder.path().join("files")).workspace_shown_as("/home/agent/workspace");
    (folder, Agent(call))
}

#[test]
fn a_file_is_kept_under_its_own_name_as_add_content_would_keep_it() {
    let (folder, agent) = agent();
    let markdown = "# Lights\n\nThe harbour at night.\n";
    fs::write(folder.path().join("files/reports/a.md"), markdown).expect("written");
    let (added, text) = agent.answer(TOOL, &json!({ "path": "reports/a.md" }));
    assert_eq!((&added["name"], &added["mime_type"]), (&json!("a.md"), &json!("text/markdown")));
    assert!(text.starts_with("Added ct_"), "{text}");
    let handed = agent.document("a.md", markdown.as_bytes());
    for field in ["name", "mime_type", "lines", "text_bytes", "document_bytes", "chunks", "title"] {
        assert_eq!(added[field], handed[field], "{field}");
    }
    let named = json!({ "path": "/home/agent/workspace/reports/a.md", "name": "b.txt" });
    assert_eq!(agent.ok(TOOL, &named)["mime_type"], "text/plain");
    assert_eq!(agent.hits("harbour").len(), 3);
    fs::write(folder.path().join("files/reports/a.md"), "changed").expect("written");
    assert_eq!(agent.hits("harbour").len(), 3, "a content is a copy");
}

#[test]
fn nothing_outside_the_workspace_and_no_special_file_is_taken() {
    let (folder, agent) = agent();
    fs::write(folder.path().join("secret.txt"), "secret").expect("written");
    symlink("../secret.txt", folder.path().join("files/link.txt")).expect("linked");
    let _socket = UnixListener::bind(folder.path().join("files/socket")).expect("bound");
    for (path, reason) in [
        ("../secret.txt", "leads out"),
        ("/etc/passwd", "leads out"),
        ("link.txt", "leads out"),
        ("socket", "a pipe, a socket or a device"),
        ("reports", "is a directory"),
        ("nothing.txt", "there is no `nothing.txt`"),
    ] {
        let refused = agent.refused(TOOL, &json!({ "path": path }));
        assert!(refused.contains(reason), "{path}: {refused}");
    }
    assert_eq!(agent.contents(), 0);
}

#[test]
fn what_is_too_large_empty_or_no_document_is_refused_as_elsewhere() {
    let (folder, agent) = agent();
    let file = fs::File::create(folder.path().join("files/large.txt")).expect("made");
    file.set_len((12 << 20) + 1).expect("grown");
    assert!(agent.refused(TOOL, &json!({ "path": "large.txt" })).starts_with("limit"));
    fs::write(folder.path().join("files/empty.txt"), "").expect("written");
    assert!(agent.refused(TOOL, &json!({ "path": "empty.txt" })).contains("empty"));
    fs::write(folder.path().join("files/a.pdf"), "no such file").expect("written");
    assert!(agent.refused(TOOL, &json!({ "path": "a.pdf" })).starts_with("invalid"));
    assert_eq!(agent.contents(), 0);
}

#[test]
fn without_the_grant_it_says_what_to_configure_and_the_other_tools_work_on() {
    let agent = Agent::new();
    let refused = agent.refused(TOOL, &json!({ "path": "a.txt" }));
    assert!(refused.starts_with("denied") && refused.contains("[plugin.content-store.grants.workspace]"), "{refused}");
    agent.add("words");
    assert_eq!(agent.contents(), 1);
}

#[test]
fn an_empty_workspace_stays_one() {
    let folder = tempfile::tempdir().expect("a directory");
    let agent = Agent(Agent::new().0.workspace(folder.path().join("files")));
    let refused = agent.refused(TOOL, &json!({ "path": "a.txt" }));
    assert!(refused.starts_with("not-found") && refused.contains("workspace is empty"), "{refused}");
    assert!(!folder.path().join("files").exists());
}
