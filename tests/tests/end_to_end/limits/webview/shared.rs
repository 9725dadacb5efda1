//! Limits of web pages that session, tenant and host have together: what one of them
//! uses up refuses its own, and nothing of another tenant makes room.

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, Site, context, until_async};

use super::{ask, browser, later, limited, names, open, page, until};

/// Each limit of a resource, with a context that is refused beside `local` in the
/// session `one`, and one that is not.
fn levels(resource: &str) -> [(String, Context, Option<Context>); 3] {
    [
        (format!("{resource}_per_session"), context("local", "one"), Some(context("local", "two"))),
        (format!("{resource}_per_tenant"), context("local", "two"), Some(context("other", "one"))),
        (resource.to_owned(), context("other", "one"), None),
    ]
}

fn one() -> Context {
    context("local", "one")
}

async fn ready(fixture: &Fixture, who: &Context) -> String {
    let id = page(fixture, who).await;
    until(fixture, who, &id, "it is open", |told| told["ok"]["status"] == "ready").await;
    id
}

async fn execute(fixture: &Fixture, who: &Context, id: &str, script: &str) -> Result<String, Value> {
    let mut made = ask(fixture, who, "execute", id, json!({"script": script})).await;
    made["ok"].as_str().map(str::to_owned).ok_or_else(|| made["refused"].take())
}

/// The outcome of a request.
async fn waited(fixture: &Fixture, who: &Context, request: &str) -> Value {
    until_async("it ends", async || {
        let mut outcome = ask(fixture, who, "wait", request, json!({"milliseconds": 5_000})).await;
        if outcome["ok"]["state"] != "pending" { Ok(outcome["ok"].take()) } else { Err(outcome) }
    })
    .await
}

async fn run(fixture: &Fixture, who: &Context, id: &str, script: &str) -> (String, Value) {
    let request = execute(fixture, who, id, script).await.expect("a request");
    let outcome = waited(fixture, who, &request).await;
    (request, outcome)
}

async fn state(fixture: &Fixture, who: &Context, request: &str) -> Value {
    ask(fixture, who, "poll", request, json!({})).await["ok"]["state"].take()
}

fn is_limit(refused: &Value, limit: &str) {
    assert_eq!((&refused["code"], &refused["retryable"]), (&json!("limit"), &json!(true)), "{refused}");
    names(refused, &format!("`{limit}`"));
}

#[tokio::test]
pub(super) async fn one_page_too_many_of_a_session_or_tenant_closes_its_own_idle_one_and_no_other() {
    let site = Site::start();
    for (limit, who, free) in levels("pages") {
        let fixture = limited(&site, &limit, 1).open().await;
        let first = ready(&fixture, &one()).await;
        is_limit(&open(&fixture, &who).await.expect_err("one is open"), &limit);
        let foreign = match &free {
            Some(free) => Some((free, ready(&fixture, free).await)),
            None => None,
        };
        later(61).await;
        if who.tenant == one().tenant {
            page(&fixture, &who).await;
            until(&fixture, &one(), &first, "it made room", |told| told["ok"]["because"] == "evicted").await;
        } else {
            is_limit(&open(&fixture, &who).await.expect_err("it is another tenant's"), &limit);
            assert_eq!(ask(&fixture, &one(), "get", &first, json!({})).await["ok"]["status"], "ready");
        }
        if let Some((free, foreign)) = foreign {
            assert_eq!(ask(&fixture, free, "get", &foreign, json!({})).await["ok"]["status"], "ready", "{limit}");
        }
    }
}

#[tokio::test]
pub(super) async fn one_request_too_many_of_a_session_a_tenant_or_the_host_is_refused() {
    let site = Site::start();
    for (limit, who, free) in levels("requests") {
        let fixture = limited(&site, &limit, 1).open().await;
        let (first, second) = (page(&fixture, &one()).await, page(&fixture, &who).await);
        let never = "new Promise(() => {})";
        let pending = execute(&fixture, &one(), &first, never).await.expect("one");
        is_limit(&execute(&fixture, &who, &second, never).await.expect_err("another"), &limit);
        if let Some(free) = &free {
            let third = page(&fixture, free).await;
            assert_eq!(run(&fixture, free, &third, "1").await.1["data"], "1", "{limit}");
        }
        // Once it has ended it makes room for its own tenant, and for no other.
        ask(&fixture, &one(), "cancel", &pending, json!({})).await;
        let again = execute(&fixture, &who, &second, "1").await;
        if who.tenant == one().tenant {
            assert_eq!(waited(&fixture, &who, &again.expect("room")).await["data"], "1");
            assert_eq!(state(&fixture, &one(), &pending).await, "expired");
        } else {
            is_limit(&again.expect_err("its end is kept"), &limit);
            ask(&fixture, &one(), "acknowledge", &pending, json!({})).await;
            execute(&fixture, &who, &second, "1").await.expect("room");
        }
    }
}

