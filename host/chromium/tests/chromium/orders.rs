//! Going somewhere, looking, typing, clicking, handing over files.

use std::{fs, sync::Arc, time::Duration};

use serde_json::json;
use wharf_core::{WebViewLimits, origin::OriginPolicy};
use wharf_test_support::until;
use wharf_webview::{
    FailureKind, ImageFormat, KeyKind, Modifier, MouseButton, MouseKind, NetworkEntry, Operation, PageEvent, Paper,
    Rectangle, Settled,
};

use super::support::{Page, Stage, path_of};

fn click(x: f64, y: f64) -> Operation {
    Operation::Mouse {
        kind: MouseKind::Click,
        x,
        y,
        button: MouseButton::Left,
        count: 1,
        delta_x: 0.0,
        delta_y: 0.0,
        modifiers: Vec::new(),
    }
}

async fn press(page: &Page<'_>, key: &str, modifiers: &[Modifier]) {
    page.done(Operation::Key { key: key.into(), kind: KeyKind::Press, modifiers: modifiers.into() }).await;
}

async fn logged(page: &Page<'_>, what: &str, is_it: impl Fn(&NetworkEntry) -> bool) -> NetworkEntry {
    page.until(what, |events| {
        events.iter().find_map(|event| match event {
            PageEvent::Network(entry) if is_it(entry) => Some(entry.clone()),
            _ => None,
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_title_that_an_order_tells_was_reported_of_the_page_before() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    for number in 0..100 {
        let title = format!("Berth {number}");
        let url = stage.site.page(&format!("/{number}"), &format!("<title>{title}</title>"));
        assert_eq!(page.go(&url).await["title"], title.as_str());
        let reported = page.events().into_iter().rev().find_map(|event| match event {
            PageEvent::Located { url, title } => Some((url, title)),
            _ => None,
        });
        assert_eq!(reported, Some((url, title)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_goes_somewhere_back_forward_and_again_and_says_how_it_went() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let a = stage.site.page("/a", "<title>A</title>");
    let there = stage.site.page("/there", "<title>There</title>");
    stage.site.answer("/moved", 302, "location: /hop", b"");
    stage.site.answer("/hop", 302, "location: /there", b"");
    let (kind, message) = page.failed(Operation::Back).await;
    assert_eq!((kind, message.as_str()), (FailureKind::Invalid, "there is nothing to go back to"));
    let told = page.go(&a).await;
    assert_eq!(told, json!({ "url": a, "title": "A", "mime_type": "text/html", "redirects": 0, "status": 200 }));
    let told = page.go(&stage.site.url("/moved")).await;
    assert_eq!(
        told,
        json!({ "url": there, "title": "There", "mime_type": "text/html", "redirects": 2, "status": 200 })
    );
    assert_eq!(page.told(Operation::Back).await["title"], "A");
    assert_eq!(page.told(Operation::Forward).await["url"], there);
    let asked = stage.site.asked("/there");
    assert_eq!(page.told(Operation::Reload).await["status"], 200);
    assert_eq!(stage.site.asked("/there"), asked + 1);
    // Within the document.
    assert_eq!(page.go(&format!("{there}#part")).await["url"], format!("{there}#part"));
    let (kind, message) = page.failed(Operation::Forward).await;
    assert_eq!((kind, message.as_str()), (FailureKind::Invalid, "there is nothing to go forward to"));
    let told = page.go(&stage.site.url("/not-there")).await;
    assert_eq!(told["status"], 404);
    stage.site.answer("/nothing", 204, "x-none: 1", b"");
    let (kind, message) = page.failed(Operation::Navigate { url: stage.site.url("/nothing") }).await;
    assert_eq!((kind, message.contains("204")), (FailureKind::Network, true), "{message}");
    // A page that goes on by itself is where it arrives.
    let onward = stage.site.page("/onward", "<script>location.replace('/there')</script>");
    assert_eq!(page.go(&onward).await["url"], there);
    assert_eq!(page.go("about:blank").await["url"], "about:blank");
    assert!(page.events().contains(&PageEvent::Loading(true)));
    assert!(matches!(
        page.events().iter().rfind(|event| matches!(event, PageEvent::Loading(_))),
        Some(PageEvent::Loading(false))
    ));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_policy_forbids_fails_in_its_words_and_is_told_in_the_log() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let (kind, message) = page.failed(Operation::Navigate { url: "http://elsewhere.example/".into() }).await;
    assert_eq!(kind, FailureKind::Denied);
    assert!(message.contains("plugin `browser` may not reach http://elsewhere.example"), "{message}");
    stage.site.answer("/away", 302, "location: http://elsewhere.example/", b"");
    let (kind, message) = page.failed(Operation::Navigate { url: stage.site.url("/away") }).await;
    assert_eq!(kind, FailureKind::Denied, "{message}");
    let asks = stage
        .site
        .page("/asks", "<script>fetch('http://elsewhere.example/x').catch(() => document.title = 'refused')</script>");
    page.go(&asks).await;
    let entry = logged(&page, "a request is denied", |entry| entry.url == "http://elsewhere.example/x").await;
    assert!(entry.denied && entry.failure.as_deref().is_some_and(|why| why.contains("may not reach")), "{entry:?}");
    let entry = logged(&page, "a request is told", |entry| entry.url == asks).await;
    assert_eq!(
        (entry.method.as_str(), entry.kind.as_str(), entry.status, entry.denied),
        ("GET", "document", Some(200), false)
    );
    // A granted name that leads to a private address, which is not granted.
    let shut = stage
        .page_with(|settings| {
            let origins = settings.policy.patterns().cloned().collect();
            settings.policy = Arc::new(OriginPolicy::new("browser".parse().expect("a name"), origins, false));
        })
        .await;
    let (kind, message) = shut.failed(Operation::Navigate { url: stage.site.url("/asks") }).await;
    assert_eq!(kind, FailureKind::Denied, "{message}");
    assert!(message.contains("private address"), "{message}");
    for url in ["file:///etc/passwd", "view-source:http://localhost/", "chrome://version", "devtools://devtools/"] {
        let failed = page.perform(Operation::Navigate { url: url.into() }).await;
        let shown = page.run("document.documentElement.innerText").await;
        assert!(!shown.as_str().unwrap_or_default().contains("root:"), "{url}: {failed:?}");
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_and_one_that_never_answers() {
    let Some(stage) = Stage::new().await else { return };
    let closed =
        std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("an address").port();
    let page = stage
        .page_with(|settings| {
            let origins = ["*".parse().expect("an origin")].to_vec();
            settings.policy = Arc::new(OriginPolicy::new("browser".parse().expect("a name"), origins, true));
        })
        .await;
    let (kind, message) = page.failed(Operation::Navigate { url: format!("http://127.0.0.1:{closed}/") }).await;
    assert_eq!(kind, FailureKind::Network, "{message}");
    let (kind, message) = page.failed(Operation::Navigate { url: format!("https://127.0.0.1:{closed}/") }).await;
    assert_eq!(kind, FailureKind::Network, "{message}");
    // One page waits for ever, and the next order goes on all the same.
    let waits = page.order(Operation::Navigate { url: stage.site.url("/never") });
    until("it was asked for", || stage.site.asked("/never") > 0).await;
    page.done(Operation::Stop).await;
    assert!(matches!(page.outcome(waits).await, Settled::Failed(failure) if failure.kind == FailureKind::Network));
    assert_eq!(page.go(&stage.site.page("/a", "<title>A</title>")).await["title"], "A");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_is_filled_by_mouse_keys_and_text() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    stage.site.page("/sent", "<title>sent</title>");
    let form = "<body style='margin:0'><form action=/sent><input id=i name=i style='position:absolute;left:0;top:0;width:200px;height:40px'>\
        <button style='position:absolute;left:0;top:100px;width:200px;height:40px'>Send</button></form>\
        <script>window.seen = []; for (const kind of ['mousedown','mouseup','click','dblclick','keydown','keyup','contextmenu'])\
        addEventListener(kind, e => seen.push(kind + ':' + (e.key ?? e.button)), true)</script>";
    page.go(&stage.site.page("/form", form)).await;
    page.done(click(50.0, 20.0)).await;
    assert_eq!(page.run("seen.join()").await, "mousedown:0,mouseup:0,click:0");
    for key in ["a", "B", "!"] {
        press(&page, key, &[]).await;
    }
    page.done(Operation::Text { text: "한글 \u{1f600}".into() }).await;
    let value = async || page.run("document.getElementById('i').value").await;
    assert_eq!(value().await, "aB!한글 \u{1f600}");
    press(&page, "Backspace", &[]).await;
    assert_eq!(value().await, "aB!한글 ");
    press(&page, "a", &[Modifier::Control]).await;
    press(&page, "x", &[Modifier::Shift]).await;
    assert_eq!(value().await, "X");
    let (kind, message) =
        page.failed(Operation::Key { key: "Entre".into(), kind: KeyKind::Press, modifiers: Vec::new() }).await;
    assert_eq!((kind, message.contains("no key is called `Entre`")), (FailureKind::Invalid, true), "{message}");
    press(&page, "Enter", &[]).await;
    let sent = stage.site.url("/sent?i=X");
    page.until("the form is sent", |events| {
        events.iter().any(|event| matches!(event, PageEvent::Located { url, .. } if *url == sent)).then_some(())
    })
    .await;
    page.told(Operation::Back).await;
    page.run("seen.length = 0; return 0").await;
    let twice = Operation::Mouse {
        kind: MouseKind::Click,
        x: 300.0,
        y: 300.0,
        button: MouseButton::Right,
        count: 1,
        delta_x: 0.0,
        delta_y: 0.0,
        modifiers: vec![Modifier::Alt],
    };
    page.done(twice).await;
    assert!(page.run("seen.join()").await.as_str().is_some_and(|seen| seen.contains("mousedown:2")));
    page.done(click(50.0, 120.0)).await;
    page.until("the button sends it", |events| {
        let located =
            events.iter().filter(|event| matches!(event, PageEvent::Located { url, .. } if url.contains("/sent")));
        (located.count() > 1).then_some(())
    })
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_and_prints_have_their_size_and_end_at_the_limit() {
    let limits = WebViewLimits { file_bytes: 300_000, ..WebViewLimits::default() };
    let Some(stage) = Stage::with(limits).await else { return };
    let page = stage.page_with(|settings| (settings.width, settings.height) = (400, 300)).await;
    page.go(&stage.site.page("/", "<body style='margin:0;background:red'><div style='height:1000px'>text</div>")).await;
    let shot = |full_page, clip| Operation::Screenshot { format: ImageFormat::Png, full_page, clip };
    let size = |png: &[u8]| {
        assert_eq!(&png[1..4], b"PNG");
        let side = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
        (side(16), side(20))
    };
    assert_eq!(size(&page.done(shot(false, None)).await.data), (400, 300));
    assert_eq!(size(&page.done(shot(true, None)).await.data), (400, 1000));
    let clip = Rectangle { x: 10.0, y: 10.0, width: 50.0, height: 40.0 };
    assert_eq!(size(&page.done(shot(false, Some(clip))).await.data), (50, 40));
    let jpeg = Operation::Screenshot { format: ImageFormat::Jpeg { quality: 50 }, full_page: false, clip: None };
    assert_eq!(&page.done(jpeg).await.data[..2], b"\xff\xd8");
    page.done(Operation::Resize { width: 200, height: 100 }).await;
    assert_eq!(page.run("[innerWidth, innerHeight]").await, json!([200, 100]));
    let pdf = page.done(Operation::Pdf { landscape: true, background: true, paper: Paper::A4 }).await;
    assert_eq!((pdf.mime_type, &pdf.data[..5]), ("application/pdf", &b"%PDF-"[..]));
    // Noise cannot be made small.
    let noise = "const c = document.body.appendChild(document.createElement('canvas')); c.width = c.height = 1000;\
        const x = c.getContext('2d'), d = x.createImageData(1000, 1000); for (let i = 0; i < d.data.length; i++)\
        d.data[i] = Math.random() * 256; x.putImageData(d, 0, 0); return 0";
    page.run(noise).await;
    let (kind, message) = page.failed(shot(true, None)).await;
    assert_eq!((kind, message.contains("file_bytes")), (FailureKind::Limit, true), "{message}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_handed_to_an_input_and_to_nothing_else() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.go(&stage.site.page("/", "<input type=file id=f multiple><p id=p>")).await;
    let files: Vec<_> = ["one.txt", "two.txt"].map(|name| stage.staging.path().join(name)).to_vec();
    for file in &files {
        fs::write(file, file.file_name().expect("a name").as_encoded_bytes()).expect("a file");
    }
    let set = |element: &str, files: &[std::path::PathBuf]| Operation::SetFiles {
        element: element.into(),
        files: files.into(),
    };
    page.done(set("document.getElementById('f')", &files)).await;
    let read = "Promise.all([...document.getElementById('f').files].map(async f => f.name + '=' + await f.text()))";
    assert_eq!(page.run(read).await, json!(["one.txt=one.txt", "two.txt=two.txt"]));
    for element in ["document.getElementById('p')", "null", "no.such()", "("] {
        let (kind, message) = page.failed(set(element, &files)).await;
        assert_eq!(kind, FailureKind::Invalid, "{element}: {message}");
    }
    let (kind, _) = page.failed(set("document.getElementById('f')", &[path_of("/no/such/file")])).await;
    assert_eq!(kind, FailureKind::Invalid);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_idle_once_nothing_was_loaded_for_a_while() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.done(Operation::NetworkIdle { idle: Duration::from_millis(50) }).await;
    page.go(&stage.site.page("/", "<title>idle</title>")).await;
    page.run("fetch('/never'); return 0").await;
    until("it is being loaded", || stage.site.asked("/never") > 0).await;
    let waits = page.order(Operation::NetworkIdle { idle: Duration::from_millis(50) });
    page.run("new Promise(done => setTimeout(done, 300))").await;
    assert!(!page.settled(waits), "something is being loaded");
    page.go("about:blank").await;
    page.outcome(waits).await;
    stage.end().await;
}

/// Chromium says of such an answer that it came, and never that it ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_no_script_reads_keeps_no_page_busy_and_is_told() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let answered = stage.site.answer("/answered", 201, "cache-control: no-store", b"{\"done\":true}");
    page.go(&stage.site.page("/", "<title>idle</title>")).await;
    page.run("return (await fetch('/answered')).status").await;
    page.done(Operation::NetworkIdle { idle: Duration::from_millis(50) }).await;
    until("it is told", || {
        page.events().iter().any(|event| {
            matches!(event, PageEvent::Network(told) if told.url == answered && told.status == Some(201) && told.failure.is_none())
        })
    })
    .await;
    stage.end().await;
}
