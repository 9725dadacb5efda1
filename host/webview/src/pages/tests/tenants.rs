//! What session, tenant and host may have together, and what makes room: nothing that
//! is another tenant's.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::time::advance;
use wharf_core::{Context, Error, WebViewLimits};

use super::support::Bench;
use crate::{
    CloseReason, ConsoleEntry, ConsoleKind, FailureKind, LogName, OpenPageRequest, PageEvent, PageId, RequestId,
    Script, WebViewError,
};

const SECOND: Duration = Duration::from_secs(1);

/// The same pages, seen by a session of a tenant.
fn seen_by(bench: &Bench, tenant: &str, session: &str) -> Bench {
    let context = Context::new(tenant.parse().expect("an id"), session.parse().expect("an id"));
    bench.seen_by(context, "browser")
}

/// Two sessions of one tenant, and one of another.
fn three(limits: WebViewLimits) -> [Bench; 3] {
    let bench = Bench::new(limits);
    [seen_by(&bench, "a", "one"), seen_by(&bench, "a", "two"), seen_by(&bench, "b", "one")]
}

fn why(bench: &Bench, page: PageId) -> Option<CloseReason> {
    bench.pages.info(&bench.owner(), page).expect("it is remembered").closed_because
}

/// Which limit refuses, by its name.
fn limit<T: std::fmt::Debug>(refused: Result<T, WebViewError>) -> &'static str {
    match refused.expect_err("refused") {
        WebViewError::Full { full } | WebViewError::TooMuch { full } => full.bound.0,
        other => panic!("{other}"),
    }
}

fn say(bench: &Bench, page: PageId, characters: usize) {
    let text = "x".repeat(characters);
    bench.tell(page, PageEvent::Console(ConsoleEntry { kind: ConsoleKind::Log, text, url: None, line: None }));
}

/// A request that came to so many bytes.
fn done(bench: &Bench, page: PageId, bytes: usize) -> RequestId {
    let request = bench.execute(page);
    bench.settle(page, bytes);
    request
}

#[tokio::test(start_paused = true)]
async fn an_idle_page_makes_room_within_its_tenant_and_never_for_another_one() {
    let [one, two, other] = three(WebViewLimits { pages: 3, ..WebViewLimits::default() });
    let (idle, used, foreign) = (one.open(), two.open(), other.open());
    advance(120 * SECOND).await;
    two.execute(used);
    // That of the other tenant is idle for as long, and that of its own has to do.
    let third = seen_by(&one, "c", "one");
    assert_eq!(limit(third.try_open(OpenPageRequest::default())), "pages");
    assert_eq!([why(&one, idle), why(&two, used), why(&other, foreign)], [None; 3]);
    let fresh = two.open();
    assert_eq!([why(&one, idle), why(&two, used), why(&two, fresh)], [Some(CloseReason::Evicted), None, None]);
    assert_eq!(why(&other, foreign), None);
    // None of this tenant is idle for a minute now.
    assert_eq!(limit(one.try_open(OpenPageRequest::default())), "pages");
    assert_eq!(why(&other, foreign), None);
}

#[tokio::test(start_paused = true)]
async fn a_session_and_a_tenant_have_as_many_pages_as_they_may() {
    let limits = WebViewLimits { pages_per_session: 2, pages_per_tenant: 3, pages: 4, ..WebViewLimits::default() };
    let [one, two, other] = three(limits);
    let first = one.open();
    // Another plugin of the session shares its places.
    one.seen_by(one.context.clone(), "another").open();
    assert_eq!(limit(one.try_open(OpenPageRequest::default())), "pages_per_session");
    let second = two.open();
    assert_eq!(limit(two.try_open(OpenPageRequest::default())), "pages_per_tenant");
    other.open();
    assert_eq!(limit(other.try_open(OpenPageRequest::default())), "pages");
    // A session makes room for itself, not its neighbour.
    advance(61 * SECOND).await;
    one.open();
    assert_eq!([why(&one, first), why(&two, second)], [Some(CloseReason::Evicted), None]);
    let told = Error::from(
        other.try_open(OpenPageRequest { width: 9_999, ..OpenPageRequest::default() }).expect_err("too wide"),
    );
    assert_eq!(told.code.as_str(), "invalid", "what is refused anyway closes no page");
}

#[tokio::test(start_paused = true)]
async fn pages_that_a_backend_is_slow_to_close_are_counted_for_their_tenant() {
    let limits = WebViewLimits { pages_per_session: 1, pages_per_tenant: 1, pages: 2, ..WebViewLimits::default() };
    let [one, _, other] = three(limits);
    one.quiet.slow.store(true, Relaxed);
    for _ in 0..2 {
        let page = one.open();
        one.pages.close(&one.owner(), page, Duration::ZERO).await.expect("a page");
    }
    assert_eq!(limit(one.try_open(OpenPageRequest::default())), "pages_per_session");
    other.open();
}

