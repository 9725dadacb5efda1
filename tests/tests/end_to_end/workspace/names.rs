//! Files with the names that people give them.

use serde_json::json;

use super::{ask, run, setup};

#[tokio::test]
async fn a_workspace_of_korean_names_works_with_every_tool() {
    let fixture = setup().open().await;
    let path = "보고서/삼월 요금표.md";
    let content = "# 항구 요금\n화물선: 100원\n돛단배: 20원\n";
    ask(&fixture, "write_file", json!({"path": path, "content": content})).await;
    let read = ask(&fixture, "read_file", json!({"path": path, "start_line": 3})).await;
    assert_eq!((&read.structured["text"], &read.structured["path"]), (&json!("돛단배: 20원\n"), &json!(path)));
    let listed = ask(&fixture, "list_directory", json!({"depth": 2})).await;
    assert!(listed.text.contains("보고서/\n보고서/삼월 요금표.md"), "{}", listed.text);
    for search in [json!({"pattern": "돛단배: \\d+원"}), json!({"glob": "*요금표*"}), json!({"glob": "보고서/*.md"})]
    {
        let found = ask(&fixture, "search_files", search.clone()).await;
        assert_eq!(found.structured["matches"][0]["path"], path, "{search}: {found:?}");
    }
    let edit = json!({"start_line": 3, "end_line": 3, "content": "돛단배: 30원\n", "expect": "돛단배: 20원\n"});
    let edited = ask(&fixture, "replace_lines_in_file", json!({"path": path, "replacements": [edit]})).await;
    assert!(
        edited.text.contains("+돛단배: 30원") && edited.text.contains("a/보고서/삼월 요금표.md"),
        "{}",
        edited.text
    );
    let done = run(&fixture, "cat '보고서/삼월 요금표.md' && cp '보고서/삼월 요금표.md' 사본 && ls").await;
    assert_eq!(done.shown("stdout"), "# 항구 요금\n화물선: 100원\n돛단배: 30원\n보고서\n사본\n");
    let there = json!({"command": "pwd && cat *.md | wc -l", "directory": "보고서"});
    let there = ask(&fixture, "execute_shell", there).await;
    assert!(there.shown("stdout").ends_with("/보고서\n3\n"), "{there:?}");
    let listed = ask(&fixture, "list_processes", json!({})).await;
    assert!(listed.text.contains("cat '보고서/삼월 요금표.md'"), "{}", listed.text);
}

#[tokio::test]
async fn awkward_names_are_names_and_nothing_else() {
    let fixture = setup().open().await;
    for name in ["it's", "a b", "-rf", "$HOME", "*", "new\nline", "quote\"d", "e\u{301}", "😀", ".dot"] {
        ask(&fixture, "write_file", json!({"path": format!("d/{name}"), "content": name})).await;
        let read = ask(&fixture, "read_file", json!({"path": format!("d/{name}")})).await;
        assert_eq!(read.structured["text"], *name);
    }
    let done = run(&fixture, "ls -A d | wc -l; find d -type f -print0 | xargs -0 -n1 cat | wc -c").await;
    let bytes: usize = ["it's", "a b", "-rf", "$HOME", "*", "new\nline", "quote\"d", "e\u{301}", "😀", ".dot"]
        .iter()
        .map(|name| name.len())
        .sum();
    assert_eq!(done.shown("stdout"), format!("11\n{bytes}\n"), "a line break in a name is a line of `ls`");
    // A name that is no UTF-8 does not keep the others from being listed.
    run(&fixture, r"touch $(printf 'd/\377bad')").await;
    let listed = ask(&fixture, "list_directory", json!({"path": "d"})).await;
    assert!(listed.text.contains("it's"), "{}", listed.text);
    ask(&fixture, "search_files", json!({"pattern": "it"})).await;
}
