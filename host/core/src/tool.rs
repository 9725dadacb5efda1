//! What a tool is to the outside, and what it answers.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Whether a member of a guest's `meta` would speak for the host or for the
/// protocol; such members are dropped.
#[must_use]
pub fn is_reserved(key: &str) -> bool {
    let Some((prefix, _)) = key.split_once('/') else { return false };
    // The protocol reserves prefixes whose second label is one of its names.
    let mut labels = prefix.split('.');
    let (first, second) = (labels.next(), labels.next());
    (first, second) == (Some("dev"), Some("wharf"))
        || matches!(second, Some("modelcontextprotocol" | "mcp"))
        || matches!(first, Some("modelcontextprotocol" | "mcp"))
}

/// A tool as a client sees it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ToolDefinition {
    /// Within its plugin; a service that serves several plugins puts
    /// `plugin__` before it.
    pub name: String,
    /// For the model that chooses.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments: an object. Shared, since every
    /// room on the way to the client keeps it.
    pub input_schema: Arc<Map<String, Value>>,
    /// JSON Schema 2020-12 of the structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// Further protocol fields: title, annotations.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// `text/plain`, `image/png` and others.
    pub mime_type: String,
    /// UTF-8 where the type is `text/plain`.
    pub data: Vec<u8>,
    /// Further protocol fields of this part.
    pub meta: Map<String, Value>,
}

impl Content {
    /// A part of plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { mime_type: "text/plain".to_owned(), data: text.into().into_bytes(), meta: Map::new() }
    }

    /// The text of a part that is plain text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if self.mime_type == "text/plain" { std::str::from_utf8(&self.data).ok() } else { None }
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Parts in reading order.
    pub content: Vec<Content>,
    /// Conforms to the tool's output schema.
    pub structured: Option<Value>,
    /// The tool could not do it, in a way that the model should react to.
    pub is_error: bool,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
}
