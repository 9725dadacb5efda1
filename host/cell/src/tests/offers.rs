//! Prompts, resources and completions from host to host.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wharf_core::{
    Content, InputRequired,
    service::{
        Caller, HomeAnswer, HomeQuestion, HomeRequest, InputGiven,
        offer::{CompletionOf, Completions, PromptAnswer, PromptMessage, ResourceContent, ResourceDefinition, Role},
    },
};

use super::{TestCell, context};

/// What a host of the tests answers: what it was asked, in the form of such an answer.
pub(super) fn answer(asked: HomeQuestion) -> HomeAnswer {
    let memory = Default::default();
    match asked {
        HomeQuestion::Call { .. } => unreachable!("a tool is called elsewhere"),
        HomeQuestion::Prompt { name, arguments, input } if input.is_empty() => HomeAnswer::Prompt(PromptAnswer {
            description: Some(name),
            messages: vec![PromptMessage { role: Role::Assistant, content: bytes(arguments.text().as_bytes()) }],
            ..PromptAnswer::default()
        }),
        HomeQuestion::Prompt { input, .. } => {
            let asks = json!({"requests": {}, "state": input.state});
            let input_required = Some(InputRequired::read(&asks).expect("a round"));
            HomeAnswer::Prompt(PromptAnswer { input_required, meta: input.responses, ..PromptAnswer::default() })
        }
        HomeQuestion::List { plugin } => HomeAnswer::List(vec![ResourceDefinition {
            uri: "test://one".to_owned(),
            name: plugin.to_string(),
            description: String::new(),
            mime_type: Some("text/plain".to_owned()),
            meta: object(json!({"size": 1})),
            memory,
        }]),
        HomeQuestion::Read { uri } => {
            HomeAnswer::Read(vec![ResourceContent { uri, content: bytes(&[0, 0xff]), memory }])
        }
        HomeQuestion::Complete { of, argument, typed, others } => HomeAnswer::Complete(Completions {
            values: vec![format!("{of:?}"), argument, typed, Value::Object(others).to_string()],
            total: Some(7),
            has_more: true,
        }),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn bytes(data: &[u8]) -> Content {
    Content { mime_type: "application/octet-stream".to_owned(), data: data.to_vec(), meta: object(json!({"a": 1})) }
}

#[tokio::test]
async fn what_plugins_offer_is_asked_at_the_home_and_crosses_whole() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let arguments = || object(json!({"a": "ü\n"}));
    let given = InputGiven { responses: object(json!({"name": {"action": "accept"}})), state: Some("mine".to_owned()) };
    let prompt =
        |input| HomeQuestion::Prompt { name: "plugin__prompt".to_owned(), arguments: arguments().into(), input };
    let complete =
        |of| HomeQuestion::Complete { of, argument: "a".to_owned(), typed: "\u{fc}".to_owned(), others: arguments() };
    for asked in [
        prompt(InputGiven::default()),
        prompt(given),
        HomeQuestion::List { plugin: "plugin".parse().expect("legal") },
        HomeQuestion::Read { uri: "test://one".to_owned() },
        complete(CompletionOf::Prompt("plugin__prompt".to_owned())),
        complete(CompletionOf::Template("test://{a}".to_owned())),
    ] {
        let request = HomeRequest { caller: Arc::new(Caller::new(context("s-1"))), asked: asked.clone() };
        let answered = two.ask(request, false).await.expect("an answer");
        assert_eq!(format!("{answered:?}"), format!("{:?}", answer(asked)));
    }
}
