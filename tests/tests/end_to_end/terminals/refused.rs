//! What is typed and asked for is measured before anything happens.

use serde_json::{Value, json};
use wharf_tests::{Fixture, Setup};

use super::{ask, here, ok, printed, refused, script};

/// A terminal that prints what it is typed.
async fn cat() -> (Fixture, String) {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let id = script(&fixture, &here(), "exec cat").await;
    (fixture, id)
}

/// Nothing was typed, and no turn begun.
async fn untouched(fixture: &Fixture, id: &str) {
    let info = ok(fixture, &here(), "get", id, json!({})).await;
    assert_eq!((&info["raw"], &info["turn"], &info["status"]), (&json!(0), &Value::Null, &json!("starting")), "{info}");
}

#[tokio::test]
async fn ten_thousand_characters_are_typed_and_one_more_is_not() {
    let (fixture, id) = cat().await;
    let line = format!("{}\n", "x".repeat(99));
    let send = |text: String| json!({"text": text, "submit": false});
    let (code, message) = refused(&fixture, &here(), "send", &id, send(format!("{}x", line.repeat(100)))).await;
    assert!(code == "limit" && message.contains("10000"), "{code}: {message}");
    let (code, message) = refused(&fixture, &here(), "send", &id, send("x".repeat(5_000))).await;
    assert!(code == "limit" && message.contains("4095"), "a line would be cut: {code}: {message}");
    untouched(&fixture, &id).await;
    ok(&fixture, &here(), "send", &id, send(line.repeat(100))).await;
    let from = json!({"view": "text", "from": 19_999, "bytes": 10, "milliseconds": 20_000});
    let read = ok(&fixture, &here(), "read", &id, from).await;
    assert_eq!(read["end"], 20_000, "each echoed and printed: {read}");
}

#[tokio::test]
async fn a_thousand_keys_are_pressed_and_one_more_is_not() {
    let (fixture, id) = cat().await;
    for (function, count, word) in [("send", 1_001, "1000"), ("press", 1_001, "1000"), ("press", 0, "1000")] {
        let (code, message) = refused(&fixture, &here(), function, &id, json!({"keys": vec!["a"; count]})).await;
        assert!(code == "invalid" && message.contains(word), "{function} {count}: {code}: {message}");
    }
    for keys in [json!(["a", "Foo"]), json!([""]), json!(["C-"]), json!(["ab"]), json!(["\u{1b}"]), json!(["F13"])] {
        for function in ["send", "press"] {
            let (code, message) = refused(&fixture, &here(), function, &id, json!({"keys": keys})).await;
            assert!(code == "invalid" && message.contains("PageUp"), "{keys}: {code}: {message}");
        }
    }
    untouched(&fixture, &id).await;
    let mut keys = vec!["a"; 999];
    keys.push("Enter");
    ok(&fixture, &here(), "press", &id, json!({"keys": keys})).await;
    printed(&fixture, &here(), &id, &format!("{0}\n{0}", "a".repeat(999))).await;
}

#[tokio::test]
async fn control_characters_are_keys_and_no_text() {
    let (fixture, id) = cat().await;
    for (text, word) in [
        ("\u{3}", "C-c"),
        ("a\u{4}", "C-d"),
        ("\u{1a}", "C-z"),
        ("\u{1b}[2J\u{1b}]52;c;eA==\u{7}", "Escape"),
        ("\u{0}", "U+0000"),
        ("\u{7f}", "U+007F"),
        ("a\u{9b}6n", "U+009B"),
        ("a\rb", "U+000D"),
    ] {
        let (code, message) = refused(&fixture, &here(), "send", &id, json!({"text": text, "submit": true})).await;
        assert!(code == "invalid" && message.contains(word), "{text:?}: {code}: {message}");
    }
    untouched(&fixture, &id).await;
}

#[tokio::test]
async fn an_input_that_says_nothing_or_two_things_is_refused() {
    let (fixture, id) = cat().await;
    for input in [json!({}), json!({"text": "a", "keys": ["Enter"]}), json!({"submit": true, "keys": ["Enter"]})] {
        let (code, message) = refused(&fixture, &here(), "send", &id, input.clone()).await;
        assert_eq!(code, "invalid", "{input}: {message}");
    }
    untouched(&fixture, &id).await;
}

