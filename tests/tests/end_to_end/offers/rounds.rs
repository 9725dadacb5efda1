//! Rounds of input, as tools ask for them.

use serde_json::{Value, json};
use wharf::{
    Answer, CallRequest, Caller, Code, Error, InputGiven,
    input::{InputMethod, InputRequired},
};
use wharf_tests::{Data, Fixture, Setup, context, object};

use super::{attacker, given, open};

async fn call(fixture: &Fixture, tool: &str, input: InputGiven) -> Result<Answer, Error> {
    let mut request = CallRequest::new(context("local", "test"), tool, serde_json::Map::new());
    request.input = input;
    fixture.host.call(request).await
}

fn required(answer: Result<Answer, Error>) -> InputRequired {
    answer.expect("an answer").input_required.expect("it asks")
}

fn text(answer: Result<Answer, Error>) -> String {
    answer.expect("an answer").content[0].as_text().expect("a text").to_owned()
}

#[tokio::test]
async fn a_tool_asks_for_a_form_a_model_and_folders_and_answers_with_what_was_given() {
    let fixture = open().await;
    let tool = "conformance__test_input_required_result_multiple_inputs";
    let asked = required(call(&fixture, tool, InputGiven::default()).await);
    let methods: Vec<_> = asked.requests.iter().map(|(name, request)| (name.as_str(), request.method)).collect();
    let expected = [
        ("client_roots", InputMethod::Roots),
        ("greeting", InputMethod::Sampling),
        ("user_name", InputMethod::Elicitation),
    ];
    assert_eq!(methods, expected);
    let responses = json!({
        "user_name": {"action": "accept", "content": {"name": "Ada"}},
        "greeting": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Ahoy"}},
        "client_roots": {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]},
    });
    let answer = call(&fixture, tool, given(responses, asked.state.as_deref())).await;
    assert_eq!(text(answer), "Ahoy, Ada! You work in 2 folders.");
}

#[tokio::test]
async fn a_tool_may_ask_again_with_another_state() {
    let fixture = open().await;
    let tool = "conformance__test_input_required_result_multi_round";
    let first = required(call(&fixture, tool, InputGiven::default()).await);
    let step = |name: &str, field: &str, value: &str| json!({name: {"action": "accept", "content": {field: value}}});
    let second = required(call(&fixture, tool, given(step("step1", "name", "Ada"), first.state.as_deref())).await);
    assert!(second.requests.contains_key("step2") && second.state != first.state);
    let answer = call(&fixture, tool, given(step("step2", "color", "blue"), second.state.as_deref())).await;
    assert_eq!(text(answer), "Hello, Ada! Your favorite color is blue.");
}

#[tokio::test]
async fn what_was_given_to_another_question_or_is_garbage_is_asked_for_again() {
    let fixture = open().await;
    let tool = "conformance__test_input_required_result_elicitation";
    for responses in [
        json!({"other": {"action": "accept", "content": {"name": "Ada"}}}),
        json!({"user_name": {"action": "decline"}}),
        json!({"user_name": {"action": "accept", "content": {"name": 7}}}),
        json!({"user_name": [1, null, "x"]}),
    ] {
        let asked = required(call(&fixture, tool, given(responses, None)).await);
        assert!(asked.requests.contains_key("user_name"));
    }
    let responses = json!({"user_name": {"action": "accept", "content": {"name": "Ada"}}, "extra": 1});
    assert_eq!(text(call(&fixture, tool, given(responses, None)).await), "Hello, Ada!");
}

#[tokio::test]
async fn a_tool_asks_for_no_more_than_the_client_can_do() {
    let fixture = open().await;
    let tool = "conformance__test_input_required_result_capabilities";
    let mut caller = Caller::new(context("local", "test"));
    caller.capabilities = Some(object(json!({"sampling": {}})));
    let request = CallRequest::of(caller, tool, serde_json::Map::new());
    let asked = required(fixture.host.call(request).await);
    assert_eq!(asked.requests.into_keys().collect::<Vec<_>>(), ["greeting"]);
}

async fn attack() -> (Data, Fixture) {
    let files = Data::alone();
    let fixture = Setup::new().plugin("attack", &attacker(&files, "none"), "").open().await;
    (files, fixture)
}

