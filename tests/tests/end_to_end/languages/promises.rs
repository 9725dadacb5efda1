//! What the contract promises a guest and its callers, in every language.

use serde_json::{Map, Value, json};
use wharf::{CallRequest, Code, InputGiven, OfferService, offer::CompletionOf};
use wharf_tests::{Fixture, Setup, context, object, viewer};

use super::{Guest, SUITE};
use crate::offers::asking;

#[tokio::test]
async fn nothing_is_granted_that_the_operator_did_not_grant() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let probe = attacked.found("probe_imports", json!({})).await;
        let denied = json!({"thread": "denied", "session": "denied", "plugin": "denied"});
        assert_eq!(probe["state"], denied, "{}", guest.language);
        for capability in ["progress", "message", "stream", "process", "workspace", "terminal"] {
            assert_eq!(probe[capability], "denied", "{}: {capability}", guest.language);
        }
        // Rust's guest looks at pages by another tool.
        assert!(probe["webview"].is_null() || probe["webview"] == "denied", "{}: {probe}", guest.language);
        let error = attacked.failure("open_bucket", json!({"scope": "thread", "name": "b"})).await;
        assert_eq!(error.code, Code::Denied, "{}: {error}", guest.language);
        assert!(error.message.contains("[plugin.suite.grants.state]"), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn what_is_granted_works() {
    for guest in Guest::all() {
        let granted = ["state", "events", "process", "workspace", "terminal"];
        let attacked = guest.open(Setup::new(), &granted).await;
        let probe = attacked.found("probe_imports", json!({})).await;
        assert_eq!(probe["state"], json!({"thread": "ok", "session": "ok", "plugin": "ok"}), "{}", guest.language);
        for capability in ["progress", "message", "stream", "process", "workspace", "terminal"] {
            assert_eq!(probe[capability], "ok", "{}: {capability}", guest.language);
        }
    }
}

#[tokio::test]
async fn state_belongs_to_its_context_and_no_name_leads_to_another() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &["state"]).await;
        let put = json!({"scope": "session", "key": "key", "value": "mine 한국어"});
        attacked.call_in("one", "state_put", put).await.expect("written");
        let get = json!({"scope": "session", "key": "key"});
        for (session, expected) in [("one", json!("mine 한국어")), ("two", Value::Null)] {
            let entry = wharf_tests::found(attacked.call_in(session, "state_get", get.clone()).await);
            assert_eq!(entry["value"], expected, "{}: {session}", guest.language);
        }
        for (scope, name) in [("session:one", "n"), ("host", "n"), ("", "n"), ("session", "../one"), ("session", "")] {
            let error = attacked.failure("open_bucket", json!({"scope": scope, "name": name})).await;
            assert_eq!(error.code, Code::Invalid, "{}: {scope:?} {name:?}: {error}", guest.language);
        }
        let nobody = attacked.failure("state_get", json!({"scope": "assistant", "key": "key"})).await;
        assert_eq!(nobody.code, Code::Invalid, "{}: {nobody}", guest.language);
    }
}

#[tokio::test]
async fn a_call_knows_its_context_and_cannot_answer_for_another() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let context = wharf::Context {
            assistant: "helper".parse().ok(),
            thread: "t:1".parse().ok(),
            ..context("local", "conversation")
        };
        let seen = attacked.fixture.call_in(&context, &format!("{SUITE}__caller"), json!({})).await;
        let seen = wharf_tests::found(seen);
        let told = (&seen["session"], &seen["assistant"], &seen["thread"]);
        assert_eq!(told, (&json!("conversation"), &json!("helper"), &json!("t:1")), "{}", guest.language);
        let claims = json!({"dev.wharf/sessionId": "victim", "mine": 1}).to_string();
        let answer = attacked.call("answer_meta", json!({"meta": claims})).await.expect("an answer");
        let reserved = answer.meta.keys().any(|key| key.starts_with("dev.wharf/"));
        assert!(!reserved && answer.meta["mine"] == 1, "{}: {:?}", guest.language, answer.meta);
    }
}

