//! Reports that are forged, late, or told twice.

use std::time::Duration;

use super::bench::{Bench, failure};
use crate::{FailureKind, OrderOutput, OutcomeState, Receipt, Script, Settled, Token};

pub(super) async fn check(bench: &Bench) {
    let (page, other) = (bench.open(), bench.open());
    assert_eq!(page.value("1").await, 1);
    assert_eq!(other.value("1").await, 1);
    let (sink, of_other) = (bench.tap.sink(page.id), bench.tap.sink(other.id));
    let lie = || Settled::Envelope("{\"type\":\"string\"}\n\"lie\"".to_owned());
    let ignored = |before: u64| assert_eq!(page.pages().metrics().ignored, before + 1);
    // Twice.
    let request = page.execute("'first'");
    let outcome = page.wait(request).await;
    let token = bench.tap.last_token(page.id);
    let before = page.pages().metrics().ignored;
    assert_eq!(sink.settle(token, lie()), Receipt::Ignored);
    ignored(before);
    assert_eq!(page.poll(request).data, outcome.data);
    // Forged: a token that nobody was given, and one of another page.
    let pending = page.execute("new Promise(() => {})");
    let token = bench.tap.last_token(page.id);
    assert_eq!(sink.settle(Token::random().expect("randomness"), lie()), Receipt::Ignored);
    assert_eq!(of_other.settle(token, lie()), Receipt::Ignored);
    assert_eq!(page.poll(pending).state, OutcomeState::Pending);
    // With its token, but nothing that a page can have sent.
    assert_eq!(sink.settle(token, Settled::Envelope("{\"type\":\"string\"}\nno JSON".to_owned())), Receipt::Accepted);
    assert_eq!(failure("a lie", &page.poll(pending)).0, FailureKind::Unserialisable);
    // Late: behind its deadline, and behind a cancel.
    let late = page.begin(Script { deadline: Some(Duration::from_millis(50)), ..Script::new("new Promise(() => {})") });
    let token = bench.tap.last_token(page.id);
    assert_eq!(failure("a promise", &page.wait(late).await).0, FailureKind::TimeOut);
    assert_eq!(sink.settle(token, lie()), Receipt::Ignored);
    assert_eq!(failure("a promise", &page.poll(late)).0, FailureKind::TimeOut);
    let cancelled = page.execute("new Promise(() => {})");
    let token = bench.tap.last_token(page.id);
    page.pages().cancel(&page.owner, cancelled).expect("a request");
    let done = Settled::Done(OrderOutput { mime_type: "image/png", data: vec![1] });
    assert_eq!(sink.settle(token, done), Receipt::Ignored);
    assert_eq!(failure("a promise", &page.poll(cancelled)).0, FailureKind::Cancelled);
    page.close().await;
    other.close().await;
    // Behind the end of its page.
    assert_eq!(sink.settle(token, lie()), Receipt::Ignored);
}
