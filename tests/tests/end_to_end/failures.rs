//! A guest that fails, fails alone: the call ends with a typed error, what the
//! guest wrote stays out of it, and nothing else notices.

use serde_json::{Value, json};
use wharf::{CallRequest, Caller, Code, Error};
use wharf_tests::{Fixture, Setup, context, found, object};

/// Fails while calls in other sessions are in flight; they all finish.
async fn failure(fixture: &Fixture, tool: &str, arguments: Value) -> Error {
    let beside: Vec<_> = (0..4)
        .map(|index| {
            fixture.start(&context("local", &format!("beside-{index}")), "hostile__sleep", json!({"milliseconds": 30}))
        })
        .collect();
    let error = fixture.call(tool, arguments).await.expect_err(tool);
    for call in beside {
        found(call.outcome().await);
    }
    fixture.works().await;
    assert_eq!(fixture.host.load(), (0, 0));
    error
}

#[tokio::test]
async fn a_trap_ends_one_call() {
    let fixture = Setup::new().open().await;
    let error = failure(&fixture, "hostile__trap", json!({})).await;
    assert_eq!((error.code, error.retryable), (Code::Internal, false), "{error}");
}

#[tokio::test]
async fn a_panic_ends_one_call_and_its_message_stays_with_the_operator() {
    let fixture = Setup::new().open().await;
    let error = failure(&fixture, "hostile__panic", json!({"message": "password=hunter2"})).await;
    assert_eq!(error.code, Code::Internal, "{error}");
    assert!(!error.message.contains("hunter2") && error.message.contains("log"), "{error}");
}

#[tokio::test]
async fn an_exit_ends_one_call_and_names_its_code() {
    let fixture = Setup::new().open().await;
    for code in [0, 1] {
        let error = failure(&fixture, "hostile__exit", json!({"code": code})).await;
        assert!(error.code == Code::Internal && error.message.contains(&format!("code {code}")), "{error}");
    }
}

#[tokio::test]
async fn a_stack_overflow_ends_one_call() {
    let fixture = Setup::new().open().await;
    let error = failure(&fixture, "hostile__recurse", json!({"depth": 1_000_000_000})).await;
    assert!(error.code == Code::Limit && error.message.contains("stack_bytes"), "{error}");
}

#[tokio::test]
async fn memory_that_cannot_be_had_ends_one_call() {
    let fixture = Setup::new().open().await;
    let error = failure(&fixture, "hostile__allocate_or_die", json!({"bytes": 1_u64 << 31})).await;
    assert!(matches!(error.code, Code::Internal | Code::Limit), "{error}");
}

