use serde_json::{Value, json};
use wharf_core::{Grants, PluginName, WebViewGrant};

use super::*;
use crate::{KeyKind, MouseButton, MouseKind, Paper};

fn ask_with(uploads: bool, name: &str, parameters: &str) -> Result<OperationRequest, WebViewError> {
    let mut grant = WebViewGrant::with_reason("a test");
    grant.origins = vec!["https://example.com".parse().expect("an origin")];
    grant.uploads = uploads;
    let grants = Grants { webview: Some(grant), ..Grants::default() };
    let plugin: PluginName = "browser".parse().expect("a name");
    read(&grants.webview(&plugin).expect("a grant"), name, parameters)
}

fn ask(name: &str, parameters: &Value) -> Result<Operation, WebViewError> {
    ask_with(true, name, &parameters.to_string()).map(|asked| asked.operation)
}

#[test]
fn what_is_left_out_has_the_default_of_the_contract() {
    let png = Operation::Screenshot { format: ImageFormat::Png, full_page: false, clip: None };
    assert_eq!(ask("screenshot", &json!({})).expect("legal"), png);
    assert_eq!(ask_with(true, "screenshot", "").expect("legal").operation, png);
    let pdf = Operation::Pdf { landscape: false, background: false, paper: Paper::A4 };
    assert_eq!(ask("pdf", &json!({})).expect("legal"), pdf);
    let click = ask("mouse", &json!({ "kind": "click", "x": 1, "y": 2.5 })).expect("legal");
    let expected = Operation::Mouse {
        kind: MouseKind::Click,
        x: 1.0,
        y: 2.5,
        button: MouseButton::Left,
        count: 1,
        delta_x: 0.0,
        delta_y: 0.0,
        modifiers: vec![],
    };
    assert_eq!(click, expected);
    let key = ask("key", &json!({ "key": "a", "modifiers": ["Control", "Shift"] })).expect("legal");
    let modifiers = vec![Modifier::Control, Modifier::Shift];
    assert_eq!(key, Operation::Key { key: "a".into(), kind: KeyKind::Press, modifiers });
    let idle = Operation::NetworkIdle { idle: Duration::from_millis(500) };
    assert_eq!(ask("network-idle", &json!({})).expect("legal"), idle);
    let jpeg = ask("screenshot", &json!({ "format": "jpeg" })).expect("legal");
    assert!(matches!(jpeg, Operation::Screenshot { format: ImageFormat::Jpeg { quality: 80 }, .. }));
    for name in ["back", "forward", "reload", "frames", "stop"] {
        assert_eq!(ask(name, &json!({})).expect("legal").name(), name);
    }
}

#[test]
fn addresses_go_by_the_grant() {
    for (url, to) in [
        ("https://example.com", "https://example.com/"),
        (" https://EXAMPLE.com/a?b#c ", "https://example.com/a?b#c"),
        ("about:blank", "about:blank"),
    ] {
        assert_eq!(ask("navigate", &json!({ "url": url })).expect("granted"), Operation::Navigate { url: to.into() });
    }
    for url in [
        "http://example.com",
        "https://example.org",
        "https://example.com:8443",
        "https://example.com.evil.org",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "chrome://crash",
        "view-source:https://example.com",
        "about:version",
        "about:blank#x",
        "blob:https://example.com/1",
    ] {
        let refused = ask("navigate", &json!({ "url": url }));
        assert!(matches!(&refused, Err(WebViewError::Refused { .. })), "{url}: {refused:?}");
    }
    for url in ["", "example.com", "//example.com", "https://", &format!("https://example.com/{}", "x".repeat(40_000))]
    {
        let refused = ask("navigate", &json!({ "url": url }));
        assert!(matches!(&refused, Err(WebViewError::Invalid { .. })), "{url}: {refused:?}");
    }
}

