//! How requests end when something happens to their page.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::{runtime::Handle, time::advance};
use wharf_completion::polls::PollSettings;
use wharf_core::WebViewLimits;

use super::support::{Bench, Call};
use crate::{
    CloseReason, ConsoleEntry, ConsoleKind, DialogAnswer, DialogKind, DialogPolicy, Failure, FailureKind, LogName,
    OpenPageRequest, OutcomeState, PageEvent, PageStatus, Receipt, Script, Settings, Settled, WebViewError,
};

const SECOND: Duration = Duration::from_secs(1);

fn bench() -> Bench {
    Bench::new(WebViewLimits::default())
}

#[tokio::test(start_paused = true)]
async fn what_comes_before_a_page_is_open_waits_and_is_handed_over_in_order() {
    let bench = bench();
    bench.quiet.slow.store(true, Relaxed);
    let page = bench.open();
    assert_eq!(bench.pages.info(&bench.owner(), page).expect("a page").status, PageStatus::Opening);
    let requests =
        [bench.execute(page), bench.perform(page, "navigate", r#"{"url":"about:blank"}"#), bench.execute(page)];
    let brief = bench.try_execute(page, Script { deadline: Some(SECOND), ..Script::new("1") }).expect("a request");
    bench.pages.cancel(&bench.owner(), requests[2]).expect("a request");
    advance(SECOND).await;
    assert_eq!((bench.word(brief), bench.word(requests[2])), ("time-out", "cancelled"));
    assert_eq!(bench.quiet.words(page), ["open"], "what never began needs no interrupt");
    bench.tell(page, PageEvent::Opened);
    assert_eq!(bench.quiet.words(page), ["inject", "navigate"]);
    bench.tell(page, PageEvent::Opened);
    assert!(bench.quiet.words(page).is_empty(), "it opens once");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_opened_fails_what_waits_for_it_with_the_reason() {
    let bench = bench();
    bench.quiet.slow.store(true, Relaxed);
    let page = bench.open();
    let request = bench.execute(page);
    bench.tell(page, PageEvent::Closed { unasked: Some("no program\u{1b}[2J was found".into()) });
    let failure = bench.poll(request).failure.expect("a failure");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::BackendGone, "no program[2J was found"));
    let info = bench.pages.info(&bench.owner(), page).expect("a page");
    assert_eq!((info.status, info.closed_because), (PageStatus::Closed, Some(CloseReason::BackendGone)));
    assert!(matches!(bench.try_execute(page, Script::new("1")), Err(WebViewError::Closed { reason: "backend-gone" })));
    assert_eq!(bench.pages.metrics().lost, 1);
}

#[tokio::test(start_paused = true)]
async fn leaving_a_document_fails_scripts_and_drawings_and_nothing_else() {
    let bench = bench();
    let page = bench.open();
    let requests = [
        bench.execute(page),
        bench.perform(page, "screenshot", ""),
        bench.perform(page, "navigate", r#"{"url":"https://example.com"}"#),
        bench.perform(page, "network-idle", ""),
    ];
    bench.tell(page, PageEvent::Navigating);
    assert_eq!(requests.map(|request| bench.word(request)), ["navigated", "navigated", "pending", "pending"]);
    let after = bench.execute(page);
    assert_eq!(bench.word(after), "pending");
}

#[tokio::test(start_paused = true)]
async fn a_crash_fails_everything_and_only_a_navigation_mends_it() {
    let bench = bench();
    let page = bench.open();
    let requests = [bench.execute(page), bench.perform(page, "reload", "")];
    bench.tell(page, PageEvent::Crashed);
    assert_eq!(requests.map(|request| bench.word(request)), ["crashed", "crashed"]);
    bench.quiet.calls(page);
    assert_eq!(bench.word(bench.execute(page)), "crashed");
    assert_eq!(bench.word(bench.perform(page, "screenshot", "")), "crashed");
    assert!(bench.quiet.words(page).is_empty(), "nobody was asked");
    let status = || bench.pages.info(&bench.owner(), page).expect("a page").status;
    assert_eq!(status(), PageStatus::Crashed);
    let reload = bench.perform(page, "reload", "");
    assert_eq!(bench.word(reload), "pending");
    bench.finish(page, "application/json", 2);
    assert_eq!((status(), bench.word(bench.execute(page))), (PageStatus::Ready, "pending"));
    let said = bench.pages.entries(&bench.owner(), page, LogName::Console, 0, 10).expect("a log");
    assert!(said.entries.contains("\"kind\":\"crash\""), "{}", said.entries);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_interrupts_and_what_comes_later_is_ignored() {
    let bench = bench();
    let page = bench.open();
    let request = bench.execute(page);
    let token = bench.quiet.token(page);
    bench.quiet.calls(page);
    let waits = tokio::spawn({
        let (pages, owner) = (bench.pages.clone(), bench.owner());
        async move { pages.wait(&owner, request, 600 * SECOND).await }
    });
    let outcome = waits.await.expect("an outcome");
    assert_eq!(outcome.failure.expect("a failure").kind, FailureKind::TimeOut);
    assert_eq!(outcome.elapsed, 30 * SECOND);
    assert!(matches!(bench.quiet.calls(page)[..], [Call::Interrupt(interrupted)] if interrupted == token));
    let late = Settled::Failed(Failure::new(FailureKind::Exception, "late"));
    assert_eq!(bench.quiet.sink(page).settle(token, late), Receipt::Ignored);
    assert_eq!((bench.word(request), bench.pages.metrics().ignored), ("time-out", 1));
}

#[tokio::test(start_paused = true)]
async fn a_dialog_lets_what_runs_go_on_and_nothing_begin_but_stop() {
    let bench = bench();
    let page = bench.open();
    let before = bench.execute(page);
    let token = bench.quiet.token(page);
    bench.show_dialog(page, DialogKind::Confirm);
    let dialog = bench.poll(before).dialog.expect("a dialog");
    assert_eq!((dialog.kind, dialog.message.as_str()), (DialogKind::Confirm, "sure?"));
    let outcome = bench.pages.wait(&bench.owner(), before, 60 * SECOND).await;
    assert_eq!((outcome.state, outcome.elapsed), (OutcomeState::Pending, Duration::ZERO), "it returns at once");
    bench.quiet.calls(page);
    for behind in [bench.execute(page), bench.perform(page, "screenshot", ""), bench.perform(page, "reload", "")] {
        let failure = bench.poll(behind).failure.expect("a failure");
        assert_eq!(failure.kind, FailureKind::DialogOpen);
        assert!(failure.message.ends_with("sure?"), "{}", failure.message);
    }
    bench.perform(page, "stop", "");
    let answer = DialogAnswer { accept: true, text: None };
    bench.pages.answer_dialog(&bench.owner(), page, answer).expect("a dialog");
    bench.execute(page);
    assert_eq!(bench.quiet.words(page), ["stop", "accept", "inject"]);
    bench.tell(page, PageEvent::DialogClosed { accepted: true });
    let envelope = Settled::Envelope("{\"type\":\"boolean\"}\ntrue".into());
    assert_eq!(bench.quiet.sink(page).settle(token, envelope), Receipt::Accepted);
    assert_eq!(bench.word(before), "done");
}

#[tokio::test(start_paused = true)]
async fn dialogs_are_answered_by_policy_and_a_question_before_leaving_with_yes() {
    let bench = bench();
    for (dialogs, kind, expected) in [
        (DialogPolicy::Accept, DialogKind::Prompt, Some((true, Some("so")))),
        (DialogPolicy::Accept, DialogKind::Alert, Some((true, None))),
        (DialogPolicy::Dismiss, DialogKind::Confirm, Some((false, None))),
        (DialogPolicy::Dismiss, DialogKind::BeforeUnload, Some((true, None))),
        (DialogPolicy::Report, DialogKind::BeforeUnload, Some((true, None))),
        (DialogPolicy::Report, DialogKind::Alert, None),
    ] {
        let page = bench.try_open(OpenPageRequest { dialogs, ..OpenPageRequest::default() }).expect("a page");
        bench.quiet.calls(page);
        bench.show_dialog(page, kind);
        let answers: Vec<_> = bench.quiet.calls(page);
        let answer = answers.first().map(|call| match call {
            Call::Answer(DialogAnswer { accept, text }) => (*accept, text.as_deref()),
            other => panic!("{other:?}"),
        });
        assert_eq!(answer, expected, "{dialogs:?} {kind:?}");
        let info = bench.pages.info(&bench.owner(), page).expect("a page");
        assert_eq!(info.dialog.is_some(), expected.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn what_this_backend_cannot_do_fails_as_unsupported_without_asking_it() {
    let bench = bench();
    let page = bench.open();
    bench.quiet.calls(page);
    assert_eq!(bench.word(bench.perform(page, "pdf", "")), "unsupported");
    let apart = bench.try_execute(page, Script { isolated: true, ..Script::new("1") }).expect("a request");
    assert_eq!(bench.word(apart), "unsupported");
    assert!(bench.quiet.words(page).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_backend_may_call_back_from_within_whatever_it_is_asked() {
    let bench = bench();
    let (pages, owner, quiet) = (bench.pages.clone(), bench.owner(), Arc::downgrade(&bench.quiet));
    let then = move |page, call: &Call| {
        let Some(quiet) = quiet.upgrade() else { return };
        // Whatever was locked would be stuck here.
        assert!(pages.list(&owner).len() == 1 && pages.metrics().opened <= 1 && pages.sweep().closed == 0);
        let sink = quiet.sink(page);
        sink.tell(PageEvent::Loading(false));
        match call {
            Call::Inject(injection) => {
                sink.settle(injection.token, Settled::Envelope("{\"type\":\"number\"}\n1".into()));
            }
            Call::Perform(_) => sink.tell(PageEvent::DialogOpened(crate::DialogOpened {
                kind: DialogKind::BeforeUnload,
                message: String::new(),
                default_text: String::new(),
            })),
            Call::Answer(_) => sink.tell(PageEvent::DialogClosed { accepted: true }),
            _ => {}
        }
    };
    *bench.quiet.then.lock() = Some(Arc::new(Box::new(then)));
    let page = bench.open();
    let request = bench.execute(page);
    assert_eq!(bench.word(request), "done");
    bench.perform(page, "reload", "");
    bench.pages.close(&bench.owner(), page, SECOND).await.expect("a page");
    assert_eq!(bench.quiet.words(page), ["open", "inject", "reload", "accept", "close"]);
    *bench.quiet.then.lock() = None;
}

#[tokio::test(start_paused = true)]
async fn who_polls_too_often_is_told_what_would_do_and_who_waits_is_not() {
    let bench = bench();
    let page = bench.open();
    let request = bench.execute(page);
    let mut advice = Vec::new();
    for _ in 0..5 {
        advice.push(bench.poll(request).advice);
        advance(2 * SECOND).await;
    }
    assert!(advice[..4].iter().all(Option::is_none));
    let said = advice[4].as_deref().expect("advice");
    assert!(said.starts_with("5 polls in a row found this request still pending"), "{said}");
    let waited = bench.pages.wait(&bench.owner(), request, SECOND).await;
    assert_eq!((waited.state, waited.advice), (OutcomeState::Pending, None));
    assert_eq!((bench.pages.metrics().polls.polls, bench.pages.metrics().polls.guidance), (5, 1));
    let silent =
        Settings { polls: PollSettings { guidance: false, ..PollSettings::default() }.into(), ..Settings::default() };
    let bench = Bench::with(silent);
    let request = bench.execute(bench.open());
    assert!((0..20).all(|_| bench.poll(request).advice.is_none()));
}

#[tokio::test(start_paused = true)]
async fn what_a_page_says_of_itself_is_cut_and_cleaned() {
    let bench = bench();
    let page = bench.open();
    let long = "한\u{1b}]0;x\u{7}".repeat(10_000);
    bench.tell(page, PageEvent::Located { url: long.clone(), title: long.clone() });
    let entry = ConsoleEntry { kind: ConsoleKind::Popup, text: long.clone(), url: Some(long.clone()), line: Some(7) };
    bench.tell(page, PageEvent::Console(entry));
    bench.tell(
        page,
        PageEvent::DialogOpened(crate::DialogOpened {
            kind: DialogKind::Prompt,
            message: long.clone(),
            default_text: long.clone(),
        }),
    );
    let info = bench.pages.info(&bench.owner(), page).expect("a page");
    let dialog = info.dialog.expect("a dialog");
    for (text, most) in [(&info.url, 4096), (&info.title, 1024), (&dialog.message, 4096), (&dialog.default_text, 4096)]
    {
        assert!(text.len() <= most && text.starts_with('한') && !text.contains(['\u{1b}', '\u{7}']), "{}", text.len());
    }
    assert_eq!(info.meta["popups"], 1);
    let entries = bench.pages.entries(&bench.owner(), page, LogName::Console, 0, 10).expect("a log").entries;
    assert!(entries.len() < 11_000 && !entries.contains("u001b"), "{}", entries.len());
    let page = bench.open();
    let request = bench.execute(page);
    bench.fail(page, Failure::new(FailureKind::Network, long));
    let message = bench.poll(request).failure.expect("a failure").message;
    assert!(message.len() <= 4096 && !message.contains('\u{1b}'));
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_the_backend_no_longer_than_asked() {
    let bench = bench();
    bench.quiet.slow.store(true, Relaxed);
    let page = bench.open();
    bench.tell(page, PageEvent::Opened);
    let request = bench.execute(page);
    bench.pages.close(&bench.owner(), page, SECOND).await.expect("a page");
    let info = bench.pages.info(&bench.owner(), page).expect("it is remembered");
    assert_eq!(
        (info.status, info.closed_because, bench.word(request)),
        (PageStatus::Closed, Some(CloseReason::Owner), "cancelled")
    );
    // A late event changes nothing.
    bench.tell(page, PageEvent::Located { url: "https://example.com/".into(), title: "late".into() });
    bench.tell(page, PageEvent::Closed { unasked: Some("crashed while it closed".into()) });
    let info = bench.pages.info(&bench.owner(), page).expect("it is remembered");
    assert_eq!((info.title.as_str(), info.closed_because), ("", Some(CloseReason::Owner)));
    assert_eq!((bench.pages.metrics().closed, bench.pages.metrics().lost), (1, 0));
    bench.pages.close(&bench.owner(), page, SECOND).await.expect("once more does no harm");
    assert_eq!(bench.pages.metrics().closed, 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_running_once_nobody_has_the_pages_any_more() {
    let bench = bench();
    for _ in 0..5 {
        let page = bench.open();
        bench.execute(page);
    }
    tokio::task::yield_now().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 5, "one keeper for each page");
    let sink = bench.quiet.sink(bench.pages.list(&bench.owner())[0].id);
    drop(bench);
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
    sink.tell(PageEvent::Crashed);
}