#[tokio::test]
async fn a_structured_answer_that_breaks_its_schema_is_the_plugins_fault() {
    let fixture = Setup::new().open().await;
    let good =
        fixture.call("hostile__bad_structured", json!({"structured": r#"{"count":1}"#})).await.expect("conforms");
    assert_eq!(good.structured, Some(json!({"count": 1})));
    for bad in [
        json!({}),
        json!({"structured": ""}),
        json!({"structured": "{"}),
        json!({"structured": "[1]"}),
        json!({"structured": "{}"}),
        json!({"structured": r#"{"count":"1"}"#}),
        json!({"structured": r#"{"count":1,"more":2}"#}),
        json!({"structured": r#"{"count":1} {"count":2}"#}),
        json!({"structured": "[".repeat(10_000)}),
    ] {
        let error = failure(&fixture, "hostile__bad_structured", bad.clone()).await;
        assert!(error.code == Code::Internal && error.message.contains("broke its contract"), "{bad}: {error}");
        assert!(error.message.len() < 4_096, "{}", error.message.len());
    }
}

#[tokio::test]
async fn a_text_that_is_no_utf8_is_the_plugins_fault() {
    let fixture = Setup::new().open().await;
    let error = failure(&fixture, "hostile__invalid_utf8", json!({})).await;
    assert!(error.code == Code::Internal && error.message.contains("UTF-8"), "{error}");
}

#[tokio::test]
async fn a_type_that_is_none_is_the_plugins_fault() {
    let fixture = Setup::new().open().await;
    let typed = |mime: &str| json!({"mimeType": mime, "text": "x"});
    let answer = fixture.call("hostile__mime_type", typed("image/png")).await.expect("a type");
    assert_eq!(answer.content[0].mime_type, "image/png");
    for mime in ["", "text/pläin", &"x".repeat(256)] {
        let error = failure(&fixture, "hostile__mime_type", typed(mime)).await;
        assert!(error.code == Code::Internal && error.message.contains("type"), "{mime:?}: {error}");
    }
}

#[tokio::test]
async fn a_type_cannot_carry_control_characters_to_the_client() {
    let fixture = Setup::new().open().await;
    for mime in ["text/plain\r\n", "a\u{1b}[2Jb", "image/png\0"] {
        let error = failure(&fixture, "hostile__mime_type", json!({"mimeType": mime, "text": "x"})).await;
        assert_eq!(error.code, Code::Internal, "{mime:?}: {error}");
    }
}

#[tokio::test]
async fn every_kind_of_text_loses_what_moves_a_cursor_and_other_data_stays_as_it_is() {
    let fixture = Setup::new().open().await;
    for (mime, expected) in
        [("text/html", "a[2Jb"), ("text/plain; charset=utf-8", "a[2Jb"), ("image/png", "a\u{1b}[2Jb")]
    {
        let arguments = json!({"mimeType": mime, "text": "a\u{1b}[2Jb"});
        let answer = fixture.call("hostile__mime_type", arguments).await.expect("answers");
        assert_eq!(answer.content[0].data, expected.as_bytes(), "{mime}");
    }
}

#[tokio::test]
async fn what_comes_with_a_request_is_bounded_before_a_guest_sees_it() {
    let fixture = Setup::new().open().await;
    let call = |bytes: usize| {
        let mut caller = Caller::new(context("local", "meta"));
        // The JSON around the text has 8 bytes.
        caller.meta = object(json!({"a": "x".repeat(bytes - 8)}));
        fixture.host.call(CallRequest::of(caller, "echo__echo", object(json!({"text": "x"}))))
    };
    call(64 << 10).await.expect("at the limit");
    let error = call((64 << 10) + 1).await.expect_err("beyond it");
    assert!(error.code == Code::Limit && error.message.contains("_meta"), "{error}");
}

#[tokio::test]
async fn a_meta_that_is_no_object_is_the_plugins_fault() {
    let fixture = Setup::new().open().await;
    for tool in ["hostile__content_meta", "hostile__answer_meta"] {
        fixture.call(tool, json!({"meta": r#"{"a":1}"#})).await.expect("an object");
        for meta in ["", "1", "[]", "{", "null"] {
            let error = failure(&fixture, tool, json!({"meta": meta})).await;
            assert!(error.code == Code::Internal && error.message.contains("meta"), "{tool} {meta:?}: {error}");
        }
    }
}

#[tokio::test]
async fn errors_of_a_tool_keep_their_code_where_it_is_one() {
    let fixture = Setup::new().open().await;
    let fails = |code: &str| json!({"code": code, "message": "because", "retryable": true});
    for code in ["denied", "invalid", "not-found", "conflict", "limit", "timeout", "gone", "unavailable", "internal"] {
        let error = failure(&fixture, "hostile__error", fails(code)).await;
        assert_eq!((error.code.as_str(), error.message.as_str(), error.retryable), (code, "because", true));
    }
    // A later version's code, an invented one, and one that only the host may use.
    for code in ["", "later", "Denied", "cancelled"] {
        let error = failure(&fixture, "hostile__error", fails(code)).await;
        assert_eq!(error.code, Code::Internal, "{code:?}");
    }
}

#[tokio::test]
async fn the_message_of_an_error_is_cut_and_cleaned() {
    let fixture = Setup::new().open().await;
    let message = format!("\u{1b}]0;title\u{7}\u{202e}{}", "é".repeat(10_000));
    let error = failure(&fixture, "hostile__error", json!({"code": "invalid", "message": message})).await;
    assert!(error.message.len() <= 4_096 && error.message.starts_with("]0;title"), "{}", error.message.len());
    assert!(!error.message.chars().any(|character| character.is_control() || character == '\u{202e}'));
}

#[tokio::test]
async fn an_answer_of_too_many_parts_is_refused() {
    let fixture = Setup::new().open().await;
    let answer = fixture.call("hostile__many_content", json!({"count": 256})).await.expect("what is allowed");
    assert_eq!(answer.content.len(), 256);
    for count in [257, 20_000] {
        let error = failure(&fixture, "hostile__many_content", json!({"count": count})).await;
        assert!(error.message.contains("256"), "{error}");
    }
}

#[tokio::test]
async fn text_for_a_client_has_no_control_characters() {
    let fixture = Setup::new().open().await;
    let answer = fixture.call("hostile__control_characters", json!({})).await.expect("answers");
    let text = answer.content[0].as_text().expect("a text");
    let allowed = |character: char| matches!(character, '\n' | '\r' | '\t') || !character.is_control();
    assert!(text.chars().all(allowed), "{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "{text:?}");
    assert!(text.ends_with("]0;title[2J[31mred[0m end"), "{text:?}");
}

#[tokio::test]
async fn what_a_guest_says_of_its_answer_cannot_speak_for_the_host() {
    let fixture = Setup::new().state("").open().await;
    let answer = fixture.call("hostile__forge_context", json!({"session": "victim"})).await.expect("answers");
    let told: Value = serde_json::from_str(answer.content[0].as_text().expect("a text")).expect("JSON");
    assert_eq!(told, json!({"opened": []}));
    let reserved: Vec<_> = answer.meta.keys().filter(|key| key.starts_with("dev.wharf/")).collect();
    assert!(reserved.is_empty(), "the guest writes the host's own `_meta` keys: {reserved:?}");
}

#[tokio::test]
async fn an_error_answer_is_an_answer() {
    let fixture = Setup::new().open().await;
    let answer = fixture.call("hostile__error_answer", json!({"text": "no such goal"})).await.expect("an answer");
    assert!(answer.is_error);
    assert_eq!(answer.content[0].as_text(), Some("no such goal"));
}

#[tokio::test]
async fn bad_requests_are_refused_before_a_guest_runs() {
    let fixture = Setup::new().open().await;
    let unknown = fixture.call("hostile__no_such_tool", json!({})).await.expect_err("unknown");
    assert!(unknown.code == Code::NotFound && unknown.message.contains("hostile__"), "{unknown}");
    let nothing = fixture.call("", json!({})).await.expect_err("unknown");
    assert_eq!(nothing.code, Code::NotFound);
    let wrong = fixture.call("hostile__sleep", json!({"milliseconds": "soon"})).await.expect_err("no number");
    assert!(wrong.code == Code::Invalid && wrong.message.contains("/milliseconds"), "{wrong}");
    let missing = fixture.call("hostile__sleep", json!({})).await.expect_err("missing");
    assert!(missing.code == Code::Invalid && missing.message.contains("milliseconds"), "{missing}");
    let more = fixture.call("hostile__trap", json!({"more": 1})).await.expect_err("not allowed");
    assert_eq!(more.code, Code::Invalid, "{more}");
    let huge = fixture.call("echo__echo", json!({"text": "x".repeat(10_000_000)})).await.expect_err("10 MB");
    assert!(huge.code == Code::Limit && huge.message.contains("argument_bytes"), "{huge}");
    fixture.works().await;
}
