//! Streams of events that outlive calls: what guests write, the app reads.

use std::time::Duration;

use serde_json::{Value, json};
use wharf::{
    Code, Context, Error,
    completion::Preset,
    stream::{Batch, EventKind, Message, StreamId},
};
use wharf_tests::{AMPLE, Fixture, Setup, component, context, found, let_time_pass, until_async};

fn here() -> Context {
    context("local", "test")
}

async fn open(fixture: &Fixture, arguments: Value) -> Value {
    found(fixture.call("hostile__open_stream", arguments).await)
}

async fn opened(fixture: &Fixture) -> String {
    let opened = open(fixture, json!({"title": "a test"})).await;
    opened["ok"].as_str().unwrap_or_else(|| panic!("not opened: {opened}")).to_owned()
}

async fn tell(fixture: &Fixture, function: &str, stream: &str, more: Value) -> Value {
    tell_as(fixture, &here(), "hostile", function, stream, more).await
}

async fn tell_as(fixture: &Fixture, who: &Context, plugin: &str, function: &str, stream: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "stream": stream});
    arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
    found(fixture.call_in(who, &format!("{plugin}__tell_stream"), arguments).await)
}

/// What a stream has from a number on, once there is something.
async fn read(fixture: &Fixture, stream: &str, from: u64) -> Batch {
    let id: StreamId = stream.parse().expect("an id");
    let reader = fixture.host.streams().reader(&here(), id).expect("there is such a stream");
    reader.read(from, 100, 1 << 20, AMPLE).await.expect("readable")
}

fn told(batch: &Batch) -> Vec<(u64, EventKind, Value)> {
    let data = |text: &str| serde_json::from_str(text).expect("JSON");
    batch.events.iter().map(|event| (event.number, event.kind, data(event.data.get()))).collect()
}

#[tokio::test]
async fn calls_write_to_a_stream_one_after_the_other_and_the_app_reads_it() {
    let fixture = Setup::new().events().open().await;
    let stream = opened(&fixture).await;
    for (function, more) in [
        ("status", json!({"text": "processing"})),
        ("advance", json!({"text": "reading", "percent": "12.5"})),
        ("say", json!({"text": "one\n\u{1b}[31mtwo\u{7}"})),
        ("advance", json!({"text": "writing"})),
        ("complete", json!({})),
        ("complete", json!({})),
    ] {
        assert_eq!(tell(&fixture, function, &stream, more).await["ok"], 1, "{function}");
    }
    let batch = read(&fixture, &stream, 1).await;
    let events = told(&batch);
    assert_eq!(
        events[..4],
        [
            (1, EventKind::Status, json!({"turn": 1, "status": "processing"})),
            (2, EventKind::Progress, json!({"turn": 1, "stage": "reading", "percent": 12.5})),
            (3, EventKind::Message, json!({"turn": 1, "text": "one\n[31mtwo"})),
            (4, EventKind::Progress, json!({"turn": 1, "stage": "writing"})),
        ]
    );
    assert_eq!((events.len(), events[4].1), (5, EventKind::Complete));
    assert_eq!(events[4].2["confidence"], "certain", "{}", events[4].2);
    assert_eq!(batch.ended.map(|ended| ended.as_str()), Some("completed"));
    let listed = fixture.host.streams().list(&here());
    assert_eq!((listed.len(), listed[0].title.as_str(), listed[0].source.as_str()), (1, "a test", "hostile"));
    for function in ["status", "say", "advance"] {
        let late = tell(&fixture, function, &stream, json!({"text": "ready"})).await;
        assert_eq!(late["refused"]["code"], "gone", "{function}: {late}");
    }
}

#[tokio::test]
async fn a_stream_whose_source_waits_for_input_ends_by_itself() {
    let fixture = Setup::new().events().open().await;
    let stream = opened(&fixture).await;
    tell(&fixture, "say", &stream, json!({"text": "an answer"})).await;
    tell(&fixture, "status", &stream, json!({"text": "ready"})).await;
    let batch = read(&fixture, &stream, 3).await;
    let events = told(&batch);
    assert_eq!((events[0].1, &events[0].2["reason"]), (EventKind::Complete, &json!("status-ready")), "{events:?}");
}