#[test]
fn what_is_out_of_bounds_or_unknown_is_refused_with_what_would_do() {
    let many: Vec<_> = (0..101).map(|number| number.to_string()).collect();
    for (name, parameters, expected) in [
        ("fly", json!({}), "no operation `fly`"),
        ("\u{1b}[2J", json!({}), "no operation `[2J`"),
        ("back", json!({ "far": 1 }), "unknown field `far`"),
        ("back", json!([]), "JSON object"),
        ("navigate", json!({}), "missing field `url`"),
        ("navigate", json!({ "url": 1 }), "invalid type"),
        ("screenshot", json!({ "format": "gif" }), "unknown variant"),
        ("screenshot", json!({ "quality": 50 }), "for `jpeg` alone"),
        ("screenshot", json!({ "format": "jpeg", "quality": 0 }), "1 to 100"),
        ("screenshot", json!({ "format": "jpeg", "quality": 101 }), "1 to 100"),
        ("screenshot", json!({ "clip": { "x": 0, "y": 0, "width": 16_385, "height": 1 } }), "16384"),
        ("screenshot", json!({ "clip": { "x": 0, "y": 0, "width": 0, "height": 1 } }), "16384"),
        ("screenshot", json!({ "clip": { "x": -1, "y": 0, "width": 1, "height": 1 } }), "begins in the page"),
        ("mouse", json!({ "kind": "click", "x": 1e9, "y": 0 }), "at most 100000 pixels"),
        ("mouse", json!({ "kind": "wheel", "x": 0, "y": 0, "delta_y": -1e300 }), "at most 100000 pixels"),
        ("mouse", json!({ "kind": "click", "x": 0, "y": 0, "count": 4 }), "1 to 3"),
        ("mouse", json!({ "x": 0, "y": 0 }), "missing field `kind`"),
        ("key", json!({ "key": "" }), "single character"),
        ("key", json!({ "key": "\n" }), "single character"),
        ("key", json!({ "key": "한글" }), "single character"),
        ("key", json!({ "key": "a".repeat(33) }), "single character"),
        ("key", json!({ "key": "a", "modifiers": ["Hyper"] }), "unknown variant"),
        ("key", json!({ "key": "a", "modifiers": ["Alt", "Alt", "Alt", "Alt", "Alt"] }), "each once"),
        ("text", json!({ "text": "한".repeat(100_001) }), "100000 characters"),
        ("resize", json!({ "width": 0, "height": 1 }), "1 to 4096"),
        ("resize", json!({ "width": 1, "height": 4_097 }), "1 to 4096"),
        ("network-idle", json!({ "idle_milliseconds": 60_001 }), "1 to 60000"),
        ("set-files", json!({ "element": " ", "paths": [] }), "JavaScript that comes to a file input"),
        ("set-files", json!({ "element": "x", "paths": many }), "at most 100 paths"),
        ("set-files", json!({ "element": "x", "paths": [""] }), "at most 100 paths"),
    ] {
        match ask(name, &parameters) {
            Err(WebViewError::Invalid { problem }) => {
                assert!(problem.contains(expected), "{name} {parameters}: {problem}");
            }
            other => panic!("{name} {parameters}: {other:?}"),
        }
    }
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(1 << 20));
    assert!(matches!(ask_with(true, "text", &long), Err(WebViewError::Invalid { .. })));
    assert!(ask("text", &json!({ "text": "한".repeat(100_000) })).is_ok());
}

#[test]
fn files_are_given_only_where_that_is_granted() {
    let parameters = json!({ "element": "document.forms[0].file", "paths": ["a", "b/c"] }).to_string();
    let asked = ask_with(true, "set-files", &parameters).expect("granted");
    assert_eq!(asked.files, [PathBuf::from("a"), PathBuf::from("b/c")]);
    assert!(matches!(asked.operation, Operation::SetFiles { files, .. } if files.is_empty()));
    match ask_with(false, "set-files", &parameters) {
        Err(WebViewError::Refused { source }) => {
            assert!(source.message.contains("`uploads = true` under [plugin.browser.grants.webview]"), "{source:?}");
        }
        other => panic!("{other:?}"),
    }
}
