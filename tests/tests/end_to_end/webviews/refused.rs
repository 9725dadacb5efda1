//! What is asked for is measured before anything happens.

use serde_json::{Value, json};
use wharf::Code;
use wharf_tests::{Setup, Site};

use super::{ask, here, ok, page, refused, run, value, visits, waited};

#[tokio::test]
async fn options_and_sizes_that_no_page_has_are_refused() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let long = format!("{{\"user_agent\": \"{}\"}}", "x".repeat(513));
    for (options, word) in [
        (json!({"width": 4_097}), "4096"),
        (json!({"height": u32::MAX}), "4096"),
        (json!({"dialogs": "ignore"}), "report"),
        (json!({"options": "{\"proxy\": \"http://elsewhere\"}"}), "proxy"),
        (json!({"options": "["}), "options"),
        (json!({"options": "[]"}), "options"),
        (json!({"options": "{\"locale\": \"../../etc\"}"}), "locale"),
        (json!({"options": "{\"time_zone\": \"\"}"}), "time_zone"),
        (json!({"options": "{\"user_agent\": \"a\\r\\nhost: b\"}"}), "user_agent"),
        (json!({"options": long}), "user_agent"),
    ] {
        let (code, message) = refused(&fixture, &here(), "open", "", options.clone()).await;
        assert!(code == "invalid" && message.contains(word), "{options}: {code}: {message}");
    }
    assert_eq!(ok(&fixture, &here(), "list", "", json!({})).await, json!([]), "nothing was opened");
    let info = ok(&fixture, &here(), "open", "", json!({"width": 1, "height": 4_096})).await;
    assert_eq!((&info["width"], &info["height"]), (&json!(1), &json!(4_096)));
}

#[tokio::test]
async fn only_addresses_of_the_web_are_gone_to() {
    let fixture = Setup::new().webviews("origins = [\"*\"]\nprivate_addresses = true").open().await;
    let id = page(&fixture, &here()).await;
    for url in [
        "file:///etc/passwd",
        "data:text/html,x",
        "javascript:alert(1)",
        "chrome://version",
        "devtools://devtools/bundled/inspector.html",
        "view-source:http://localhost/",
        "blob:http://localhost/x",
        "ftp://localhost/",
        "about:srcdoc",
        "about:blank#x",
        "ws://localhost/",
        "filesystem:http://localhost/x",
        "http://",
        "//localhost/",
        "/etc/passwd",
        "localhost",
        "",
        "http://local host/",
    ] {
        let more = json!({"operation": "navigate", "parameters": json!({"url": url}).to_string()});
        let answer = ask(&fixture, &here(), "perform", &id, more).await;
        let code = answer["refused"]["code"].as_str().unwrap_or_else(|| panic!("{url}: {answer}"));
        assert!(["invalid", "denied"].contains(&code), "{url}: {answer}");
    }
    let long = format!("http://localhost/{}", "x".repeat(40_000));
    let more = json!({"operation": "navigate", "parameters": json!({"url": long}).to_string()});
    assert_eq!(refused(&fixture, &here(), "perform", &id, more).await.0, "invalid");
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["url"], "about:blank", "it went nowhere");
}

#[tokio::test]
async fn an_operation_or_a_parameter_that_is_none_is_refused() {
    let site = Site::start();
    let fixture = visits(&site, "uploads = true").open().await;
    let id = page(&fixture, &here()).await;
    let long = "x".repeat(100_001);
    for (operation, parameters, word) in [
        ("", json!({}), "status"),
        ("teleport", json!({}), "teleport"),
        ("Page.navigate", json!({}), "status"),
        ("navigate", json!({}), "url"),
        ("navigate", json!({"url": 1}), "expected a string"),
        ("navigate", json!({"url": "about:blank", "referrer": "x"}), "referrer"),
        ("reload", json!({"hard": true}), "hard"),
        ("stop", json!([]), "object"),
        ("screenshot", json!({"format": "gif"}), "gif"),
        ("screenshot", json!({"quality": 50}), "jpeg"),
        ("screenshot", json!({"format": "jpeg", "quality": 0}), "100"),
        ("screenshot", json!({"clip": {"x": 0, "y": 0, "width": 16_385, "height": 1}}), "clip"),
        ("screenshot", json!({"clip": {"x": -1, "y": 0, "width": 1, "height": 1}}), "clip"),
        ("pdf", json!({"paper": "a0"}), "a4"),
        ("mouse", json!({"kind": "stroke", "x": 1, "y": 1}), "stroke"),
        ("mouse", json!({"kind": "click", "x": 1e300, "y": 1}), "pixels"),
        ("mouse", json!({"kind": "click", "x": 1, "y": 1, "count": u32::MAX}), "count"),
        ("mouse", json!({"kind": "click", "x": 1, "y": 1, "modifiers": ["Hyper"]}), "Hyper"),
        ("key", json!({"key": "\u{1b}"}), "key"),
        ("key", json!({"key": "two words"}), "key"),
        ("text", json!({"text": long}), "100000"),
        ("resize", json!({"width": 0, "height": 1}), "4096"),
        ("resize", json!({"width": 1, "height": 4_097}), "4096"),
        ("network-idle", json!({"idle_milliseconds": u64::MAX}), "60000"),
        ("set-files", json!({"element": "", "paths": []}), "element"),
        ("set-files", json!({"element": "x", "paths": ["../../etc/passwd"]}), "workspace"),
        ("set-files", json!({"element": "x", "paths": ["/etc/passwd"]}), "workspace"),
        ("set-files", json!({"element": "x", "paths": vec!["x"; 101]}), "100"),
    ] {
        let more = json!({"operation": operation, "parameters": parameters.to_string()});
        let (code, message) = refused(&fixture, &here(), "perform", &id, more).await;
        let shown: String = parameters.to_string().chars().take(80).collect();
        assert!(code == "invalid" && message.contains(word), "{operation} {shown}: {code}: {message}");
    }
    for (parameters, padding) in [("{", 0), ("null", 0), ("\"\"", 0), ("{}", 1 << 20)] {
        let more = json!({"operation": "reload", "parameters": parameters, "padding": padding});
        let (code, message) = refused(&fixture, &here(), "perform", &id, more).await;
        assert_eq!(code, "invalid", "{parameters}: {message}");
    }
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["pending"], 0, "nothing of it was begun");
}

