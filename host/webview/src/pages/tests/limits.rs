//! Each limit that the core keeps: at N it works, at N + 1 it says which one it was.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::time::advance;
use wharf_core::{Error, WebViewLimits};
use wharf_test_support::let_time_pass;

use super::support::{Bench, Call};
use crate::{
    CloseReason, ConsoleEntry, ConsoleKind, DialogKind, FailureKind, LogName, OpenPageRequest, OutcomeState, PageEvent,
    PageStatus, Script, WebViewError,
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn pages_make_room_where_one_is_idle_and_are_refused_where_none_is() {
    let bench = Bench::new(WebViewLimits { pages: 2, ..WebViewLimits::default() });
    let first = bench.open();
    advance(SECOND).await;
    let second = bench.open();
    advance(58 * SECOND).await;
    let refused = bench.try_open(OpenPageRequest::default()).expect_err("both were used just now");
    assert!(matches!(&refused, WebViewError::Full { full } if full.bound == ("pages", 2)));
    assert!(Error::from(refused).message.contains("(`pages` of [webview.limits])"));
    advance(SECOND).await;
    let third = bench.open();
    let why = |page| bench.pages.info(&bench.owner(), page).expect("a page").closed_because;
    assert_eq!([why(first), why(second), why(third)], [Some(CloseReason::Evicted), None, None]);
    assert_eq!(bench.quiet.words(first), ["open", "close"]);
    // One that has something to do makes no room, however long ago it was asked.
    advance(31 * SECOND).await;
    bench.try_execute(second, Script { deadline: Some(300 * SECOND), ..Script::new("1") }).expect("a request");
    bench.try_execute(third, Script { deadline: Some(300 * SECOND), ..Script::new("1") }).expect("a request");
    advance(61 * SECOND).await;
    assert!(matches!(bench.try_open(OpenPageRequest::default()), Err(WebViewError::Full { .. })));
    assert_eq!((bench.pages.metrics().evicted, bench.pages.metrics().open), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn what_a_backend_is_slow_to_close_takes_places() {
    let bench = Bench::new(WebViewLimits { pages: 2, ..WebViewLimits::default() });
    bench.quiet.slow.store(true, Relaxed);
    let close = async |page| bench.pages.close(&bench.owner(), page, Duration::ZERO).await.expect("a page");
    let pages: Vec<_> = (0..2).map(|_| bench.open()).collect();
    for page in &pages {
        close(*page).await;
    }
    let more: Vec<_> = (0..2).map(|_| bench.open()).collect();
    close(more[0]).await;
    assert!(matches!(bench.try_open(OpenPageRequest::default()), Err(WebViewError::Full { .. })));
    bench.tell(pages[0], PageEvent::Closed { unasked: None });
    bench.open();
}

#[tokio::test(start_paused = true)]
async fn an_owner_has_as_many_pages_as_are_granted() {
    let mut bench = Bench::new(WebViewLimits::default());
    bench.grants.webview.as_mut().expect("a grant").maximum_pages = 2;
    let first = bench.open();
    bench.open();
    let refused = bench.try_open(OpenPageRequest::default()).expect_err("two are open");
    assert!(Error::from(refused).message.contains("`maximum_pages`"));
    bench.pages.close(&bench.owner(), first, SECOND).await.expect("a page");
    bench.open();
}

#[tokio::test(start_paused = true)]
async fn a_page_has_as_many_requests_as_it_may() {
    let bench = Bench::new(WebViewLimits { requests_per_page: 3, ..WebViewLimits::default() });
    let page = bench.open();
    let requests: Vec<_> = (0..3).map(|_| bench.execute(page)).collect();
    let refused = bench.try_execute(page, Script::new("1")).expect_err("all are pending");
    assert!(Error::from(refused).message.contains("limit `requests_per_page`"));
    bench.pages.cancel(&bench.owner(), requests[1]).expect("a request");
    bench.execute(page);
    assert_eq!((bench.word(requests[1]), bench.word(requests[0])), ("expired", "pending"));
}

#[tokio::test(start_paused = true)]
async fn results_of_a_page_are_kept_up_to_their_bytes() {
    let bench = Bench::new(WebViewLimits { result_bytes_per_page: 100, ..WebViewLimits::default() });
    let page = bench.open();
    let requests: Vec<_> = (0..3)
        .map(|_| {
            let request = bench.execute(page);
            bench.settle(page, 50);
            request
        })
        .collect();
    let words: Vec<_> = requests.iter().map(|request| bench.word(*request)).collect();
    assert_eq!(words, ["expired", "done", "done"]);
    assert_eq!((bench.pages.metrics().results, bench.pages.metrics().result_bytes), (2, 100));
    // One that is larger than all together is refused, or cut in the page.
    let drawn = bench.perform(page, "screenshot", "");
    bench.finish(page, "image/png", 101);
    let failure = bench.poll(drawn).failure.expect("a failure");
    assert!(failure.kind == FailureKind::Limit && failure.message.contains("`result_bytes_per_page`"), "{failure:?}");
    bench.execute(page);
    let Some(Call::Inject(injection)) = bench.quiet.calls(page).pop() else { panic!("a script") };
    assert!(injection.sources[0].contains("\"most\":100,"), "{}", injection.sources[0]);
}

#[tokio::test(start_paused = true)]
async fn a_result_is_cut_in_the_page_and_one_that_was_not_is_refused() {
    let bench = Bench::new(WebViewLimits { result_bytes: 50, ..WebViewLimits::default() });
    let page = bench.open();
    for (asked, most) in [(None, 50), (Some(10), 10), (Some(1_000), 50)] {
        let script = Script { max_bytes: asked, ..Script::new("1") };
        let request = bench.try_execute(page, script).expect("a request");
        bench.settle(page, most + 1);
        assert_eq!(bench.word(request), "unserialisable", "no wrapper sends more than {most}");
        let Some(Call::Inject(injection)) = bench.quiet.calls(page).pop() else { panic!("a script") };
        assert!(injection.sources[0].contains(&format!("\"most\":{most},")));
    }
    let request = bench.execute(page);
    bench.settle(page, 50);
    assert_eq!(bench.word(request), "done");
    let resized = bench.perform(page, "resize", r#"{"width":10,"height":20}"#);
    bench.finish(page, "application/json", 51);
    assert!(bench.poll(resized).failure.expect("a failure").message.contains("limit `result_bytes`"));
}

#[tokio::test(start_paused = true)]
async fn a_file_is_as_large_as_it_may_be() {
    let bench = Bench::new(WebViewLimits { file_bytes: 1_000, ..WebViewLimits::default() });
    let page = bench.open();
    let drawn = bench.perform(page, "screenshot", "");
    bench.finish(page, "image/png", 1_000);
    assert_eq!((bench.word(drawn), bench.poll(drawn).mime_type), ("done", "image/png"));
    let drawn = bench.perform(page, "screenshot", "");
    bench.finish(page, "image/png", 1_001);
    let failure = bench.poll(drawn).failure.expect("a failure");
    assert!(failure.kind == FailureKind::Limit && failure.message.contains("limit `file_bytes`"), "{failure:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_takes_as_long_as_it_says_within_the_limits() {
    let limits =
        WebViewLimits { request_milliseconds: 2_000, request_ceiling_milliseconds: 5_000, ..WebViewLimits::default() };
    let bench = Bench::new(limits);
    let page = bench.open();
    let script = |deadline| Script { deadline, ..Script::new("1") };
    let usual = bench.execute(page);
    let long = bench.try_execute(page, script(Some(5 * SECOND))).expect("a request");
    let refused = bench.try_execute(page, script(Some(Duration::from_millis(5_001)))).expect_err("too long");
    assert!(Error::from(refused).message.contains("`request_ceiling_milliseconds`"));
    advance(Duration::from_millis(1_999)).await;
    assert_eq!(bench.word(usual), "pending");
    advance(Duration::from_millis(1)).await;
    assert_eq!((bench.word(usual), bench.word(long)), ("time-out", "pending"));
    advance(3 * SECOND).await;
    assert_eq!(bench.word(long), "time-out");
}

#[tokio::test(start_paused = true)]
async fn results_are_kept_for_a_time_and_remembered_for_a_number() {
    let limits = WebViewLimits { kept_seconds: 10, tombstones_per_page: 2, ..WebViewLimits::default() };
    let bench = Bench::new(limits);
    let page = bench.open();
    let request = bench.execute(page);
    bench.settle(page, 10);
    advance(9 * SECOND).await;
    assert_eq!(bench.word(request), "done");
    advance(SECOND).await;
    assert_eq!(bench.word(request), "expired");
    for expected in ["expired", "unknown"] {
        let other = bench.execute(page);
        bench.pages.cancel(&bench.owner(), other).expect("a request");
        bench.pages.acknowledge(&bench.owner(), other).expect("a request");
        assert_eq!((bench.word(other), bench.word(request)), ("expired", expected));
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_results_that_nobody_polls_leave_nothing_but_what_is_remembered() {
    let limits = WebViewLimits { pages: 10, ..WebViewLimits::default() };
    let kept = Duration::from_secs(limits.kept_seconds);
    let bench = Bench::new(limits);
    let pages: Vec<_> = (0..10).map(|_| bench.open()).collect();
    let mut most = 0;
    for round in 0..1_000 {
        for page in &pages {
            bench.execute(*page);
            bench.settle(*page, 100_000);
            bench.quiet.calls(*page);
        }
        most = most.max(bench.pages.metrics().result_bytes);
        if round % 100 == 0 {
            advance(SECOND).await;
        }
    }
    let metrics = bench.pages.metrics();
    assert_eq!((metrics.requests, metrics.done, metrics.pending), (10_000, 10_000, 0));
    assert_eq!((metrics.results, metrics.result_bytes, most), (640, 64_000_000, 64_000_000));
    // Nobody looks: the keepers of the pages drop them.
    let_time_pass(kept, "nobody looks").await;
    let metrics = bench.pages.metrics();
    assert_eq!((metrics.results, metrics.result_bytes, metrics.expired), (0, 0, 10_000));
}

#[tokio::test(start_paused = true)]
async fn a_dialog_waits_for_as_long_as_it_may_and_is_dismissed() {
    let bench = Bench::new(WebViewLimits { dialog_milliseconds: 5_000, ..WebViewLimits::default() });
    let page = bench.open();
    bench.quiet.calls(page);
    bench.show_dialog(page, DialogKind::Confirm);
    advance(Duration::from_millis(4_999)).await;
    assert!(bench.pages.info(&bench.owner(), page).expect("a page").dialog.is_some());
    // Nobody looks when its time is up.
    let_time_pass(Duration::from_millis(2), "nobody looks").await;
    assert_eq!(bench.quiet.words(page), ["dismiss"]);
    assert!(bench.pages.info(&bench.owner(), page).expect("a page").dialog.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_nobody_uses_is_closed_and_then_forgotten() {
    let limits = WebViewLimits { idle_seconds: 100, closed_seconds: 50, ..WebViewLimits::default() };
    let bench = Bench::new(limits);
    let (unused, used, busy) = (bench.open(), bench.open(), bench.open());
    advance(60 * SECOND).await;
    let request = bench.execute(used);
    bench.settle(used, 10);
    bench.try_execute(busy, Script { deadline: Some(300 * SECOND), ..Script::new("1") }).expect("a request");
    advance(39 * SECOND).await;
    assert_eq!(bench.pages.sweep().closed, 0);
    advance(SECOND).await;
    assert_eq!(bench.pages.sweep().closed, 1);
    let why = |page| bench.pages.info(&bench.owner(), page).map(|info| info.closed_because);
    assert!(matches!((why(unused), why(used)), (Ok(Some(CloseReason::Idle)), Ok(None))));
    advance(49 * SECOND).await;
    // A poll counts as use.
    assert_eq!((bench.word(request), bench.pages.sweep().forgotten), ("done", 0));
    advance(SECOND).await;
    assert_eq!(bench.pages.sweep().forgotten, 1);
    assert!(matches!(why(unused), Err(WebViewError::NoPage)));
    advance(99 * SECOND).await;
    assert_eq!(bench.pages.sweep().closed, 1);
    assert!(
        matches!((why(used), why(busy)), (Ok(Some(CloseReason::Idle)), Ok(None))),
        "what is pending keeps its page"
    );
}

#[tokio::test(start_paused = true)]
async fn closed_pages_are_remembered_up_to_a_number() {
    let bench = Bench::new(WebViewLimits::default());
    for _ in 0..20 {
        let page = bench.open();
        bench.pages.close(&bench.owner(), page, SECOND).await.expect("a page");
    }
    bench.pages.sweep();
    let infos = bench.pages.list(&bench.owner());
    assert!(infos.len() == 8 && infos.iter().all(|info| info.status == PageStatus::Closed), "{}", infos.len());
}

#[tokio::test(start_paused = true)]
async fn a_log_keeps_as_many_entries_and_bytes_as_it_may() {
    let limits = WebViewLimits { log_entries: 3, log_bytes: 1_000, ..WebViewLimits::default() };
    let bench = Bench::new(limits);
    let page = bench.open();
    let say = |text: &str| {
        let entry = ConsoleEntry { kind: ConsoleKind::Log, text: text.into(), url: None, line: None };
        bench.tell(page, PageEvent::Console(entry));
    };
    let lost = || bench.pages.entries(&bench.owner(), page, LogName::Console, 0, 10).expect("a log").lost;
    for expected in [0, 0, 0, 1] {
        say("short");
        assert_eq!(lost(), expected);
    }
    say(&"x".repeat(900));
    assert_eq!(lost(), 4);
    assert!(bench.pages.metrics().log_bytes <= 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_wait_lasts_as_long_as_it_may() {
    let bench = Bench::new(WebViewLimits { wait_milliseconds: 1_000, ..WebViewLimits::default() });
    let page = bench.open();
    let request = bench.execute(page);
    let outcome = bench.pages.wait(&bench.owner(), request, 20 * SECOND).await;
    assert_eq!((outcome.state, outcome.elapsed), (OutcomeState::Pending, SECOND));
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_of_a_page_is_bounded() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    let script = |script| bench.try_execute(page, script).err().map(|error| Error::from(error).message);
    assert_eq!(script(Script::new("x".repeat(1 << 20))), None);
    for (asked, expected) in [
        (Script::new("x".repeat((1 << 20) + 1)), "1048576 bytes"),
        (Script { frame: Some("a b".into()), ..Script::new("1") }, "`frame`"),
        (Script { frame: Some("a".repeat(257)), ..Script::new("1") }, "`frame`"),
    ] {
        let message = script(asked).expect("refused");
        assert!(message.contains(expected), "{message}");
    }
    for (wanted, expected) in [
        (OpenPageRequest { width: 4_097, ..OpenPageRequest::default() }, "1 to 4096"),
        (OpenPageRequest { height: u32::MAX, ..OpenPageRequest::default() }, "1 to 4096"),
        (OpenPageRequest { locale: Some("ko\nKR".into()), ..OpenPageRequest::default() }, "`locale`"),
        (OpenPageRequest { time_zone: Some(String::new()), ..OpenPageRequest::default() }, "`time_zone`"),
        (OpenPageRequest { user_agent: Some("a\r\nb".into()), ..OpenPageRequest::default() }, "`user_agent`"),
    ] {
        let message = Error::from(bench.try_open(wanted).expect_err("refused")).message;
        assert!(message.contains(expected), "{message}");
    }
    for (dialogs, options) in
        [("later", None), ("", Some("{\"far\":1}")), ("", Some("[]")), ("", Some("{\"locale\":1}"))]
    {
        assert!(
            matches!(OpenPageRequest::read(0, 0, dialogs, options), Err(WebViewError::Invalid { .. })),
            "{dialogs} {options:?}"
        );
    }
    let read = OpenPageRequest::read(0, 0, "accept", Some("{\"locale\":\"ko-KR\"}")).expect("legal");
    assert_eq!((read.locale.as_deref(), read.dialogs), (Some("ko-KR"), crate::DialogPolicy::Accept));
    assert!(matches!(Script::read("1".into(), "mine", 0, 0, None), Err(WebViewError::Invalid { .. })));
    let read = Script::read("1".into(), "isolated", 0, 5, Some("{\"frame\":\"F1\"}")).expect("legal");
    assert_eq!(
        (read.isolated, read.deadline, read.max_bytes, read.frame.as_deref()),
        (true, None, Some(5), Some("F1"))
    );
}
