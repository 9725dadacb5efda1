//! Streams as server-sent events: resuming, losing, ending, stopping.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::json;
use tokio::time::interval;
use wharf_completion::{
    detection::{AgentStatus, Parameters, Preset},
    stream::{OpenStream, Turns},
};
use wharf_core::{HttpLimits, StreamLimits, StreamOwner};
use wharf_test_support::{in_time, until_async};

use crate::support::{context, quick, say, start, start_with};

#[tokio::test]
async fn who_comes_back_goes_on_behind_the_last_event_that_arrived() {
    let served = start();
    let writer = served.stream();
    let path = format!("/v1/streams/{}/events", writer.id());
    (1..=3).for_each(|number| assert_eq!(say(&writer, "before"), number));
    let mut events = served.client.follow(&path).await;
    assert_eq!(events.next().await.expect("the oldest").id, Some(1));
    let last = events.next().await.expect("another").id.expect("numbered");
    drop(events);
    say(&writer, "while nobody listened");

    let resumed = served.client.with("last-event-id", last.to_string());
    let mut events = resumed.follow(&path).await;
    assert_eq!(events.next().await.expect("the next").id, Some(3));
    assert_eq!(events.next().await.expect("another").data["text"], "while nobody listened");
    say(&writer, "live");
    assert_eq!(events.next().await.expect("another").id, Some(5));
    let mut events = served.client.follow(&format!("{path}?last_event_id=4")).await;
    assert_eq!(events.next().await.expect("the next").id, Some(5));

    for wrong in ["6", "18446744073709551615", "99999999999999999999", "-1", "x", "1.0"] {
        let refused = served.client.with("last-event-id", wrong).get(&path).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::BAD_REQUEST, "invalid"), "{wrong}");
    }
}

#[tokio::test]
async fn a_stream_of_one_turn_ends_with_it_and_a_browser_that_comes_back_is_told_to_stay_away() {
    let served = start();
    let turns = Turns::One(Preset::Agent.into());
    let owner = StreamOwner::host(&context("s"));
    let writer = served.streams.open(owner, OpenStream { title: "a search", turns, held_by: None }).expect("opens");
    let path = format!("/v1/streams/{}/events", writer.id());
    let mut events = served.client.follow(&path).await;
    writer.status(AgentStatus::Processing).expect("open");
    writer.progress("searching", Some(50.0)).expect("open");
    say(&writer, "two\nlines");
    writer.complete().expect("open");
    let sent = events.rest().await;
    let kinds: Vec<_> = sent.iter().map(|sent| (sent.id, sent.kind.as_str())).collect();
    assert_eq!(
        kinds,
        [(Some(1), "status"), (Some(2), "progress"), (Some(3), "message"), (Some(4), "complete"), (None, "end")]
    );
    assert_eq!(sent[2].data["text"], "two\nlines");
    assert_eq!((&sent[3].data["layer"], &sent[3].data["confidence"]), (&json!("L1"), &json!("certain")));
    assert_eq!(sent[4].data, json!({"reason": "completed"}));
    let again = served.client.with("last-event-id", "4").get(&path).await;
    assert_eq!(again.status, StatusCode::NO_CONTENT);
    let page = served.client.get(&format!("/v1/streams/{}?from=5&wait_ms=60000", writer.id())).await.json();
    assert_eq!((&page["end"], &page["events"]), (&json!("completed"), &json!([])));
    assert_eq!(page["info"]["complete"]["reason"], "agent-completed");
}

