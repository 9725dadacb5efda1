//! The examples are what they say.

#[path = "../../../../host/wharf/examples/app_tools.rs"]
#[expect(dead_code, reason = "its `main` is for running it by itself")]
mod app_tools;

#[path = "../../../../host/wharf/examples/agent_app.rs"]
#[expect(dead_code, reason = "its `main` is for running it by itself")]
mod agent_app;

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

#[tokio::test]
async fn the_agent_app_works_with_what_is_loaded_while_it_runs() {
    let mut out = Vec::new();
    agent_app::show(&wharf_tests::bytes("planning"), &mut out).await.expect("runs");
    let out = String::from_utf8(out).expect("text");
    let tools = out.split_once("loaded plans with ").and_then(|(_, rest)| rest.split_once(" tools")).expect("loaded").0;
    assert!(tools.parse::<usize>().expect("a number") > 3, "{out}");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "two hosts, 0 and 0 tools",
            "ada: I have no tool `create_goal`, and say so instead of inventing one",
            &format!("loaded plans with {tools} tools, registered app__estimate"),
            r#"ada calls plans__create_goal {"goal":"Paint the fence"}"#,
            "  = Goal 1 is set: Paint the fence",
            r#"ada calls plans__add_todo {"name":"Buy paint"}"#,
            "  = Added [ ] 1: Buy paint",
            r#"ada calls app__estimate {"steps":2}"#,
            "  ~ 1/2 thinking about a step",
            "  ~ 2/2 thinking about a step",
            "  = 4 hours",
            "ada: after 3 calls the last answer is: 4 hours",
            "ada calls plans__list_goals {}",
            "  = 1 (active): Paint the fence",
            "ada: after 1 calls the last answer is: 1 (active): Paint the fence",
            "bob calls plans__list_goals {}",
            "  = There is no goal yet.",
            "bob: after 1 calls the last answer is: There is no goal yet.",
            &format!("unloaded plans: 0 and {tools} tools"),
            "ada: I have no tool `list_goals`, and say so instead of inventing one",
            "shut down",
        ]
    );
}
