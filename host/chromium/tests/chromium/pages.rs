//! What pages are apart, what they tell, what they want to open and to download.

use std::{fs, sync::Arc};

use wharf_core::{WebViewLimits, origin::OriginPolicy};
use wharf_webview::{
    ConsoleEntry, ConsoleKind, DialogAnswer, Download, Operation, PageEvent, Settled, WebViewBackend as _,
};

use super::support::{Page, Stage};

async fn download(page: &Page<'_>) -> Download {
    page.until("a download has ended", |events| {
        events.iter().rev().find_map(|event| match event {
            PageEvent::Download(download) => Some(download.clone()),
            _ => None,
        })
    })
    .await
}

async fn console(page: &Page<'_>, kind: ConsoleKind, part: &str) -> ConsoleEntry {
    page.until(part, |events| {
        events.iter().find_map(|event| match event {
            PageEvent::Console(entry) if entry.kind == kind && entry.text.contains(part) => Some(entry.clone()),
            _ => None,
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_sees_no_cookie_and_no_storage_of_another() {
    let Some(stage) = Stage::new().await else { return };
    let (one, other) = (stage.page().await, stage.page().await);
    let url = stage.site.page("/", "<p>x");
    one.go(&url).await;
    other.go(&url).await;
    one.run("document.cookie = 'a=1'; localStorage.a = 1; return 0").await;
    assert_eq!(one.run("document.cookie + localStorage.a").await, "a=11");
    assert_eq!(other.run("document.cookie + localStorage.a").await, "undefined");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_told_its_language_its_time_and_its_name() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage
        .page_with(|settings| {
            settings.locale = Some("ko-KR".into());
            settings.time_zone = Some("Asia/Seoul".into());
            settings.user_agent = Some("Somebody/1.0".into());
        })
        .await;
    page.go(&stage.site.page("/", "<p>x")).await;
    let told = "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent, innerWidth].join()";
    assert_eq!(page.run(told).await, "ko-KR,Asia/Seoul,Somebody/1.0,1280");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_writes_and_throws_is_told_and_cut() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let html = "<script>console.log('said', 1, { a: 1 }); console.warn('careful'); console.error('x'.repeat(100000));\
        console.info('y'.repeat(3000000)); setTimeout(() => { throw new Error('thrown') })</script>\
        <script>new Worker(URL.createObjectURL(new Blob([\"console.log('of a worker')\"])))</script>";
    let url = stage.site.page("/", html);
    page.go(&url).await;
    let entry = console(&page, ConsoleKind::Log, "said 1").await;
    assert_eq!((entry.url.as_deref(), entry.line), (Some(url.as_str()), Some(1)));
    console(&page, ConsoleKind::Warning, "careful").await;
    console(&page, ConsoleKind::Exception, "Error: thrown").await;
    console(&page, ConsoleKind::Log, "of a worker").await;
    assert!(console(&page, ConsoleKind::Error, "xxx").await.text.len() <= 8_192);
    console(&page, ConsoleKind::Warning, "longer than 1 MiB").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_a_page_opens_is_opened_in_the_page_itself() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    let target = stage.site.page("/window", "<title>window</title>");
    let root = stage.site.page("/", "<title>root</title><a id=a href=/window target=_blank>a</a>");
    // News of the page before may come late, so each place is waited for as the last one that is told.
    let is_at = |events: &[PageEvent], place: &str, named: &str| {
        let told = events.iter().rev().find_map(|event| match event {
            PageEvent::Located { url, title } => Some((url.as_str(), title.as_str())),
            _ => None,
        });
        told == Some((place, named))
    };
    for (number, open) in [
        "window.open('/window')",
        "window.open('/window', '_blank', 'noopener')",
        "document.getElementById('a').click()",
    ]
    .iter()
    .enumerate()
    {
        page.go(&root).await;
        page.until("the root", |events| is_at(events, &root, "root").then_some(())).await;
        page.run(&format!("{open}; return 0")).await;
        page.until(open, |events| {
            let is_popup =
                |event: &&PageEvent| matches!(event, PageEvent::Console(entry) if entry.kind == ConsoleKind::Popup);
            let opened = events.iter().filter(is_popup).count();
            (opened > number && is_at(events, &target, "window")).then_some(())
        })
        .await;
    }
    // Where it may not go, it does not go.
    page.run("window.open('http://elsewhere.example/'); return 0").await;
    console(&page, ConsoleKind::Error, "may not reach http://elsewhere.example/").await;
    assert_eq!(page.run("document.title").await, "window");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_is_taken_where_it_is_granted_and_ends_at_its_limit() {
    let limits = WebViewLimits { download_bytes: 10_000, ..WebViewLimits::default() };
    let Some(stage) = Stage::with(limits).await else { return };
    let file = stage.site.answer("/file", 200, "content-disposition: attachment; filename=\"some.bin\"", &[7; 5_000]);
    let large =
        stage.site.answer("/large", 200, "content-disposition: attachment; filename=\"large.bin\"", &[7; 50_000]);
    let page = stage.page_with(|settings| settings.downloads = true).await;
    let told = page.go(&file).await;
    assert_eq!((&told["download"], &told["url"]), (&true.into(), &file.clone().into()));
    let Download { url, name, bytes, staged } = download(&page).await;
    assert_eq!((url, name.as_str(), bytes), (file.clone(), "some.bin", 5_000));
    assert_eq!(fs::read(staged.expect("it is there")).expect("a file"), [7; 5_000]);
    let again = stage.page_with(|settings| settings.downloads = true).await;
    again.order(Operation::Navigate { url: large });
    let failed = download(&again).await.staged.expect_err("too large");
    assert!(failed.to_string().contains("download_bytes"), "{failed}");
    let refused = stage.page().await;
    refused.order(Operation::Navigate { url: file });
    let failed = download(&refused).await.staged.expect_err("not granted");
    assert!(failed.to_string().contains("not granted"), "{failed}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_another_site_is_a_frame_like_any_other() {
    let Some(stage) = Stage::new().await else { return };
    let other = format!("http://127.0.0.1:{}", stage.site.port);
    let both = [format!("http://localhost:{}", stage.site.port), other.clone()];
    let page = stage
        .page_with(|settings| {
            let origins = both.iter().map(|origin| origin.parse().expect("an origin")).collect();
            settings.policy = Arc::new(OriginPolicy::new("browser".parse().expect("a name"), origins, true));
        })
        .await;
    stage.site.page("/inner", "<title>inner</title><p id=p>inside</p><script>fetch('http://elsewhere.example/f').catch(() => {}); console.log('from within')</script>");
    page.go(&stage.site.page("/", &format!("<iframe name=n src='{other}/inner'></iframe>"))).await;
    let frames = page.told(Operation::Frames).await;
    let frame = frames["frames"][1].clone();
    assert_eq!((&frame["url"], &frame["name"]), (&format!("{other}/inner").into(), &"n".into()), "{frames}");
    assert_eq!(frame["parent"], frames["frames"][0]["id"]);
    let inner = || frame["id"].as_str().map(str::to_owned);
    let inside = Settled::Envelope(r#"{"value":"inside"}"#.into());
    for isolated in [true, false] {
        let found = page.outcome(page.inject_in("document.getElementById('p').textContent", isolated, inner())).await;
        assert_eq!(found, inside);
    }
    console(&page, ConsoleKind::Log, "from within").await;
    page.until("its request is denied", |events| {
        let denied =
            |event: &PageEvent| matches!(event, PageEvent::Network(entry) if entry.denied && entry.url.ends_with("/f"));
        events.iter().any(denied).then_some(())
    })
    .await;
    // A dialog in it is one of the page, and a loop in it is stopped.
    let asked = page.inject_in("confirm('from within')", false, inner());
    page.until("a dialog is open", |events| matches!(events.last(), Some(PageEvent::DialogOpened(_))).then_some(()))
        .await;
    stage.chromium.answer_dialog(page.id, DialogAnswer { accept: true, text: None });
    assert_eq!(page.outcome(asked).await, Settled::Envelope(r#"{"value":true}"#.into()));
    let endless = page.inject_in("(() => { while (true) {} })()", false, inner());
    stage.chromium.interrupt(page.id, endless);
    assert_eq!(page.outcome(page.inject_in("document.getElementById('p').textContent", false, inner())).await, inside);
    // It goes with its document.
    page.go("about:blank").await;
    assert!(matches!(page.outcome(page.inject_in("1", false, inner())).await, Settled::Failed(_)));
    assert_eq!(page.told(Operation::Frames).await["frames"].as_array().map(Vec::len), Some(1));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_floods_its_console_is_not_listened_to_for_a_while() {
    let Some(stage) = Stage::new().await else { return };
    let (page, other) = (stage.page().await, stage.page().await);
    page.go(&stage.site.page("/", "<p>x")).await;
    let isolated = async |page: &Page<'_>| page.outcome(page.inject_in("1", true, None)).await;
    assert_eq!(isolated(&page).await, Settled::Envelope(r#"{"value":1}"#.into()));
    let flood = "globalThis.timer = setInterval(() => { for (let i = 0; i < 50; i++) console.log('flood', i) }, 10); print(); return 'floods'";
    assert_eq!(page.run(flood).await, "floods");
    console(&page, ConsoleKind::Warning, "left out for some seconds").await;
    for number in 0..20 {
        assert_eq!(other.run(&number.to_string()).await, number);
    }
    assert_eq!(isolated(&page).await, Settled::Envelope(r#"{"value":1}"#.into()));
    // Also what comes and goes meanwhile is found.
    page.go(&stage.site.page("/next", "<p id=p>next</p>")).await;
    let next = page.outcome(page.inject_in("document.getElementById('p').textContent", true, None)).await;
    assert_eq!(next, Settled::Envelope(r#"{"value":"next"}"#.into()));
    // After a while it is heard again.
    let heard = |events: &[PageEvent]| {
        let again = |event: &PageEvent| matches!(event, PageEvent::Console(entry) if entry.text == "heard again");
        events.iter().any(again).then_some(())
    };
    page.run("setInterval(() => console.log('heard again'), 200); return 0").await;
    page.until("it is heard again", heard).await;
    stage.end().await;
}
