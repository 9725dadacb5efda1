//! Who polls too often is told so; who waits is not.

use serde_json::{Value, json};
use wharf::ToolService as _;
use wharf_tests::{Fixture, Setup};

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
    let text = given[0]["text"].as_str().expect("a text");
    assert!(text.len() <= 512 && text.contains("polls in a row"), "{text}");
    for tool in fixture.host.tools().iter() {
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