#[tokio::test]
async fn a_caller_cannot_write_what_is_the_hosts_into_its_request() {
    let (_files, fixture) = attack().await;
    let mut caller = Caller::new(context("local", "test"));
    caller.meta = object(json!({
        "dev.wharf/input": {"responses": {"forged": 1}, "state": "forged"}, "dev.wharf/tenant": "forged", "mine": 1,
        "dev.wharf/client": {"capabilities": {"sampling": {}}},
    }));
    let request = CallRequest::of(caller, "attack__asked", serde_json::Map::new());
    let seen = fixture.host.call(request).await.expect("an answer").structured;
    assert_eq!(seen, Some(json!({"mine": 1})));

    let mut caller = Caller::new(context("local", "test"));
    caller.meta = object(json!({"dev.wharf/input": {"responses": {"forged": 1}}}));
    let mut request = CallRequest::of(caller, "attack__asked", object(json!({"text": "raw"})));
    request.input = given(json!({"n": {"action": "accept"}}), Some("s\u{1b}\u{0}"));
    let seen = fixture.host.call(request).await.expect("an answer").structured.expect("what it saw");
    let seen: Value = serde_json::from_str(seen["raw"].as_str().expect("a text")).expect("JSON");
    assert_eq!(seen, json!({"dev.wharf/input": {"responses": {"n": {"action": "accept"}}, "state": "s\u{1b}\u{0}"}}));
}

#[tokio::test]
async fn what_is_given_counts_as_arguments_do() {
    let files = Data::alone();
    let fixture =
        Setup::new().plugin("attack", &attacker(&files, "none"), "").limit("argument_bytes", 100_000).open().await;
    let large = |bytes| given(json!({"n": "x".repeat(bytes)}), None);
    // More than what may come with a request besides.
    assert!(call(&fixture, "attack__asked", large(90_000)).await.is_ok());
    let error = call(&fixture, "attack__asked", large(100_000)).await.expect_err("too large");
    assert!(error.code == Code::Limit && error.message.contains("argument_bytes"), "{error}");
}

#[tokio::test]
async fn one_that_asks_owes_no_structure_and_one_that_asks_for_nothing_has_broken_its_contract() {
    let (_files, fixture) = attack().await;
    let ask = async |asked: Value| {
        let arguments = object(json!({"ask": asked}));
        fixture.host.call(CallRequest::new(context("local", "test"), "attack__ask", arguments)).await
    };
    let message = json!({"method": "elicitation/create", "params": {"message": "a\u{1b}[2Jb"}});
    let answer = ask(json!({"requests": {"n": message}, "state": "\u{1b}s"})).await.expect("a round");
    assert_eq!(Value::Object(answer.meta), json!({"kept": true}));
    let required = answer.input_required.expect("it asks");
    assert_eq!(required.requests["n"].parameters["message"], "a[2Jb");
    assert_eq!(required.state.as_deref(), Some("\u{1b}s"));

    let many: Value = (0..17).map(|at| (at.to_string(), json!({"method": "roots/list"}))).collect();
    for broken in [
        json!({}),
        json!([]),
        json!({"requests": {"n": {"method": "tools/call"}}}),
        json!({"requests": many}),
        json!({"state": "x".repeat(16_385)}),
    ] {
        let error = ask(broken).await.expect_err("it is none");
        assert!(error.code == Code::Internal && error.message.contains("inputRequired"), "{error}");
    }
    fixture.works().await;
}

#[tokio::test]
async fn one_that_asks_without_end_is_answered_each_time_and_keeps_nothing() {
    let (_files, fixture) = attack().await;
    let mut input = InputGiven::default();
    for _ in 0..100 {
        let arguments = object(json!({"ask": {"requests": {"n": {"method": "roots/list"}}, "state": "again"}}));
        let mut request = CallRequest::new(context("local", "test"), "attack__ask", arguments);
        request.input = input;
        let asked = required(fixture.host.call(request).await);
        input = given(json!({"n": {"roots": []}}), asked.state.as_deref());
    }
    assert_eq!(fixture.host.load(), (0, 0));
}
