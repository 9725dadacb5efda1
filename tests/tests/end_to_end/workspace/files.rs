//! Files that tools and commands share.

use serde_json::{Value, json};

use super::{ask, refused, run, setup};

async fn text_of(fixture: &wharf_tests::Fixture, path: &str) -> String {
    let read = ask(fixture, "read_file", json!({"path": path})).await;
    read.structured["text"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn looking_at_a_workspace_that_nobody_wrote_to_makes_none() {
    let fixture = setup().open().await;
    let listed = ask(&fixture, "list_directory", json!({})).await;
    assert_eq!(listed.text, "The workspace is empty; nothing was written to it yet.");
    ask(&fixture, "search_files", json!({"glob": "*"})).await;
    ask(&fixture, "list_processes", json!({})).await;
    for (tool, arguments) in [
        ("read_file", json!({"path": "a/file"})),
        ("list_directory", json!({"path": "a"})),
        (
            "replace_lines_in_file",
            json!({"path": "a/file", "replacements": [{"start_line": 1, "end_line": 1, "content": ""}]}),
        ),
    ] {
        let refusal = refused(&fixture, tool, arguments).await;
        assert!(refusal.starts_with("not-found"), "{tool}: {refusal}");
    }
    assert_eq!(fixture.data.workspaces(), 0);
    ask(&fixture, "write_file", json!({"path": "a/file", "content": "made"})).await;
    assert_eq!(text_of(&fixture, "a/file").await, "made");
}

#[tokio::test]
async fn what_a_tool_writes_a_command_uses_and_the_other_way_round() {
    let fixture = setup().open().await;
    let script = "#!/bin/sh\necho \"it's $1\"\necho made > by/command\n";
    let made = ask(&fixture, "write_file", json!({"path": "by/tool.sh", "content": script})).await;
    assert_eq!((&made.structured["created"], &made.structured["bytes_written"]), (&json!(true), &json!(script.len())));
    let done = run(&fixture, "chmod +x by/tool.sh && ./by/tool.sh 'so'").await;
    assert_eq!(done.text, "exit code 0\nstdout:\nit's so");
    assert_eq!(text_of(&fixture, "by/command").await, "made\n");
    // A script that was edited or replaced can still be run.
    let echo = json!({"start_line": 2, "end_line": 2, "content": "echo \"that's $1\"\n"});
    ask(&fixture, "replace_lines_in_file", json!({"path": "by/tool.sh", "replacements": [echo]})).await;
    assert_eq!(run(&fixture, "./by/tool.sh 'so'").await.text, "exit code 0\nstdout:\nthat's so");
    ask(&fixture, "write_file", json!({"path": "by/tool.sh", "content": "#!/bin/sh\necho anew\n"})).await;
    assert_eq!(run(&fixture, "./by/tool.sh").await.text, "exit code 0\nstdout:\nanew");
    // Files of a command can be changed, whatever user owns them.
    ask(&fixture, "write_file", json!({"path": "by/command", "content": "more\n", "mode": "a"})).await;
    let edit = json!({"path": "by/command", "replacements": [{"start_line": 1, "end_line": 1, "content": "edited\n"}]});
    ask(&fixture, "replace_lines_in_file", edit).await;
    let done = run(&fixture, "cat by/command && echo again >> by/command && rm -r by && ls -A").await;
    assert_eq!(done.text, "exit code 0\nstdout:\nedited\nmore");
}

#[tokio::test]
async fn several_edits_go_by_the_lines_of_the_file_as_it_was() {
    let fixture = setup().open().await;
    let lines: String = (1..=10).map(|line| format!("line {line}\n")).collect();
    ask(&fixture, "write_file", json!({"path": "file", "content": lines})).await;
    let edit =
        |start: usize, end: usize, content: &str| json!({"start_line": start, "end_line": end, "content": content});
    let replacements =
        [edit(9, 9, "nine\n"), edit(2, 4, "two\n"), edit(7, 6, "six and a half\nmore\n"), edit(10, 10, "")];
    let done = ask(&fixture, "replace_lines_in_file", json!({"path": "file", "replacements": replacements})).await;
    assert_eq!(
        text_of(&fixture, "file").await,
        "line 1\ntwo\nline 5\nline 6\nsix and a half\nmore\nline 7\nline 8\nnine\n"
    );
    assert_eq!((&done.structured["lines_added"], &done.structured["lines_removed"]), (&json!(4), &json!(5)));
    for line in ["--- a/file", "+++ b/file", "-line 2", "+two", "+six and a half", "-line 10"] {
        assert!(done.text.lines().any(|shown| shown == line), "{line}: {}", done.text);
    }
    // All of them, or none.
    let before = text_of(&fixture, "file").await;
    for (replacements, word) in [
        (json!([edit(1, 3, "a\n"), edit(3, 4, "b\n")]), "overlap"),
        (json!([edit(1, 1, "a\n"), edit(50, 50, "b\n")]), "50"),
        (
            json!([edit(1, 1, "a\n"), {"start_line": 2, "end_line": 2, "content": "b\n", "expect": "not this\n"}]),
            "conflict",
        ),
    ] {
        let refusal =
            refused(&fixture, "replace_lines_in_file", json!({"path": "file", "replacements": replacements})).await;
        assert!(refusal.contains(word), "{word}: {refusal}");
        assert_eq!(text_of(&fixture, "file").await, before);
    }
}

#[tokio::test]
async fn line_endings_stay_as_a_command_wrote_them() {
    let fixture = setup().open().await;
    run(&fixture, r"printf 'one\r\ntwo\r\nthree' > file").await;
    let edit = json!({"path": "file", "replacements": [{"start_line": 2, "end_line": 2, "content": "2\n"}]});
    ask(&fixture, "replace_lines_in_file", edit).await;
    assert_eq!(
        run(&fixture, "od -An -c file | tr -s ' \\n' ' '").await.shown("stdout").trim(),
        r"o n e \r \n 2 \r \n t h r e e"
    );
}

#[tokio::test]
async fn a_long_file_is_read_on_from_where_the_answer_ends() {
    let fixture = setup().open().await;
    run(&fixture, "seq 1 20000 > numbers").await;
    let (mut start, mut text) = (1, String::new());
    loop {
        let read = ask(&fixture, "read_file", json!({"path": "numbers", "start_line": start})).await;
        assert!(read.text.len() <= 16 << 10, "{} bytes", read.text.len());
        assert_eq!(read.structured["total_lines"], 20_000);
        text.push_str(read.structured["text"].as_str().expect("a text"));
        let Some(next) = read.structured["next_line"].as_u64() else { break };
        assert!(read.text.contains(&format!("{next}")), "the model reads it, too");
        start = next;
        assert_eq!(read.structured.get("next_byte"), None, "whole lines where they fit: {}", read.text);
    }
    let expected: String = (1..=20_000).map(|line| format!("{line}\n")).collect();
    assert!(text == expected, "{} bytes instead of {}", text.len(), expected.len());
    let some = ask(&fixture, "read_file", json!({"path": "numbers", "start_line": 19_999, "end_line": 30_000})).await;
    assert_eq!(some.structured["text"], "19999\n20000\n");
    run(&fixture, "head -c 5000 /bin/sh > program").await;
    let refusal = refused(&fixture, "read_file", json!({"path": "program"})).await;
    assert!(refusal.contains("no text but looks like"), "{refusal}");
}

#[tokio::test]
async fn a_search_finds_lines_and_files_and_says_what_it_passed_over() {
    let fixture = setup().open().await;
    run(
        &fixture,
        "mkdir -p src/deep .git; echo 'fn main() {}' > src/main.rs; printf 'a\\nFN two\\nb\\n' > src/deep/two.rs; \
         echo 'fn hidden' > .git/x.rs; printf 'fn\\000binary' > blob; echo 'fn text' > notes.txt",
    )
    .await;
    let found = ask(&fixture, "search_files", json!({"pattern": r"\bfn\b", "case": "insensitive"})).await;
    let places = |found: &Value| -> Vec<String> {
        let results = found["matches"].as_array().expect("results").iter();
        results.map(|one| format!("{}:{}", one["path"].as_str().expect("a path"), one["line"])).collect()
    };
    let mut lines = places(&found.structured);
    lines.sort();
    assert_eq!(lines, ["notes.txt:1", "src/deep/two.rs:2", "src/main.rs:1"]);
    assert!(found.text.contains("Passed over: 1 binary"), "{}", found.text);
    let within = json!({"pattern": "FN", "glob": "*.rs", "path": "src", "context_lines": 1});
    let within = ask(&fixture, "search_files", within).await;
    assert_eq!(places(&within.structured), ["src/deep/two.rs:2"]);
    assert!(
        within.text.contains("src/deep/two.rs-1- a") && within.text.contains("src/deep/two.rs:2: FN two"),
        "{}",
        within.text
    );
    let files = ask(&fixture, "search_files", json!({"glob": "src/**/*.rs"})).await;
    assert_eq!(files.structured["matches"].as_array().map(Vec::len), Some(2), "{files:?}");
    let refusal = refused(&fixture, "search_files", json!({"pattern": "("})).await;
    assert!(refusal.starts_with("invalid"), "{refusal}");
    // A pattern that would take others for ever.
    run(&fixture, "head -c 1000000 /dev/zero | tr '\\0' a > long").await;
    let slow = ask(&fixture, "search_files", json!({"pattern": "(a*)*b", "glob": "long"})).await;
    assert_eq!(slow.structured["matches"], json!([]));
}

#[tokio::test]
async fn a_search_of_many_small_files_or_short_lines_ends_with_an_answer() {
    let fixture = setup().open().await;
    run(&fixture, "mkdir many; cd many; for d in $(seq 120); do mkdir $d; (cd $d; touch $(seq 100)); done").await;
    run(&fixture, "mkdir few; yes | head -c 6000000 > few/1; for n in $(seq 2 40); do cp few/1 few/$n; done").await;
    for folder in ["many", "few"] {
        let found = ask(&fixture, "search_files", json!({"pattern": "nothing like it", "path": folder})).await;
        assert_eq!(found.structured["matches"], json!([]), "{folder}: {}", found.text);
    }
}

#[tokio::test]
async fn a_directory_is_listed_in_order_and_what_is_too_much_is_counted() {
    let fixture = setup().open().await;
    run(&fixture, "mkdir -p z/deep empty; touch b a .hidden z/x; echo 12345 > z/deep/file; ln -s a link").await;
    let listed = ask(&fixture, "list_directory", json!({"depth": 3})).await;
    let paths: Vec<_> =
        listed.structured["entries"].as_array().expect("a list").iter().map(|entry| entry["path"].clone()).collect();
    assert_eq!(paths, ["empty", "z", "z/deep", "z/deep/file", "z/x", "a", "b", "link"]);
    assert!(listed.text.contains("z/deep/file  6 bytes") && listed.text.contains("1 hidden"), "{}", listed.text);
    run(&fixture, "mkdir many; cd many; seq 1 1500 | xargs touch").await;
    let many = ask(&fixture, "list_directory", json!({"path": "many"})).await;
    assert_eq!(
        (&many.structured["omitted"], many.structured["entries"].as_array().map(Vec::len)),
        (&json!(500), Some(1_000))
    );
    assert!(many.text.contains("500 more were left out"), "{}", many.text);
    let refusal = refused(&fixture, "list_directory", json!({"path": "nowhere"})).await;
    assert!(refusal.starts_with("not-found"), "{refusal}");
}
