//! Arguments that the operator has recorded.

use serde_json::json;
use wharf_tests::{Data, Setup, context, wharf};

use super::{closed, of_tool, raw};

#[tokio::test]
async fn arguments_are_kept_of_the_named_tools_alone_and_without_secrets() {
    // It looks like any other word.
    const SECRET: &str = "kept-by-the-operator";
    let data = Data::new();
    let file = data.write_private("token", SECRET);
    let tables = format!(
        "[audit]\nrecord_arguments = [\"echo__*\"]\n[plugin.hostile.secrets.token]\nfile = '{}'\n\
         to = \"* https://example.com/*\"\nheader = \"Authorization: Bearer {{}}\"",
        file.display()
    );
    let fixture = Setup::new().with_tables(&tables).open_in(data).await;
    let text = format!("run it with --password hunter2, and {SECRET}");
    fixture.call_in(&context("local", "s"), "echo__echo", json!({"text": text})).await.expect("answers");
    let denied = json!({"program": "git", "count": 1, "names": 1});
    fixture.call_in(&context("local", "s"), "hostile__start_many", denied).await.expect("ends");
    let (lines, data) = closed(fixture).await;
    let masked = "*".repeat(SECRET.len());
    let expected = format!("{{\"text\":\"run it with --password ***, and {masked}\"}}");
    assert_eq!(of_tool(&lines, "echo").last().expect("a line").arguments, expected);
    let others: Vec<_> = lines.iter().filter(|line| line.tool != "echo").collect();
    assert!(!others.is_empty() && others.iter().all(|line| line.arguments.is_empty()), "{others:?}");
    let all = raw(data.path());
    assert!(!all.contains("hunter2") && !all.contains(SECRET));

    // A pattern that was written wrongly records nothing, so it is told.
    let configuration = data.write("wharf.toml", "[audit]\nrecord_arguments = [\"plannin__add_todo\"]");
    let checked = wharf(["config", "check"]).config(&configuration).data(data.path()).run();
    assert!(checked.code == Some(3) && checked.err.contains("planning"), "{checked:?}");
}