#[tokio::test]
async fn a_plugin_says_how_its_stream_is_judged_and_that_its_polls_found_nothing() {
    let fixture = Setup::new().events().open().await;
    let parameters = json!({"wait_for_data_milliseconds": 1, "consecutive_empty_polls": 2, "max_attempts": 50,
        "adaptive": true});
    let options = json!({"preset": "patient", "parameters": parameters}).to_string();
    let stream = open(&fixture, json!({"title": "a search", "options": options})).await;
    let stream = stream["ok"].as_str().unwrap_or_else(|| panic!("not opened: {stream}")).to_owned();
    tell(&fixture, "say", &stream, json!({"text": "an answer"})).await;
    until_async("the turn is over", async || {
        let_time_pass(Duration::from_millis(2), "a poll counts once its time is over").await;
        tell(&fixture, "status", &stream, json!({"text": "nothing-new"})).await["refused"]["code"] == "gone"
    })
    .await;
    let events = told(&read(&fixture, &stream, 1).await);
    assert_eq!(events.len(), 2, "no reader sees a poll: {events:?}");
    let end = &events[1].2;
    assert_eq!(
        (&end["reason"], &end["confidence"], &end["empty_polls"]),
        (&json!("empty-polls"), &json!("low"), &json!(2)),
        "{end}"
    );
    assert_eq!(end["adaptive"]["turns"], 0, "{end}");
    for (options, named) in [
        (json!({"parameters": {"max_attempts": 0}}), "max_attempts"),
        (json!({"parameters": {"silence": 3}}), "silence"),
        (json!({"patience": 3}), "patience"),
    ] {
        let refused = open(&fixture, json!({"title": "t", "options": options.to_string()})).await;
        assert_eq!(refused["refused"]["code"], "invalid", "{refused}");
        assert!(refused["refused"]["message"].as_str().is_some_and(|text| text.contains(named)), "{refused}");
    }
}

#[tokio::test]
async fn a_stream_that_adapts_goes_by_what_the_one_before_took() {
    let fixture = Setup::new().events().open().await;
    let options = json!({"preset": "agent", "parameters": {"adaptive": true}}).to_string();
    let opening = || async {
        open(&fixture, json!({"title": "t", "options": options})).await["ok"].as_str().expect("an id").to_owned()
    };
    for turns in 0..2 {
        let stream = opening().await;
        tell(&fixture, "say", &stream, json!({"text": "an answer"})).await;
        tell(&fixture, "complete", &stream, json!({})).await;
        let end = told(&read(&fixture, &stream, 2).await)[0].2.clone();
        assert_eq!(end["adaptive"]["turns"], turns, "{end}");
        // At least what no source is cut off before, once something is known.
        assert_eq!(end["adaptive"]["inactivity_ms"], if turns == 0 { 60_000 } else { 30_000 }, "{end}");
    }
}

#[tokio::test]
async fn without_a_grant_no_stream_is_opened_or_written() {
    let fixture = Setup::new().open().await;
    let mut answers = vec![open(&fixture, json!({"title": "a test"})).await];
    for function in ["status", "say", "advance", "complete"] {
        answers.push(tell(&fixture, function, &"0".repeat(32), json!({"text": "ready"})).await);
    }
    for answer in answers {
        assert_eq!(answer["refused"]["code"], "denied", "{answer}");
        let message = answer["refused"]["message"].as_str().expect("a message");
        assert!(message.contains("[plugin.hostile.grants.events]"), "{message}");
    }
    assert!(fixture.host.streams().list(&here()).is_empty());
}

