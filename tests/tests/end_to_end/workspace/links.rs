//! Links, `..` and special files: nothing leads out of a workspace.

use serde_json::{Value, json};
use wharf_tests::Fixture;

use super::{ask, refused, run, setup};

async fn tried(fixture: &Fixture, path: &str) {
    for (tool, more) in [
        ("read_file", json!({})),
        ("write_file", json!({"content": "forged"})),
        ("write_file", json!({"content": "forged", "mode": "a"})),
        ("replace_lines_in_file", json!({"replacements": [{"start_line": 1, "end_line": 1, "content": "forged"}]})),
        ("search_files", json!({"pattern": "."})),
    ] {
        let mut arguments = json!({"path": path});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
        let refusal = refused(fixture, tool, arguments).await;
        assert!(!refusal.contains("secret"), "{tool} {path}: {refusal}");
    }
}

#[tokio::test]
async fn no_path_and_no_link_leads_out_and_the_refusal_says_why() {
    let fixture = setup().open().await;
    let secret = fixture.data.write("target-of-attacks", "secret");
    let secret_path = secret.to_str().expect("a path");
    let link = format!(
        "ln -s '{secret_path}' absolute; ln -s ../../../../target-of-attacks relative; ln -s / root; ln -s .. up; \
         ln -s /proc/self/root proc; ln -s self self; echo inside > real; ln -s real in; mkdir d; ln -s ../real d/in"
    );
    run(&fixture, &link).await;
    let paths = ["absolute", "relative", "root/etc/passwd", "up/session.json", "proc/etc/passwd", "self"];
    for path in
        paths.into_iter().chain([secret_path, "/etc/passwd", "../x", "d/../../x", "d/../../../target-of-attacks"])
    {
        tried(&fixture, path).await;
        assert_eq!(std::fs::read_to_string(&secret).expect("is there"), "secret");
    }
    for (path, word) in
        [("absolute", "symbolic link"), ("up/x", "symbolic link"), ("../x", "leads out"), ("/etc/passwd", "leads out")]
    {
        let refusal = refused(&fixture, "read_file", json!({"path": path})).await;
        assert!(refusal.starts_with("invalid") && refusal.contains(word), "{path}: {refusal}");
    }
    // A search of all neither follows them nor fails.
    let found = ask(&fixture, "search_files", json!({"pattern": "secret|root:"})).await;
    assert_eq!(found.structured["matches"], Value::Array(Vec::new()));
    // Links that stay inside are files like others.
    for path in ["in", "d/in", "d/../real", "./d/./in"] {
        let read = ask(&fixture, "read_file", json!({"path": path})).await;
        assert_eq!(read.structured["text"], "inside\n", "{path}");
    }
    let shown = run(&fixture, "pwd").await;
    let absolute = format!("{}/real", shown.shown("stdout").trim());
    let read = ask(&fixture, "read_file", json!({"path": absolute})).await;
    assert_eq!(read.structured["text"], "inside\n", "a path that a command printed");
}

#[tokio::test]
async fn what_is_no_file_is_refused_instead_of_waited_for() {
    let fixture = setup().open().await;
    run(&fixture, "mkfifo pipe; mkdir directory; ln -s pipe link").await;
    for path in ["pipe", "link", "directory"] {
        tried_but_search(&fixture, path).await;
    }
    // Nothing writes to the pipe, so opening it would block for ever.
    let found = ask(&fixture, "search_files", json!({"pattern": "."})).await;
    assert_eq!(found.structured["matches"], Value::Array(Vec::new()));
    let listed = ask(&fixture, "list_directory", json!({})).await;
    assert!(listed.text.contains("pipe  (pipe, socket or device)"), "{}", listed.text);
}

async fn tried_but_search(fixture: &Fixture, path: &str) {
    for (tool, more) in [
        ("read_file", json!({})),
        ("write_file", json!({"content": "forged"})),
        ("replace_lines_in_file", json!({"replacements": [{"start_line": 1, "end_line": 1, "content": "forged"}]})),
    ] {
        let mut arguments = json!({"path": path});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
        let refusal = refused(fixture, tool, arguments).await;
        assert!(refusal.contains("regular files") || refusal.contains("is a directory"), "{tool} {path}: {refusal}");
    }
}
