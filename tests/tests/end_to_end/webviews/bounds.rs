//! Waits end before the call does, results are counted, and what one page is stuck in
//! harms no other.

use serde_json::json;
use wharf::Code;
use wharf_tests::{Site, context, until_async};

use super::{ask, here, ok, page, page_at, run, stuck, value, visits, waited};

#[tokio::test]
async fn a_wait_ends_before_the_call_does_whatever_the_page_is_in() {
    let site = Site::start();
    let fixture = visits(&site, "").limit("wall_time_milliseconds", 2_000).open().await;
    let id = page(&fixture, &here()).await;
    for script in ["new Promise(() => {})", "for (;;) {}"] {
        let request = ok(&fixture, &here(), "execute", &id, json!({"script": script, "milliseconds": 200_000})).await;
        let request = request.as_str().expect("an id");
        let outcome = ok(&fixture, &here(), "wait", request, json!({"milliseconds": u64::MAX})).await;
        assert_eq!(outcome["state"], "pending", "{script}: {outcome}");
        ok(&fixture, &here(), "cancel", request, json!({})).await;
    }
    // Closing waits as little.
    stuck(&fixture, &here(), &id).await;
    ok(&fixture, &here(), "close", &id, json!({})).await;
}

#[tokio::test]
async fn the_rest_of_a_result_in_a_stuck_page_keeps_no_call() {
    let site = Site::start();
    let fixture = visits(&site, "").limit("wall_time_milliseconds", 3_000).open().await;
    let id = page(&fixture, &here()).await;
    let more = json!({"script": "'x'.repeat(1000)", "bytes": 10});
    let request = ok(&fixture, &here(), "execute", &id, more).await;
    waited(&fixture, &here(), &request).await;
    let stuck = stuck(&fixture, &here(), &id).await;
    let read = json!({"from": 10, "bytes": 10});
    let answer = ask(&fixture, &here(), "read-result", request.as_str().expect("an id"), read.clone()).await;
    assert_eq!(
        (&answer["refused"]["code"], &answer["refused"]["retryable"]),
        (&json!("unavailable"), &json!(true)),
        "{answer}"
    );
    ok(&fixture, &here(), "cancel", stuck.as_str().expect("an id"), json!({})).await;
    until_async("the page comes back", async || {
        let request = request.as_str().expect("an id");
        ask(&fixture, &here(), "read-result", request, read.clone()).await["ok"]["data"] == "xxxxxxxxxx"
    })
    .await;
}

#[tokio::test]
async fn results_count_as_what_the_call_moves() {
    let site = Site::start();
    let fixture = visits(&site, "").limit("host_call_total_bytes", 1_000_000).open().await;
    let id = page(&fixture, &here()).await;
    let request = ok(&fixture, &here(), "execute", &id, json!({"script": "'x'.repeat(299998)"})).await;
    waited(&fixture, &here(), &request).await;
    let poll = |times: u64| json!({"function": "poll", "id": request, "times": times});
    let told = wharf_tests::found(fixture.call("hostile__ask_page", poll(3)).await);
    assert_eq!((&told["ok"]["sent"], &told["ok"]["truncated"]), (&json!(300_000), &json!(false)), "{told}");
    // The fourth has what is left of the call's, and the rest can be read in another.
    let told = wharf_tests::found(fixture.call("hostile__ask_page", poll(4)).await);
    let sent = told["ok"]["sent"].as_u64().expect("a number");
    assert!(sent < 100_000 && told["ok"]["truncated"] == true, "{told}");
    let rest = json!({"from": sent, "bytes": 1 << 20});
    let piece = ok(&fixture, &here(), "read-result", request.as_str().expect("an id"), rest).await;
    assert_eq!(piece["next"], 300_000);
    // What comes from the guest counts, too.
    let scripts = json!({"function": "execute", "id": id, "script": "1", "padding": 400_000, "times": 3});
    let error = fixture.call("hostile__ask_page", scripts).await.expect_err("too much in all");
    assert_eq!(error.code, Code::Limit, "{error}");
    assert!(error.message.contains("host_call_total_bytes"), "{error}");
}

#[tokio::test]
async fn one_page_in_a_loop_and_one_behind_a_dialog_harm_no_other() {
    let site = Site::start();
    let fixture = visits(&site, "maximum_pages = 3").open().await;
    let (stuck, asked) =
        (page_at(&fixture, &here(), &site.at("/")).await, page_at(&fixture, &here(), &site.at("/")).await);
    let endless = super::stuck(&fixture, &here(), &stuck).await;
    let behind = ok(&fixture, &here(), "execute", &stuck, json!({"script": "'behind'", "milliseconds": 200_000})).await;
    let alert =
        ok(&fixture, &here(), "execute", &asked, json!({"script": "alert('stop')", "milliseconds": 200_000})).await;
    for session in 0..4 {
        let other = context("local", &format!("other-{session}"));
        let id = page_at(&fixture, &other, &site.at("/second")).await;
        for number in 0..10 {
            assert_eq!(value(&fixture, &other, &id, &format!("{number} + 1")).await, number + 1);
        }
    }
    assert_eq!(ok(&fixture, &here(), "poll", endless.as_str().expect("an id"), json!({})).await["state"], "pending");
    ok(&fixture, &here(), "cancel", endless.as_str().expect("an id"), json!({})).await;
    assert_eq!(waited(&fixture, &here(), &behind).await["data"], "\"behind\"");
    until_async("a dialog is open", async || {
        !ok(&fixture, &here(), "get", &asked, json!({})).await["dialog"].is_null()
    })
    .await;
    ok(&fixture, &here(), "answer-dialog", &asked, json!({"accept": true})).await;
    assert_eq!(waited(&fixture, &here(), &alert).await["state"], "done");
    assert_eq!(run(&fixture, &here(), &asked, "1").await["data"], "1");
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_page_and_request_as_they_are() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page(&fixture, &here()).await;
    let script = "await new Promise(go => window.go = go); 'gone on'";
    let request = ok(&fixture, &here(), "execute", &id, json!({"script": script, "milliseconds": 200_000})).await;
    let wait = json!({"function": "wait", "id": request, "milliseconds": 600_000});
    let waiting = fixture.start(&here(), "hostile__ask_page", wait);
    fixture.load_is(1, 0).await;
    waiting.drop_it().await;
    fixture.load_is(0, 0).await;
    assert_eq!(ok(&fixture, &here(), "poll", request.as_str().expect("an id"), json!({})).await["state"], "pending");
    // It may not have begun yet.
    until_async("it begins", async || value(&fixture, &here(), &id, "window.go ? (go(), true) : false").await == true)
        .await;
    assert_eq!(waited(&fixture, &here(), &request).await["data"], "\"gone on\"");
}