#[tokio::test]
async fn who_does_not_own_a_stream_cannot_tell_it_from_one_that_never_was() {
    let other = component("guest-hostile");
    let grants = "[plugin.other.grants.events]\nreason = \"a test\"";
    let setup = Setup::new().events().terminals("programs = [\"sh\"]").plugin("other", &other, grants);
    let fixture = setup.open().await;
    let stream = opened(&fixture).await;
    let own = fixture.host.open_stream(&here(), "the app's", Preset::Patient.into()).expect("opens");
    let arguments = json!({"program": "sh", "arguments": ["-c", "exec sleep 1000"]});
    let started = found(fixture.call("hostile__start_terminal", arguments).await);
    let of_terminal = started["ok"]["terminal"]["stream"].as_str().expect("a stream").to_owned();
    let assisted = Context { assistant: Some("a".parse().expect("legal")), ..here() };
    let strangers = [
        (context("local", "another"), "hostile", stream.clone()),
        (context("another", "test"), "hostile", stream.clone()),
        (assisted.clone(), "hostile", stream.clone()),
        (here(), "other", stream.clone()),
        (here(), "hostile", own.id().to_string()),
        (here(), "hostile", of_terminal.clone()),
        (here(), "hostile", "0".repeat(stream.len())),
        (here(), "hostile", stream.to_uppercase()),
        (here(), "hostile", String::new()),
    ];
    for (stranger, plugin, asked) in &strangers {
        for function in ["status", "say", "advance", "complete"] {
            let answer = tell_as(&fixture, stranger, plugin, function, asked, json!({"text": "ready"})).await;
            assert_eq!(answer["refused"]["code"], "not-found", "{function} by {plugin} in {stranger:?}: {answer}");
        }
    }
    for stranger in [context("local", "another"), context("another", "test"), assisted] {
        assert!(fixture.host.streams().list(&stranger).is_empty());
        let id: StreamId = stream.parse().expect("an id");
        let error = Error::from(fixture.host.streams().reader(&stranger, id).expect_err("not theirs"));
        assert_eq!(error.code, Code::NotFound);
    }
    // Nothing was written, and the owner may.
    let ids: Vec<_> =
        fixture.host.streams().list(&here()).iter().map(|info| (info.id.to_string(), info.next)).collect();
    assert_eq!(ids, [(stream.clone(), 1), (own.id().to_string(), 1), (of_terminal, 1)]);
    assert_eq!(tell(&fixture, "say", &stream, json!({"text": "mine"})).await["ok"], 1);
}

#[tokio::test]
async fn what_is_told_is_measured() {
    let fixture = Setup::new().events().open().await;
    for (arguments, word) in [
        (json!({"title": "x".repeat(257)}), "256"),
        (json!({"title": "x", "options": "{\"quick\": 1}"}), "options"),
        (json!({"title": "x", "options": "["}), "options"),
        (json!({"title": "x", "options": "{\"preset\": \"fast\"}"}), "preset"),
    ] {
        let answer = open(&fixture, arguments).await;
        assert_eq!(answer["refused"]["code"], "invalid", "{answer}");
        assert!(answer["refused"]["message"].as_str().is_some_and(|message| message.contains(word)), "{answer}");
    }
    assert!(fixture.host.streams().list(&here()).is_empty());
    let arguments = json!({"title": "x".repeat(256), "options": "{\"preset\": \"patient\"}"});
    let answer = open(&fixture, arguments).await;
    let stream = answer["ok"].as_str().expect("opened").to_owned();
    for (function, more) in [
        ("status", json!({"text": "busy"})),
        ("status", json!({"text": ""})),
        ("say", json!({"text": ""})),
        ("say", json!({"text": "x".repeat(8_193)})),
        ("advance", json!({"text": "x".repeat(257)})),
        ("advance", json!({"text": "x", "percent": "-0.1"})),
        ("advance", json!({"text": "x", "percent": "100.1"})),
        ("advance", json!({"text": "x", "percent": "NaN"})),
        ("advance", json!({"text": "x", "percent": "inf"})),
    ] {
        let answer = tell(&fixture, function, &stream, more).await;
        assert_eq!(answer["refused"]["code"], "invalid", "{function}: {answer}");
    }
    for (function, more) in [
        ("say", json!({"text": "é".repeat(4_096)})),
        ("advance", json!({"text": "x".repeat(256), "percent": "100"})),
        ("advance", json!({"text": "x", "percent": "0"})),
    ] {
        assert_eq!(tell(&fixture, function, &stream, more).await["ok"], 1, "{function}");
    }
    assert_eq!(read(&fixture, &stream, 1).await.events.len(), 3);
}