#[tokio::test]
pub(super) async fn one_byte_too_many_that_is_kept_lets_go_of_results_of_the_same_tenant_alone() {
    let site = Site::start();
    for (limit, who, free) in levels("kept_bytes") {
        let fixture = limited(&site, &limit, 100_000).open().await;
        let (first, second) = (page(&fixture, &one()).await, page(&fixture, &who).await);
        let large = "'x'.repeat(60_000)";
        let (kept, outcome) = run(&fixture, &one(), &first, large).await;
        assert_eq!(outcome["bytes"], 60_002, "{outcome}");
        let (_, outcome) = run(&fixture, &who, &second, large).await;
        if who.tenant == one().tenant {
            assert_eq!(outcome["bytes"], 60_002, "{outcome}");
            assert_eq!(state(&fixture, &one(), &kept).await, "expired", "{limit}");
        } else {
            assert_eq!((&outcome["state"], &outcome["kind"]), (&json!("failed"), &json!("limit")), "{outcome}");
            names(&outcome, &limit);
            assert_eq!(state(&fixture, &one(), &kept).await, "done", "{limit}");
        }
        if let Some(free) = &free {
            let third = page(&fixture, free).await;
            assert_eq!(run(&fixture, free, &third, large).await.1["bytes"], 60_002, "{limit}");
        }
        // A script counts as long as it is pending.
        let script = format!("'{}'", "x".repeat(200_000));
        is_limit(&execute(&fixture, &who, &second, &script).await.expect_err("too long"), &limit);
    }
}

#[tokio::test]
pub(super) async fn a_download_beyond_what_session_tenant_or_host_transfer_is_cancelled() {
    let site = Site::start();
    for (limit, ..) in levels("transfer_bytes") {
        let fixture = limited(&site, &limit, 1_000).open().await;
        let id = browser::page_at_the_site(&fixture, &site).await;
        for (number, bytes) in [(1, 1_000), (2, 1_001), (3, 1_000)] {
            let entry = browser::download(&fixture, &site, &id, bytes, number).await;
            if bytes == 1_000 {
                assert_eq!(entry["state"], "done", "{entry}");
            } else {
                assert_eq!(entry["state"], "failed", "{entry}");
                assert!(entry["failure"].as_str().is_some_and(|why| why.contains(&limit)), "{entry}");
            }
        }
    }
}

#[tokio::test]
pub(super) async fn one_connection_too_many_of_a_session_a_tenant_or_the_host_is_refused() {
    let site = Site::start();
    for (limit, who, free) in levels("connections") {
        let fixture = limited(&site, &limit, 2).open().await;
        let first = ready(&fixture, &one()).await;
        let goes = async |who: &Context, id: &str, path: &str| {
            let parameters = json!({"url": site.at(path)}).to_string();
            let made =
                ask(&fixture, who, "perform", id, json!({"operation": "navigate", "parameters": parameters})).await;
            waited(&fixture, who, made["ok"].as_str().expect("a request")).await
        };
        assert_eq!(goes(&one(), &first, "/").await["state"], "done");
        let begin = format!(
            "window.control = new AbortController(); const {{signal}} = control; \
             for (const at of [1, 2]) fetch('/silence?{limit}' + at, {{signal}}).catch(() => {{}}); 1"
        );
        run(&fixture, &one(), &first, &begin).await;
        wharf_tests::until("both are under way", || {
            [1, 2].iter().all(|at| site.was_asked(&format!("/silence?{limit}{at}")))
        })
        .await;
        let second = ready(&fixture, &who).await;
        goes(&who, &second, &format!("/second?refused-{limit}")).await;
        assert!(!site.was_asked(&format!("/second?refused-{limit}")), "{limit}");
        if let Some(free) = &free {
            let third = ready(&fixture, free).await;
            goes(free, &third, &format!("/second?free-{limit}")).await;
            assert!(site.was_asked(&format!("/second?free-{limit}")), "{limit}");
        }
        run(&fixture, &one(), &first, "control.abort(); 1").await;
        let again = format!("/second?again-{limit}");
        until_async("there is room again", async || {
            goes(&who, &second, &again).await;
            site.was_asked(&again)
        })
        .await;
    }
}
