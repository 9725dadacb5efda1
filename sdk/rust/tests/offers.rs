//! What `#[prompt]`, `plugin!` and rounds of input make of functions.

use serde_json::{Value, json};
use wharf_sdk::testing::TestCall;
use wharf_sdk::{
    Answer, Call, Changed, Completion, Completions, Content, ErrorCode, InputRequired, Plugin, Prompt, PromptReply,
    Prompts, Reply, Resource, ResourcePart, Resources, Role, Round, Text, Tool, ToolError, Typed, prompt, tool,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Review {
    /// Which file.
    the_file: String,
    /// How long it may be.
    length: Option<String>,
    /// In which tone.
    a_tone: String,
}

/// Asks for a review
/// of a file.
#[prompt(title = "Review")]
fn review(input: Review) -> Result<PromptReply, ToolError> {
    let length = input.length.unwrap_or_else(|| "any".to_owned());
    let asked = format!("Review {} in a {} tone, {length} length.", input.the_file, input.a_tone);
    let file = Content::text("fn main() {}").at("code://main.rs");
    Ok(PromptReply::new().user(asked).user(file).assistant("I read it."))
}

/// Needs a person.
#[prompt(name = "with-context")]
fn context(call: &Call) -> Result<Round<Text>, ToolError> {
    match call.input().form("context").and_then(|form| form["text"].as_str()) {
        Some(text) => Ok(Round::Answer(Text(text.to_owned()))),
        None => Ok(InputRequired::new().form("context", "Which?", json!({"type": "object"})).into()),
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Counted {
    count: u64,
}

/// Counts folders, in rounds.
#[tool]
fn count(call: &Call) -> Result<Round<Reply<Counted>>, ToolError> {
    let input = call.input();
    match (input.state(), input.roots("folders")) {
        (Some("counting"), Some(roots)) => {
            call.changed(Changed::Resources)?;
            call.updated("code://main.rs")?;
            Ok(Round::Answer(Reply::new(roots.join(" "), Counted { count: roots.len() as u64 })))
        }
        _ => Ok(InputRequired::new().roots("folders").state("counting").into()),
    }
}

/// Asks in an answer that is all its own.
#[tool]
fn ask(call: &Call) -> Result<Answer, ToolError> {
    let asked = InputRequired::new();
    Ok(if call.client_can("sampling") { asked.model("m", "Well?", 7) } else { asked.roots("r") }.into())
}

struct Code;

impl Resources for Code {
    const CLAIMS: &'static [&'static str] = &["code://"];

    fn list(call: &Call) -> Result<Vec<Resource>, ToolError> {
        Ok(vec![Resource::new(format!("code://{}", call.session()), "Session").with("size", 12)])
    }

    fn read(_call: &Call, uri: &str) -> Result<Vec<ResourcePart>, ToolError> {
        Err(ToolError::not_found(uri))
    }
}

struct Nothing;

impl Completion for Nothing {
    fn complete(_call: &Call, _typed: &Typed<'_>) -> Result<Completions, ToolError> {
        Ok(Completions::default())
    }
}

wharf_sdk::plugin!(count, ask; prompts: [review, context]; resources: Code; completion: Nothing);

#[test]
fn a_function_becomes_a_prompt_whose_arguments_are_the_fields_of_its_input() {
    let definition = review::definition();
    assert_eq!((definition.name, definition.description), ("review", "Asks for a review of a file."));
    assert_eq!(definition.title, Some("Review"));
    let arguments: Vec<_> =
        definition.arguments.iter().map(|a| (a.name.as_str(), a.description.as_str(), a.required)).collect();
    let expected =
        [("theFile", "Which file.", true), ("aTone", "In which tone.", true), ("length", "How long it may be.", false)];
    assert_eq!(arguments, expected);
    let names: Vec<_> = WharfPlugin::prompts().iter().map(|prompt| prompt.name).collect();
    assert_eq!(names, ["review", "with-context"]);
    assert_eq!(<context as Prompt>::NAME, "with-context");
}

#[test]
fn a_prompt_is_what_its_function_replies() {
    let host = TestCall::new();
    let reply = host.prompt::<WharfPlugin>("review", &json!({"theFile": "a.rs", "aTone": "kind"})).expect("a reply");
    let texts: Vec<_> = reply.messages.iter().map(|(role, c)| (*role, String::from_utf8_lossy(&c.data))).collect();
    assert_eq!(texts[0], (Role::User, "Review a.rs in a kind tone, any length.".into()));
    assert_eq!(reply.messages[1].1.meta.as_deref(), Some(r#"{"uri":"code://main.rs"}"#));
    assert_eq!(texts[2].0, Role::Assistant);
    let error = host.prompt::<WharfPlugin>("review", &json!({"theFile": "a.rs"})).expect_err("an argument is missing");
    assert_eq!(error.code, ErrorCode::Invalid);
}

#[test]
fn a_prompt_asks_first_and_then_replies() {
    let host = TestCall::new();
    let asked = host.prompt::<WharfPlugin>("with-context", &json!({})).expect("a round");
    assert_eq!(asked.input_required().expect("it asks")["requests"]["context"]["method"], "elicitation/create");
    let accepted = host.clone().given("context", json!({"action": "accept", "content": {"text": "ships"}}));
    let reply = accepted.prompt::<WharfPlugin>("with-context", &json!({})).expect("a reply");
    assert_eq!(reply.messages, [(Role::User, Content::text("ships"))]);
    let declined = host.given("context", json!({"action": "decline", "content": {"text": "ships"}}));
    assert!(declined.prompt::<WharfPlugin>("with-context", &json!({})).expect("a round").input_required().is_some());
}

#[test]
fn a_tool_that_asks_keeps_its_output_schema_and_gets_its_state_back() {
    assert!(count::definition().output_schema.is_some());
    let host = TestCall::new();
    assert!(host.call().input().is_first());
    let asked = host.run::<WharfPlugin>("count", &json!({}));
    let required = asked.input_required().expect("it asks");
    assert_eq!(required, json!({"requests": {"folders": {"method": "roots/list", "params": {}}}, "state": "counting"}));
    assert_eq!(asked.structured, None);
    let given = host.clone().given("folders", json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]}));
    assert!(given.run::<WharfPlugin>("count", &json!({})).input_required().is_some(), "the state is missing");
    let answer = given.given_state("counting").run::<WharfPlugin>("count", &json!({}));
    assert_eq!((answer.as_text().as_str(), answer.input_required()), ("file:///a file:///b", None));
    assert_eq!(host.changes(), ["resources", "code://main.rs"]);
}

#[test]
fn a_tool_asks_for_what_the_client_can_do() {
    let asked = |host: TestCall| {
        let required = host.run::<WharfPlugin>("ask", &json!({})).input_required().expect("it asks");
        required["requests"].as_object().expect("requests").keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(asked(TestCall::new()), ["r"]);
    assert_eq!(asked(TestCall::new().client(&json!({"sampling": {}, "roots": {}}))), ["m"]);
    assert_eq!(asked(TestCall::new().client(&json!({"sampling": null}))), ["r"]);
}

#[test]
fn what_was_given_is_read_as_the_protocol_has_it_and_garbage_is_nothing() {
    let text = json!({"type": "text", "text": "yes"});
    let host = TestCall::new().given("one", json!({"content": text})).given("list", json!({"content": [text]}));
    let host = host.given("garbage", json!([1])).given("picture", json!({"content": {"type": "image"}}));
    let input = host.call().input();
    assert_eq!((input.model("one"), input.model("list")), (Some("yes"), Some("yes")));
    for name in ["garbage", "picture", "absent"] {
        assert_eq!((input.model(name), input.form(name), input.roots(name)), (None, None, None), "{name}");
    }
    let host = TestCall::new().request_meta(&json!({"dev.wharf/input": {"responses": 1, "state": 2}}));
    assert!(host.call().input().is_first());
}

#[test]
fn resources_are_those_of_the_context() {
    let host = TestCall::new().session("s");
    let listed = host.resources::<WharfPlugin>().expect("a listing");
    assert_eq!((listed[0].uri.as_str(), &listed[0].meta["size"]), ("code://s", &Value::from(12)));
    assert_eq!(host.read_resource::<WharfPlugin>("code://x").expect_err("none").code, ErrorCode::NotFound);
    assert!(host.without_events().call().changed(Changed::Tools).is_err());
    assert_eq!(WharfPlugin::definitions().len(), 2);
}
