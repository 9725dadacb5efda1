//! What each function does where all is well.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{AMPLE, Site, until_async};

use super::{done, entries, here, ok, page, page_at, perform, refused, run, stuck, value, visits, waited};

#[tokio::test]
async fn what_holds_for_pages_is_told_before_one_is_opened() {
    let site = Site::start();
    let fixture = visits(&site, "maximum_pages = 3\nuploads = true").webview_limit("idle_seconds", 77).open().await;
    let status = ok(&fixture, &here(), "status", "", json!({})).await;
    let status: Value = serde_json::from_str(status.as_str().expect("a text")).expect("JSON");
    assert_eq!((&status["origins"], &status["maximum_pages"]), (&json!([site.origin()]), &json!(3)));
    assert_eq!((&status["downloads"], &status["uploads"]), (&json!(false), &json!(true)), "{status}");
    assert_eq!((&status["backend"], &status["sandbox"]), (&json!("chromium"), &json!(true)), "{status}");
    assert_eq!((&status["idle_seconds"], &status["request_milliseconds"]), (&json!(77), &json!(30_000)));
    assert!(status["operations"].as_array().is_some_and(|operations| operations.contains(&json!("navigate"))));
    assert_eq!(ok(&fixture, &here(), "list", "", json!({})).await, json!([]));
    assert_eq!(fixture.host.running(), 0, "looking starts nothing");
    assert_eq!(fixture.data.workspaces(), 0, "looking makes nothing");
}

#[tokio::test]
async fn a_page_is_opened_navigated_read_and_closed() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let info = ok(&fixture, &here(), "open", "", json!({"width": 900, "options": "{\"locale\": \"ko-KR\"}"})).await;
    assert_eq!((&info["width"], &info["height"], &info["url"]), (&json!(900), &json!(800), &json!("about:blank")));
    let id = info["id"].as_str().expect("an id").to_owned();
    assert_eq!(fixture.host.running(), 1);

    let there = done(&fixture, &here(), &id, "navigate", json!({"url": site.at("/elsewhere?/")})).await;
    assert_eq!((&there["status"], &there["title"]), (&json!(200), &json!("Harbour")), "{there}");
    assert_eq!((&there["url"], &there["redirects"]), (&json!(site.at("/")), &json!(1)), "{there}");
    for (script, result) in [
        ("document.title", json!("Harbour")),
        ("const two = 2; return two + two", json!(4)),
        ("await new Promise(go => setTimeout(go, 5)); navigator.language", json!("ko-KR")),
        ("new Map([['a', [1, null]]])", json!([["a", [1, null]]])),
        ("undefined", Value::Null),
        ("innerWidth", json!(900)),
    ] {
        assert_eq!(value(&fixture, &here(), &id, script).await, result, "{script}");
    }
    for (script, kind, word) in [
        ("nothing.at.all", "exception", "nothing is not defined"),
        ("return return", "syntax", "return"),
        ("const a = {}; a.a = a; a", "unserialisable", "contains itself"),
    ] {
        let outcome = run(&fixture, &here(), &id, script).await;
        assert_eq!((&outcome["state"], &outcome["kind"]), (&json!("failed"), &json!(kind)), "{script}: {outcome}");
        assert!(outcome["message"].as_str().is_some_and(|message| message.contains(word)), "{script}: {outcome}");
    }
    let listed = ok(&fixture, &here(), "list", "", json!({})).await;
    assert_eq!((&listed[0]["id"], &listed[0]["title"]), (&json!(id), &json!("Harbour")), "{listed}");

    let said = entries(&fixture, &here(), &id, "console", 1).await;
    assert_eq!((&said[0]["kind"], &said[0]["text"]), (&json!("log"), &json!("said 42")), "{said:?}");
    let asked = entries(&fixture, &here(), &id, "network", 2).await;
    assert!(asked.iter().any(|entry| entry["status"] == 200 && entry["kind"] == "document"), "{asked:?}");

    assert_eq!(ok(&fixture, &here(), "close", &id, json!({})).await, Value::Null);
    let info = ok(&fixture, &here(), "get", &id, json!({})).await;
    assert_eq!((&info["status"], &info["because"]), (&json!("closed"), &json!("owner")));
    let (code, message) = refused(&fixture, &here(), "execute", &id, json!({"script": "1"})).await;
    assert!(code == "gone" && message.contains("owner"), "{code}: {message}");
    assert_eq!(fixture.host.running(), 0);
}