#[tokio::test]
async fn errors_keep_their_code_where_it_is_one_and_their_message_is_cleaned() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let fails = |code: &str, message: &str| json!({"code": code, "message": message, "retryable": true});
        for code in
            ["denied", "invalid", "not-found", "conflict", "limit", "timeout", "gone", "unavailable", "internal"]
        {
            let error = attacked.failure("error", fails(code, "because")).await;
            let told = (error.code.as_str(), error.message.as_str(), error.retryable);
            assert_eq!(told, (code, "because", true), "{}", guest.language);
        }
        for code in ["", "later", "Denied", "cancelled"] {
            let error = attacked.failure("error", fails(code, "because")).await;
            assert_eq!(error.code, Code::Internal, "{}: {code:?}", guest.language);
        }
        let message = format!("\u{1b}]0;title\u{7}\u{202e}{}", "é".repeat(10_000));
        let error = attacked.failure("error", fails("invalid", &message)).await;
        assert!(error.message.len() <= 4_096 && error.message.starts_with("]0;title"), "{}: {error}", guest.language);
        assert!(!error.message.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn text_loses_what_moves_a_cursor_and_keeps_what_people_write() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        for (text, expected) in
            [("a\u{1b}[2Jb", "a[2Jb"), ("한국어 🙂 grüß\n", "한국어 🙂 grüß\n"), ("\u{202e}x\u{0}", "x"), ("", "")]
        {
            let answer = attacked.call("text", json!({"text": text})).await.expect("an answer");
            assert_eq!(answer.content[0].as_text(), Some(expected), "{}: {text:?}", guest.language);
        }
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_guest() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        for arguments in [json!({}), json!({"text": 7}), json!({"text": null}), json!({"text": ["x"]})] {
            let error = attacked.failure("text", arguments.clone()).await;
            assert_eq!(error.code, Code::Invalid, "{}: {arguments}: {error}", guest.language);
        }
    }
}

async fn offered(guest: &Guest) -> Fixture {
    let events = format!("[plugin.{SUITE}.grants.events]\nreason = \"a test\"");
    Setup::new().plugin(SUITE, &guest.offering, &events).open().await
}

#[tokio::test]
async fn a_tool_asks_in_rounds_and_goes_on_with_what_was_given() {
    for guest in Guest::all() {
        let fixture = offered(&guest).await;
        let call = async |tool: &str, responses: Option<Value>, state: Option<String>| {
            let mut request = CallRequest::new(context("local", "test"), format!("{SUITE}__{tool}"), Map::new());
            request.input =
                responses.map_or_else(InputGiven::default, |given| InputGiven { responses: object(given), state });
            fixture.host.call(request).await.expect("a round")
        };
        let step =
            |name: &str, field: &str, value: Value| json!({name: {"action": "accept", "content": {field: value}}});
        let tool = "test_input_required_result_multi_round";
        let first = call(tool, None, None).await.input_required.expect("it asks");
        let second = call(tool, Some(step("step1", "name", json!("Ada"))), first.state.clone()).await;
        let second = second.input_required.expect("it asks again");
        assert!(second.requests.contains_key("step2") && second.state != first.state, "{}", guest.language);
        let answer = call(tool, Some(step("step2", "color", json!("blue"))), second.state).await;
        let text = answer.content[0].as_text();
        assert_eq!(text, Some("Hello, Ada! Your favorite color is blue."), "{}", guest.language);
        // What was given to another question, or is garbage, is asked for again.
        let tool = "test_input_required_result_elicitation";
        for garbage in [
            step("other", "name", json!("Ada")),
            json!({"user_name": {"action": "decline"}}),
            step("user_name", "name", json!(7)),
            json!({"user_name": [1, null, "x"]}),
        ] {
            let asked = call(tool, Some(garbage), None).await.input_required.expect("it asks again");
            assert!(asked.requests.contains_key("user_name"), "{}", guest.language);
        }
    }
}

#[tokio::test]
async fn what_is_offered_beside_tools_is_there() {
    for guest in Guest::all() {
        let fixture = offered(&guest).await;
        let (host, name) = (&fixture.host, format!("{SUITE}__test_prompt_with_arguments"));
        let prompts = host.prompts(viewer());
        let prompt = prompts.iter().find(|prompt| prompt.name == name).expect("listed");
        let arguments: Vec<_> = prompt.arguments.iter().map(|argument| (&*argument.name, argument.required)).collect();
        assert_eq!(arguments, [("arg1", true), ("arg2", true)], "{}", guest.language);
        let given = object(json!({"arg1": "hello", "arg2": "world"}));
        let made = host.prompt(&asking(), &name, &given.into(), InputGiven::default()).await.expect("a prompt");
        let text = made.messages[0].content.as_text();
        assert_eq!(text, Some("Prompt with arguments: arg1='hello', arg2='world'"), "{}", guest.language);

        let listed = host.resources(&asking()).await.expect("a listing");
        assert!(listed.iter().any(|resource| resource.uri == "test://static-text"), "{}", guest.language);
        let read = host.read_resource(&asking(), "test://static-text").await.expect("it is there");
        let text = read[0].content.as_text();
        assert_eq!(text, Some("This is the content of the static text resource."), "{}", guest.language);
        let error = host.read_resource(&asking(), "test://nothing").await.expect_err("it is not there");
        assert_eq!(error.code, Code::NotFound, "{}: {error}", guest.language);

        let of = CompletionOf::Prompt(name);
        let words = host.complete(&asking(), of, "arg1", "te", Map::new()).await.expect("words");
        assert_eq!(words.values, ["test", "testing"], "{}", guest.language);
    }
}
