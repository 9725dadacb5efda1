//! What lists of tools show, and what the operator takes out of them.

use serde_json::{Value, json};
use wharf::{Code, ToolService as _};
use wharf_tests::{Client, Data, Server, Setup, context, wharf};

use crate::http_mcp::{ask_modern, call, list, tools, with_tokens};

/// The answer to `tools/list` of a host of all bundled plugins, as it comes over the wire.
fn listed(profile: &str, lines: &str) -> (String, Vec<Value>) {
    let data = Data::new();
    let configuration = data.write("wharf.toml", lines);
    let serve = wharf(["serve", "--stdio", "--profile", profile]).config(&configuration);
    let mut client = Client::connect(serve.data(data.path()));
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools").clone();
    (answer.to_string(), tools)
}

#[test]
fn the_list_of_bundled_tools_costs_an_agent_little() {
    for (profile, most) in [("default", 30_000), ("developer", 90_000)] {
        let (text, tools) = listed(profile, "");
        assert!(text.len() <= most, "{profile}: {} bytes for {} tools", text.len(), tools.len());
        assert!(tools.iter().all(|tool| tool["outputSchema"].is_object()), "{profile}");
    }
}

#[test]
fn schemas_of_answers_are_listed_whole_in_short_or_not_at_all() {
    let of = |word: &str| {
        let (text, tools) = listed("default", &format!("output_schemas = \"{word}\""));
        let tool = tools.into_iter().find(|tool| tool["name"] == "planning__add_todo").expect("listed");
        (text.len(), tool)
    };
    let ((none, of_none), (compact, of_compact), (full, of_full)) = (of("none"), of("compact"), of("full"));
    assert!(none < compact && compact < full, "{none}, {compact}, {full} bytes");
    assert_eq!(of_none["outputSchema"], Value::Null);
    let members = |tool: &Value| tool["outputSchema"]["properties"].as_object().expect("members").len();
    assert!(members(&of_compact) > 0 && members(&of_compact) <= members(&of_full));
    assert!(!of_compact["outputSchema"].to_string().contains("description"), "{of_compact}");
    assert!(of_full["outputSchema"].to_string().contains("description"), "{of_full}");
    assert_eq!(of_compact["description"], of_full["description"]);
}

#[tokio::test]
async fn what_a_short_schema_leaves_out_is_checked_all_the_same() {
    let fixture = Setup::new().planning().open().await;
    let todo = json!({"name": "x".repeat(10_000)});
    let error = fixture.call("planning__add_todo", todo).await.expect_err("longer than a name may be");
    assert!(error.code == Code::Invalid && error.message.contains("name"), "{error}");
}

#[tokio::test]
async fn tools_that_the_operator_takes_out_are_neither_listed_nor_called() {
    let fixture = Setup::new().hostile("tools = [\"*_file\", \"sleep\"]\nskip_tools = [\"remove_*\"]").open().await;
    let names: Vec<_> = fixture.host.tools(wharf_tests::viewer()).iter().map(|tool| tool.name.clone()).collect();
    let of_hostile: Vec<_> = names.iter().filter_map(|name| name.strip_prefix("hostile__")).collect();
    assert!(of_hostile.contains(&"sleep") && of_hostile.contains(&"write_file"), "{of_hostile:?}");
    assert!(of_hostile.iter().all(|name| *name == "sleep" || name.ends_with("_file")), "{of_hostile:?}");
    assert!(names.iter().any(|name| name.starts_with("echo__")), "of other plugins nothing is taken out");
    for name in ["hostile__remove_file", "hostile__remaining"] {
        let error = fixture.call_in(&context("local", "a"), name, json!({})).await.expect_err("taken out");
        assert!(error.code == Code::NotFound && error.message.contains("skip_tools"), "{error}");
    }
}

#[tokio::test]
async fn a_pattern_that_matches_no_tool_is_an_error_with_the_names_that_there_are() {
    let setup = Setup::new().hostile("skip_tools = [\"wirte_file\"]");
    let fixture = setup.open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    let reason = &rejected.iter().find(|rejected| rejected.name.as_str() == "hostile").expect("refused").reason;
    assert!(reason.contains("`wirte_file` matches no tool") && reason.contains("write_file"), "{reason}");
    let problem = |lines: &str| {
        let text = Setup::new().hostile(lines).text();
        wharf::Configuration::parse(&text, std::path::Path::new("/")).expect_err(lines).to_string()
    };
    assert!(problem("tools = []").contains("leave it out"));
    assert!(problem("tools = [\"a b\"]").contains("no pattern"));
}

#[test]
fn config_check_finds_patterns_that_match_no_tool() {
    let data = Data::new();
    let check = |lines: &str| {
        let configuration = data.write("wharf.toml", lines);
        wharf(["config", "check"]).config(&configuration).data(data.path()).run()
    };
    let run = check("[plugin.planning]\nskip_tools = [\"*_memo\"]\n[plugin.playbook]\ntools = [\"lst_playbooks\"]");
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("[plugin.playbook]: `lst_playbooks` matches no tool"), "{run:?}");
    assert!(!run.err.contains("planning"), "{run:?}");
    assert_eq!(check(&Setup::new().hostile("tools = [\"sleep\"]").text()).code, Some(0));
    let run = check(&Setup::new().hostile("tools = [\"slep\"]").text());
    assert!(run.code == Some(3) && run.err.contains("`slep` matches no tool"), "{run:?}");
}

#[test]
fn a_token_sees_the_tools_that_its_patterns_name() {
    let options: [&[&str]; 2] = [
        &["--name", "some", "--tool", "planning__*", "--skip-tool", "*_goal"],
        &["--name", "plugin", "--plugin", "hostile", "--tool", "*_file"],
    ];
    let (mut server, [some, plugin]): (Server, _) = with_tokens(Setup::new().planning(), options);
    server.token = some;
    let seen = tools(&ask_modern(&server, list()));
    assert!(seen.iter().any(|tool| tool == "planning__add_todo"), "{seen:?}");
    assert!(seen.iter().all(|tool| tool.starts_with("planning__") && !tool.ends_with("_goal")), "{seen:?}");
    let hidden = ask_modern(&server, call("planning__create_goal", &json!({"goal": "x"})));
    let unknown = ask_modern(&server, call("planning__nothing", &json!({})));
    assert_eq!(hidden.message()["error"]["code"], unknown.message()["error"]["code"], "{hidden:?}");
    server.token = plugin;
    let seen = tools(&ask_modern(&server, list()));
    assert!(
        !seen.is_empty() && seen.iter().all(|tool| tool.starts_with("hostile__") && tool.ends_with("_file")),
        "{seen:?}"
    );
}