#[tokio::test]
async fn every_operation_does_what_the_contract_says() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let of = |parameters| parameters;

    let middle = "const {x, y, width, height} = document.getElementById('count').getBoundingClientRect(); \
                  return {kind: 'click', x: x + width / 2, y: y + height / 2}";
    let click = value(&fixture, &here(), &id, middle).await;
    assert_eq!(done(&fixture, &here(), &id, "mouse", click).await, json!({}));
    assert_eq!(value(&fixture, &here(), &id, "clicks").await, 1);
    value(&fixture, &here(), &id, "document.getElementById('name').focus()").await;
    done(&fixture, &here(), &id, "text", json!({"text": "Möwe"})).await;
    done(&fixture, &here(), &id, "key", json!({"key": "Backspace"})).await;
    assert_eq!(value(&fixture, &here(), &id, "document.getElementById('name').value").await, "Möw");

    let frames = done(&fixture, &here(), &id, "frames", of(json!({}))).await;
    let inner = frames["frames"].as_array().expect("frames").iter().find(|frame| frame["name"] == "inner");
    let inner = inner.and_then(|frame| frame["id"].as_str()).unwrap_or_else(|| panic!("{frames}"));
    let options =
        json!({"script": "document.title", "world": "isolated", "options": json!({"frame": inner}).to_string()});
    let request = ok(&fixture, &here(), "execute", &id, options).await;
    assert_eq!(waited(&fixture, &here(), &request).await["data"], "\"Second\"");

    for (operation, parameters, kind, begins) in [
        ("screenshot", json!({}), "image/png", json!(b"\x89PNG")),
        (
            "screenshot",
            json!({"format": "jpeg", "quality": 50, "full_page": true}),
            "image/jpeg",
            json!(b"\xff\xd8\xff\xe0"),
        ),
        ("pdf", json!({"paper": "letter"}), "application/pdf", json!(b"%PDF")),
    ] {
        let outcome = perform(&fixture, &here(), &id, operation, parameters).await;
        assert_eq!((&outcome["type"], &outcome["begins"]), (&json!(kind), &begins), "{operation}: {outcome}");
        assert_eq!((&outcome["sent"], &outcome["truncated"]), (&outcome["bytes"], &json!(false)), "{outcome}");
    }

    done(&fixture, &here(), &id, "resize", json!({"width": 500, "height": 400})).await;
    assert_eq!(value(&fixture, &here(), &id, "[innerWidth, innerHeight]").await, json!([500, 400]));
    done(&fixture, &here(), &id, "network-idle", json!({"idle_milliseconds": 50})).await;
    done(&fixture, &here(), &id, "navigate", json!({"url": site.at("/second")})).await;
    assert_eq!(done(&fixture, &here(), &id, "back", json!({})).await["title"], "Harbour");
    assert_eq!(done(&fixture, &here(), &id, "forward", json!({})).await["title"], "Second");
    assert_eq!(done(&fixture, &here(), &id, "reload", json!({})).await["status"], 200);
    done(&fixture, &here(), &id, "navigate", json!({"url": "about:blank"})).await;

    // The owner can stop a script that never ends.
    let endless = stuck(&fixture, &here(), &id).await;
    done(&fixture, &here(), &id, "stop", json!({})).await;
    assert_eq!(waited(&fixture, &here(), &endless).await["kind"], "exception");
    assert_eq!(value(&fixture, &here(), &id, "1 + 1").await, 2);
}

