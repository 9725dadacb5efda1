//! Advice for an agent that asks too often, and none where none is wanted.

use serde_json::{Value, json};
use wharf_tests::Fixture;

use super::{Told, ask, setup, start, stop};

async fn polled(fixture: &Fixture, id: &str, times: usize) -> Vec<Told> {
    let mut told = Vec::new();
    for _ in 0..times {
        told.push(ask(fixture, "poll_process", json!({"process_id": id})).await);
    }
    told
}

#[tokio::test]
async fn who_polls_too_often_is_advised_in_a_field_of_its_own_and_told_what_to_call_instead() {
    let fixture = setup().open().await;
    let id = start(&fixture, "sleep 1000").await;
    let polls = polled(&fixture, &id, 8).await;
    let advised: Vec<_> = polls.iter().filter(|told| told.structured.get("guidance").is_some()).collect();
    assert_eq!(advised.len(), 1, "once, and not with every poll: {polls:?}");
    assert!(polls[..2].iter().all(|told| !told.text.contains("Guidance")), "{polls:?}");
    let guidance = &advised[0].structured["guidance"];
    // Sooner than after five where they follow each other at once.
    assert!(guidance["polls"].as_u64().is_some_and(|polls| (3..=5).contains(&polls)), "{guidance}");
    assert!(guidance["suggested_interval_milliseconds"].as_u64().is_some_and(|pause| pause >= 1_000), "{guidance}");
    let text = &advised[0].text;
    assert!(text.contains(guidance["text"].as_str().expect("a text")), "the model reads it, too: {text}");
    assert!(text.ends_with("wait_for_process waits until something happens."), "{text}");
    // A wait is none, however many there are.
    for _ in 0..3 {
        let wait = json!({"process_id": id, "until": {"idle_seconds": 1}, "wait_seconds": 60});
        assert_eq!(ask(&fixture, "wait_for_process", wait).await.structured.get("guidance"), None);
    }
    stop(&fixture, &id).await;
}

#[tokio::test]
async fn an_operator_chooses_when_advice_comes_in_which_language_or_never() {
    let korean = setup().with_tables("[process.polls]\nthreshold = 2\nlanguage = \"ko\"").open().await;
    let id = start(&korean, "sleep 1000").await;
    let polls = polled(&korean, &id, 2).await;
    assert_eq!(polls[0].structured.get("guidance"), None);
    assert!(polls[1].text.contains("프로세스"), "{}", polls[1].text);
    let off = setup().with_tables("[process.polls]\nguidance = false").open().await;
    let id = start(&off, "sleep 1000").await;
    for told in polled(&off, &id, 12).await {
        assert_eq!(told.structured.get("guidance").map(Value::to_string), None);
        assert!(!told.text.contains("Guidance"), "{}", told.text);
    }
}
