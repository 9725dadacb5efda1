//! What a tool is to the outside, what makes it one that can be called, and
//! what it answers.

mod answer;
mod callable;
mod listing;
mod selection;
mod wording;

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{schema::SchemaDocument, text};

pub(crate) use answer::is_media_type;
pub use answer::{Answer, Content, check_size, is_text};
pub(crate) use callable::is_legal_name;
pub use callable::{
    InvalidTool, MAX_DESCRIPTION_BYTES, MAX_META_BYTES, MAX_NAME_BYTES, MAX_SCHEMA_BYTES, MAX_TOOLS, Tool, ToolProblem,
};

pub use listing::{CompactSchemas, OutputSchemas};
pub use selection::{ToolPatternError, ToolSelection};

/// Whether a member of a tool's `meta` would speak for the host or for the
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

/// Further fields of what a plugin lists, as a client may see them: without invisible
/// characters in their texts, and without members that would speak for the host or for
/// the protocol, within `_meta` either.
pub(crate) fn clean_fields(fields: &mut Map<String, Value>) {
    let shown = |key: &str| !is_reserved(key) && text::line(key, key.len()) == key;
    fields.retain(|key, _| shown(key));
    if let Some(Value::Object(members)) = fields.get_mut("_meta") {
        members.retain(|key, _| shown(key));
    }
    fields.values_mut().for_each(text::visible_value);
}

/// A tool as a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Within its plugin; a service that serves several plugins puts
    /// `plugin__` before it.
    pub name: String,
    /// For the model that chooses.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments: an object.
    pub input_schema: SchemaDocument,
    /// JSON Schema 2020-12 of the structured answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaDocument>,
    /// Further protocol fields: title, annotations.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// How long the JSON text of a value is. Nothing of it is kept.
#[must_use]
pub fn json_bytes(value: &impl Serialize) -> u64 {
    struct Counter(u64);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // What has no form in JSON has no end that would fit anywhere.
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => u64::MAX,
    }
}
