//! Prompts and completions.

use serde_json::json;
use wharf::{
    Code, InputGiven, OfferService,
    offer::{CompletionOf, Role},
};
use wharf_tests::{Data, Setup, object, viewer};

use super::{asking, attacker, given, offering, open};

#[tokio::test]
async fn prompts_are_listed_under_the_names_of_their_plugins_in_a_fixed_order() {
    let fixture = open().await;
    let prompts = fixture.host.prompts(viewer());
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    let expected = [
        "conformance__test_input_required_result_prompt",
        "conformance__test_prompt_with_arguments",
        "conformance__test_prompt_with_embedded_resource",
        "conformance__test_prompt_with_image",
        "conformance__test_simple_prompt",
    ];
    assert_eq!(names, expected);
    let arguments: Vec<_> = prompts[1].arguments.iter().map(|argument| (&*argument.name, argument.required)).collect();
    assert_eq!(arguments, [("arg1", true), ("arg2", true)]);
    assert_eq!(prompts[1].arguments[0].description, "First test argument");
}

#[tokio::test]
async fn a_prompt_is_made_of_its_arguments() {
    let fixture = open().await;
    let arguments = object(json!({"arg1": "hello", "arg2": "world"}));
    let answer = fixture
        .host
        .prompt(&asking(), "conformance__test_prompt_with_arguments", &arguments.clone().into(), InputGiven::default())
        .await;
    let answer = answer.expect("a prompt");
    assert_eq!(answer.messages.len(), 1);
    assert_eq!(answer.messages[0].role, Role::User);
    let text = answer.messages[0].content.as_text();
    assert_eq!(text, Some("Prompt with arguments: arg1='hello', arg2='world'"));

    let arguments = object(json!({"resourceUri": "test://example"}));
    let answer = fixture
        .host
        .prompt(
            &asking(),
            "conformance__test_prompt_with_embedded_resource",
            &arguments.clone().into(),
            InputGiven::default(),
        )
        .await;
    let answer = answer.expect("a prompt");
    assert_eq!(answer.messages[0].content.meta["uri"], "test://example");
    assert_eq!(answer.messages.len(), 2);
}

#[tokio::test]
async fn arguments_that_a_prompt_does_not_take_are_refused_before_the_plugin_is_asked() {
    let fixture = open().await;
    for (arguments, told) in [
        (json!({"arg1": "a"}), "needs the argument `arg2`"),
        (json!({"arg1": "a", "arg2": 2}), "must be a text"),
        (json!({"arg1": "a", "arg2": "b", "arg3\u{1b}": "c"}), "no argument `arg3`; it has: arg1, arg2"),
    ] {
        let asked = fixture
            .host
            .prompt(
                &asking(),
                "conformance__test_prompt_with_arguments",
                &object(arguments).into(),
                InputGiven::default(),
            )
            .await;
        let error = asked.expect_err(told);
        assert!(error.code == Code::Invalid && error.message.contains(told), "{error}");
    }
    let unknown =
        fixture.host.prompt(&asking(), "conformance__nothing", &object(json!({})).into(), InputGiven::default()).await;
    let error = unknown.expect_err("unknown");
    assert!(error.code == Code::NotFound && error.message.contains("conformance__test_simple_prompt"), "{error}");
}

#[tokio::test]
async fn arguments_of_prompts_are_limited_as_those_of_tools() {
    let fixture = offering().limit("argument_bytes", 1_000).open().await;
    let arguments = |bytes| object(json!({"arg1": "x".repeat(bytes), "arg2": ""}));
    let name = "conformance__test_prompt_with_arguments";
    assert!(fixture.host.prompt(&asking(), name, &arguments(900).into(), InputGiven::default()).await.is_ok());
    let error = fixture
        .host
        .prompt(&asking(), name, &arguments(1_000).into(), InputGiven::default())
        .await
        .expect_err("too large");
    assert!(error.code == Code::Limit && error.message.contains("argument_bytes"), "{error}");
}

#[tokio::test]
async fn a_prompt_asks_before_it_is_made() {
    let fixture = open().await;
    let name = "conformance__test_input_required_result_prompt";
    let asked =
        fixture.host.prompt(&asking(), name, &object(json!({})).into(), InputGiven::default()).await.expect("a round");
    let required = asked.input_required.expect("it asks");
    assert_eq!(required.requests["user_context"].parameters["message"], "What context should the prompt use?");
    assert!(asked.messages.is_empty() && asked.meta.is_empty());

    let input = given(json!({"user_context": {"action": "accept", "content": {"context": "ships"}}}), None);
    let answer = fixture.host.prompt(&asking(), name, &object(json!({})).into(), input).await.expect("a prompt");
    assert_eq!(answer.messages[0].content.as_text(), Some("Use this context: ships"));
}

#[tokio::test]
async fn words_are_completed_for_prompts_and_templates() {
    let fixture = open().await;
    let complete =
        async |of, argument, typed| fixture.host.complete(&asking(), of, argument, typed, object(json!({}))).await;
    let prompt = || CompletionOf::Prompt("conformance__test_prompt_with_arguments".to_owned());
    let found = complete(prompt(), "arg1", "te").await.expect("words");
    assert_eq!((found.values, found.total, found.has_more), (vec!["test".into(), "testing".into()], Some(2), false));
    assert_eq!(complete(prompt(), "none", "te").await.expect("no words").values, [""; 0]);
    let template = CompletionOf::Template("test://template/{id}/data".to_owned());
    assert_eq!(complete(template, "id", "12").await.expect("words").values, ["12", "123"]);
    for of in [CompletionOf::Prompt("conformance__x".into()), CompletionOf::Template("test://x/{id}".into())] {
        assert_eq!(complete(of, "id", "1").await.expect_err("unknown").code, Code::NotFound);
    }
    assert_eq!(complete(prompt(), "arg1", &"x".repeat(4_097)).await.expect_err("long").code, Code::Invalid);
}

#[tokio::test]
async fn a_plugin_without_completion_completes_nothing_and_one_without_prompts_has_none() {
    let files = Data::alone();
    let fixture = Setup::new().plugin("attack", &attacker(&files, "none"), "").open().await;
    assert!(fixture.host.prompts(viewer()).iter().all(|prompt| prompt.name.starts_with("attack__")));
    let bare = Setup::new().open().await;
    assert!(
        bare.host.prompts(viewer()).is_empty()
            && bare.host.templates(viewer()).is_empty()
            && !bare.host.has_resources(viewer())
    );
}