#[tokio::test]
async fn who_comes_back_too_late_is_told_what_was_lost() {
    let served = start_with(|_| {}, StreamLimits { kept_events: 4, ..StreamLimits::default() });
    let writer = served.stream();
    (1..=10).for_each(|number| assert_eq!(say(&writer, "x"), number));
    let path = format!("/v1/streams/{}", writer.id());
    let resumed = served.client.with("last-event-id", "2");
    let mut events = resumed.follow(&format!("{path}/events")).await;
    let reset = events.next().await.expect("the reset");
    assert_eq!((reset.id, reset.kind.as_str()), (None, "reset"));
    assert_eq!(reset.data, json!({"from": 3, "resumed_at": 7}));
    assert_eq!(events.next().await.expect("the oldest").id, Some(7));
    let page = served.client.get(&format!("{path}?from=3&max_events=2")).await.json();
    assert_eq!((&page["reset"], &page["next"]), (&json!({"from": 3, "resumed_at": 7}), &json!(9)));
    assert_eq!(page["events"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_silent_stream_sends_comments_and_its_turn_ends_by_itself() {
    let served = start_with(quick, StreamLimits::default());
    let mut parameters = Parameters::from(Preset::Agent);
    (parameters.settle, parameters.broad_quiet) = (Duration::from_millis(200), Duration::from_millis(300));
    let turns = Turns::One(parameters);
    let owner = StreamOwner::host(&context("s"));
    let writer = served.streams.open(owner, OpenStream { title: "quiet", turns, held_by: None }).expect("opens");
    let mut events = served.client.follow(&format!("/v1/streams/{}/events", writer.id())).await;
    events.heartbeat().await;
    events.heartbeat().await;
    writer.status(AgentStatus::Processing).expect("open");
    say(&writer, "an answer");
    writer.status(AgentStatus::Ready).expect("open");
    let sent = events.rest().await;
    let complete = &sent[sent.len() - 2];
    assert_eq!((complete.kind.as_str(), &complete.data["reason"]), ("complete", &json!("status-ready")));
}

#[tokio::test]
async fn a_deleted_stream_ends_for_who_follows_it_and_for_who_waits() {
    let served = start();
    let writer = served.stream();
    let path = format!("/v1/streams/{}", writer.id());
    let mut events = served.client.follow(&format!("{path}/events")).await;
    let waiting = {
        let (client, path) = (served.client.clone(), format!("{path}?wait_ms=60000"));
        tokio::spawn(async move { client.get(&path).await })
    };
    let deleted = served.client.ask("DELETE", &path, None).await;
    assert_eq!((deleted.status, &deleted.json()["ended"]), (StatusCode::OK, &json!("deleted")));
    let end = events.next().await.expect("an end");
    assert_eq!((end.kind.as_str(), &end.data["reason"]), ("end", &json!("deleted")));
    // It may have asked only afterwards.
    let waited = waiting.await.expect("no panic");
    assert!(waited.status == StatusCode::NOT_FOUND || waited.json()["end"] == "deleted", "{waited:?}");
    assert_eq!(served.client.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_host_that_stops_ends_streams_and_waits_and_accepts_nobody() {
    let served = start();
    let writer = served.stream();
    let path = format!("/v1/streams/{}", writer.id());
    let mut events = served.client.follow(&format!("{path}/events")).await;
    say(&writer, "x");
    assert_eq!(events.next().await.expect("an event").id, Some(1));
    served.shutdown.cancel();
    assert_eq!(events.rest().await, [], "no end of the stream: the client comes back");
    in_time("the server stops", served.serving).await.expect("no panic");
    assert!(tokio::net::TcpStream::connect(served.client.address).await.is_err());
}

#[tokio::test]
async fn readers_are_counted_and_a_place_is_given_back() {
    let limits = HttpLimits { readers: 1, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let writer = served.stream();
    let path = format!("/v1/streams/{}", writer.id());
    let events = served.client.follow(&format!("{path}/events")).await;
    for path in [format!("{path}/events"), format!("{path}?wait_ms=1")] {
        let refused = served.client.get(&path).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "limit"));
        assert!(refused.headers.contains_key("retry-after"));
    }
    assert_eq!(served.client.get(&path).await.status, StatusCode::OK, "who does not wait takes no place");
    drop(events);
    until_there_is_room(&served.client, &format!("{path}?wait_ms=1")).await;
}

/// Asks until a request is not refused for want of a place.
async fn until_there_is_room(client: &crate::client::Client, path: &str) {
    until_async("there is a place", async || client.get(path).await.status != StatusCode::TOO_MANY_REQUESTS).await;
}

#[tokio::test]
async fn a_reader_that_takes_nothing_holds_no_memory_and_is_told_what_it_lost() {
    const EVENTS: u64 = 1_000;
    let served = start_with(|_| {}, StreamLimits { kept_events: 8, ..StreamLimits::default() });
    let writer = served.stream();
    let mut events = served.client.follow(&format!("/v1/streams/{}/events", writer.id())).await;
    // 32 MiB, and the writer waits for nobody.
    let text = "x".repeat(32 << 10);
    for _ in 0..EVENTS {
        say(&writer, &text);
        tokio::task::yield_now().await;
    }
    writer.close();
    let (mut next, mut read, mut lost) = (1, 0, 0);
    for sent in events.rest().await {
        match sent.kind.as_str() {
            "message" => {
                assert_eq!(sent.id, Some(next));
                (next, read) = (next + 1, read + 1);
            }
            "reset" => {
                assert_eq!(sent.data["from"], next);
                let resumed_at = sent.data["resumed_at"].as_u64().expect("a number");
                lost += resumed_at - next;
                next = resumed_at;
            }
            other => assert_eq!(other, "end"),
        }
    }
    assert_eq!((read + lost, next), (EVENTS, EVENTS + 1), "each was read or told to be lost");
    // 2 MiB of 32, in the buffers of both ends together.
    assert!(read < 64, "{read} of {EVENTS} events waited for a reader that took none");
}

#[tokio::test]
async fn a_client_that_takes_nothing_for_too_long_is_cut_off() {
    let limits = HttpLimits { readers: 1, stall_milliseconds: 100, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let writer = served.stream();
    let path = format!("/v1/streams/{}", writer.id());
    let events = served.client.open("GET", &format!("{path}/events"), None).await;
    let text = "x".repeat(32 << 10);
    let writing = tokio::spawn(async move {
        let mut clock = interval(Duration::from_millis(1));
        loop {
            clock.tick().await;
            say(&writer, &text);
        }
    });
    until_there_is_room(&served.client, &format!("{path}?wait_ms=1&max_events=1")).await;
    writing.abort();
    drop(events);
}
