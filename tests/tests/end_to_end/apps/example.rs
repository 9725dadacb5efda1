//! The example is what it says.

#[path = "../../../../host/wharf/examples/app_tools.rs"]
#[expect(dead_code, reason = "its `main` is for who runs it")]
mod app_tools;

#[tokio::test]
async fn the_example_shows_what_it_promises() {
    let mut out = Vec::new();
    app_tools::show(&mut out).await.expect("runs");
    let out = String::from_utf8(out).expect("text");
    let lines: Vec<_> = out.lines().filter(|line| !line.starts_with("  planning__create_goal: ")).collect();
    assert_eq!(lines.len() + 1, out.lines().count(), "{out}");
    assert_eq!(
        lines,
        [
            "2 tools of the app, beside others such as:",
            "  app__add_note: Keeps a note.",
            "  app__weather: Says what the weather is like in a city.",
            "app__weather answers: Oslo: sunny",
            "app__add_note answers: {\"notes\":1}",
            "app__add_note answers: {\"notes\":2}",
            "refused: invalid",
            "removed: not-found",
        ]
    );
}
