//! Tools that ask until they have what they need.

use serde_json::{Value, json};
use wharf_sdk::{Call, Input, InputRequired, Round, Text, ToolError, tool};

type Asked = Result<Round<Text>, ToolError>;

fn text(text: impl Into<String>) -> Asked {
    Ok(Round::Answer(Text(text.into())))
}

fn form(field: &str, kind: &str) -> Value {
    json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] })
}

fn asking_name(required: InputRequired) -> InputRequired {
    required.form("user_name", "What is your name?", form("name", "string"))
}

fn field<'i>(input: &'i Input, name: &str, field: &str) -> Option<&'i str> {
    input.form(name)?.get(field)?.as_str()
}

/// Asks for a name and greets.
#[tool]
pub(crate) fn test_input_required_result_elicitation(call: &Call) -> Asked {
    match field(&call.input(), "user_name", "name") {
        Some(name) => text(format!("Hello, {name}!")),
        None => Ok(asking_name(InputRequired::new()).into()),
    }
}

/// Asks the client's model for a capital.
#[tool]
pub(crate) fn test_input_required_result_sampling(call: &Call) -> Asked {
    match call.input().model("capital_question") {
        Some(said) => text(said),
        None => Ok(InputRequired::new().model("capital_question", "What is the capital of France?", 100).into()),
    }
}

/// Asks for the client's folders.
#[tool]
pub(crate) fn test_input_required_result_list_roots(call: &Call) -> Asked {
    match call.input().roots("client_roots") {
        Some(roots) => text(format!("The client works in: {}", roots.join(", "))),
        None => Ok(InputRequired::new().roots("client_roots").into()),
    }
}

fn confirming(state: &str) -> InputRequired {
    InputRequired::new().form("confirm", "Please confirm", form("ok", "boolean")).state(state)
}

/// Asks for a confirmation, and looks whether its state comes back.
#[tool]
pub(crate) fn test_input_required_result_request_state(call: &Call) -> Asked {
    const STATE: &str = "confirming";
    let input = call.input();
    match (input.state(), input.form("confirm").and_then(|form| form.get("ok"))) {
        (Some(STATE), Some(ok)) => text(format!("state-ok: confirmed with {ok}")),
        _ => Ok(confirming(STATE).into()),
    }
}

/// Asks for several things at once.
#[tool]
pub(crate) fn test_input_required_result_multiple_inputs(call: &Call) -> Asked {
    const STATE: &str = "three things";
    let input = call.input();
    let given = (field(&input, "user_name", "name"), input.model("greeting"), input.roots("client_roots"));
    match (input.state(), given) {
        (Some(STATE), (Some(name), Some(greeting), Some(roots))) => {
            text(format!("{greeting}, {name}! You work in {} folders.", roots.len()))
        }
        _ => Ok(asking_name(InputRequired::new())
            .model("greeting", "Generate a greeting", 50)
            .roots("client_roots")
            .state(STATE)
            .into()),
    }
}

/// Asks for a name, and then for a colour.
#[tool]
pub(crate) fn test_input_required_result_multi_round(call: &Call) -> Asked {
    const FIRST: &str = "first";
    let input = call.input();
    if let (Some(state), Some(color)) = (input.state(), field(&input, "step2", "color")) {
        let name = state.strip_prefix("second:").unwrap_or("nobody");
        return text(format!("Hello, {name}! Your favorite color is {color}."));
    }
    if let (Some(FIRST), Some(name)) = (input.state(), field(&input, "step1", "name")) {
        let required = InputRequired::new();
        let required = required.form("step2", "Step 2: What is your favorite color?", form("color", "string"));
        return Ok(required.state(format!("second:{name}")).into());
    }
    let required = InputRequired::new().form("step1", "Step 1: What is your name?", form("name", "string"));
    Ok(required.state(FIRST).into())
}

/// Asks for a confirmation with a state that nobody may change.
#[tool]
pub(crate) fn test_input_required_result_tampered_state(call: &Call) -> Asked {
    let input = call.input();
    match (input.state(), input.response("confirm")) {
        (Some("sealed"), Some(_)) => text("The state came back as it was."),
        _ => Ok(confirming("sealed").into()),
    }
}

/// Asks for no more than the client can do.
#[tool]
pub(crate) fn test_input_required_result_capabilities(call: &Call) -> Asked {
    if !call.input().is_first() {
        return text("The client could do what it said.");
    }
    let mut required = InputRequired::new();
    if call.client_can("elicitation") {
        required = asking_name(required);
    }
    if call.client_can("sampling") {
        required = required.model("greeting", "Generate a greeting", 50);
    }
    if call.client_can("roots") {
        required = required.roots("client_roots");
    }
    if required.is_empty() {
        return text("The client can do nothing of it.");
    }
    Ok(required.into())
}
