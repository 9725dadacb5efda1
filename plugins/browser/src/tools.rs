//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod clicking;
pub(crate) mod dialogs;
pub(crate) mod elements;
pub(crate) mod evaluating;
pub(crate) mod filling;
pub(crate) mod logs;
pub(crate) mod moving;
pub(crate) mod picturing;
pub(crate) mod reading;
pub(crate) mod scrolling;
pub(crate) mod sessions;
pub(crate) mod typing;
pub(crate) mod uploading;
pub(crate) mod waiting;

use schemars::JsonSchema;
use serde::Serialize;
use wharf_sdk::check::text as check_text;
use wharf_sdk::{Reply, ToolError};

use crate::acting::{ActionEffects, PageBefore};
use crate::answer::{PageNow, fenced};
use crate::limits;
use crate::page::{PageReply, SessionPage};

/// The outcome of something that was done with a page.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ActionAnswer {
    /// What was done.
    done: String,
    /// Effects: the page went elsewhere, a download, a window.
    happened: Vec<String>,
    /// The page as it is now, where that was asked for: words of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    #[serde(flatten)]
    page: PageNow,
}

/// Waits for the effects of an action and tells them.
fn acted(
    page: &SessionPage<'_>,
    before: &PageBefore,
    told: &PageReply,
    done: String,
    show: bool,
) -> Result<Reply<ActionAnswer>, ToolError> {
    let ActionEffects { page: now, happened } = page.settle(before, told)?;
    let mut text = format!("{done}.");
    for line in &happened {
        text.push_str(&format!("\n{line}"));
    }
    text.push_str(&format!("\n{}", now.text()));
    let mut snapshot = None;
    if show && now.dialog.is_none() {
        let piece = reading::snapshot(page, None, limits::TEXT_BYTES, None)?;
        text.push_str(&format!("\n{}", fenced(&now, "snapshot", &piece.text)));
        if let Some(next) = &piece.next {
            text.push_str(&format!("\nThere is more: get_snapshot with cursor {next}"));
        }
        snapshot = Some(piece.text);
    }
    Ok(Reply::new(text, ActionAnswer { done, happened, snapshot, page: now }))
}

fn check_element(field: &str, element: &str) -> Result<(), ToolError> {
    check_text(field, element, limits::ELEMENT)
}

fn check_optional(field: &str, text: Option<&str>, longest: usize) -> Result<(), ToolError> {
    text.map_or(Ok(()), |text| check_text(field, text, longest))
}