#[tokio::test]
async fn a_turn_that_cannot_be_judged_does_not_begin() {
    let (fixture, id) = cat().await;
    let many: Vec<String> = (0..17).map(|number| format!("{number}> $")).collect();
    for (options, word) in [
        (json!({"prompts": many}), "16"),
        (json!({"prompts": ["x".repeat(1_025)]}), "1024"),
        (json!({"prompts": ["fine", "("]}), "prompts"),
        (json!({"prompts": ["(a{1000}){1000}"]}), "prompts"),
        (json!({"prompts": ["(((((((((a{10}){10}){10}){10}){10}){10}){10}){10}){10})"]}), "prompts"),
        (json!({"prompts": ["(?=a)"]}), "prompts"),
        (json!({"preset": "fast"}), "preset"),
        (json!({"options": "{\"quick\": true}"}), "options"),
        (json!({"options": "["}), "options"),
        (json!({"options": "[]"}), "options"),
    ] {
        let mut arguments = json!({"text": "a", "submit": true});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(options.clone()));
        let (code, message) = refused(&fixture, &here(), "send", &id, arguments).await;
        let shown: String = options.to_string().chars().take(80).collect();
        assert!(code == "invalid" && message.contains(word), "{shown}: {code}: {message}");
    }
    untouched(&fixture, &id).await;
    // The most that there may be; it matches, so that the turn is over.
    let mut prompts = many[..15].to_vec();
    prompts.push(format!("{}|^a$", "x".repeat(1_020)));
    let more = json!({"text": "a", "submit": false, "prompts": prompts, "preset": "repl", "options": "{}"});
    let turn = ok(&fixture, &here(), "send", &id, more).await;
    let (_, ended) = super::followed(&fixture, &here(), &id, &turn).await;
    assert_eq!((&ended["complete"]["layer"], &ended["complete"]["reason"]), (&json!("L2"), &json!("strict-prompt")));
}

#[tokio::test]
async fn a_turn_is_judged_by_the_numbers_that_its_plugin_gives() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    // No program that the system knows to wait: the numbers alone decide.
    let id = super::script(&fixture, &here(), "while read line; do sleep 1000 & wait; done").await;
    let numbers = json!({"parameters": {"max_attempts": 1, "wait_for_data_milliseconds": 100}}).to_string();
    let more = json!({"text": "go", "submit": true, "preset": "patient", "options": numbers});
    let turn = ok(&fixture, &here(), "send", &id, more).await;
    let (_, ended) = super::followed(&fixture, &here(), &id, &turn).await;
    assert_eq!(ended["complete"]["reason"], "attempts-exhausted", "{ended}");
}

#[tokio::test]
async fn times_beyond_all_reason_are_refused_or_cut_and_harm_nothing() {
    let (fixture, id) = cat().await;
    for (inactivity, limit) in [(0, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (u64::MAX, 0), (1, 1), (u64::MAX, 1)] {
        let more = json!({"text": "a", "submit": true, "inactivity": inactivity, "limit": limit});
        let answer = ask(&fixture, &here(), "send", &id, more).await;
        match answer["ok"]["number"].as_u64() {
            Some(turn) => {
                ok(&fixture, &here(), "cancel", &id, json!({"turn": turn})).await;
            }
            None => assert_eq!(answer["refused"]["code"], "invalid", "{inactivity} {limit}: {answer}"),
        }
    }
    fixture.works().await;
    // One of a moment ends by its limit.
    let more = json!({"text": "b", "submit": true, "preset": "patient", "limit": 50});
    let turn = ok(&fixture, &here(), "send", &id, more).await;
    let (_, ended) = super::followed(&fixture, &here(), &id, &turn).await;
    assert_eq!(
        (&ended["complete"]["layer"], &ended["complete"]["reason"]),
        (&json!("L4"), &json!("time-limit")),
        "{ended}"
    );
    assert_eq!(ended["complete"]["confidence"], "none");
}

#[tokio::test]
async fn a_size_that_no_terminal_has_is_refused_and_changes_nothing() {
    let (fixture, id) = cat().await;
    for (columns, rows) in [(0, 24), (80, 0), (0, 0), (501, 24), (80, 201), (65_535, 65_535)] {
        let (code, message) =
            refused(&fixture, &here(), "resize", &id, json!({"columns": columns, "rows": rows})).await;
        assert_eq!(code, "invalid", "{columns}x{rows}: {message}");
    }
    untouched(&fixture, &id).await;
    for (columns, rows) in [(1, 1), (500, 200)] {
        ok(&fixture, &here(), "resize", &id, json!({"columns": columns, "rows": rows})).await;
        let screen = ok(&fixture, &here(), "screen", &id, json!({"lines": u32::MAX})).await;
        assert_eq!((&screen["columns"], &screen["rows"]), (&json!(columns), &json!(rows)));
    }
}
