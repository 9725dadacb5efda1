//! Answers of every kind of content.

use wharf_sdk::{Answer, Content, Text, ToolError, tool};

use crate::{PIXEL, SILENCE};

fn answer(content: Vec<Content>) -> Result<Answer, ToolError> {
    Ok(Answer { content, ..Answer::default() })
}

/// Answers a text.
#[tool(read_only)]
pub(crate) fn test_simple_text() -> Result<Text, ToolError> {
    Ok(Text("This is a simple text response for testing.".to_owned()))
}

/// Answers a picture.
#[tool(read_only)]
pub(crate) fn test_image_content() -> Result<Answer, ToolError> {
    answer(vec![Content::data("image/png", PIXEL.to_vec())])
}

/// Answers a sound.
#[tool(read_only)]
pub(crate) fn test_audio_content() -> Result<Answer, ToolError> {
    answer(vec![Content::data("audio/wav", SILENCE.to_vec())])
}

/// Answers an embedded resource.
#[tool(read_only)]
pub(crate) fn test_embedded_resource() -> Result<Answer, ToolError> {
    answer(vec![Content::text("This is an embedded resource content.").at("test://embedded-resource")])
}

/// Answers a text, a picture and an embedded resource.
#[tool(read_only)]
pub(crate) fn test_multiple_content_types() -> Result<Answer, ToolError> {
    let json = br#"{"test":"data","value":123}"#.to_vec();
    answer(vec![
        Content::text("Multiple content types test:"),
        Content::data("image/png", PIXEL.to_vec()),
        Content::data("application/json", json).at("test://mixed-content-resource"),
    ])
}

/// Answers an error.
#[tool(read_only)]
pub(crate) fn test_error_handling() -> Result<Answer, ToolError> {
    let content = vec![Content::text("This tool intentionally returns an error for testing")];
    Ok(Answer { content, is_error: true, ..Answer::default() })
}
