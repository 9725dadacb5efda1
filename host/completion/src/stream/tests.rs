mod hosts;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    time::{Instant, advance},
};
use wharf_core::{Code, Context, Error, SessionId, StreamLimits, StreamOwner, TenantId};
use wharf_test_support::let_time_pass;

use super::*;
use crate::detection::{AgentStatus, Confidence, Decision, Preset, Reason, Verdict};

/// Long enough for any machine: only a defect waits for it.
const PATIENCE: Duration = Duration::from_secs(600);
const NOW: Duration = Duration::ZERO;

fn context(session: &str) -> Context {
    Context::new(TenantId::local(), session.parse::<SessionId>().expect("legal"))
}

fn owner() -> StreamOwner {
    StreamOwner::host(&context("s"))
}

fn one() -> OpenStream<'static> {
    OpenStream { title: "test", turns: Turns::One(Preset::Agent.into()), held_by: None }
}

fn told() -> OpenStream<'static> {
    OpenStream { title: "test", turns: Turns::Told, held_by: Some("terminal") }
}

fn say(writer: &StreamWriter, text: &str) -> Result<u64, StreamError> {
    writer.message(Message { text, cursors: None })
}

async fn read(reader: &StreamReader, from: u64, patience: Duration) -> Batch {
    reader.read(from, 1_000, 1 << 20, patience).await.expect("readable")
}

fn shown(batch: &Batch) -> Vec<(u64, &'static str, Value)> {
    let value = |event: &StreamEvent| serde_json::from_str(event.data.get()).expect("JSON");
    batch.events.iter().map(|event| (event.number, event.kind.as_str(), value(event))).collect()
}

fn code(error: StreamError) -> Code {
    Error::from(error).code
}

#[tokio::test(start_paused = true)]
async fn a_completed_source_ends_its_turn_and_its_stream_at_once() {
    let writer = Streams::new(StreamLimits::default()).open(owner(), one()).expect("opens");
    writer.status(AgentStatus::Processing).expect("open");
    writer.progress("searching", Some(50.0)).expect("open");
    say(&writer, "found\u{1b}[2J").expect("open");
    writer.complete().expect("open");
    let batch = read(&writer.reader(), 1, PATIENCE).await;
    let completion = json!({
        "turn": 1, "reason": "agent-completed", "layer": "L1", "confidence": "certain", "messages": 1, "attempts": 0,
        "empty_polls": 0, "idle_ms": 0, "elapsed_ms": 0,
    });
    assert_eq!(
        shown(&batch),
        [
            (1, "status", json!({"turn": 1, "status": "processing"})),
            (2, "progress", json!({"turn": 1, "stage": "searching", "percent": 50.0})),
            (3, "message", json!({"turn": 1, "text": "found[2J"})),
            (4, "complete", completion),
        ]
    );
    assert_eq!((batch.ended, batch.next), (Some(Ended::Completed), 5));
    assert_eq!(code(say(&writer, "late").expect_err("over")), Code::Gone);
}

