//! Ways out of the granted origins, tried by hostile pages in a real Chromium.
//!
//! A *canary* is a server of an origin that is not granted: it must see no byte and
//! no connection, neither of TCP nor of UDP. Another one is granted, and the same
//! ways lead to that: a way that reaches nobody would prove nothing.

#![cfg(target_os = "linux")]

mod canary;
mod pages;
mod site;
mod ways;

use std::collections::BTreeSet;

use canary::Canary;
use pages::{Browser, Page};
use site::Site;
use ways::{LEAVING, STAYING, Way};
use wharf_test_support::AMPLE;
use wharf_webview::{FailureKind, Settled};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_way_leads_out_of_the_granted_origins() {
    let Some(browser) = Browser::start() else { return };
    let (site, denied, granted) = (Site::start().await, Canary::start().await, Canary::start().await);
    // First where it is not granted: by the time that the same ways have reached
    // the other canary, they would have reached this one.
    let mut open = Vec::new();
    for (canary, origins) in [(&denied, vec![site.origin()]), (&granted, vec![site.origin(), granted.origin()])] {
        open.extend(go(&browser, &site, canary, &origins, |_| true).await);
    }
    let wanted: BTreeSet<_> =
        STAYING.iter().chain(LEAVING).filter(|way| way.reaches_if_granted).map(|way| way.name).collect();
    // A browser may drop what a page does while it leaves; that way is gone again.
    let mut missing = granted.misses(&wanted, AMPLE / 4).await;
    for _ in 0..3 {
        if missing.is_empty() {
            break;
        }
        let origins = [site.origin(), granted.origin()];
        open.extend(go(&browser, &site, &granted, &origins, |way| missing.contains(&way.name)).await);
        missing = granted.misses(&wanted, AMPLE / 4).await;
    }
    assert!(missing.is_empty(), "these never reached the granted canary: {missing:?}");
    let unexpected = granted.paths().into_iter().filter(|path| !wanted.contains(path.as_str())).collect::<Vec<_>>();
    assert!(unexpected.is_empty(), "these reach it, and their rows say that they do not: {unexpected:?}");
    assert_eq!(denied.all(), [""; 0], "a page got out");
    // That it saw nothing is not because it cannot see.
    denied.touch().await;
    assert_eq!(denied.all().len(), 2);
    browser.end().await;
}

/// Tries to reach a canary in these ways. Keep the returned pages until the effects
/// have been checked.
async fn go(
    browser: &Browser,
    site: &Site,
    canary: &Canary,
    origins: &[String],
    chosen: impl Fn(&Way) -> bool,
) -> Vec<Page> {
    let page = browser.open(origins, true).await;
    page.go(&site.url("/", canary)).await;
    for way in STAYING.iter().filter(|way| chosen(way)) {
        page.run(&format!("show({:?})", site.url(&format!("/way/{}", way.name), canary))).await;
    }
    let mut pages = vec![page];
    for way in LEAVING.iter().filter(|way| chosen(way)) {
        let page = browser.open(origins, true).await;
        page.go(&site.url("/", canary)).await;
        page.start(way.script);
        pages.push(page);
    }
    pages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_navigation_to_what_is_not_granted_says_so_and_sends_nothing() {
    let Some(browser) = Browser::start() else { return };
    let (site, denied) = (Site::start().await, Canary::start().await);
    let page = browser.open(&[site.origin()], true).await;
    page.go(&site.url("/", &denied)).await;
    let port = denied.port();
    for url in [
        denied.url("/plain"),
        site.url("/redirect/by-navigation", &denied),
        format!("http://localhost:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://{}@127.0.0.1:{port}/", site.authority()),
    ] {
        let settled = page.navigate(&url).await;
        assert!(
            matches!(&settled, Settled::Failed(failure) if failure.kind == FailureKind::Denied),
            "{url}: {settled:?}"
        );
    }
    assert_eq!(denied.all(), [""; 0]);
    // Not even where the core, which takes none of these, had asked for it.
    for url in [
        "file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "chrome://version/",
        "devtools://devtools/bundled/inspector.html",
    ] {
        let settled = page.navigate(url).await;
        assert!(matches!(&settled, Settled::Failed(_)), "{url}: {settled:?}");
        assert!(!page.run("document.documentElement.innerText").await.as_str().unwrap_or_default().contains("root:"));
    }
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_name_that_leads_to_this_machine_does_not_lead_a_page_there() {
    let Some(browser) = Browser::start() else { return };
    let canary = Canary::start().await;
    let port = canary.port();
    let names = ["localhost", "rebound.localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    let origins: Vec<_> = names.iter().map(|name| format!("http://{name}:{port}")).collect();
    let page = browser.open(&origins, false).await;
    for origin in &origins {
        let settled = page.navigate(&format!("{origin}/")).await;
        assert!(
            matches!(&settled, Settled::Failed(failure) if failure.kind == FailureKind::Denied),
            "{origin}: {settled:?}"
        );
        page.run(&format!("fetch('{origin}/', {{ mode: 'no-cors' }}).catch(() => 0)")).await;
        page.run(&format!(
            "new Promise(done => {{ const socket = new WebSocket('{origin}/'); socket.onerror = socket.onopen = done }}).then(() => 0)"
        ))
        .await;
    }
    assert_eq!(canary.all(), [""; 0]);
    // The same names do lead there where private addresses are granted, too.
    let page = browser.open(&origins, true).await;
    page.go(&format!("http://localhost:{port}/by-name")).await;
    page.go(&format!("http://rebound.localhost:{port}/by-another-name")).await;
    let wanted = BTreeSet::from(["by-name", "by-another-name"]);
    assert_eq!(canary.misses(&wanted, AMPLE).await, [""; 0]);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_of_the_machine_is_read_by_a_page() {
    let Some(browser) = Browser::start() else { return };
    let (site, denied) = (Site::start().await, Canary::start().await);
    let page = browser.open(&[site.origin()], true).await;
    page.go(&site.url("/", &denied)).await;
    for script in [
        "fetch('file:///etc/passwd').then(answer => answer.text()).catch(() => '')",
        "new Promise(done => { const asked = new XMLHttpRequest(); asked.onloadend = () => done(asked.responseText); \
         try { asked.open('GET', 'file:///etc/passwd'); asked.send() } catch { done('') } })",
        "new Promise(done => { const frame = document.createElement('iframe'); frame.src = 'file:///etc/passwd'; \
         const look = () => { try { done(frame.contentDocument.body.innerText) } catch { done('') } }; \
         frame.onload = frame.onerror = look; setTimeout(look, 1000); document.body.append(frame) })",
        "new Promise(done => { const image = new Image(); image.onload = () => done('shown'); image.onerror = () => done(''); \
         image.src = 'file:///usr/share/pixmaps/debian-logo.png' })",
    ] {
        assert_eq!(page.run(script).await, "", "{script}");
    }
    page.run("location.href = 'file:///etc/passwd'; return 0").await;
    page.run("window.open('file:///etc/passwd'); return 0").await;
    assert!(page.run("location.href").await.as_str().unwrap_or_default().starts_with(&site.origin()));
    browser.end().await;
}
