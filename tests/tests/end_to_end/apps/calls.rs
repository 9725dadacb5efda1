//! What a call is given, and what of its answer is passed on.

use serde_json::{Value, json};
use wharf::{Answer, AppCall, AppTool, CallRequest, Caller, Code, Content, Error, RegisterError};
use wharf_tests::{Setup, context, object};

use super::{anything, reporting, saying};

/// A tool that gives this answer.
fn giving(name: &str, answer: Answer) -> AppTool {
    AppTool::new(name, "Gives.", anything(), move |_: AppCall| {
        let answer = answer.clone();
        async move { Ok(answer) }
    })
}

#[tokio::test]
async fn arguments_reach_the_app_only_where_they_fit_its_schema() {
    let fixture = Setup::new().limit("argument_bytes", 100).open().await;
    let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"],
                        "additionalProperties": false});
    let strict = AppTool::new("strict", "Counts.", schema, |call: AppCall| async move {
        assert!(call.arguments["count"].is_i64(), "{:?}", call.arguments);
        Ok(super::says("counted"))
    });
    fixture.host.register_tool(strict).expect("legal");
    fixture.host.register_tool(reporting("report")).expect("legal");
    fixture.call("app__strict", json!({"count": 1})).await.expect("fits");
    for (wrong, path) in [
        (json!({"count": "1"}), "/count"),
        (json!({}), "count"),
        (json!({"count": 1, "more": 1}), "more"),
        (json!({"count": 1, "__sessionId": "victim"}), "__sessionId"),
    ] {
        let error = fixture.call("app__strict", wrong).await.expect_err("does not fit");
        assert!(error.code == Code::Invalid && error.message.contains(path), "{error}");
    }
    let filled = |bytes: usize| json!({"t": "x".repeat(bytes - 8)});
    let whole = fixture.call("app__report", filled(100)).await.expect("100 bytes");
    assert_eq!(whole.structured.expect("a report")["arguments"], filled(100));
    let error = fixture.call("app__report", filled(101)).await.expect_err("101 bytes");
    assert!(error.code == Code::Limit && error.message.contains("argument_bytes"), "{error}");
    let mut caller = Caller::new(context("local", "test"));
    caller.meta = object(json!({"x": "x".repeat(65_536)}));
    let error = fixture
        .host
        .call(CallRequest::of(caller, "app__report", object(json!({}))))
        .await
        .expect_err("too much beside the arguments");
    assert!(error.code == Code::Limit && error.message.contains("_meta"), "{error}");
}

#[tokio::test]
async fn a_call_is_told_its_context_and_nothing_of_another() {
    let fixture = Setup::new().open().await;
    fixture.host.register_tool(reporting("report")).expect("legal");
    for (tenant, session) in [("local", "a"), ("other", "a"), ("local", "b")] {
        let answer = fixture.call_in(&context(tenant, session), "app__report", json!({"x": [1]})).await;
        let seen = answer.expect("answers").structured.expect("a report");
        assert_eq!((&seen["tenant"], &seen["session"]), (&json!(tenant), &json!(session)));
        assert_eq!((&seen["arguments"], &seen["assistant"]), (&json!({"x": [1]}), &Value::Null));
    }
}

#[tokio::test]
async fn an_answer_is_measured_and_filtered_as_that_of_a_plugin() {
    let fixture = Setup::new().limit("output_bytes", 1_000).open().await;
    let register = |tool| -> Result<String, RegisterError> { fixture.host.register_tool(tool) };
    let text = |bytes: usize| Answer { content: vec![Content::text("x".repeat(bytes - 10))], ..Answer::default() };
    register(giving("fits", text(1_000))).expect("legal");
    register(giving("large", text(1_001))).expect("legal");
    let structured = Answer { structured: Some(json!({"t": "x".repeat(1_000)})), ..Answer::default() };
    register(giving("structured", structured)).expect("legal");
    fixture.call("app__fits", json!({})).await.expect("1,000 bytes");
    for large in ["app__large", "app__structured"] {
        let error = fixture.call(large, json!({})).await.expect_err(large);
        assert!(error.code == Code::Limit && error.message.contains("output_bytes"), "{large}: {error}");
    }

    let meta = object(json!({"dev.wharf/error": {"code": "denied"}, "mine": 1}));
    let forged = Answer { content: vec![Content::text("a\u{1b}[2J\u{202e}b")], meta, ..Answer::default() };
    register(giving("forged", forged)).expect("legal");
    let answer = fixture.call("app__forged", json!({})).await.expect("answers");
    assert_eq!(answer.content[0].as_text(), Some("a[2Jb"));
    assert_eq!(Value::Object(answer.meta), json!({"mine": 1}));

    let broken = Content { mime_type: "text/plain".to_owned(), data: vec![0xff], meta: Default::default() };
    register(giving("broken", Answer { content: vec![broken], ..Answer::default() })).expect("legal");
    assert_eq!(fixture.call("app__broken", json!({})).await.expect_err("no text").code, Code::Internal);
}

#[tokio::test]
async fn a_structured_answer_keeps_what_its_schema_promises() {
    let fixture = Setup::new().open().await;
    let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]});
    let cases = [
        ("good", Some(json!({"count": 1})), false, true),
        ("wrong", Some(json!({"count": "1"})), false, false),
        ("none", None, false, false),
        ("failed", None, true, true),
    ];
    for (name, structured, is_error, fits) in cases {
        let answer = Answer { structured, is_error, ..Answer::default() };
        let tool = giving(name, answer).with_output_schema(schema.clone());
        let name = fixture.host.register_tool(tool).expect("legal");
        match fixture.call(&name, json!({})).await {
            Ok(answer) => assert!(fits && answer.is_error == is_error, "{name}"),
            Err(error) => assert!(!fits && error.code == Code::Internal, "{name}: {error}"),
        }
    }
}

#[tokio::test]
async fn an_error_of_the_app_is_told_with_its_code_and_without_control_characters() {
    let fixture = Setup::new().open().await;
    let failing = AppTool::new("failing", "Fails.", anything(), |_| async {
        Err(Error::retryable(Code::Unavailable, format!("\u{1b}]0;title\u{7}{}", "x".repeat(100_000))))
    });
    fixture.host.register_tool(failing).expect("legal");
    let error = fixture.call("app__failing", json!({})).await.expect_err("fails");
    assert!(error.code == Code::Unavailable && error.retryable && error.message.starts_with("]0;titlexxx"), "{error}");
    assert!(error.message.len() <= 4_096);
}

#[tokio::test]
async fn a_call_waits_for_a_place_as_others_do() {
    let fixture = Setup::new().host_limit("calls_in_flight", 1).open().await;
    let (tool, mut wait) = super::waiting("wait", "done");
    fixture.host.register_tool(tool).expect("legal");
    fixture.host.register_tool(saying("quick", "quick")).expect("legal");
    let first = fixture.start(&context("local", "a"), "app__wait", json!({}));
    wait.until("began").await;
    let second = fixture.start(&context("local", "b"), "app__quick", json!({}));
    fixture.load_is(1, 1).await;
    wait.release.notify_one();
    first.outcome().await.expect("answers");
    second.outcome().await.expect("its turn came");
    fixture.load_is(0, 0).await;
}
