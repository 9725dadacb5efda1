//! What a tool answers, and how a Rust value becomes an answer.
//!
//! It knows nothing of Wasm: `guest` converts the result for the host.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use wharf_contract::tools;

use crate::{ToolError, schema};

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// `text/plain`, `image/png` and others.
    pub mime_type: Cow<'static, str>,
    /// The part itself; UTF-8 where the type is `text/plain`.
    pub data: Vec<u8>,
    /// JSON text of an object with further protocol fields of this part.
    pub meta: Option<String>,
}

impl Content {
    /// A part of plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { mime_type: Cow::Borrowed("text/plain"), data: text.into().into_bytes(), meta: None }
    }

    /// A part of any other type, such as `image/png`.
    #[must_use]
    pub fn data(mime_type: impl Into<Cow<'static, str>>, data: Vec<u8>) -> Self {
        Self { mime_type: mime_type.into(), data, meta: None }
    }

    /// The same as an embedded resource of this address.
    #[must_use]
    pub fn at(self, uri: &str) -> Self {
        Self { meta: Some(serde_json::json!({ (tools::URI): uri }).to_string()), ..self }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// A whole answer. Tools rarely write one: see [`ToolOutput`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Parts in reading order.
    pub content: Vec<Content>,
    /// JSON text that conforms to the tool's output schema.
    pub structured: Option<String>,
    /// The tool could not do it, in a way that the model should react to.
    pub is_error: bool,
    /// JSON text of an object with further protocol fields of the answer.
    pub meta: Option<String>,
}

impl Answer {
    /// The text of all parts that are plain text.
    #[must_use]
    pub fn as_text(&self) -> String {
        let parts = self.content.iter().filter(|part| part.mime_type == "text/plain");
        parts.map(|part| String::from_utf8_lossy(&part.data)).collect::<Vec<_>>().join("\n")
    }
}

impl From<ToolError> for Answer {
    /// The error as the model reads it.
    fn from(error: ToolError) -> Self {
        let advice = if error.retryable { " (the same call may succeed later)" } else { "" };
        let text = format!("{}: {}{advice}", error.code, error.message);
        Self { content: vec![Content::text(text)], is_error: true, ..Self::default() }
    }
}

/// What a tool may return.
///
/// - Any type that serializes into a JSON object and has a schema: the answer
///   carries it as structure, and as JSON text for clients that read only text.
/// - [`Reply`]: the same with a readable text in place of the JSON text.
/// - [`Text`]: text alone.
/// - [`Answer`]: everything in the tool's own hands, without an output schema.
pub trait ToolOutput {
    /// JSON Schema of the structured part, if there is one.
    fn output_schema() -> Option<String>;

    /// Makes the answer.
    ///
    /// # Errors
    /// `internal` where the value cannot be serialized.
    fn into_answer(self) -> Result<Answer, ToolError>;
}

/// Plain text, without structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

/// A structured answer with a text to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply<T> {
    /// For the model and for people.
    pub text: String,
    /// For programs; its schema is the tool's output schema.
    pub structured: T,
}

impl<T> Reply<T> {
    /// Puts `text` beside `structured`.
    pub fn new(text: impl Into<String>, structured: T) -> Self {
        Self { text: text.into(), structured }
    }
}

impl<T: Serialize + JsonSchema> ToolOutput for T {
    fn output_schema() -> Option<String> {
        Some(schema::output::<T>())
    }

    fn into_answer(self) -> Result<Answer, ToolError> {
        let structured = serde_json::to_string(&self)?;
        Ok(Answer {
            content: vec![Content::text(structured.clone())],
            structured: Some(structured),
            ..Answer::default()
        })
    }
}

impl<T: Serialize + JsonSchema> ToolOutput for Reply<T> {
    fn output_schema() -> Option<String> {
        Some(schema::output::<T>())
    }

    fn into_answer(self) -> Result<Answer, ToolError> {
        let structured = serde_json::to_string(&self.structured)?;
        Ok(Answer { content: vec![Content::text(self.text)], structured: Some(structured), ..Answer::default() })
    }
}

impl ToolOutput for Text {
    fn output_schema() -> Option<String> {
        None
    }

    fn into_answer(self) -> Result<Answer, ToolError> {
        Ok(Answer { content: vec![Content::text(self.0)], ..Answer::default() })
    }
}

impl ToolOutput for Answer {
    fn output_schema() -> Option<String> {
        None
    }

    fn into_answer(self) -> Result<Answer, ToolError> {
        Ok(self)
    }
}
