//! Scripts: what comes back, what keeps one from coming back, and what does not keep
//! others.

use std::time::Duration;

use serde_json::json;
use wharf_webview::{DialogAnswer, DialogKind, FailureKind, Operation, PageEvent, Settled, WebViewBackend as _};

use super::support::{Page, Stage};

fn failure(settled: Settled) -> (FailureKind, String) {
    match settled {
        Settled::Failed(failure) => (failure.kind, failure.message),
        other => panic!("{other:?}"),
    }
}

async fn dialog(page: &Page<'_>) -> (DialogKind, String) {
    // The address and title of the page may be told behind it.
    let of_dialogs = |event: &&PageEvent| matches!(event, PageEvent::DialogOpened(_) | PageEvent::DialogClosed { .. });
    page.until("a dialog is open", |events| match events.iter().rfind(of_dialogs) {
        Some(PageEvent::DialogOpened(opened)) => Some((opened.kind, opened.message.clone())),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expressions_statements_and_promises_come_back_and_mistakes_are_told_apart() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    assert_eq!(page.run("1 + 1").await, 2);
    assert_eq!(page.run("const a = 3; return a * 2").await, 6);
    assert_eq!(page.run("new Promise(done => setTimeout(() => done('later'), 50))").await, "later");
    let syntax = page.outcome(page.inject("let = = 3")).await;
    assert!(matches!(&syntax, Settled::Syntax { message } if message.contains("SyntaxError")), "{syntax:?}");
    // One that is thrown is no mistake of the source, and is not run twice.
    page.run("globalThis.count = 0; return 0").await;
    let thrown = "(() => { globalThis.count += 1; eval('('); })()".to_owned();
    let (kind, message) =
        failure(page.outcome(page.inject_sources(vec![thrown, "'second'".into()], false, None)).await);
    assert_eq!((kind, message.contains("SyntaxError")), (FailureKind::Exception, true), "{message}");
    assert_eq!(page.run("count").await, 1);
    // What is no text is no envelope, however large and deep.
    let other = "Array.from({ length: 100000 }, () => [[[1]]])".to_owned();
    assert_eq!(failure(page.outcome(page.inject_sources(vec![other], false, None)).await).0, FailureKind::Exception);
    // Half a surrogate is a text all the same.
    let half = page.outcome(page.inject_sources(vec!["'a\\ud800b'".into()], false, None)).await;
    assert_eq!(half, Settled::Envelope("a\u{fffd}b".into()));
    let circle = "(() => { const a = {}; a.a = a; return a })()".to_owned();
    let circle = failure(page.outcome(page.inject_sources(vec![circle], false, None)).await);
    assert_eq!(circle.0, FailureKind::Unserialisable, "{circle:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_world_apart_sees_the_document_and_nothing_that_the_page_did_to_the_language() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let html = "<h1 id=h>seen</h1><script>JSON.stringify = () => 'forged'; var mine = 1</script><iframe srcdoc='<p id=p>in</p>'></iframe>";
    page.go(&stage.site.page("/", html)).await;
    let run = async |script: &str, isolated, frame: Option<String>| {
        page.outcome(page.inject_in(script, isolated, frame)).await
    };
    let seen = Settled::Envelope(r#"{"value":"seen undefined"}"#.into());
    let look = "document.getElementById('h').textContent + ' ' + typeof mine";
    assert_eq!(run(look, true, None).await, seen);
    assert_eq!(run(look, true, None).await, seen);
    assert_eq!(run("mine", false, None).await, Settled::Envelope("forged".into()));
    // Also after another document, of which the world is another one.
    page.go(&stage.site.page("/b", "<h1 id=h>other</h1><iframe srcdoc='<p id=p>in</p>'></iframe>")).await;
    assert_eq!(
        run("document.getElementById('h').textContent", true, None).await,
        Settled::Envelope(r#"{"value":"other"}"#.into())
    );
    let frames = page.told(Operation::Frames).await;
    let frames = frames["frames"].as_array().expect("frames");
    assert_eq!(frames.len(), 2, "{frames:?}");
    assert_eq!(frames[1]["parent"], frames[0]["id"]);
    let inner = || frames[1]["id"].as_str().map(str::to_owned);
    let inside = Settled::Envelope(r#"{"value":"in"}"#.into());
    for isolated in [true, false] {
        assert_eq!(run("document.getElementById('p').textContent", isolated, inner()).await, inside);
    }
    let nowhere = failure(run("1", false, Some("no such frame".into())).await);
    assert_eq!(nowhere.0, FailureKind::Invalid, "{nowhere:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_navigates_fails_with_navigated_and_the_page_says_so_first() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.go(&stage.site.page("/a", "<title>a</title>")).await;
    let there = stage.site.page("/b", "<title>b</title>");
    let before = page.events().iter().filter(|event| **event == PageEvent::Navigating).count();
    let token = page.inject(&format!("location.href = '{there}'; await new Promise(() => {{}})"));
    let (kind, message) = failure(page.outcome(token).await);
    assert_eq!(kind, FailureKind::Navigated, "{message}");
    page.until("the page is there, and called so", |events| {
        let located =
            |event: &PageEvent| matches!(event, PageEvent::Located { url, title } if *url == there && title == "b");
        events.iter().any(located).then_some(())
    })
    .await;
    assert_eq!(page.run("document.title").await, "b");
    let navigating = page.events().iter().filter(|event| **event == PageEvent::Navigating).count();
    assert_eq!(navigating, before + 1, "once for each document");
    // Within a document nothing is left.
    page.run("history.pushState({}, '', '/c'); return 1").await;
    let moved = stage.site.url("/c");
    page.until("it moved", |events| {
        events.iter().any(|event| matches!(event, PageEvent::Located { url, .. } if *url == moved)).then_some(())
    })
    .await;
    assert_eq!(page.events().iter().filter(|event| **event == PageEvent::Navigating).count(), navigating);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_comes_while_a_page_goes_elsewhere_never_runs_in_the_next_document() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.go(&stage.site.page("/a", "<title>a</title>")).await;
    let there = stage.site.page("/b", "<title>b</title>");
    let going = page.order(Operation::Navigate { url: there });
    let meant_for_a = page.inject("document.title = 'changed'");
    assert_eq!(failure(page.outcome(meant_for_a).await).0, FailureKind::Navigated);
    page.outcome(going).await;
    assert_eq!(page.run("document.title").await, "b");
    // Where it does not get anywhere, the script runs in the document that stays.
    let going = page.order(Operation::Navigate { url: stage.site.url("/never") });
    let meant_for_b = page.inject("document.title");
    page.done(Operation::Stop).await;
    assert_eq!(page.outcome(meant_for_b).await, Settled::Envelope(r#"{"value":"b"}"#.into()));
    page.outcome(going).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_told_and_answered_and_holds_up_that_page_alone() {
    let Some(stage) = Stage::new().await else { return };
    let (page, other) = (stage.page().await, stage.page().await);
    let asked = page.inject("prompt('what is it?', 'nothing')");
    assert_eq!(dialog(&page).await, (DialogKind::Prompt, "what is it?".into()));
    assert_eq!(other.run("1 + 1").await, 2);
    assert!(!page.settled(asked));
    stage.chromium.answer_dialog(page.id, DialogAnswer { accept: true, text: Some("a name".into()) });
    assert_eq!(page.outcome(asked).await, Settled::Envelope(r#"{"value":"a name"}"#.into()));
    let asked = page.inject("confirm('sure?')");
    assert_eq!(dialog(&page).await, (DialogKind::Confirm, "sure?".into()));
    stage.chromium.answer_dialog(page.id, DialogAnswer { accept: false, text: None });
    assert_eq!(page.outcome(asked).await, Settled::Envelope(r#"{"value":false}"#.into()));
    // A question before leaving is answered with yes.
    page.go(&stage
        .site
        .page("/leave", "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script><p>x"))
        .await;
    page.perform(Operation::Mouse {
        kind: wharf_webview::MouseKind::Click,
        x: 5.0,
        y: 5.0,
        button: wharf_webview::MouseButton::Left,
        count: 1,
        delta_x: 0.0,
        delta_y: 0.0,
        modifiers: Vec::new(),
    })
    .await;
    assert_eq!(page.go(&stage.site.page("/left", "<title>left</title>")).await["title"], "left");
    // Closed while one is open.
    page.inject("alert('still here')");
    dialog(&page).await;
    page.close().await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_is_stopped_and_what_awaits_beside_it_goes_on() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let waits = page.inject("new Promise(done => { globalThis.go = done })");
    let endless = page.inject("while (true) {}");
    let behind = page.inject("'behind'");
    stage.chromium.interrupt(page.id, endless);
    assert_eq!(page.outcome(behind).await, Settled::Envelope(r#"{"value":"behind"}"#.into()));
    assert!(!page.settled(waits));
    page.run("go('went on'); return 0").await;
    assert_eq!(page.outcome(waits).await, Settled::Envelope(r#"{"value":"went on"}"#.into()));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_give_up_a_script_that_only_waits_stops_nothing_else() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let computing = |said: &str| {
        format!(
            "(() => {{ const end = performance.now() + 1500; while (performance.now() < end) {{}} return '{said}' }})()"
        )
    };
    let envelope = |said: &str| Settled::Envelope(format!(r#"{{"value":"{said}"}}"#));
    let waits = page.inject("new Promise(() => {})");
    stage.chromium.interrupt(page.id, waits);
    assert_eq!(page.outcome(page.inject(&computing("first"))).await, envelope("first"));
    // It computes for longer than a look takes, and is another's.
    let waits = page.inject("new Promise(() => {})");
    let computes = page.inject(&computing("second"));
    stage.chromium.interrupt(page.id, waits);
    assert_eq!(page.outcome(computes).await, envelope("second"));
    // Nor does one that waits behind it, and has not begun.
    let computes = page.inject(&computing("third"));
    let behind = page.inject("'behind'");
    stage.chromium.interrupt(page.id, behind);
    assert_eq!(page.outcome(computes).await, envelope("third"));
    // A loop of the page itself, behind which a script waits, is stopped.
    page.run("setTimeout(() => { while (true) {} }, 0); return 0").await;
    let stuck = page.inject("1");
    stage.chromium.interrupt(page.id, stuck);
    assert_eq!(page.run("'free'").await, "free");
    // And by `stop`.
    page.run("setTimeout(() => { while (true) {} }, 0); return 0").await;
    page.done(Operation::Stop).await;
    assert_eq!(page.run("'free again'").await, "free again");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_scripts_over_ten_pages_of_which_one_loops_and_one_asks() {
    let Some(stage) = Stage::new().await else { return };
    let mut pages = Vec::new();
    for _ in 0..10 {
        pages.push(stage.page().await);
    }
    let stuck = pages[0].inject("(() => { while (true) {} })()");
    let alert = pages[1].inject("alert('look')");
    dialog(&pages[1]).await;
    let scripts: Vec<_> =
        (0..100).map(|number| (number, pages[number % 10].inject(&format!("{number} * 2")))).collect();
    for (number, token) in scripts.iter().filter(|(number, _)| number % 10 > 1) {
        let settled = pages[number % 10].outcome(*token).await;
        assert_eq!(settled, Settled::Envelope(format!(r#"{{"value":{}}}"#, number * 2)));
    }
    assert!(
        scripts
            .iter()
            .filter(|(number, _)| number % 10 < 2)
            .all(|(number, token)| !pages[*number % 10].settled(*token))
    );
    stage.chromium.interrupt(pages[0].id, stuck);
    stage.chromium.answer_dialog(pages[1].id, DialogAnswer { accept: true, text: None });
    for (number, token) in &scripts {
        let settled = pages[number % 10].outcome(*token).await;
        assert_eq!(settled, Settled::Envelope(format!(r#"{{"value":{}}}"#, number * 2)));
    }
    pages[1].outcome(alert).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_crashes_says_so_and_comes_back_when_it_is_navigated() {
    let Some(stage) = Stage::new().await else { return };
    let (page, other) = (stage.page().await, stage.page().await);
    page.go(&stage.site.page("/a", "<title>a</title>")).await;
    let waits = page.inject("new Promise(() => {})");
    // The renderer that belongs to this page is told by what it is shown.
    page.order(Operation::Navigate { url: "chrome://crash".into() });
    page.until("the crash is told", |events| events.contains(&PageEvent::Crashed).then_some(())).await;
    let _ = waits;
    let (kind, _) = failure(page.outcome(page.inject("1")).await);
    assert_eq!(kind, FailureKind::Crashed);
    assert_eq!(other.run("'unharmed'").await, "unharmed");
    assert_eq!(page.go(&stage.site.url("/a")).await["title"], "a");
    assert_eq!(page.run("document.title").await, "a");
    assert!(tokio::time::timeout(Duration::from_secs(60), page.told(Operation::Reload)).await.is_ok());
    assert_eq!(json!(page.run("1").await), json!(1));
    stage.end().await;
}
