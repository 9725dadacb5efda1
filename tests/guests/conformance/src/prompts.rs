//! Prompts, and the words that complete their arguments.

use serde_json::json;
use wharf_sdk::{
    Call, Completion, CompletionOf, Completions, Content, InputRequired, PromptReply, Round, Text, ToolError, Typed,
    prompt,
};

use crate::PIXEL;

/// A text without arguments.
#[prompt]
pub(crate) fn test_simple_prompt() -> Result<Text, ToolError> {
    Ok(Text("This is a simple prompt for testing.".to_owned()))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Arguments {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

/// A text with two arguments.
#[prompt]
pub(crate) fn test_prompt_with_arguments(input: Arguments) -> Result<Text, ToolError> {
    Ok(Text(format!("Prompt with arguments: arg1='{}', arg2='{}'", input.arg1, input.arg2)))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Embedded {
    /// URI of the resource to embed
    resource_uri: String,
}

/// A resource, and what to do with it.
#[prompt]
pub(crate) fn test_prompt_with_embedded_resource(input: Embedded) -> Result<PromptReply, ToolError> {
    let resource = Content::text("Embedded resource content for testing.").at(&input.resource_uri);
    Ok(PromptReply::new().user(resource).user("Please process the embedded resource above."))
}

/// A picture, and what to do with it.
#[prompt]
pub(crate) fn test_prompt_with_image() -> Result<PromptReply, ToolError> {
    let picture = Content::data("image/png", PIXEL.to_vec());
    Ok(PromptReply::new().user(picture).user("Please analyze the image above."))
}

/// A text that needs something first.
#[prompt]
pub(crate) fn test_input_required_result_prompt(call: &Call) -> Result<Round<Text>, ToolError> {
    let input = call.input();
    if let Some(context) = input.form("user_context").and_then(|form| form.get("context")?.as_str()) {
        return Ok(Round::Answer(Text(format!("Use this context: {context}"))));
    }
    let schema =
        json!({ "type": "object", "properties": { "context": { "type": "string" } }, "required": ["context"] });
    Ok(InputRequired::new().form("user_context", "What context should the prompt use?", schema).into())
}

/// What completes the arguments of prompts, and the variable of the template.
#[derive(Debug)]
pub(crate) struct Words;

impl Completion for Words {
    fn complete(_call: &Call, typed: &Typed<'_>) -> Result<Completions, ToolError> {
        let words: &[&str] = match (&typed.of, typed.argument) {
            (CompletionOf::Prompt("test_prompt_with_arguments"), "arg1") => &["test", "testing", "hello"],
            (CompletionOf::Prompt("test_prompt_with_arguments"), "arg2") => &["world"],
            (CompletionOf::Template(_), "id") => &["1", "12", "123"],
            _ => &[],
        };
        Ok(Completions::starting_with(typed.text, words.iter().copied()))
    }
}
