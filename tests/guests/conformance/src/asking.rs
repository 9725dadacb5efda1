//! Tools that ask once, whatever the answer.

use serde_json::{Value, json};
use wharf_sdk::{Call, Input, InputRequired, Round, Text, ToolError, tool};

type Asked = Result<Round<Text>, ToolError>;

/// The name of the one thing that is asked for.
const ASKED: &str = "asked";

fn text(text: String) -> Asked {
    Ok(Round::Answer(Text(text)))
}

/// What somebody did with a form.
fn action(response: &Value) -> (&str, String) {
    let action = response.get("action").and_then(Value::as_str).unwrap_or("none");
    (action, response.get("content").cloned().unwrap_or_else(|| json!({})).to_string())
}

fn completed(input: &Input, message: &str, schema: Value) -> Asked {
    match input.response(ASKED).map(action) {
        Some((action, content)) => text(format!("Elicitation completed: action={action}, content={content}")),
        None => Ok(InputRequired::new().form(ASKED, message, schema).into()),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sampling {
    /// What to ask the model.
    prompt: String,
}

/// Asks the client's model.
#[tool]
pub(crate) fn test_sampling(call: &Call, input: Sampling) -> Asked {
    match call.input().model(ASKED) {
        Some(said) => text(format!("LLM response: {said}")),
        None => Ok(InputRequired::new().model(ASKED, &input.prompt, 100).into()),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Elicitation {
    /// What to ask the person.
    message: String,
}

/// Asks the person for a name and an address.
#[tool]
pub(crate) fn test_elicitation(call: &Call, input: Elicitation) -> Asked {
    if let Some((action, content)) = call.input().response(ASKED).map(action) {
        return text(format!("User response: action: {action}, content: {content}"));
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    });
    Ok(InputRequired::new().form(ASKED, &input.message, schema).into())
}

/// Asks the person, with a default for each kind of value.
#[tool]
pub(crate) fn test_elicitation_sep1034_defaults(call: &Call) -> Asked {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    });
    completed(&call.input(), "Please review and update the form fields with defaults", schema)
}

/// Asks the person to choose, in every way in which choices are described.
#[tool]
pub(crate) fn test_elicitation_sep1330_enums(call: &Call) -> Asked {
    let titled = |titles: [&str; 3]| {
        let choices =
            titles.iter().zip(1..).map(|(title, at)| json!({ "const": format!("value{at}"), "title": title }));
        choices.collect::<Vec<_>>()
    };
    let options = json!(["option1", "option2", "option3"]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]) },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
        "required": [],
    });
    completed(&call.input(), "Please select options from the enum fields", schema)
}

/// Asks the client's model, which not every client has.
#[tool]
pub(crate) fn test_missing_capability(call: &Call) -> Asked {
    match call.input().model(ASKED) {
        Some(said) => text(format!("LLM response: {said}")),
        None => Ok(InputRequired::new().model(ASKED, "Is anybody there?", 10).into()),
    }
}

/// Asks the person for a name.
#[tool]
pub(crate) fn test_streaming_elicitation(call: &Call) -> Asked {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    completed(&call.input(), "What is your name?", schema)
}
