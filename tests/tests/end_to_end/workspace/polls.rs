//! Advice for an agent that asks too often, and none where none is wanted.

use serde_json::{Value, json};
use wharf::ToolService as _;
use wharf_tests::{Fixture, context, viewer};

use super::{Told, ask, refusal, setup, start, stop, told};

async fn polled(fixture: &Fixture, id: &str, times: usize) -> Vec<Told> {
    let mut told = Vec::new();
    for _ in 0..times {
        told.push(ask(fixture, "poll_process", json!({"process_id": id})).await);
    }
    told
}

#[tokio::test]
async fn the_fifth_poll_is_advised_in_a_field_of_its_own_and_in_words_that_name_no_tool() {
    let fixture = setup().open().await;
    let id = start(&fixture, "sleep 1000").await;
    let polls = polled(&fixture, &id, 8).await;
    let advised: Vec<_> =
        polls.iter().enumerate().filter(|(_, told)| told.structured.get("guidance").is_some()).collect();
    assert_eq!(advised.iter().map(|(at, _)| at + 1).collect::<Vec<_>>(), [5], "once, and at the fifth: {polls:?}");
    let told = advised[0].1;
    let guidance = &told.structured["guidance"];
    assert_eq!(guidance["polls"], 5, "{guidance}");
    assert!(guidance["suggested_interval_milliseconds"].as_u64().is_some_and(|pause| pause >= 1_000), "{guidance}");
    let words = guidance["text"].as_str().expect("a text");
    assert!(told.text.ends_with(&format!("\n\n{words}")), "the model reads it, too, and nothing else: {}", told.text);
    for own in fixture.host.tools(viewer()).iter().filter_map(|tool| tool.name.strip_prefix("workspace__")) {
        assert!(!words.contains(own), "{own}: {words}");
    }
    // Waits do not count as polls, however many there are.
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
    let (_, words) = polls[1].text.rsplit_once("\n\n").expect("advice");
    assert_eq!(Some(words), polls[1].structured["guidance"]["text"].as_str());
    assert!(words.contains("프로세스") && !words.contains(|letter: char| letter.is_ascii_alphabetic()), "{words}");
    let off = setup().with_tables("[process.polls]\nguidance = false").open().await;
    let id = start(&off, "sleep 1000").await;
    for told in polled(&off, &id, 12).await {
        assert_eq!(told.structured.get("guidance").map(Value::to_string), None);
    }
}

#[tokio::test]
async fn a_tenant_and_a_session_have_thresholds_of_their_own() {
    let tables = "[process.polls]\nthreshold = 3\n[process.polls.tenant.acme]\nthreshold = 2\n\
                  [process.polls.tenant.acme.session.patient]\nthreshold = 4";
    let fixture = setup().with_tables(tables).open().await;
    for (tenant, session, expected) in [("local", "patient", 3), ("acme", "usual", 2), ("acme", "patient", 4)] {
        let here = context(tenant, session);
        let started = json!({"command": "sleep 1000", "run_mode": "async"});
        let id = told(fixture.call_in(&here, "workspace__execute_shell", started).await).id();
        let mut first = None;
        for poll in 1..=5 {
            let asked = fixture.call_in(&here, "workspace__poll_process", json!({"process_id": id})).await;
            if told(asked).structured.get("guidance").is_some() {
                first = first.or(Some(poll));
            }
        }
        assert_eq!(first, Some(expected), "{tenant} {session}");
    }
}

#[tokio::test]
async fn how_often_a_process_was_polled_is_listed_with_the_intervals() {
    let fixture = setup().open().await;
    let id = start(&fixture, "sleep 1000").await;
    let listed = ask(&fixture, "list_processes", json!({})).await;
    assert_eq!(listed.structured["processes"][0].get("polls"), None, "never");
    polled(&fixture, &id, 4).await;
    for _ in 0..2 {
        let listed = ask(&fixture, "list_processes", json!({})).await;
        let polls = &listed.structured["processes"][0]["polls"];
        assert_eq!((&polls["total"], &polls["in_a_row"]), (&json!(4), &json!(4)), "a listing is no poll: {polls}");
        for interval in ["mean_interval_milliseconds", "deviation_milliseconds", "shortest_interval_milliseconds"] {
            assert!(polls[interval].is_u64(), "{interval}: {polls}");
        }
        assert!(listed.text.contains("polled 4 times"), "{}", listed.text);
    }
    stop(&fixture, &id).await;
}

#[tokio::test]
async fn the_tail_of_one_stream_is_asked_for_beside_the_lines_of_both() {
    let fixture = setup().open().await;
    let id = start(&fixture, "seq 9; seq 11 19 >&2; sleep 1000").await;
    let wait = json!({"process_id": id, "until": {"pattern": "19", "stream": "stderr"}, "wait_seconds": 60});
    ask(&fixture, "wait_for_process", wait).await;
    let polled = async |arguments: Value| {
        let mut arguments = arguments;
        arguments["process_id"] = id.as_str().into();
        let told = ask(&fixture, "poll_process", arguments).await;
        (told.shown("stdout").to_owned(), told.shown("stderr").to_owned())
    };
    assert_eq!(polled(json!({"tail": {"src": "stdout", "n": 2}})).await, ("8\n9\n".to_owned(), String::new()));
    assert_eq!(polled(json!({"tail": {"src": "stderr", "n": 1}})).await, (String::new(), "19\n".to_owned()));
    assert_eq!(polled(json!({"lines": 1})).await, ("9\n".to_owned(), "19\n".to_owned()));
    let both = json!({"process_id": id, "lines": 1, "tail": {"src": "stdout", "n": 1}});
    let refused = refusal(fixture.call("workspace__poll_process", both).await);
    assert!(refused.contains("not both"), "{refused}");
    stop(&fixture, &id).await;
}
