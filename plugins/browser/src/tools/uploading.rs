//! The tool that gives a page files.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::webview::Operation;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ActionAnswer, acted, check_element};
use crate::acting::{ACTION, ELEMENT_MILLISECONDS};
use crate::limits;
use crate::page::{ElementBrief, SessionPage};
use crate::trouble::one;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadFile {
    /// The file input, its label, or what it is in: a reference of a snapshot, a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// Files of the workspace, relative to it. They replace what the input held.
    #[schemars(length(min = 1, max = limits::FILES), inner(length(min = 1, max = limits::PATH)))]
    paths: Vec<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Gives files of the workspace to a file input of a page. Most pages send them with their form, which is to be sent afterwards.
#[tool(title = "Upload files", destructive, open_world, timeout_milliseconds = 90_000)]
pub(crate) fn upload_file(call: &Call, input: UploadFile) -> Result<Reply<ActionAnswer>, ToolError> {
    check_element("element", &input.element)?;
    let count = u64::try_from(input.paths.len()).unwrap_or(u64::MAX);
    check_range("paths", count, 1, u64::try_from(limits::FILES).unwrap_or(u64::MAX))?;
    input.paths.iter().try_for_each(|path| check_text("paths", path, limits::PATH))?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    if !page.rules.uploads {
        return Err(ToolError::denied(
            "uploads are not granted to this plugin: the operator grants them with `uploads = true` in \
             [plugin.NAME.grants.webview]",
        ));
    }
    let before = page.before()?;
    let target = input.element.as_str();
    let given = json!({ "target": target, "milliseconds": ELEMENT_MILLISECONDS });
    let found: Value = page.ask_of("upload", target, &given)?;
    if found["multiple"] == false && count > 1 {
        return Err(ToolError::invalid("this input takes one file"));
    }
    let element: ElementBrief = serde_json::from_value(found)?;
    // The scripts are there: the question before installed them.
    let script = format!("globalThis.wharfPage.fileInput({})", json!(element.reference));
    let told = page.perform(&Operation::SetFiles { element: script, paths: input.paths.clone() }, ACTION)?;
    let files = input.paths.join(", ");
    let done = format!("Gave {} {files}", one(&element.role, &element.name, &element.reference));
    acted(&page, &before, &told, done, false)
}
