//! Limits of the JSON of answers: of one, of a tenant's and of all that somebody still has.

use serde_json::json;
use wharf::{Answer, AppCall, AppTool, Code, Context, Error, InputGiven, OfferService};
use wharf_tests::{Crafted, CraftedTool, Data, Fixture, Setup, context, object};

use super::assert_ended_by;
use crate::offers::{asking, attacker};

/// A text that takes a hundred times as much memory once it is read.
fn multiplying(count: usize) -> String {
    format!("{{\"a\":[{}]}}", [r#"{"":0}"#].repeat(count).join(","))
}

#[tokio::test]
pub(super) async fn an_answer_whose_structure_takes_too_much_memory_is_replaced() {
    let files = Data::alone();
    let tool = CraftedTool { output_schema: Some(r#"{"type":"object"}"#.into()), ..CraftedTool::new("run") };
    let structured = multiplying(1_000);
    let crafted = Crafted { structured: Some(structured.clone().into()), ..Crafted::of([tool]) };
    let path = files.write("answering.wasm", crafted.bytes());
    let with = |bytes: u64| Setup::new().limit("answer_json_bytes", bytes).plugin("answering", &path, "");
    let answer = with(1_000_000).open().await.call("answering__run", json!({})).await.expect("it is small");
    assert_eq!(answer.structured, serde_json::from_str(&structured).expect("JSON"));
    let fixture = with(500_000).open_in(Data::new()).await;
    assert_ended_by("answer_json_bytes", Code::Limit, fixture.call("answering__run", json!({})).await);
}

#[tokio::test]
async fn an_answer_whose_meta_takes_too_much_memory_is_replaced() {
    let fixture = Setup::new().limit("answer_json_bytes", 1_000_000).open().await;
    for tool in ["hostile__answer_meta", "hostile__content_meta"] {
        let answer = async |count| fixture.call(tool, json!({"meta": multiplying(count)})).await;
        let given = answer(1_000).await.expect("it is small");
        let meta = if tool == "hostile__answer_meta" { &given.meta } else { &given.content[0].meta };
        assert_eq!(meta["a"].as_array().map(Vec::len), Some(1_000));
        assert_ended_by("answer_json_bytes", Code::Limit, answer(2_000).await);
    }
    fixture.works().await;
    // By default, too: 1 MiB of text that takes about 100 MiB.
    let fixture = Setup::new().open().await;
    let outcome = fixture.call("hostile__answer_meta", json!({"meta": multiplying(149_000)})).await;
    assert_ended_by("answer_json_bytes", Code::Limit, outcome);
}

/// A host that has room for one such answer and a half, by this limit.
async fn narrow(limit: &str) -> Fixture {
    wharf_tests::of_the_library_alone("this test keeps answers in its own process");
    Setup::new().host_limit(limit, 1_000_000).open().await
}

async fn large(fixture: &Fixture, asking: &Context) -> Result<Answer, Error> {
    fixture.call_in(asking, "hostile__answer_meta", json!({"meta": multiplying(1_000)})).await
}

/// A further answer is refused until one that somebody has is gone.
fn assert_refused_for_now(limit: &str, outcome: Result<Answer, Error>) {
    assert!(outcome.as_ref().is_err_and(|error| error.retryable), "{outcome:?}");
    assert_ended_by(&format!("`{limit}`"), Code::Limit, outcome);
}

#[tokio::test]
pub(super) async fn answers_of_a_tenant_that_take_too_much_memory_together_are_replaced_and_anothers_are_not() {
    let limit = "answer_json_bytes_per_tenant";
    let fixture = narrow(limit).await;
    let (first, second) = (context("a", "s"), context("a", "t"));
    let held = large(&fixture, &first).await.expect("there is room");
    assert_refused_for_now(limit, large(&fixture, &second).await);
    let _other = large(&fixture, &context("b", "s")).await.expect("another tenant has room");
    let small = fixture.call_in(&first, "hostile__answer_meta", json!({"meta": "{\"a\":1}"})).await;
    small.expect("what is left is enough for it");
    drop(held);
    large(&fixture, &second).await.expect("there is room again");
}

#[tokio::test]
pub(super) async fn answers_of_all_that_take_too_much_memory_together_are_replaced() {
    let limit = "answer_json_total_bytes";
    let fixture = narrow(limit).await;
    let held = large(&fixture, &context("a", "s")).await.expect("there is room");
    assert_refused_for_now(limit, large(&fixture, &context("b", "s")).await);
    drop(held);
    large(&fixture, &context("b", "s")).await.expect("there is room again");
}

#[tokio::test]
async fn prompts_and_resources_are_charged_as_answers_are() {
    let files = Data::alone();
    let path = attacker(&files, "hidden");
    for (bytes, served) in [(64 << 20, true), (100, false)] {
        let setup = Setup::bare().limit("answer_json_bytes", bytes).plugin("attack", &path, "");
        let host = setup.open_in(Data::new()).await.host;
        let prompt = host.prompt(&asking(), "attack__hidden", &object(json!({})).into(), InputGiven::default()).await;
        assert!(prompt.is_ok(), "it has no JSON: {prompt:?}");
        // A list leaves out the plugin whose part of it is refused.
        assert_eq!(host.resources(&asking()).await.expect("a list").len(), usize::from(served));
        match host.read_resource(&asking(), "attack://hidden").await {
            Ok(parts) => assert!(served && parts.iter().any(|part| !part.content.meta.is_empty()), "{parts:?}"),
            Err(error) => assert!(!served && error.message.contains("`answer_json_bytes`"), "{error}"),
        }
    }
    let path = attacker(&files, "none");
    let setup = Setup::bare().limit("answer_json_bytes", 100).plugin("attack", &path, "");
    let host = setup.open_in(Data::new()).await.host;
    let asked = host.prompt(&asking(), "attack__ask", &object(json!({})).into(), InputGiven::default()).await;
    assert!(asked.is_err_and(|error| error.message.contains("`answer_json_bytes`")), "a round is an answer, too");
}

#[tokio::test]
async fn answers_of_the_apps_own_tools_are_charged_too() {
    let limit = "answer_json_bytes_per_tenant";
    let fixture = narrow(limit).await;
    let tool = AppTool::new("large", "For tests.", json!({"type": "object"}), |_: AppCall| async {
        let structured = serde_json::from_str(&multiplying(1_000)).expect("JSON");
        Ok(Answer { structured: Some(structured), ..Answer::default() })
    });
    fixture.host.register_tool(tool).expect("legal");
    let held = fixture.call("app__large", json!({})).await.expect("there is room");
    assert_refused_for_now(limit, fixture.call("app__large", json!({})).await);
    drop(held);
    fixture.call("app__large", json!({})).await.expect("there is room again");
}
