//! What a backend is asked, and in which order.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use wharf_core::WebViewLimits;
use wharf_test_support::{AMPLE, until};

use super::support::{Bench, Call};
use crate::{PageEvent, PageId, Script, Settled, WebViewError};

#[tokio::test]
async fn a_backend_is_asked_one_thing_of_a_page_after_the_other_even_from_within() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    let (pages, owner, said) = (bench.pages.clone(), bench.owner(), Arc::new(Mutex::new(Vec::new())));
    let (says, nested) = (Arc::clone(&said), AtomicBool::new(false));
    let then = move |page: PageId, call: &Call| {
        let Call::Inject(_) = call else { return };
        says.lock().push("begins");
        if !nested.swap(true, Relaxed) {
            for _ in 0..2 {
                pages.execute(&owner, page, Script::new("1")).expect("a request");
            }
        }
        says.lock().push("ends");
    };
    *bench.quiet.then.lock() = Some(Arc::new(Box::new(then)));
    bench.execute(page);
    assert_eq!(*said.lock(), ["begins", "ends", "begins", "ends", "begins", "ends"]);
    *bench.quiet.then.lock() = None;
}

#[tokio::test]
async fn a_backend_that_is_slow_about_one_call_holds_up_nobody_who_asks() {
    let bench = Bench::new(WebViewLimits::default());
    let (page, other) = (bench.open(), bench.open());
    let (entered, is_inside) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let (may_leave, first) = (Mutex::new(may_leave), AtomicBool::new(true));
    let then = move |_: PageId, call: &Call| {
        if matches!(call, Call::Inject(_)) && first.swap(false, Relaxed) {
            entered.send(()).expect("the test");
            may_leave.lock().recv().expect("the test");
        }
    };
    *bench.quiet.then.lock() = Some(Arc::new(Box::new(then)));
    thread::scope(|scope| {
        scope.spawn(|| bench.execute(page));
        is_inside.recv().expect("a call");
        // All of it returns, though the backend is still inside its first call.
        let second = bench.execute(page);
        bench.pages.cancel(&bench.owner(), second).expect("a request");
        assert_eq!((bench.word(second), bench.word(bench.execute(other))), ("cancelled", "pending"));
        assert_eq!(bench.quiet.words(page), ["open", "inject"], "one thing after the other");
        leave.send(()).expect("the call");
    });
    assert_eq!(bench.quiet.words(page), ["inject", "interrupt"], "whoever was inside hands over the rest");
    *bench.quiet.then.lock() = None;
}

#[tokio::test]
async fn the_rest_of_a_result_is_asked_of_the_page_that_keeps_it_and_of_no_other_document() {
    let bench = Bench::new(WebViewLimits::default());
    let (page, owner) = (bench.open(), bench.owner());
    let cut = || Settled::Envelope("{\"type\":\"string\",\"bytes\":100,\"kept\":7}\n\"abc".into());
    let request = bench.execute(page);
    bench.quiet.sink(page).settle(bench.quiet.token(page), cut());
    bench.quiet.calls(page);
    let read = |from| {
        let (pages, owner) = (bench.pages.clone(), owner.clone());
        tokio::spawn(async move { pages.read_result(&owner, request, from, 10, AMPLE).await })
    };
    let asked = || {
        until("the page is asked", || match bench.quiet.calls(page).pop() {
            Some(Call::Inject(injection)) => Some(injection.token),
            _ => None,
        })
    };
    // What is here is not asked for.
    assert_eq!(read(1).await.expect("no panic").expect("a piece").data, b"abc");
    let reading = read(50);
    let token = asked().await;
    let piece = Settled::Envelope("{\"start\":50,\"next\":53}\ndef".into());
    bench.quiet.sink(page).settle(token, piece);
    assert_eq!(reading.await.expect("no panic").expect("a piece").data, b"def");
    // A read that is on its way ends with the document, and no further one is asked.
    let reading = read(50);
    asked().await;
    bench.tell(page, PageEvent::Navigating);
    assert!(matches!(reading.await.expect("no panic"), Err(WebViewError::Gone { .. })));
    assert!(matches!(read(50).await.expect("no panic"), Err(WebViewError::Gone { .. })));
    assert!(bench.quiet.words(page).is_empty());
}

#[tokio::test]
async fn which_rests_a_page_still_keeps_is_its_own_to_say_in_whichever_order_results_came() {
    let bench = Bench::new(WebViewLimits::default());
    let (page, owner) = (bench.open(), bench.owner());
    let begun: Vec<_> = (0..6).map(|_| (bench.execute(page), bench.quiet.token(page))).collect();
    // Those of which the page may keep the rest, and two more. A backend reports them in an
    // order that is not the one in which they ended.
    for number in [5, 4, 3, 1, 0, 2] {
        let head = format!("{{\"type\":\"string\",\"bytes\":100,\"kept\":{number}}}");
        bench.quiet.sink(page).settle(begun[number].1, Settled::Envelope(format!("{head}\n\"abc")));
    }
    bench.quiet.calls(page);
    for (number, (request, _)) in begun.into_iter().enumerate() {
        let (pages, owner) = (bench.pages.clone(), owner.clone());
        let reading = tokio::spawn(async move { pages.read_result(&owner, request, 50, 10, AMPLE).await });
        let by_its_number = format!("\"number\":{number}}}");
        let asked = until("the page is asked", || match bench.quiet.calls(page).pop() {
            Some(Call::Inject(injection)) => injection.sources[0].contains(&by_its_number).then_some(injection.token),
            _ => None,
        });
        bench.quiet.sink(page).settle(asked.await, Settled::Envelope("{\"start\":50,\"next\":53}\ndef".into()));
        assert_eq!(reading.await.expect("no panic").expect("a piece").data, b"def");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_answer_a_read_is_not_read_for_ever() {
    // Shorter than a result is kept.
    const WAIT: Duration = Duration::from_secs(60);
    let bench = Bench::new(WebViewLimits::default());
    let (page, owner) = (bench.open(), bench.owner());
    let cut = || {
        let request = bench.execute(page);
        let cut = Settled::Envelope("{\"type\":\"string\",\"bytes\":100,\"kept\":7}\n\"abc".into());
        bench.quiet.sink(page).settle(bench.quiet.token(page), cut);
        bench.quiet.calls(page);
        request
    };
    let request = cut();
    let read = async || bench.pages.read_result(&owner, request, 50, 10, WAIT).await;
    assert!(matches!(read().await, Err(WebViewError::Unavailable { retryable: true, .. })));
    assert_eq!(bench.quiet.words(page), ["inject", "interrupt"]);
    let reads: Vec<_> = (0..9)
        .map(|_| {
            let (pages, owner) = (bench.pages.clone(), owner.clone());
            tokio::spawn(async move { pages.read_result(&owner, request, 50, 10, WAIT).await })
        })
        .collect();
    let mut refused = 0;
    for read in reads {
        let error = read.await.expect("no panic").expect_err("nobody answers");
        refused += usize::from(error.to_string().contains("too many results are read at once"));
    }
    assert_eq!(refused, 1);
    // An acknowledged result is released in the page, too.
    let request = cut();
    bench.pages.acknowledge(&owner, request).expect("a request");
    assert_eq!(bench.quiet.words(page), ["inject"]);
    assert_eq!(bench.pages.metrics().ignored, 0);
}
