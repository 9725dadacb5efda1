//! Limits of streams of events.

use std::time::Duration;

use serde_json::{Value, json};
use wharf::{Context, stream::StreamReader};
use wharf_tests::{Fixture, Setup, context, found, until};

use super::{Tested, later};

pub(super) const TESTED: Tested = &[
    ("streams", one_stream_too_many_is_refused_until_one_has_ended),
    ("streams_per_tenant", one_stream_of_a_tenant_too_many_is_refused),
    ("streams_per_session", one_stream_of_a_session_too_many_is_refused),
    ("kept_events", one_event_too_many_evicts_the_oldest),
    ("kept_bytes", one_byte_of_events_too_many_evicts_the_oldest),
    ("event_bytes", one_byte_of_an_event_too_many_is_refused),
    ("idle_seconds", a_stream_that_nobody_uses_ends),
    ("ended_seconds", an_ended_stream_is_kept_as_long_as_that_and_no_longer),
];

fn limited(name: &str, value: u64) -> Setup {
    // The clock of a call does not go along where a test moves its own.
    Setup::new().events().limit("wall_time_milliseconds", 600_000).stream_limit(name, value)
}

async fn open(fixture: &Fixture, context: &Context) -> Result<String, Value> {
    // Only silence of a day would end it.
    let arguments = json!({"title": "a test", "options": "{\"preset\": \"patient\"}"});
    let mut opened = found(fixture.call_in(context, "hostile__open_stream", arguments).await);
    opened["ok"].as_str().map(str::to_owned).ok_or_else(|| opened["refused"].take())
}

async fn tell(fixture: &Fixture, context: &Context, function: &str, stream: &str, text: &str) -> Value {
    let arguments = json!({"function": function, "stream": stream, "text": text});
    found(fixture.call_in(context, "hostile__tell_stream", arguments).await)
}

fn reader(fixture: &Fixture, context: &Context, stream: &str) -> StreamReader {
    fixture.host.streams().reader(context, stream.parse().expect("an id")).expect("there is such a stream")
}

fn assert_refused(limit: &str, refused: &Value) {
    assert_eq!(refused["code"], "limit", "{refused}");
    let message = refused["message"].as_str().expect("a message");
    assert!(message.contains(&format!("`{limit}`")), "the error does not name it: {message}");
}

#[tokio::test]
async fn one_stream_too_many_is_refused_until_one_has_ended() {
    let fixture = limited("streams", 2).open().await;
    let (one, two) = (context("one", "test"), context("two", "test"));
    let first = open(&fixture, &one).await.expect("has a place");
    open(&fixture, &two).await.expect("has a place");
    let refused = open(&fixture, &two).await.expect_err("no place");
    assert_refused("streams", &refused);
    assert_eq!(refused["retryable"], true);
    // An ended one goes for another of its own tenant, and for nobody else's.
    tell(&fixture, &one, "complete", &first, "").await;
    assert_refused("streams", &open(&fixture, &two).await.expect_err("it is not the tenant's own"));
    assert_eq!(fixture.host.streams().list(&one).len(), 1);
    open(&fixture, &one).await.expect("the ended one goes");
    let left = fixture.host.streams().list(&one);
    assert!(left.len() == 1 && left[0].id.to_string() != first, "{left:?}");
}

#[tokio::test]
async fn one_stream_of_a_tenant_too_many_is_refused() {
    let fixture = limited("streams_per_tenant", 2).open().await;
    for session in ["one", "two"] {
        open(&fixture, &context("local", session)).await.expect("has a place");
    }
    assert_refused("streams_per_tenant", &open(&fixture, &context("local", "three")).await.expect_err("no place"));
    open(&fixture, &context("other", "one")).await.expect("of another tenant");
}

#[tokio::test]
async fn one_stream_of_a_session_too_many_is_refused() {
    let fixture = limited("streams_per_session", 2).open().await;
    let session = context("local", "one");
    for _ in 0..2 {
        open(&fixture, &session).await.expect("has a place");
    }
    assert_refused("streams_per_session", &open(&fixture, &session).await.expect_err("no place"));
    open(&fixture, &context("local", "two")).await.expect("of another session");
}