#[tokio::test(start_paused = true)]
async fn closed_pages_of_a_tenant_push_out_none_of_another_one() {
    let limits = WebViewLimits { pages_per_tenant: 3, pages: 4, ..WebViewLimits::default() };
    let [one, two, other] = three(limits);
    let close = async |bench: &Bench| {
        let page = bench.open();
        bench.pages.close(&bench.owner(), page, SECOND).await.expect("a page");
        bench.pages.sweep();
        page
    };
    let kept = [close(&other).await, close(&other).await];
    let mut last = Vec::new();
    for _ in 0..10 {
        last = vec![close(&one).await, close(&two).await];
    }
    for page in kept {
        assert_eq!(why(&other, page), Some(CloseReason::Owner), "it is remembered");
    }
    assert_eq!((one.pages.list(&one.owner()).len(), two.pages.list(&two.owner()).len()), (1, 1));
    assert_eq!((why(&one, last[0]), why(&two, last[1])), (Some(CloseReason::Owner), Some(CloseReason::Owner)));
}

#[tokio::test(start_paused = true)]
async fn a_session_a_tenant_and_the_host_have_as_many_requests_as_they_may() {
    let limits =
        WebViewLimits { requests_per_session: 2, requests_per_tenant: 3, requests: 4, ..WebViewLimits::default() };
    let [one, two, other] = three(limits);
    let pages = [one.open(), two.open(), other.open()];
    let script = || Script::new("1");
    let [first, second] = [0; 2].map(|_| one.execute(pages[0]));
    // Another page of the session has no more places.
    let next = one.open();
    assert_eq!(limit(one.try_execute(next, script())), "requests_per_session");
    let third = two.execute(pages[1]);
    assert_eq!(limit(two.try_execute(pages[1], script())), "requests_per_tenant");
    let foreign = done(&other, pages[2], 10);
    other.execute(pages[2]);
    assert_eq!(other.word(foreign), "expired", "the host is full, and its own oldest has ended");
    assert_eq!(limit(other.try_execute(pages[2], script())), "requests");
    // What has ended makes room within its tenant, whichever page it is of.
    one.pages.cancel(&one.owner(), first).expect("a request");
    assert_eq!(limit(other.try_execute(pages[2], script())), "requests");
    let fourth = two.execute(pages[1]);
    assert_eq!([one.word(first), one.word(second)], ["expired", "pending"]);
    assert_eq!([two.word(third), two.word(fourth)], ["pending"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_session_a_tenant_and_the_host_keep_as_many_bytes_as_they_may() {
    let limits = WebViewLimits {
        kept_bytes_per_session: 100_000,
        kept_bytes_per_tenant: 150_000,
        kept_bytes: 200_000,
        ..WebViewLimits::default()
    };
    let [one, two, other] = three(limits);
    let pages = [one.open(), two.open(), other.open()];
    let foreign = done(&other, pages[2], 80_000);
    let first = done(&one, pages[0], 60_000);
    let second = done(&one, one.open(), 60_000);
    assert_eq!([one.word(first), one.word(second)], ["expired", "done"], "the session's own oldest goes");
    let third = done(&two, pages[1], 60_000);
    assert_eq!([one.word(second), two.word(third)], ["expired", "done"], "200,000 bytes: that of its tenant goes");
    assert_eq!(other.word(foreign), "done", "what is another tenant's stays");
    // Scripts count as long as they are pending, in each way in which they are tried.
    let large = || Script::new(format!("'{}'", "x".repeat(60_000)));
    assert_eq!(limit(one.try_execute(pages[0], large())), "kept_bytes_per_session");
    let small = one.try_execute(pages[0], Script::new(format!("'{}'", "x".repeat(30_000)))).expect("room");
    // What is pending makes no room.
    let refused = one.execute(pages[0]);
    one.settle(pages[0], 90_000);
    assert_eq!([one.word(refused), one.word(small)], ["limit", "pending"]);
    let told = one.poll(refused).failure.expect("it failed");
    assert!(told.kind == FailureKind::Limit && told.message.contains("kept_bytes_per_session"), "{told:?}");
    assert_eq!(other.word(foreign), "done");
}

#[tokio::test(start_paused = true)]
async fn a_log_loses_its_own_entries_where_its_tenant_keeps_too_much() {
    let limits = WebViewLimits { kept_bytes_per_tenant: 10_000, ..WebViewLimits::default() };
    let [one, two, other] = three(limits);
    let [page, flooded, foreign] = [one.open(), two.open(), other.open()];
    say(&one, page, 6_000);
    let log =
        |bench: &Bench, page| bench.pages.entries(&bench.owner(), page, LogName::Console, 0, 100).expect("a page");
    for _ in 0..5 {
        say(&two, flooded, 1_500);
        say(&other, foreign, 1_500);
    }
    assert_eq!((log(&one, page).lost, log(&two, flooded).lost, log(&other, foreign).lost), (0, 3, 0));
    // An entry for which there is no room at all is counted.
    say(&two, flooded, 7_000);
    assert_eq!((log(&two, flooded).lost, log(&two, flooded).next), (6, 6));
    say(&two, flooded, 100);
    assert_eq!(log(&two, flooded).lost, 6);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_counted_any_more_once_a_page_is_forgotten() {
    let limits = WebViewLimits { kept_bytes: 50_000, pages: 1, requests: 2, ..WebViewLimits::default() };
    let [one, _, other] = three(limits);
    for round in 0..3 {
        for bench in [&one, &other] {
            let page = bench.open();
            say(bench, page, 5_000);
            assert_eq!(bench.word(done(bench, page, 20_000)), "done", "round {round}");
            bench.execute(page);
            bench.pages.close(&bench.owner(), page, SECOND).await.expect("a page");
            advance(121 * SECOND).await;
            bench.pages.sweep();
            assert!(bench.pages.list(&bench.owner()).is_empty(), "round {round}");
        }
    }
}
