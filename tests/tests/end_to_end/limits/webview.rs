//! Limits of web pages.

mod browser;
mod shared;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, Setup, Site, context, found, object, until_async};

use super::{Tested, later};

pub(super) const TESTED: Tested = &[
    ("pages", one_page_too_many_closes_an_idle_one_or_is_refused),
    ("pages_per_session", shared::one_page_too_many_of_a_session_or_tenant_closes_its_own_idle_one_and_no_other),
    ("pages_per_tenant", shared::one_page_too_many_of_a_session_or_tenant_closes_its_own_idle_one_and_no_other),
    ("requests_per_session", shared::one_request_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("requests_per_tenant", shared::one_request_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("requests", shared::one_request_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("kept_bytes_per_session", shared::one_byte_too_many_that_is_kept_lets_go_of_results_of_the_same_tenant_alone),
    ("kept_bytes_per_tenant", shared::one_byte_too_many_that_is_kept_lets_go_of_results_of_the_same_tenant_alone),
    ("kept_bytes", shared::one_byte_too_many_that_is_kept_lets_go_of_results_of_the_same_tenant_alone),
    ("transfer_bytes_per_session", shared::a_download_beyond_what_session_tenant_or_host_transfer_is_cancelled),
    ("transfer_bytes_per_tenant", shared::a_download_beyond_what_session_tenant_or_host_transfer_is_cancelled),
    ("transfer_bytes", shared::a_download_beyond_what_session_tenant_or_host_transfer_is_cancelled),
    ("connections_per_session", shared::one_connection_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("connections_per_tenant", shared::one_connection_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("connections", shared::one_connection_too_many_of_a_session_a_tenant_or_the_host_is_refused),
    ("requests_per_page", one_request_too_many_is_refused_until_one_has_ended),
    ("result_bytes_per_page", one_byte_of_results_too_many_lets_go_of_the_oldest),
    ("result_bytes", a_result_of_one_byte_too_many_is_cut),
    ("file_bytes", a_screenshot_that_is_too_large_fails),
    ("request_milliseconds", a_request_that_says_nothing_else_ends_in_time),
    ("request_ceiling_milliseconds", a_request_may_not_ask_for_a_millisecond_more),
    ("kept_seconds", a_result_is_kept_as_long_as_that_and_no_longer),
    ("tombstones_per_page", one_expired_request_too_many_is_forgotten),
    ("dialog_milliseconds", a_dialog_that_nobody_answers_is_dismissed),
    ("idle_seconds", a_page_that_is_unused_for_too_long_is_closed),
    ("closed_seconds", a_closed_page_is_remembered_as_long_as_that_and_no_longer),
    ("log_entries", one_entry_too_many_loses_the_oldest),
    ("log_bytes", entries_of_too_many_bytes_lose_the_oldest),
    ("download_bytes", browser::a_download_of_one_byte_too_many_fails),
    ("downloads", browser::one_download_too_many_fails),
    ("connections_per_page", browser::one_connection_too_many_is_refused),
    ("wait_milliseconds", a_wait_for_a_request_ends_though_nothing_happened),
    ("backend_idle_seconds", browser::a_browser_without_pages_is_stopped),
    ("browsers", browser::a_browser_of_one_tenant_too_many_waits_for_one_without_a_page),
    ("browser_memory_bytes", browser::a_page_that_takes_the_memory_of_its_tenants_browser_ends_alone),
    ("crashes", browser::a_browser_that_crashes_once_too_often_is_not_started_again),
    ("crash_window_seconds", browser::crashes_of_long_ago_do_not_count),
];

fn limited(site: &Site, name: &str, value: u64) -> Setup {
    // The clock of a call does not go along where a test moves its own.
    let grant = format!("origins = [\"{}\"]\nprivate_addresses = true\ndownloads = true", site.origin());
    Setup::new().webviews(&grant).limit("wall_time_milliseconds", 600_000).webview_limit(name, value)
}

fn session(name: &str) -> Context {
    context("local", name)
}

fn here() -> Context {
    session("test")
}

async fn ask(fixture: &Fixture, session: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "id": id});
    arguments.as_object_mut().expect("an object").extend(object(more));
    found(fixture.call_in(session, "hostile__ask_page", arguments).await)
}

async fn open(fixture: &Fixture, session: &Context) -> Result<String, Value> {
    let mut opened = ask(fixture, session, "open", "", json!({})).await;
    opened["ok"]["id"].as_str().map(str::to_owned).ok_or_else(|| opened["refused"].take())
}

async fn page(fixture: &Fixture, session: &Context) -> String {
    open(fixture, session).await.expect("a page")
}

async fn execute(fixture: &Fixture, id: &str, script: &str) -> Result<String, Value> {
    let mut made = ask(fixture, &here(), "execute", id, json!({"script": script})).await;
    made["ok"].as_str().map(str::to_owned).ok_or_else(|| made["refused"].take())
}

/// The outcome of a request, however busy the machine is.
async fn waited(fixture: &Fixture, request: &str) -> Value {
    until_async("it ends", async || {
        let mut outcome = ask(fixture, &here(), "wait", request, json!({"milliseconds": 5_000})).await;
        if outcome["ok"]["state"] != "pending" { Ok(outcome["ok"].take()) } else { Err(outcome) }
    })
    .await
}

async fn run(fixture: &Fixture, id: &str, script: &str) -> Value {
    let request = execute(fixture, id, script).await.expect("a request");
    waited(fixture, &request).await
}

async fn perform(fixture: &Fixture, id: &str, operation: &str, parameters: Value) -> Value {
    let more = json!({"operation": operation, "parameters": parameters.to_string()});
    let made = ask(fixture, &here(), "perform", id, more).await;
    waited(fixture, made["ok"].as_str().unwrap_or_else(|| panic!("{operation}: {made}"))).await
}

async fn poll(fixture: &Fixture, request: &str) -> String {
    let outcome = ask(fixture, &here(), "poll", request, json!({})).await;
    outcome["ok"]["state"].as_str().expect("a state").to_owned()
}

/// Waits until a page is so.
async fn until(fixture: &Fixture, session: &Context, id: &str, what: &str, so: impl Fn(&Value) -> bool) -> Value {
    until_async(what, async || {
        let told = ask(fixture, session, "get", id, json!({})).await;
        if so(&told) { Ok(told) } else { Err(told) }
    })
    .await
}

/// Entries of a log, once there are as many.
async fn entries(fixture: &Fixture, id: &str, log: &str, until_number: u64) -> Value {
    until_async(format_args!("{log} has {until_number} entries"), async || {
        let mut page = ask(fixture, &here(), "entries", id, json!({"log": log, "max": 1_000})).await;
        if page["ok"]["next"].as_u64() >= Some(until_number) { Ok(page["ok"].take()) } else { Err(page) }
    })
    .await
}

fn names(refused: &Value, limit: &str) {
    assert!(refused["message"].as_str().is_some_and(|message| message.contains(limit)), "{refused}");
}

#[tokio::test]
async fn one_page_too_many_closes_an_idle_one_or_is_refused() {
    let site = Site::start();
    let fixture = limited(&site, "pages", 2).open().await;
    let [one, two, three] = ["one", "two", "three"].map(session);
    let (first, second) = (page(&fixture, &one).await, page(&fixture, &two).await);
    for (who, id) in [(&one, &first), (&two, &second)] {
        until(&fixture, who, id, "it is open", |told| told["ok"]["status"] == "ready").await;
    }
    // In use within the last minute.
    let refused = open(&fixture, &three).await.expect_err("all are in use");
    assert_eq!((&refused["code"], &refused["retryable"]), (&json!("limit"), &json!(true)), "{refused}");
    names(&refused, "`pages`");
    later(61).await;
    ask(&fixture, &two, "entries", &second, json!({"log": "console"})).await;
    page(&fixture, &three).await;
    until(&fixture, &one, &first, "it made room", |told| told["ok"]["because"] == "evicted").await;
    assert_eq!(ask(&fixture, &two, "get", &second, json!({})).await["ok"]["status"], "ready");
}

#[tokio::test]
async fn one_request_too_many_is_refused_until_one_has_ended() {
    let site = Site::start();
    let fixture = limited(&site, "requests_per_page", 2).open().await;
    let id = page(&fixture, &here()).await;
    let never = "new Promise(() => {})";
    let first = execute(&fixture, &id, never).await.expect("one");
    execute(&fixture, &id, never).await.expect("two");
    let refused = execute(&fixture, &id, never).await.expect_err("a third");
    assert_eq!((&refused["code"], &refused["retryable"]), (&json!("limit"), &json!(true)), "{refused}");
    names(&refused, "requests_per_page");
    ask(&fixture, &here(), "cancel", &first, json!({})).await;
    assert_eq!(run(&fixture, &id, "1").await["data"], "1");
    assert_eq!(poll(&fixture, &first).await, "expired", "the oldest that had ended made room");
}

#[tokio::test]
async fn one_byte_of_results_too_many_lets_go_of_the_oldest() {
    let site = Site::start();
    let fixture = limited(&site, "result_bytes_per_page", 2_000).open().await;
    let id = page(&fixture, &here()).await;
    let mut requests = Vec::new();
    for length in [998, 998, 1] {
        let request = execute(&fixture, &id, &format!("'x'.repeat({length})")).await.expect("a request");
        assert_eq!(waited(&fixture, &request).await["bytes"], length + 2);
        requests.push(request);
        if requests.len() == 2 {
            assert_eq!(poll(&fixture, &requests[0]).await, "done", "as much as may be");
        }
    }
    assert_eq!(poll(&fixture, &requests[0]).await, "expired");
    assert_eq!(poll(&fixture, &requests[1]).await, "done");
}

#[tokio::test]
async fn a_result_of_one_byte_too_many_is_cut() {
    let site = Site::start();
    let fixture = limited(&site, "result_bytes", 1_000).open().await;
    let id = page(&fixture, &here()).await;
    for (length, sent, truncated) in [(998, 1_000, false), (999, 1_000, true)] {
        let outcome = run(&fixture, &id, &format!("'x'.repeat({length})")).await;
        assert_eq!((&outcome["sent"], &outcome["truncated"]), (&json!(sent), &json!(truncated)), "{outcome}");
        assert_eq!(outcome["bytes"], length + 2);
    }
}

#[tokio::test]
async fn a_screenshot_that_is_too_large_fails() {
    let site = Site::start();
    let fixture = limited(&site, "file_bytes", 20_000).open().await;
    let id = page(&fixture, &here()).await;
    assert_eq!(perform(&fixture, &id, "screenshot", json!({})).await["type"], "image/png");
    // What cannot be made small.
    let noise = "const canvas = document.createElement('canvas'); canvas.width = canvas.height = 400; \
                 document.body.append(canvas); const context = canvas.getContext('2d'); \
                 const image = context.createImageData(400, 400); \
                 for (let at = 0; at < image.data.length; at += 65536) \
                     crypto.getRandomValues(image.data.subarray(at, at + 65536)); \
                 context.putImageData(image, 0, 0); 1";
    assert_eq!(run(&fixture, &id, noise).await["data"], "1");
    let outcome = perform(&fixture, &id, "screenshot", json!({})).await;
    assert_eq!((&outcome["state"], &outcome["kind"]), (&json!("failed"), &json!("limit")), "{outcome}");
    names(&outcome, "file_bytes");
}

#[tokio::test]
async fn a_request_that_says_nothing_else_ends_in_time() {
    let site = Site::start();
    let fixture = limited(&site, "request_milliseconds", 20_000).open().await;
    let id = page(&fixture, &here()).await;
    assert_eq!(run(&fixture, &id, "1").await["data"], "1");
    let request = execute(&fixture, &id, "new Promise(() => {})").await.expect("a request");
    assert_eq!(poll(&fixture, &request).await, "pending");
    later(21).await;
    let outcome = waited(&fixture, &request).await;
    assert_eq!(outcome["kind"], "time-out", "{outcome}");
    assert!(outcome["elapsed"].as_u64().is_some_and(|elapsed| elapsed >= 20_000), "{outcome}");
}

#[tokio::test]
async fn a_request_may_not_ask_for_a_millisecond_more() {
    let site = Site::start();
    let fixture = limited(&site, "request_ceiling_milliseconds", 60_000).open().await;
    let id = page(&fixture, &here()).await;
    let execute = |milliseconds: u64| json!({"script": "1", "milliseconds": milliseconds});
    let refused = ask(&fixture, &here(), "execute", &id, execute(60_001)).await;
    assert_eq!(refused["refused"]["code"], "invalid", "{refused}");
    names(&refused["refused"], "request_ceiling_milliseconds");
    let made = ask(&fixture, &here(), "execute", &id, execute(60_000)).await;
    assert_eq!(waited(&fixture, made["ok"].as_str().expect("a request")).await["data"], "1");
}

#[tokio::test]
async fn a_result_is_kept_as_long_as_that_and_no_longer() {
    let site = Site::start();
    let fixture = limited(&site, "kept_seconds", 100).open().await;
    let id = page(&fixture, &here()).await;
    let request = execute(&fixture, &id, "1").await.expect("a request");
    assert_eq!(waited(&fixture, &request).await["state"], "done");
    later(61).await;
    assert_eq!(poll(&fixture, &request).await, "done");
    later(61).await;
    assert_eq!(poll(&fixture, &request).await, "expired");
}

#[tokio::test]
async fn one_expired_request_too_many_is_forgotten() {
    let site = Site::start();
    let fixture = limited(&site, "tombstones_per_page", 2).open().await;
    let id = page(&fixture, &here()).await;
    let mut requests = Vec::new();
    for number in 0..3 {
        let request = execute(&fixture, &id, "1").await.expect("a request");
        waited(&fixture, &request).await;
        ask(&fixture, &here(), "acknowledge", &request, json!({})).await;
        requests.push(request);
        let first = poll(&fixture, &requests[0]).await;
        assert_eq!(first, if number < 2 { "expired" } else { "unknown" });
    }
    assert_eq!(poll(&fixture, &requests[1]).await, "expired");
}

#[tokio::test]
async fn a_dialog_that_nobody_answers_is_dismissed() {
    let site = Site::start();
    let fixture =
        limited(&site, "dialog_milliseconds", 100_000).webview_limit("request_milliseconds", 300_000).open().await;
    let id = page(&fixture, &here()).await;
    let request = execute(&fixture, &id, "confirm('sure?')").await.expect("a request");
    until(&fixture, &here(), &id, "it asks", |told| told["ok"]["dialog"].is_object()).await;
    later(61).await;
    assert_eq!(poll(&fixture, &request).await, "pending");
    later(61).await;
    let outcome = waited(&fixture, &request).await;
    assert_eq!(outcome["data"], "false", "{outcome}");
}

#[tokio::test]
async fn a_page_that_is_unused_for_too_long_is_closed() {
    let site = Site::start();
    let fixture = limited(&site, "idle_seconds", 100).open().await;
    let (unused, used) = (session("unused"), session("used"));
    let (one, other) = (page(&fixture, &unused).await, page(&fixture, &used).await);
    for (who, id) in [(&unused, &one), (&used, &other)] {
        until(&fixture, who, id, "it is open", |told| told["ok"]["status"] == "ready").await;
    }
    later(61).await;
    ask(&fixture, &used, "entries", &other, json!({"log": "console"})).await;
    later(61).await;
    until(&fixture, &unused, &one, "it is closed", |told| told["ok"]["because"] == "idle").await;
    assert_eq!(ask(&fixture, &used, "get", &other, json!({})).await["ok"]["because"], Value::Null);
}

#[tokio::test]
async fn a_closed_page_is_remembered_as_long_as_that_and_no_longer() {
    let site = Site::start();
    let fixture = limited(&site, "closed_seconds", 100).open().await;
    let id = page(&fixture, &here()).await;
    ask(&fixture, &here(), "close", &id, json!({})).await;
    later(61).await;
    assert_eq!(ask(&fixture, &here(), "get", &id, json!({})).await["ok"]["status"], "closed");
    later(61).await;
    until(&fixture, &here(), &id, "it is forgotten", |told| told["refused"]["code"] == "not-found").await;
}

#[tokio::test]
async fn one_entry_too_many_loses_the_oldest() {
    let site = Site::start();
    let fixture = limited(&site, "log_entries", 2).open().await;
    let id = page(&fixture, &here()).await;
    run(&fixture, &id, "console.log('one'); console.log('two')").await;
    assert_eq!(entries(&fixture, &id, "console", 2).await["lost"], 0);
    run(&fixture, &id, "console.log('three')").await;
    let told = entries(&fixture, &id, "console", 3).await;
    assert_eq!((&told["lost"], &told["entries"][0]["text"]), (&json!(1), &json!("two")), "{told}");
}

#[tokio::test]
async fn entries_of_too_many_bytes_lose_the_oldest() {
    let site = Site::start();
    let fixture = limited(&site, "log_bytes", 2_000).open().await;
    let id = page(&fixture, &here()).await;
    run(&fixture, &id, "console.log('x'.repeat(800)); console.log('y'.repeat(800))").await;
    assert_eq!(entries(&fixture, &id, "console", 2).await["lost"], 0);
    run(&fixture, &id, "console.log('z'.repeat(800))").await;
    let told = entries(&fixture, &id, "console", 3).await;
    assert_eq!(told["lost"], 1, "{told}");
}

#[tokio::test]
async fn a_wait_for_a_request_ends_though_nothing_happened() {
    let site = Site::start();
    let fixture = limited(&site, "wait_milliseconds", 50).open().await;
    let id = page(&fixture, &here()).await;
    let request = execute(&fixture, &id, "new Promise(() => {})").await.expect("a request");
    // Far below what the call itself may take.
    let began = Instant::now();
    let outcome = ask(&fixture, &here(), "wait", &request, json!({"milliseconds": 1_000_000})).await;
    assert_eq!(outcome["ok"]["state"], "pending");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
