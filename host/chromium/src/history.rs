//! The history of a page, which the browser knows whatever the page does, and the title
//! that it keeps there.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::PageEvent;

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

/// Reports address and title of the page, one question to the browser at a time: the
/// number of the answer that will be recent enough.
pub(crate) fn report(page: &Arc<Page>) -> u64 {
    let (number, is_first) = page.state().title.begin();
    if is_first {
        let page = Arc::clone(page);
        tokio::spawn(async move { ask(&page).await });
    }
    number
}

async fn ask(page: &Page) {
    loop {
        let entry = match history(page).await {
            Ok(mut history) if history.current_index < history.entries.len() => {
                Some(history.entries.swap_remove(history.current_index))
            }
            _ => None,
        };
        if let Some(HistoryEntry { url, title, .. }) = &entry {
            page.sink.tell(PageEvent::Located { url: cut(url), title: cut(title) });
        }
        let title = entry.map_or_else(String::new, |entry| entry.title);
        let again = page.state().title.answered(title);
        page.changed();
        if !again {
            return;
        }
    }
}

/// The title of the page, which is reported before this returns: an app that is told of
/// the end of an order finds the same title in what it is told of the page.
pub(crate) async fn title(page: &Arc<Page>) -> String {
    let number = report(page);
    page.until(|state| state.title.reported(number).map(str::to_owned)).await
}

fn cut(text: &str) -> String {
    wharf_core::text::cut(text, 4_096).to_owned()
}