#[tokio::test]
async fn one_event_too_many_evicts_the_oldest() {
    let fixture = limited("kept_events", 3).open().await;
    let session = context("local", "one");
    let stream = open(&fixture, &session).await.expect("opens");
    for (count, first) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
        tell(&fixture, &session, "say", &stream, "a word").await;
        let info = reader(&fixture, &session, &stream).info();
        assert_eq!((info.first, info.next), (first, count + 1));
    }
    let batch = reader(&fixture, &session, &stream).read(1, 10, 1 << 20, Duration::ZERO).await.expect("readable");
    assert_eq!(batch.lost.map(|lost| (lost.from, lost.resumed_at)), Some((1, 2)), "and who reads is told");
}

#[tokio::test]
async fn one_byte_of_events_too_many_evicts_the_oldest() {
    let session = context("local", "one");
    let kept = async |limit: u64, events: usize| {
        let fixture = limited("kept_bytes", limit).open().await;
        let stream = open(&fixture, &session).await.expect("opens");
        for _ in 0..events {
            tell(&fixture, &session, "say", &stream, &"x".repeat(500)).await;
        }
        let info = reader(&fixture, &session, &stream).info();
        (info.first, info.bytes)
    };
    let (_, bytes) = kept(100_000, 3).await;
    assert!(bytes > 1_500, "{bytes}");
    assert_eq!(kept(bytes, 3).await, (1, bytes));
    assert_eq!(kept(bytes - 1, 3).await, (2, bytes / 3 * 2));
}

#[tokio::test]
async fn one_byte_of_an_event_too_many_is_refused() {
    let fixture = limited("event_bytes", 100).open().await;
    let session = context("local", "one");
    let stream = open(&fixture, &session).await.expect("opens");
    let room = 100 - "{\"turn\":1,\"text\":\"\"}".len();
    assert_eq!(tell(&fixture, &session, "say", &stream, &"x".repeat(room)).await["ok"], 1);
    assert_refused("event_bytes", &tell(&fixture, &session, "say", &stream, &"x".repeat(room + 1)).await["refused"]);
    // What JSON makes of a character counts.
    assert_refused("event_bytes", &tell(&fixture, &session, "say", &stream, &"\"".repeat(room)).await["refused"]);
    assert_eq!(tell(&fixture, &session, "say", &stream, "on it goes").await["ok"], 1);
}

#[tokio::test]
async fn a_stream_that_nobody_uses_ends() {
    let fixture = limited("idle_seconds", 100).open().await;
    let session = context("local", "one");
    let [unused, written, read] =
        [open(&fixture, &session).await, open(&fixture, &session).await, open(&fixture, &session).await]
            .map(|opened| opened.expect("opens"));
    later(61).await;
    tell(&fixture, &session, "say", &written, "a word").await;
    reader(&fixture, &session, &read).read(1, 1, 1, Duration::ZERO).await.expect("readable");
    later(61).await;
    until("it has ended", || reader(&fixture, &session, &unused).info().ended.is_some()).await;
    let why = reader(&fixture, &session, &unused).info().ended.expect("ended");
    assert_eq!(why.as_str(), "expired");
    assert_eq!(tell(&fixture, &session, "say", &unused, "late").await["refused"]["code"], "gone");
    for stream in [&written, &read] {
        assert_eq!(reader(&fixture, &session, stream).info().ended, None, "it was used since");
    }
}

#[tokio::test]
async fn an_ended_stream_is_kept_as_long_as_that_and_no_longer() {
    let fixture = limited("ended_seconds", 100).open().await;
    let session = context("local", "one");
    let (early, late) =
        (open(&fixture, &session).await.expect("opens"), open(&fixture, &session).await.expect("opens"));
    tell(&fixture, &session, "complete", &early, "").await;
    later(61).await;
    tell(&fixture, &session, "complete", &late, "").await;
    assert_eq!(fixture.host.streams().list(&session).len(), 2);
    later(61).await;
    until("the first is forgotten", || fixture.host.streams().list(&session).len() == 1).await;
    let left = fixture.host.streams().list(&session);
    assert_eq!(left.iter().map(|info| info.id.to_string()).collect::<Vec<_>>(), [late]);
    let gone = tell(&fixture, &session, "say", &early, "late").await;
    assert_eq!(gone["refused"]["code"], "not-found", "{gone}");
}
