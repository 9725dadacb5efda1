//! Callers that poll too often are told so; callers that wait are not.

use serde_json::{Value, json};
use wharf::ToolService as _;
use wharf_tests::{Fixture, Setup, viewer};

use super::{ask, here, shell};

async fn advice_of(fixture: &Fixture, id: &str, polls: usize) -> Vec<Value> {
    let mut advice = Vec::new();
    for _ in 0..polls {
        advice.push(ask(fixture, &here(), "poll", id, json!({"number": 1})).await["ok"]["advice"].clone());
    }
    advice
}

#[tokio::test]
async fn polls_in_a_row_bring_advice_once_and_it_names_no_tool() {
    let fixture = Setup::new().processes("shell = true").open().await;
    let id = shell(&fixture, &here(), "sleep 1000").await;
    let advice = advice_of(&fixture, &id, 9).await;
    let given: Vec<_> = advice.iter().filter(|advice| !advice.is_null()).collect();
    assert_eq!(given.len(), 1, "once in a minute: {advice:?}");
    assert!(!advice[4].is_null(), "at the fifth, however fast they came: {advice:?}");
    let text = given[0]["text"].as_str().expect("a text");
    assert!(text.len() <= 512 && text.contains("polls in a row"), "{text}");
    for tool in fixture.host.tools(viewer()).iter() {
        assert!(!text.contains(&tool.name), "{}: {text}", tool.name);
    }
    // Waiting is what it advises; a wait that blocked is no poll.
    let before = fixture.host.poll_totals().expect("there are processes");
    ask(&fixture, &here(), "wait", &id, json!({"number": 50})).await;
    assert_eq!(fixture.host.poll_totals().expect("there are processes"), before);
    assert_eq!((before.polls, before.guidance), (9, 1));
    ask(&fixture, &here(), "stop", &id, json!({})).await;
}

#[tokio::test]
async fn what_advice_did_is_counted_in_the_metrics_by_its_language() {
    let fixture = Setup::new().processes("shell = true").open().await;
    let id = shell(&fixture, &here(), "sleep 1000").await;
    advice_of(&fixture, &id, 12).await;
    let metrics = fixture.host.metrics();
    for line in [
        "wharf_process_polls_total 12",
        "wharf_process_poll_advice_total{language=\"en\"} 1",
        "wharf_process_poll_advice_total{language=\"ko\"} 0",
        "wharf_process_poll_intervals_after_advice_total{language=\"en\"} 1",
        "wharf_process_poll_episodes_total 1",
        "wharf_process_poll_long_episodes_total{advice=\"given\"} 1",
        "wharf_process_poll_long_episodes_total{advice=\"none\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    for name in ["intervals_grown", "before_advice_milliseconds", "after_advice_milliseconds"] {
        assert!(metrics.contains(&format!("wharf_process_poll_{name}_total{{language=\"en\"}} ")), "{name}: {metrics}");
    }
    assert!(metrics.contains("wharf_process_output_bytes "), "{metrics}");
    // The contract says it of each process, and how polls are judged.
    let listed = ask(&fixture, &here(), "list", "", json!({})).await;
    let meta: Value = serde_json::from_str(listed["ok"][0]["meta"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&meta["polls"]["total"], &meta["polls"]["intervals"]["count"]), (&json!(12), &json!(11)), "{meta}");
    let status = ask(&fixture, &here(), "status", "", json!({})).await;
    let status: Value = serde_json::from_str(status["ok"].as_str().expect("a text")).expect("JSON");
    assert_eq!(status["polls"], json!({"guidance": true, "threshold": 5, "language": "en"}));
    ask(&fixture, &here(), "stop", &id, json!({})).await;
}

#[tokio::test]
async fn the_operator_chooses_threshold_and_language_or_none_at_all() {
    let korean = "[process.polls]\nthreshold = 2\nlanguage = \"ko\"";
    let fixture = Setup::new().processes("shell = true").with_tables(korean).open().await;
    let id = shell(&fixture, &here(), "sleep 1000").await;
    let advice = advice_of(&fixture, &id, 2).await;
    assert!(advice[1]["text"].as_str().is_some_and(|text| text.contains("프로세스")), "{advice:?}");
    let off = Setup::new().processes("shell = true").with_tables("[process.polls]\nguidance = false").open().await;
    let id = shell(&off, &here(), "sleep 1000").await;
    assert!(advice_of(&off, &id, 12).await.iter().all(Value::is_null));
    assert_eq!(off.host.poll_totals().expect("there are processes").polls, 12, "counted all the same");
}
