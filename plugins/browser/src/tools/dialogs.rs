//! The tool that answers dialogs.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use wharf_sdk::check::length as check_length;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ActionAnswer, acted};
use crate::answer::quoted;
use crate::limits;
use crate::page::{PageReply, SessionPage};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandleDialog {
    /// Whether to accept it (OK, yes), or to dismiss it (cancel, no).
    accept: bool,
    /// The text for a prompt.
    #[schemars(length(max = limits::ELEMENT))]
    text: Option<String>,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Answers the dialog (alert, confirm, prompt) that a page has opened, and waits for the effect. While one is open, nothing
/// else can be done with the page; after 30 seconds it is dismissed by itself.
#[tool(title = "Answer a dialog", destructive, open_world, timeout_milliseconds = 60_000)]
pub(crate) fn handle_dialog(call: &Call, input: HandleDialog) -> Result<Reply<ActionAnswer>, ToolError> {
    check_length("text", input.text.as_deref().unwrap_or_default(), limits::ELEMENT)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    let info = page.info()?;
    let Some(dialog) = &info.dialog else {
        let message =
            "no dialog is open; one that nobody answered for 30 seconds was dismissed, and get_console tells of it";
        return Err(ToolError { retryable: false, ..ToolError::conflict(message) });
    };
    let how = if input.accept { "Accepted" } else { "Dismissed" };
    let done = format!("{how} the dialog ({}) that said {}", dialog.kind, quoted(&dialog.message));
    let before = page.before_dialog(&info)?;
    call.web_pages().answer_dialog(&page.id, input.accept, input.text.as_deref())?;
    acted(&page, &before, &PageReply::Answer(Value::Null), done, input.snapshot)
}
