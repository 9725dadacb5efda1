//! Limits that the browser itself has to keep: of files, connections, its own end.

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use wharf::Context;
use wharf_tests::{Fixture, Setup, Site, context, lives, until_async};

use super::{ask, entries, execute, here, later, limited, page, perform, run, until};
use crate::webviews::{browser, scratch};

/// Has a page download this many bytes: the entry of the log with that number.
pub(super) async fn download(fixture: &Fixture, site: &Site, id: &str, bytes: u64, number: u64) -> Value {
    let address = site.at(&format!("/download?{bytes}"));
    run(fixture, id, &format!("const a = document.createElement('a'); a.href = '{address}'; a.click(); 1")).await;
    let mut told = entries(fixture, id, "downloads", number).await;
    told["entries"][usize::try_from(number - 1).expect("few")].take()
}

pub(super) async fn page_at_the_site(fixture: &Fixture, site: &Site) -> String {
    let id = page(fixture, &here()).await;
    let there = perform(fixture, &id, "navigate", json!({"url": site.at("/")})).await;
    assert_eq!(there["state"], "done", "{there}");
    id
}

#[tokio::test]
pub(super) async fn a_download_of_one_byte_too_many_fails() {
    let site = Site::start();
    let fixture = limited(&site, "download_bytes", 1_000).open().await;
    let id = page_at_the_site(&fixture, &site).await;
    let entry = download(&fixture, &site, &id, 1_000, 1).await;
    assert_eq!((&entry["state"], &entry["bytes"]), (&json!("done"), &json!(1_000)), "{entry}");
    let entry = download(&fixture, &site, &id, 1_001, 2).await;
    assert_eq!(entry["state"], "failed", "{entry}");
    assert!(entry["failure"].as_str().is_some_and(|why| why.contains("download_bytes")), "{entry}");
}

#[tokio::test]
pub(super) async fn one_download_too_many_fails() {
    let site = Site::start();
    let fixture = limited(&site, "downloads", 1).open().await;
    let id = page_at_the_site(&fixture, &site).await;
    assert_eq!(download(&fixture, &site, &id, 10, 1).await["state"], "done");
    let entry = download(&fixture, &site, &id, 10, 2).await;
    assert_eq!(entry["state"], "failed", "{entry}");
    assert!(entry["failure"].as_str().is_some_and(|why| why.contains("`downloads`")), "{entry}");
}

#[tokio::test]
pub(super) async fn one_connection_too_many_is_refused() {
    let site = Site::start();
    let fixture = limited(&site, "connections_per_page", 2).open().await;
    let id = page_at_the_site(&fixture, &site).await;
    let begin = "window.control = new AbortController(); const {signal} = control; \
                 for (const at of [1, 2]) fetch('/silence?' + at, {signal}).catch(() => {}); 1";
    run(&fixture, &id, begin).await;
    wharf_tests::until("they arrive", || site.was_asked("/silence?1") && site.was_asked("/silence?2")).await;
    let third = run(&fixture, &id, "(await fetch('/second?third')).status").await;
    // The page's way out says so, and nobody was asked.
    assert_eq!(third["data"], "503", "{third}");
    assert!(!site.was_asked("/second?third"));
    run(&fixture, &id, "control.abort(); 1").await;
    until_async("there is room again", async || {
        run(&fixture, &id, "(await fetch('/second')).status").await["data"] == "200"
    })
    .await;
}

/// The same with a directory for the browser's own.
fn marked(site: &Site, name: &str, value: u64) -> (Setup, TempDir) {
    let scratch = scratch();
    let table = format!("[webview]\ntemporary = '{}'", scratch.path().display());
    (limited(site, name, value).with_tables(&table), scratch)
}

#[tokio::test]
pub(super) async fn a_browser_without_pages_is_stopped() {
    let site = Site::start();
    let (setup, scratch) = marked(&site, "backend_idle_seconds", 100);
    let fixture = setup.open().await;
    let mark = format!("--user-data-dir={}", scratch.path().display());
    let id = page(&fixture, &here()).await;
    until(&fixture, &here(), &id, "it is open", |told| told["ok"]["status"] == "ready").await;
    later(101).await;
    assert!(lives(&mark), "a page is open");
    ask(&fixture, &here(), "close", &id, json!({})).await;
    later(61).await;
    assert!(lives(&mark), "it may yet be needed");
    later(61).await;
    wharf_tests::until("it is stopped", || !lives(&mark)).await;
    // The next page has another one.
    assert_eq!(run(&fixture, &page(&fixture, &here()).await, "1").await["data"], "1");
}

