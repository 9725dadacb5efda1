//! The tool that removes a content.

use schemars::JsonSchema;
use serde::Serialize;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ContentReference, ContentView};
use crate::content::ContentId;
use crate::shelf::Shelf;

#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedContent {
    /// What was there.
    deleted: ContentView,
}

/// Deletes a content for good: it is not found any more, and its room is free.
#[tool(title = "Delete a content", destructive, idempotent, timeout_milliseconds = 120_000)]
pub(crate) fn delete_content(call: &Call, input: ContentReference) -> Result<Reply<DeletedContent>, ToolError> {
    let content = Shelf::open(call)?.delete(&ContentId::parse(&input.content_id)?)?;
    let deleted = ContentView::from(content);
    Ok(Reply::new(format!("Deleted {}", deleted.line()), DeletedContent { deleted }))
}