#[tokio::test]
async fn a_script_of_a_mebibyte_runs_and_one_byte_more_is_refused() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page(&fixture, &here()).await;
    let script = |padding: usize| json!({"script": "1 + 1", "padding": padding, "milliseconds": 60_000});
    let most = (1 << 20) - "1 + 1".len();
    let (code, message) = refused(&fixture, &here(), "execute", &id, script(most + 1)).await;
    assert!(code == "invalid" && message.contains("1048576"), "{code}: {message}");
    let request = ok(&fixture, &here(), "execute", &id, script(most)).await;
    assert_eq!(waited(&fixture, &here(), &request).await["data"], "2");
    for (options, word) in [
        (json!({"world": "main"}), "isolated"),
        (json!({"options": "{\"frame\": \"../x y\"}"}), "frame"),
        (json!({"options": "{\"frames\": 1}"}), "frames"),
        (json!({"milliseconds": 300_001}), "request_ceiling_milliseconds"),
        (json!({"milliseconds": u64::MAX}), "request_ceiling_milliseconds"),
    ] {
        let mut more = json!({"script": "1"});
        more.as_object_mut().expect("an object").extend(wharf_tests::object(options.clone()));
        let (code, message) = refused(&fixture, &here(), "execute", &id, more).await;
        assert!(code == "invalid" && message.contains(word), "{options}: {code}: {message}");
    }
    // A frame that is not there is found out by the page.
    let more = json!({"script": "1", "options": json!({"frame": "F".repeat(32)}).to_string()});
    let request = ok(&fixture, &here(), "execute", &id, more).await;
    assert_eq!(waited(&fixture, &here(), &request).await["state"], "failed");
}

#[tokio::test]
async fn numbers_at_their_ends_harm_nothing() {
    let site = Site::start();
    let fixture = visits(&site, "").open().await;
    let id = page(&fixture, &here()).await;
    let outcome = run(&fixture, &here(), &id, "'abc'").await;
    assert_eq!(outcome["data"], "\"abc\"");
    let request = ok(&fixture, &here(), "execute", &id, json!({"script": "'abc'", "bytes": 1})).await;
    let cut = waited(&fixture, &here(), &request).await;
    assert_eq!((&cut["data"], &cut["bytes"], &cut["truncated"]), (&json!("\""), &json!(5), &json!(true)), "{cut}");
    let request = request.as_str().expect("an id");
    for (from, bytes, data) in
        [(0, 0, "\""), (0, u32::MAX, "\""), (1, u32::MAX, "abc\""), (u64::MAX, u32::MAX, ""), (5, 1, "")]
    {
        let piece = ok(&fixture, &here(), "read-result", request, json!({"from": from, "bytes": bytes})).await;
        assert_eq!((&piece["data"], &piece["of"]), (&json!(data), &json!(5)), "{from} {bytes}: {piece}");
    }
    for (after, max) in [(0, 0), (u64::MAX, u32::MAX), (0, u32::MAX)] {
        let page = ok(&fixture, &here(), "entries", &id, json!({"log": "network", "after": after, "max": max})).await;
        assert_eq!((&page["entries"], &page["lost"]), (&json!([]), &json!(0)), "{after} {max}: {page}");
    }
    for log in ["", "cookies", "console "] {
        assert_eq!(refused(&fixture, &here(), "entries", &id, json!({"log": log})).await.0, "invalid");
    }
    let text = "x".repeat(4_097);
    assert_eq!(
        refused(&fixture, &here(), "answer-dialog", &id, json!({"accept": true, "text": text})).await.0,
        "invalid"
    );
    assert_eq!(ok(&fixture, &here(), "wait", request, json!({"milliseconds": u64::MAX})).await["state"], "done");
    assert_eq!(value(&fixture, &here(), &id, "1").await, 1);
}

#[tokio::test]
async fn ids_of_any_length_cost_the_call_and_nobody_else() {
    wharf_tests::of_the_library_alone("over HTTP a request of this size is refused before any plugin sees it");
    let fixture = Setup::new().webviews("origins = [\"*\"]").limit("argument_bytes", 16 << 20).open().await;
    let long = "0".repeat(5 << 20);
    for function in ["get", "poll"] {
        let call = json!({"function": function, "id": long});
        let error = fixture.call("hostile__ask_page", call).await.expect_err("too much at once");
        assert_eq!(error.code, Code::Limit, "{error}");
        assert!(error.message.contains("host_call_bytes"), "{error}");
    }
    let short = ask(&fixture, &here(), "get", &"0".repeat(1 << 20), json!({})).await;
    assert_eq!(short["refused"]["code"], "not-found");
    assert_eq!(short["ok"], Value::Null);
    fixture.works().await;
}