#[tokio::test]
async fn a_call_tells_a_thousand_events_and_no_more() {
    let fixture = Setup::new().events().open().await;
    let stream = opened(&fixture).await;
    let many = tell(&fixture, "advance", &stream, json!({"text": "on", "times": 1_001})).await;
    assert_eq!((&many["told"], &many["refused"]["code"]), (&json!(1_000), &json!("limit")), "{many}");
    assert!(many["refused"]["message"].as_str().is_some_and(|message| message.contains("events")), "{many}");
    // The next call may go on.
    assert_eq!(tell(&fixture, "say", &stream, json!({"text": "done"})).await["ok"], 1);
    assert_eq!(read(&fixture, &stream, 1_001).await.events.len(), 1);
}

#[tokio::test]
async fn the_app_has_streams_of_its_own() {
    let fixture = Setup::new().open().await;
    let writer = fixture.host.open_stream(&here(), "an import", Preset::Patient.into()).expect("opens");
    let stream = writer.id().to_string();
    let reading = {
        let (streams, id) = (fixture.host.streams().clone(), writer.id());
        let reader = streams.reader(&here(), id).expect("there is such a stream");
        tokio::spawn(async move { reader.read(1, 10, 1 << 20, AMPLE).await.expect("readable") })
    };
    writer.message(Message { text: "12 rows", cursors: None }).expect("open");
    let batch = reading.await.expect("no panic");
    assert_eq!(told(&batch)[0], (1, EventKind::Message, json!({"turn": 1, "text": "12 rows"})));
    fixture.host.streams().delete(&here(), writer.id()).expect("its session may");
    let error = Error::from(writer.message(Message { text: "late", cursors: None }).expect_err("deleted"));
    assert_eq!(error.code, Code::Gone);
    assert!(fixture.host.streams().list(&here()).iter().all(|info| info.id.to_string() != stream));
}

#[tokio::test]
async fn the_stream_of_a_terminal_tells_each_turn_and_ends_with_it() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let text = "while printf 'next> '; read line; do echo \"<$line>\"; done";
    let arguments = json!({"program": "sh", "arguments": ["-c", text]});
    let started = found(fixture.call("hostile__start_terminal", arguments).await);
    let terminal = &started["ok"]["terminal"];
    let (id, stream) = (terminal["id"].as_str().expect("an id"), terminal["stream"].as_str().expect("a stream"));
    let ask = |arguments| fixture.call("hostile__ask_terminal", arguments);
    let reader = fixture.host.streams().reader(&here(), stream.parse().expect("an id")).expect("there is one");
    let mut from = 1;
    for turn in 1..=2_u64 {
        let send = json!({
            "function": "send", "id": id, "text": format!("turn {turn}"), "submit": true,
            "preset": "repl",
        });
        assert_eq!(found(ask(send).await)["ok"]["number"], turn);
        let mut text = String::new();
        loop {
            let batch = reader.read(from, 100, 1 << 20, AMPLE).await.expect("readable");
            assert!(!batch.events.is_empty(), "nothing more comes: {text}");
            from = batch.next;
            for (_, kind, data) in told(&batch) {
                assert_eq!(data["turn"], turn, "{data}");
                if kind == EventKind::Message {
                    text.push_str(data["text"].as_str().expect("a text"));
                }
            }
            if batch.events.last().is_some_and(|event| event.kind == EventKind::Complete) {
                break;
            }
        }
        assert!(text.contains(&format!("<turn {turn}>")), "{text}");
    }
    assert!(reader.info().ended.is_none());
    found(ask(json!({"function": "close", "id": id})).await);
    let batch = reader.read(from, 100, 1 << 20, AMPLE).await.expect("readable");
    assert_eq!(batch.ended.map(|ended| ended.as_str()), Some("closed"));
}