/// The same with a browser for each tenant.
fn apart(site: &Site, name: &str, value: u64) -> Setup {
    limited(site, name, value).with_tables("[webview]\nshared = false")
}

fn tenant(name: &str) -> Context {
    context(name, "test")
}

#[tokio::test]
pub(super) async fn a_browser_of_one_tenant_too_many_waits_for_one_without_a_page() {
    let site = Site::start();
    let fixture = apart(&site, "browsers", 1).open().await;
    let [first, second] = ["acme", "globex"].map(tenant);
    let page_of_first = page(&fixture, &first).await;
    until(&fixture, &first, &page_of_first, "it is open", |told| told["ok"]["status"] == "ready").await;
    let page_of_second = page(&fixture, &second).await;
    until(&fixture, &second, &page_of_second, "it is refused", |told| told["ok"]["because"] == "backend-gone").await;
    let told = ask(&fixture, &first, "get", &page_of_first, json!({})).await;
    assert_eq!(told["ok"]["status"], "ready", "nobody is evicted for another tenant: {told}");
    ask(&fixture, &first, "close", &page_of_first, json!({})).await;
    until_async("there is room", async || {
        let id = page(&fixture, &second).await;
        let settled = |told: &Value| told["ok"]["status"] == "ready" || told["ok"]["status"] == "closed";
        until(&fixture, &second, &id, "it is open or not", settled).await["ok"]["status"] == "ready"
    })
    .await;
}

#[tokio::test]
pub(super) async fn a_page_that_takes_the_memory_of_its_tenants_browser_ends_alone() {
    wharf_tests::of_a_limit_of_memory();
    let site = Site::start();
    let fixture = apart(&site, "browser_memory_bytes", 400 << 20).open().await;
    let id = page(&fixture, &here()).await;
    let other = tenant("globex");
    let of_other = page(&fixture, &other).await;
    let take = "const all = []; for (let i = 0; i < 12; i++) all.push(new Uint8Array(50 << 20).fill(1)); all.length";
    let took = run(&fixture, &id, take).await;
    assert_ne!(took["data"], "12", "it had 600 MiB: {took}");
    assert_eq!(run(&fixture, &page(&fixture, &here()).await, "1").await["data"], "1", "its tenant gets another page");
    until(&fixture, &other, &of_other, "it goes on", |told| told["ok"]["status"] == "ready").await;
}

/// Kills the browser of this page and waits until that is known.
async fn crash(fixture: &Fixture, scratch: &TempDir, id: &str) {
    until(fixture, &here(), id, "it is open", |told| told["ok"]["status"] == "ready").await;
    kill_process(browser(scratch).expect("a browser runs"), Signal::KILL).expect("it can be killed");
    until(fixture, &here(), id, "it is closed", |told| told["ok"]["because"] == "backend-gone").await;
}

#[tokio::test]
pub(super) async fn a_browser_that_crashes_once_too_often_is_not_started_again() {
    let site = Site::start();
    let (setup, scratch) = marked(&site, "crashes", 2);
    let fixture = setup.open().await;
    crash(&fixture, &scratch, &page(&fixture, &here()).await).await;
    crash(&fixture, &scratch, &page(&fixture, &here()).await).await;
    let id = page(&fixture, &here()).await;
    until(&fixture, &here(), &id, "it is refused", |told| told["ok"]["because"] == "backend-gone").await;
    assert!(browser(&scratch).is_none());
    let refused = execute(&fixture, &id, "1").await.expect_err("no page");
    assert_eq!(refused["code"], "gone", "{refused}");
}

#[tokio::test]
pub(super) async fn crashes_of_long_ago_do_not_count() {
    let site = Site::start();
    let (setup, scratch) = marked(&site, "crashes", 1);
    let fixture = setup.webview_limit("crash_window_seconds", 1).open().await;
    crash(&fixture, &scratch, &page(&fixture, &here()).await).await;
    until_async("it is started again", async || {
        let id = page(&fixture, &here()).await;
        let settled = |told: &Value| told["ok"]["status"] == "ready" || told["ok"]["status"] == "closed";
        until(&fixture, &here(), &id, "it is open or not", settled).await["ok"]["status"] == "ready"
    })
    .await;
}
