//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod adding;
pub(crate) mod reading;
pub(crate) mod removing;
pub(crate) mod searching;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{ContentMetadata, StoredContent};
use crate::limits;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContentReference {
    /// Of add_content, list_contents or search_content.
    #[schemars(length(min = 1, max = limits::ID))]
    content_id: String,
}

/// A content as tools show it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ContentView {
    content_id: String,
    #[serde(flatten)]
    about: ContentMetadata,
}

impl From<StoredContent> for ContentView {
    fn from(content: StoredContent) -> Self {
        Self { content_id: content.id.to_string(), about: content.about }
    }
}

impl ContentView {
    /// One line for the model.
    fn line(&self) -> String {
        let ContentMetadata { name, title, mime_type, lines, text_bytes, created_at, .. } = &self.about;
        let called = name.as_deref().or(title.as_deref()).unwrap_or("(no name)");
        format!("{}: {called}, {mime_type}, {lines} lines, {text_bytes} bytes, added {created_at}", self.content_id)
    }
}
