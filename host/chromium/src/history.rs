//! The history of a page, which the browser knows whatever the page does.

use serde::Deserialize;
use serde_json::json;

use crate::{connection::CallError, page::Page};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct History {
    pub(crate) current_index: usize,
    pub(crate) entries: Vec<HistoryEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HistoryEntry {
    pub(crate) id: i64,
    pub(crate) url: String,
    pub(crate) title: String,
}

/// The whole history.
pub(crate) async fn history(page: &Page) -> Result<History, CallError> {
    let call = page.ask("Page.getNavigationHistory", &json!({}));
    page.insist(call, "Page.getNavigationHistory", &json!({})).await
}

/// The title of the page; empty where the browser does not tell it.
pub(crate) async fn title(page: &Page) -> String {
    let Ok(mut history) = history(page).await else { return String::new() };
    let at = history.current_index;
    if at < history.entries.len() { history.entries.swap_remove(at).title } else { String::new() }
}
