//! The tools that draw and print.

use std::fs;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wharf_sdk::webview::{Finished, Operation, Rectangle};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::check_optional;
use crate::answer::{PageNow, PictureReply};
use crate::limits;
use crate::page::SessionPage;
use crate::trouble;

/// How long drawing may take.
const DRAWING: Duration = Duration::from_secs(30);
/// Qualities that are tried, one after the other, where a picture is too large for
/// an answer.
const QUALITIES: [u8; 3] = [80, 55, 30];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Screenshot {
    /// Of which element alone: a reference of a snapshot, a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: Option<String>,
    /// Whether to draw what has to be scrolled to, too.
    #[serde(default)]
    full_page: bool,
    /// A file of the workspace to save it in, such as `shots/front.png`, in place of answering the picture.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pdf {
    /// A file of the workspace to save it in, such as `reports/page.pdf`, in place of answering it.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: Option<String>,
    /// Whether it is wider than high.
    #[serde(default)]
    landscape: bool,
    /// Whether colours and pictures behind the text are printed.
    #[serde(default = "yes")]
    background: bool,
    /// Whether the paper is Letter, and not A4.
    #[serde(default)]
    letter: bool,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct CaptureAnswer {
    /// What it is: `image/png`, `image/jpeg` or `application/pdf`.
    mime_type: String,
    bytes: usize,
    /// The file of the workspace; absent where it is part of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(flatten)]
    page: PageNow,
}

/// Takes a picture of a page as it is seen, of all of it, or of one element, and answers it as a PNG; as a JPEG where that would be
/// too large. With `path` it is saved in the workspace. To find out what can be clicked, get_snapshot is cheaper and surer.
#[tool(title = "Take a screenshot", read_only, timeout_milliseconds = 90_000)]
pub(crate) fn screenshot(call: &Call, input: Screenshot) -> Result<PictureReply<CaptureAnswer>, ToolError> {
    check_optional("element", input.element.as_deref(), limits::ELEMENT)?;
    check_optional("path", input.path.as_deref(), limits::PATH)?;
    if input.element.is_some() && input.full_page {
        return Err(ToolError::invalid("give an `element` or `full_page`, not both"));
    }
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    page.before()?;
    let clip = match &input.element {
        Some(target) => Some(area(&page, target)?),
        None => None,
    };
    let draw =
        |jpeg_quality| carry_out(&page, &Operation::Screenshot { jpeg_quality, full_page: input.full_page, clip });
    let mut drawn = draw(None)?;
    if input.path.is_none() {
        for quality in QUALITIES {
            if drawn.data.len() <= limits::PICTURE_BYTES {
                break;
            }
            drawn = draw(Some(quality))?;
        }
    }
    made(call, &page, drawn, input.path.as_deref(), "The picture")
}

/// Prints a page as PDF. With `path` it is saved in the workspace, which is what to do with it in nearly all cases; else the answer
/// holds it.
#[tool(title = "Print as PDF", timeout_milliseconds = 90_000)]
pub(crate) fn pdf(call: &Call, input: Pdf) -> Result<PictureReply<CaptureAnswer>, ToolError> {
    check_optional("path", input.path.as_deref(), limits::PATH)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    page.before()?;
    let Pdf { landscape, background, letter, .. } = input;
    let printed = carry_out(&page, &Operation::Pdf { landscape, background, letter })?;
    made(call, &page, printed, input.path.as_deref(), "The print")
}

fn area(page: &SessionPage<'_>, target: &str) -> Result<Rectangle, ToolError> {
    #[derive(Deserialize)]
    struct Area {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
    }
    page.ready(target, &["visible"])?;
    let Area { x, y, width, height } = page.ask_of("area", target, &json!({ "target": target }))?;
    Ok(Rectangle { x, y, width, height })
}

fn carry_out(page: &SessionPage<'_>, operation: &Operation) -> Result<Finished, ToolError> {
    let deadline = limits::within(page.call, DRAWING);
    let result = page.call.web_pages().carry_out(&page.id, operation, Some(deadline));
    result.map_err(|failure| trouble::of_failure(page, failure))
}

fn made(
    call: &Call,
    page: &SessionPage<'_>,
    finished: Finished,
    path: Option<&str>,
    what: &str,
) -> Result<PictureReply<CaptureAnswer>, ToolError> {
    let Finished { mime_type, data } = finished;
    let bytes = data.len();
    let saved = path.map(|path| save(call, path, &data)).transpose()?;
    if saved.is_none() && bytes > limits::PICTURE_BYTES {
        let most = limits::PICTURE_BYTES;
        let message = format!(
            "it has {bytes} bytes, more than the {most} that an answer holds: save it with `path`, or draw less of the page"
        );
        return Err(ToolError::limit(message));
    }
    let now = PageNow::from(&page.info()?);
    let place = saved.as_ref().map_or_else(|| "follows".to_owned(), |path| format!("is in the workspace: {path}"));
    let text = format!("{what} ({mime_type}, {bytes} bytes) {place}.\n{}", now.text());
    let picture = saved.is_none().then(|| (mime_type.clone(), data));
    Ok(PictureReply { reply: Reply::new(text, CaptureAnswer { mime_type, bytes, path: saved, page: now }), picture })
}

/// Writes a file of the workspace, with the directories on the way.
fn save(call: &Call, path: &str, data: &[u8]) -> Result<String, ToolError> {
    let directory = call.workspace().create()?;
    let found = directory.find(path)?;
    if path.ends_with('/') || found.relative == "." {
        return Err(ToolError::invalid(format!("`{path}` is a directory; name a file")));
    }
    if found.metadata.is_some() {
        found.file()?;
    } else if let Some(parent) = found.path.parent() {
        fs::create_dir_all(parent).map_err(|error| ToolError::from_file("be made", &found.relative, &error))?;
    }
    fs::write(&found.path, data).map_err(|error| ToolError::from_file("be written", &found.relative, &error))?;
    Ok(found.relative)
}
