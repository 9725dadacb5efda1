//! What `#[tool]` and `plugin!` make of functions, and what answers look like.

use serde_json::{Value, json};
use wharf_sdk::testing::TestCall;
use wharf_sdk::{Answer, Call, Content, Level, Plugin, Reply, Text, Tool, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pair {
    /// The one.
    left: i64,
    /// The other.
    right: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds two
/// numbers.
///
/// - Exactly.
#[tool(title = "Add", read_only, idempotent, timeout_milliseconds = 1_500)]
fn add(input: Pair) -> Result<Sum, ToolError> {
    let sum = input.left.checked_add(input.right);
    sum.map(|sum| Sum { sum }).ok_or_else(|| ToolError::invalid("the sum is too large"))
}

/// Not this text.
#[tool(description = "Says where it runs.", name = "where-am-i")]
fn place(call: &Call) -> Result<Reply<Value>, ToolError> {
    let place = json!({ "session": call.session(), "assistant": call.assistant(), "thread": call.thread() });
    Ok(Reply::new("here", place))
}

/// A failure of another type.
#[derive(Debug)]
struct Refusal;

impl From<Refusal> for ToolError {
    fn from(_: Refusal) -> Self {
        Self::unavailable("come back later")
    }
}

/// Refuses.
#[tool(destructive, open_world)]
fn refuse() -> Result<Text, Refusal> {
    Err(Refusal)
}

/// Shows a picture.
#[tool]
fn picture(call: &Call) -> Result<Answer, ToolError> {
    call.log(Level::Info, "drawing");
    call.progress(1.0, Some(2.0), Some("half"))?;
    call.message(Level::Warn, "slow")?;
    Ok(Answer { content: vec![Content::text("see"), Content::data("image/png", vec![1, 2])], ..Answer::default() })
}

wharf_sdk::plugin!(add, place, refuse, picture);

#[test]
fn a_function_becomes_a_tool_with_the_schemas_of_its_types() {
    let definition = add::definition();
    assert_eq!((definition.name, definition.description), ("add", "Adds two numbers.\n\n- Exactly."));
    let schema = |text: &str| serde_json::from_str::<Value>(text).expect("a schema is JSON");
    assert_eq!(
        schema(&definition.input_schema),
        json!({
            "type": "object", "additionalProperties": false, "required": ["left", "right"],
            "properties": {
                "left": { "type": "integer", "description": "The one." },
                "right": { "type": "integer", "description": "The other." },
            },
        })
    );
    assert_eq!(
        definition.output_schema.as_deref().map(schema),
        Some(json!({ "type": "object", "required": ["sum"], "properties": { "sum": { "type": "integer" } } }))
    );
    assert_eq!(
        schema(&definition.details.to_meta()),
        json!({
            "title": "Add",
            "timeoutMilliseconds": 1_500,
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
            },
        })
    );
}

#[test]
fn name_and_description_can_be_given_and_tools_keep_their_order() {
    let definitions = WharfPlugin::definitions();
    let names: Vec<_> = definitions.iter().map(|definition| definition.name).collect();
    assert_eq!(names, ["add", "where-am-i", "refuse", "picture"]);
    assert_eq!(definitions[1].description, "Says where it runs.");
    assert_eq!(definitions[2].output_schema, None);
}

#[test]
fn a_structured_answer_carries_its_json_or_a_text_of_the_tools_own() {
    let host = TestCall::new().session("s").thread("t");
    let answer = host.run::<WharfPlugin>("add", &json!({ "left": 2, "right": 40 }));
    assert_eq!((answer.as_text().as_str(), answer.structured.as_deref()), (r#"{"sum":42}"#, Some(r#"{"sum":42}"#)));
    let answer = host.run::<WharfPlugin>("where-am-i", &json!({}));
    assert_eq!(answer.as_text(), "here");
    assert_eq!(answer.structured.as_deref(), Some(r#"{"assistant":null,"session":"s","thread":"t"}"#));
}

#[test]
fn an_error_of_a_tool_is_an_answer_that_the_model_reads() {
    let host = TestCall::new();
    let answer = host.run::<WharfPlugin>("add", &json!({ "left": i64::MAX, "right": 1 }));
    assert!(answer.is_error);
    assert_eq!((answer.as_text().as_str(), answer.structured), ("invalid: the sum is too large", None));
    let answer = host.run::<WharfPlugin>("refuse", &json!({}));
    assert_eq!(answer.as_text(), "unavailable: come back later (the same call may succeed later)");
}

#[test]
fn arguments_of_another_shape_are_invalid_even_for_a_tool_without_any() {
    let host = TestCall::new();
    for (tool, arguments) in [
        ("add", json!({ "left": 1 })),
        ("add", json!({ "left": 1, "right": 2, "more": 3 })),
        ("add", json!([])),
        ("refuse", json!({ "anything": true })),
    ] {
        let answer = host.run::<WharfPlugin>(tool, &arguments);
        assert!(answer.as_text().starts_with("invalid: the arguments do not fit this tool: "), "{}", answer.as_text());
    }
}

#[test]
fn what_a_tool_sends_meanwhile_is_seen_by_its_test() {
    let host = TestCall::new();
    let answer = host.run::<WharfPlugin>("picture", &json!({}));
    assert_eq!((answer.content.len(), answer.content[1].data.as_slice()), (2, [1, 2].as_slice()));
    assert_eq!(host.log_lines(), [("info".to_owned(), "drawing".to_owned())]);
    assert_eq!((host.progress()[0].done, host.progress()[0].total), (1.0, Some(2.0)));
    assert_eq!(host.messages(), [("warn".to_owned(), json!("slow"))]);
    let refused = TestCall::new().without_events().run::<WharfPlugin>("picture", &json!({}));
    assert_eq!(refused.as_text(), "denied: events are not granted to this plugin");
}

#[test]
fn an_unknown_tool_is_nobodys() {
    assert!(WharfPlugin::run(&TestCall::new().call(), "subtract", "{}").is_none());
}
