//! Replacing lines. How lines are counted, ended and kept apart is tested where
//! it is decided; here is the tool.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _};

fn edits(path: &str, replacements: &Value) -> Value {
    json!({ "path": path, "replacements": replacements })
}

#[test]
fn several_edits_are_made_by_the_lines_as_they_were_and_shown_as_a_diff() {
    let agent = Agent::with(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")]);
    let replacements = json!([
        { "start_line": 9, "end_line": 9, "content": "nine" },
        { "start_line": 2, "end_line": 3, "content": "two\ntwo and a half\nthree\n", "expect": "2\n3" },
        { "start_line": 1, "end_line": 0, "content": "zero" },
        { "start_line": 10, "end_line": 10, "content": "" },
    ]);
    let (replaced, text) = agent.answer("replace_lines_in_file", &edits("a.txt", &replacements));
    assert_eq!(agent.content("a.txt"), "zero\n1\ntwo\ntwo and a half\nthree\n4\n5\n6\n7\n8\nnine\n");
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,10 +1,11 @@\n+zero\n 1\n-2\n-3\n+two\n+two and a half\n+three\n 4\n 5\n 6\n \
                7\n 8\n-9\n-10\n+nine\n";
    assert_eq!(replaced["diff"], diff);
    assert_eq!(
        (&replaced["lines_added"], &replaced["lines_removed"], &replaced["total_lines"]),
        (&json!(5), &json!(4), &json!(11))
    );
    assert!(text.starts_with("Changed a.txt: +5 -4 lines, 11 in all.\n--- a/a.txt"), "{text}");
}

#[test]
fn all_edits_are_made_or_none() {
    let agent = Agent::with(&[("a", "1\n2\n3\n")]);
    for (second, reason) in [
        (json!({ "start_line": 1, "end_line": 2, "content": "y" }), "overlap"),
        (json!({ "start_line": 4, "end_line": 4, "content": "y" }), "the file has 3 lines"),
        (json!({ "start_line": 2, "end_line": 2, "content": "y", "expect": "two" }), "they are:\n2"),
    ] {
        let replacements = json!([{ "start_line": 1, "end_line": 1, "content": "x" }, second]);
        let refused = agent.refused("replace_lines_in_file", &edits("a", &replacements));
        assert!(refused.contains(reason), "{refused}");
        assert_eq!(agent.content("a"), "1\n2\n3\n");
    }
    let wrong = json!([{ "start_line": 1, "end_line": 1, "content": "x", "expect": "one" }]);
    assert!(agent.refused("replace_lines_in_file", &edits("a", &wrong)).starts_with("conflict"));
    let same = json!([{ "start_line": 1, "end_line": 1, "content": "1" }]);
    assert!(agent.refused("replace_lines_in_file", &edits("a", &same)).contains("as it is"));
    assert_eq!(agent.names(), ["a"]);
}

#[test]
fn line_endings_stay_and_so_does_a_missing_last_one() {
    let agent = Agent::with(&[("dos", "1\r\n2\r\n3")]);
    let replacements = json!([{ "start_line": 2, "end_line": 3, "content": "b\nc\n" }]);
    let replaced = agent.ok("replace_lines_in_file", &edits("dos", &replacements));
    assert_eq!(agent.content("dos"), "1\r\nb\r\nc");
    assert!(replaced["diff"].as_str().is_some_and(|diff| diff.contains("\\ No newline at end of file")), "{replaced}");
}

#[test]
fn a_thousand_edits_are_one_call_and_one_more_is_refused() {
    let text: String = (1..=1_001).map(|number| format!("{number}\n")).collect();
    let agent = Agent::with(&[("a", &text)]);
    let replacements = |count: usize| -> Vec<Value> {
        (1..=count)
            .map(|line| json!({ "start_line": line, "end_line": line, "content": format!("line number {line}") }))
            .collect()
    };
    let refused = agent.refused("replace_lines_in_file", &edits("a", &json!(replacements(1_001))));
    assert!(refused.contains("1 to 1000"), "{refused}");
    let (replaced, text) = agent.answer("replace_lines_in_file", &edits("a", &json!(replacements(1_000))));
    assert!(
        agent.content("a").starts_with("line number 1\nline number 2\n")
            && agent.content("a").ends_with("line number 1000\n1001\n")
    );
    assert_eq!((&replaced["diff_truncated"], text.len() < 17_000), (&json!(true), true));
}

#[test]
fn files_that_cannot_be_edited_are_left_as_they_are() {
    let agent = Agent::with(&[]);
    agent.put("data", b"a\0b\n");
    agent.put("large", "x\n".repeat(2_100_000));
    let replacements = json!([{ "start_line": 1, "end_line": 1, "content": "y" }]);
    assert!(agent.refused("replace_lines_in_file", &edits("data", &replacements)).contains("binary"));
    let refused = agent.refused("replace_lines_in_file", &edits("large", &replacements));
    assert!(refused.starts_with("limit") && refused.contains("sed -i"), "{refused}");
    agent.put("latin", b"caf\xe9\nlast\n");
    agent.ok("replace_lines_in_file", &edits("latin", &json!([{ "start_line": 2, "end_line": 2, "content": "y" }])));
    assert_eq!(std::fs::read(agent.at("latin")).expect("read"), b"caf\xe9\ny\n");
}