#[tokio::test]
async fn a_dialog_is_told_answered_and_keeps_nothing_from_ending() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let request = ok(&fixture, &here(), "execute", &id, json!({"script": "prompt('How many?', '1')"})).await;
    let outcome = until_async("a dialog is open", async || {
        let wait = json!({"milliseconds": 10_000});
        let outcome = ok(&fixture, &here(), "wait", request.as_str().expect("an id"), wait).await;
        if outcome["dialog"].is_object() { Ok(outcome) } else { Err(outcome) }
    });
    let outcome = outcome.await;
    assert_eq!(outcome["state"], "pending");
    let dialog = outcome["dialog"].clone();
    assert_eq!(dialog, json!({"kind": "prompt", "message": "How many?", "default": "1"}));
    let outcome = run(&fixture, &here(), &id, "1").await;
    assert_eq!(outcome["kind"], "dialog-open", "{outcome}");
    assert!(outcome["message"].as_str().is_some_and(|message| message.contains("How many?")), "{outcome}");
    ok(&fixture, &here(), "answer-dialog", &id, json!({"accept": true, "text": "7"})).await;
    assert_eq!(waited(&fixture, &here(), &request).await["data"], "\"7\"");
    let (code, _) = refused(&fixture, &here(), "answer-dialog", &id, json!({"accept": true})).await;
    assert_eq!(code, "conflict");
}

#[tokio::test]
async fn the_rest_of_a_long_result_is_read_piece_by_piece() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page(&fixture, &here()).await;
    let outcome = run(&fixture, &here(), &id, "'\u{c5f4}'.repeat(1 << 20)").await;
    let whole = (3_u64 << 20) + 2;
    assert_eq!((&outcome["bytes"], &outcome["truncated"]), (&json!(whole), &json!(true)), "{outcome}");
    assert!(outcome["sent"].as_u64().is_some_and(|sent| (1..=1 << 20).contains(&sent)), "{outcome}");
    let more = json!({"script": "'\u{c5f4}'.repeat(1 << 20)", "milliseconds": 60_000});
    let request = ok(&fixture, &here(), "execute", &id, more).await;
    waited(&fixture, &here(), &request).await;
    let (mut from, mut pieces, began) = (0, 0, Instant::now());
    while from < whole {
        let piece = ok(
            &fixture,
            &here(),
            "read-result",
            request.as_str().expect("an id"),
            json!({"from": from, "bytes": u32::MAX}),
        )
        .await;
        assert_eq!((&piece["start"], &piece["of"]), (&json!(from), &json!(whole)), "{piece}");
        from = piece["next"].as_u64().expect("a cursor");
        pieces += 1;
        assert!(began.elapsed() < AMPLE);
    }
    assert!((3..=5).contains(&pieces), "{pieces}");
    // It goes with the acknowledgement.
    let request = request.as_str().expect("an id");
    ok(&fixture, &here(), "acknowledge", request, json!({})).await;
    assert_eq!(ok(&fixture, &here(), "poll", request, json!({})).await["state"], "expired");
    let (code, _) = refused(&fixture, &here(), "read-result", request, json!({"bytes": 10})).await;
    assert_eq!(code, "gone");
}

#[tokio::test]
async fn who_polls_too_often_is_told_what_to_do_instead() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page(&fixture, &here()).await;
    let request = ok(&fixture, &here(), "execute", &id, json!({"script": "new Promise(() => {})"})).await;
    let request = request.as_str().expect("an id");
    let (began, mut advice) = (Instant::now(), Value::Null);
    while advice.is_null() && began.elapsed() < Duration::from_secs(20) {
        advice = ok(&fixture, &here(), "poll", request, json!({})).await["advice"].take();
    }
    assert!(advice.is_string(), "hasty polls in a row bring no advice");
    ok(&fixture, &here(), "cancel", request, json!({})).await;
    assert_eq!(ok(&fixture, &here(), "poll", request, json!({})).await["kind"], "cancelled");
}