#[tokio::test(start_paused = true)]
async fn a_status_ends_a_turn_once_a_message_came_and_it_held_and_a_waiting_reader_learns_it_then() {
    let writer = Streams::new(StreamLimits::default()).open(owner(), one()).expect("opens");
    writer.status(AgentStatus::Processing).expect("open");
    writer.status(AgentStatus::Ready).expect("open");
    advance(Duration::from_secs(30)).await;
    assert!(writer.reader().info().turn_runs, "no message came");
    writer.status(AgentStatus::Typing).expect("open");
    say(&writer, "an answer").expect("open");
    writer.status(AgentStatus::Ready).expect("open");
    let before = Instant::now();
    let batch = read(&writer.reader(), 6, PATIENCE).await;
    assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    let (_, kind, data) = &shown(&batch)[0];
    assert_eq!((*kind, &data["reason"], &data["layer"]), ("complete", &json!("status-ready"), &json!("L2")));
    // Twice the settling time, since a `ready` had passed.
    assert_eq!(data["idle_ms"], 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_when_it_ended_and_not_when_somebody_looked() {
    let writer = Streams::new(StreamLimits::default()).open(owner(), one()).expect("opens");
    say(&writer, "and then silence").expect("open");
    advance(Duration::from_secs(900)).await;
    assert_eq!(code(say(&writer, "too late").expect_err("over")), Code::Gone);
    let batch = read(&writer.reader(), 1, NOW).await;
    let data = &shown(&batch)[1].2;
    assert_eq!((&data["reason"], &data["idle_ms"]), (&json!("idle"), &json!(60_000)));
    assert_eq!(batch.ended, Some(Ended::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_failed_source_without_a_message_ends_by_silence_and_one_that_polls_by_empty_polls() {
    let streams = Streams::new(StreamLimits::default());
    let failed = streams.open(owner(), one()).expect("opens");
    failed.status(AgentStatus::Error).expect("open");
    let batch = read(&failed.reader(), 2, PATIENCE).await;
    assert_eq!(shown(&batch)[0].2["reason"], "idle");

    let polling = streams.open(owner(), one()).expect("opens");
    say(&polling, "one").expect("open");
    for _ in 0..3 {
        advance(Duration::from_secs(15)).await;
        polling.polled(true).expect("open");
    }
    let data = shown(&read(&polling.reader(), 2, NOW).await)[0].2.clone();
    assert_eq!((&data["reason"], &data["empty_polls"]), (&json!("empty-polls"), &json!(3)));
}

#[tokio::test(start_paused = true)]
async fn turns_that_the_source_decides_follow_each_other_on_one_stream() {
    let streams = Streams::new(StreamLimits::default());
    let writer = streams.open(owner(), told()).expect("opens");
    let decision = Decision {
        verdict: Some(Verdict { reason: Reason::CommandEnded { exit_code: Some(3) }, confidence: Confidence::Certain }),
        exit_code: Some(3),
        messages: 1,
        elapsed: Duration::from_millis(20),
        ..Decision::default()
    };
    let first = writer.begin_turn(Some(7)).expect("begins");
    assert_eq!(first, BegunTurn { turn: 7, first: 1 });
    assert_eq!(code(writer.begin_turn(None).expect_err("runs")), Code::Conflict);
    writer.message(Message { text: "out", cursors: Some((10, 13)) }).expect("open");
    assert!(matches!(writer.end_turn(6, &decision), Err(StreamError::NoTurn)));
    writer.end_turn(7, &decision).expect("runs");
    assert_eq!(code(writer.begin_turn(Some(7)).expect_err("does not grow")), Code::Invalid);
    assert_eq!(writer.begin_turn(None).expect("begins"), BegunTurn { turn: 8, first: 3 });
    writer.cancel_turn().expect("runs");
    let batch = read(&writer.reader(), 1, NOW).await;
    let events = shown(&batch);
    assert_eq!(events[0].2, json!({"turn": 7, "text": "out", "from": 10, "next": 13}));
    assert_eq!((&events[1].2["reason"], &events[1].2["exit_code"]), (&json!("command-ended"), &json!(3)));
    assert_eq!((&events[2].2["reason"], &events[2].2["layer"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(batch.ended, None);

    writer.begin_turn(None).expect("begins");
    writer.close();
    let batch = read(&writer.reader(), 4, NOW).await;
    assert_eq!(shown(&batch)[0].2["reason"], "stream-closed");
    assert_eq!(batch.ended, Some(Ended::Closed));
}

#[tokio::test(start_paused = true)]
async fn detected_turns_begin_anew_with_each_input() {
    let streams = Streams::new(StreamLimits::default());
    let turns = Turns::Detected(Preset::Agent.into());
    let writer = streams.open(owner(), OpenStream { title: "many", turns, held_by: None }).expect("opens");
    say(&writer, "hello, before any turn").expect("open");
    assert!(matches!(writer.complete(), Err(StreamError::NoTurn)));
    for turn in 1..=2 {
        assert_eq!(writer.begin_turn(None).expect("begins").turn, turn);
        say(&writer, "answer").expect("open");
        writer.complete().expect("runs");
    }
    let batch = read(&writer.reader(), 1, NOW).await;
    let turns: Vec<_> = batch.events.iter().map(|event| (event.turn, event.kind.as_str())).collect();
    assert_eq!(turns, [(0, "message"), (1, "message"), (1, "complete"), (2, "message"), (2, "complete")]);
}

#[tokio::test(start_paused = true)]
async fn only_its_session_reads_a_stream_and_only_its_owner_writes_it() {
    let streams = Streams::new(StreamLimits::default());
    let assistant = Context { assistant: Some("a".parse().expect("legal")), ..context("s") };
    let other_tenant = Context { tenant: "other".parse().expect("legal"), ..context("s") };
    let id = streams.open(owner(), one()).expect("opens").id();
    assert!(streams.reader(&context("s"), id).is_ok());
    for other in [context("t"), assistant, other_tenant] {
        assert_eq!(code(streams.reader(&other, id).expect_err("another's")), Code::NotFound);
        assert_eq!(code(streams.delete(&other, id).expect_err("another's")), Code::NotFound);
        assert!(streams.list(&other).is_empty());
    }
    let plugin = StreamOwner::of(&context("s"), &"p".parse().expect("legal"));
    assert_eq!(code(streams.writer(&plugin, id).expect_err("another plugin")), Code::NotFound);
    assert!(streams.writer(&owner(), id).is_ok());
    for text in ["", "1234", &"F".repeat(32), &"0".repeat(32)] {
        let found = text.parse().and_then(|id| streams.reader(&context("s"), id));
        assert_eq!(code(found.expect_err("unknown")), Code::NotFound);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_full_is_refused_unless_something_ended_can_go() {
    let limits = StreamLimits { streams: 5, streams_per_tenant: 4, streams_per_session: 2, ..StreamLimits::default() };
    let streams = Streams::new(limits);
    let open = |tenant: &str, session: &str| {
        let context = Context { tenant: tenant.parse().expect("legal"), ..context(session) };
        streams.open(StreamOwner::host(&context), one())
    };
    let refused = |result: Result<StreamWriter, StreamError>| match result.expect_err("full") {
        StreamError::TooMany(full) => full.bound.0,
        other => panic!("{other}"),
    };
    let first = open("a", "s").expect("room");
    open("a", "s").expect("room");
    assert_eq!(refused(open("a", "s")), "streams_per_session");
    first.complete().expect("runs");
    open("a", "s").expect("the ended one goes");
    assert_eq!(first.reader().info().ended, Some(Ended::Completed));
    open("a", "t").expect("room");
    open("a", "t").expect("room");
    assert_eq!(refused(open("a", "u")), "streams_per_tenant");
    open("b", "s").expect("room");
    assert_eq!(refused(open("c", "s")), "streams");
    assert_eq!(streams.sweep(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_ended_stream_of_another_tenant_is_never_displaced() {
    let streams = Streams::new(StreamLimits { streams: 3, streams_per_tenant: 2, ..StreamLimits::default() });
    let open = |tenant: &str| {
        let context = Context { tenant: tenant.parse().expect("legal"), ..context("s") };
        streams.open(StreamOwner::host(&context), one())
    };
    let first = open("a").expect("room");
    first.complete().expect("runs");
    open("b").expect("room").complete().expect("runs");
    open("b").expect("room");
    // The host is full: a tenant without an ended stream of its own is refused,
    // and one that has one loses that.
    assert!(matches!(open("c"), Err(StreamError::TooMany(full)) if full.bound.0 == "streams"));
    open("b").expect("its own ended one goes");
    assert!(matches!(open("b"), Err(StreamError::TooMany(full)) if full.bound.0 == "streams_per_tenant"));
    let context = Context { tenant: "a".parse().expect("legal"), ..context("s") };
    assert_eq!(streams.list(&context).len(), 1, "it can still be read");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_uses_ends_and_is_forgotten_but_not_what_something_holds() {
    let limits = StreamLimits { idle_seconds: 60, ended_seconds: 60, ..StreamLimits::default() };
    let streams = Streams::new(limits);
    let turns = Turns::Detected(Preset::Agent.into());
    let idle = streams.open(owner(), OpenStream { title: "idle", turns, held_by: None }).expect("opens");
    let held = streams.open(owner(), told()).expect("opens");
    for _ in 0..3 {
        let_time_pass(Duration::from_secs(40), "nobody else uses it").await;
        read(&idle.reader(), 1, NOW).await;
        assert_eq!(streams.sweep(), 2, "a read is a use");
    }
    let_time_pass(Duration::from_secs(61), "nobody uses it").await;
    assert_eq!(streams.sweep(), 2, "an ended one is kept for a while");
    assert_eq!((idle.reader().info().ended, held.reader().info().ended), (Some(Ended::Expired), None));
    let_time_pass(Duration::from_secs(61), "nobody uses it").await;
    assert_eq!(streams.sweep(), 1);
    held.close();
    let_time_pass(Duration::from_secs(61), "nobody uses it").await;
    assert_eq!(streams.sweep(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_stream_that_is_deleted_learns_it() {
    let streams = Streams::new(StreamLimits::default());
    let writer = streams.open(owner(), one()).expect("opens");
    let reader = streams.reader(&context("s"), writer.id()).expect("there");
    let waiting = tokio::spawn(async move { read(&reader, 1, PATIENCE).await });
    let_time_pass(Duration::from_secs(1), "the reader waits").await;
    let before = Instant::now();
    let info = streams.delete(&context("s"), writer.id()).expect("there");
    assert_eq!(info.ended, Some(Ended::Deleted));
    let batch = waiting.await.expect("no panic");
    assert_eq!(before.elapsed(), NOW, "it was woken");
    assert_eq!(shown(&batch)[0].2["reason"], "cancelled");
    assert_eq!(batch.ended, Some(Ended::Deleted));
    assert_eq!(code(streams.reader(&context("s"), writer.id()).expect_err("gone")), Code::NotFound);

    let held = streams.open(owner(), told()).expect("opens");
    let refused = streams.delete(&context("s"), held.id()).expect_err("held");
    assert!(refused.to_string().contains("terminal"), "{refused}");
    assert_eq!(code(refused), Code::Conflict);
    held.close();
    streams.delete(&context("s"), held.id()).expect("it has ended");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_told_what_it_lost_and_a_wrong_number_is_refused() {
    let limits = StreamLimits { kept_events: 3, event_bytes: 100, ..StreamLimits::default() };
    let writer = Streams::new(limits).open(owner(), told()).expect("opens");
    let reader = writer.reader();
    (0..10).for_each(|_| {
        say(&writer, "x").expect("open");
    });
    let batch = read(&reader, 4, NOW).await;
    assert_eq!(batch.lost, Some(Lost { from: 4, resumed_at: 8 }));
    assert_eq!((batch.events.len(), batch.next), (3, 11));
    assert!(read(&reader, 11, Duration::from_secs(1)).await.events.is_empty());
    let ahead = reader.read(12, 1, 1, NOW).await.expect_err("there is no event 11 yet");
    assert_eq!(code(ahead), Code::Invalid);
    assert_eq!(code(say(&writer, &"x".repeat(100)).expect_err("large")), Code::Limit);
    for percent in [f64::NAN, -1.0, 100.5, f64::INFINITY] {
        assert_eq!(code(writer.progress("x", Some(percent)).expect_err("no percentage")), Code::Invalid);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_readers_of_a_stream_that_is_written_lose_nothing_and_see_nothing_twice() {
    const EVENTS: u64 = 500;
    const READERS: u32 = 200;
    let writer = Streams::new(StreamLimits::default()).open(owner(), told()).expect("opens");
    let reading = Arc::new(Semaphore::new(0));
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let (reader, reading) = (writer.reader(), Arc::clone(&reading));
            tokio::spawn(async move {
                let (mut from, mut seen) = (1, Vec::new());
                loop {
                    let batch = reader.read(from, 7, 1 << 20, PATIENCE).await.expect("readable");
                    assert_eq!(batch.lost, None);
                    if seen.is_empty() {
                        reading.add_permits(1);
                    }
                    seen.extend(batch.events.iter().map(|event| event.number));
                    from = batch.next;
                    if batch.ended.is_some() {
                        return seen;
                    }
                }
            })
        })
        .collect();
    say(&writer, "the first").expect("open");
    // From here on they wait for what is written.
    drop(reading.acquire_many(READERS).await.expect("open"));
    for number in 1..EVENTS {
        say(&writer, &number.to_string()).expect("open");
        if number % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    writer.close();
    for reader in readers {
        assert_eq!(reader.await.expect("no panic"), (1..=EVENTS).collect::<Vec<_>>());
    }
}
