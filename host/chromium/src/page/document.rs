//! Which document a page shows, how it came there, and what it is called.

use std::{collections::VecDeque, sync::Arc};

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{Console, FailureKind, PageEvent};

use super::{Page, held, logs};
use crate::connection::Event;

/// Loads of documents that are remembered.
const MOST_LOADS: usize = 16;
/// Windows that wait to be opened in the page itself.
const MOST_POPUPS: usize = 8;

/// The document that is shown, and how others are being loaded.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// How many there have been.
    pub(super) number: u64,
    /// How often it moved within one.
    pub(super) moves: u64,
    /// How many loads came to no document.
    pub(super) broken: u64,
    pub(super) loader: String,
    pub(super) url: String,
    pub(super) mime_type: String,
    /// Whether it has loaded, with all that it shows.
    pub(super) loaded: bool,
    /// Whether it stands for one that could not be had.
    pub(super) unreachable: bool,
    /// Whether scripts of the one before have been told off already.
    left: bool,
    loads: VecDeque<Load>,
}

/// How a document is loaded.
#[derive(Debug, Clone, Default)]
pub(super) struct Load {
    pub(super) loader: String,
    pub(super) url: String,
    pub(super) status: Option<u16>,
    pub(super) redirects: u64,
    pub(super) download: bool,
    /// Why the policy, or the proxy, let it go no further.
    pub(super) denied: Option<(FailureKind, String)>,
    /// The browser's word for why it came to nothing.
    pub(super) failure: Option<String>,
}

impl Document {
    /// What is known of a load, to be added to.
    pub(super) fn load(&mut self, loader: &str) -> &mut Load {
        let known = self.loads.iter().position(|load| load.loader == loader).unwrap_or_else(|| {
            if self.loads.len() == MOST_LOADS {
                self.loads.pop_front();
            }
            self.loads.push_back(Load { loader: loader.to_owned(), ..Load::default() });
            self.loads.len() - 1
        });
        &mut self.loads[known]
    }

    /// What is known of a load.
    pub(super) fn known(&self, loader: &str) -> Option<&Load> {
        self.loads.iter().find(|load| load.loader == loader)
    }

    /// The load that began last.
    pub(super) fn last(&self) -> Option<&Load> {
        self.loads.back()
    }
}

#[derive(Debug, Deserialize)]
struct Navigated {
    frame: Frame,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    loader_id: String,
    url: String,
    mime_type: String,
    unreachable_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfAFrame {
    frame_id: String,
    url: Option<String>,
    name: Option<String>,
    loader_id: Option<String>,
    reason: Option<String>,
    navigation_type: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WindowOpen {
    url: String,
}

/// The page is about to have another document.
pub(super) fn leaves(page: &Page) {
    let again = std::mem::replace(&mut page.state().document.left, true);
    if !again {
        page.sink.tell(PageEvent::Navigating);
    }
}

pub(super) fn hear(page: &Arc<Page>, session: &str, event: Event<'_>) {
    match event.method {
        "Page.frameNavigated" => {
            if let Some(Navigated { frame }) = event.read()
                && page.is_main(&frame.id)
            {
                navigated(page, frame);
            }
        }
        "Page.windowOpen" => {
            if let Some(WindowOpen { url }) = event.read() {
                popup(page, url);
            }
        }
        "Page.frameDetached" => {
            if let Some(OfAFrame { frame_id, reason, .. }) = event.read()
                && reason.as_deref() != Some("swap")
            {
                page.state().contexts.forget_frame(&frame_id, session);
            }
        }
        "Page.navigatedWithinDocument"
        | "Page.frameStartedNavigating"
        | "Page.lifecycleEvent"
        | "Page.frameStartedLoading"
        | "Page.frameStoppedLoading" => {
            if let Some(said) = event.read::<OfAFrame>()
                && page.is_main(&said.frame_id)
            {
                main_frame(page, event.method, said);
            }
        }
        _ => {}
    }
}

fn navigated(page: &Arc<Page>, frame: Frame) {
    leaves(page);
    let mut state = page.state();
    let document = &mut state.document;
    document.left = false;
    document.number += 1;
    document.loaded = false;
    document.unreachable = frame.unreachable_url.is_some();
    document.url = frame.unreachable_url.unwrap_or(frame.url);
    document.loader = frame.loader_id;
    document.mime_type = frame.mime_type;
    let (url, loader) = (document.url.clone(), document.loader.clone());
    state.crashed = false;
    let main = page.main_session();
    if state.floods.is_deaf(main) {
        // Nobody said that those before are gone.
        state.contexts.forget_session(main);
    }
    drop(state);
    held::left(page);
    super::network::left_behind(page, &loader);
    page.sink.tell(PageEvent::Located { url: cut(&url), title: String::new() });
    page.changed();
}

fn main_frame(page: &Arc<Page>, method: &str, said: OfAFrame) {
    match method {
        "Page.navigatedWithinDocument" => {
            let mut state = page.state();
            state.document.moves += 1;
            if let Some(url) = said.url {
                state.document.url = url;
            }
            drop(state);
            held::stayed(page);
            ask_for_title(page);
        }
        "Page.frameStartedNavigating" => {
            let within = ["sameDocument", "historySameDocument"];
            if !said.navigation_type.is_some_and(|kind| within.contains(&kind.as_str())) {
                page.state().held.start();
            }
        }
        "Page.lifecycleEvent" => {
            match said.name.as_deref() {
                Some("load") => {
                    let mut state = page.state();
                    if said.loader_id.as_deref() == Some(state.document.loader.as_str()) {
                        state.document.loaded = true;
                    }
                }
                Some("DOMContentLoaded") => {}
                _ => return,
            }
            ask_for_title(page);
        }
        "Page.frameStartedLoading" => page.sink.tell(PageEvent::Loading(true)),
        "Page.frameStoppedLoading" => {
            page.sink.tell(PageEvent::Loading(false));
            held::stopped(page);
            ask_for_title(page);
        }
        _ => {}
    }
    page.changed();
}

/// A window that the page wants to open is opened in the page itself, where it may be
/// reached at all.
fn popup(page: &Arc<Page>, url: String) {
    let text = format!("the page opened a window at {}", cut(&url));
    page.sink.tell(PageEvent::Console(Console { url: Some(cut(&url)), ..logs::plain("popup", &text) }));
    if page.settings.policy.url(&url).is_err() {
        let text = format!("the window was not opened: the page may not reach {}", cut(&url));
        return page.sink.tell(PageEvent::Console(logs::plain("error", &text)));
    }
    {
        let mut state = page.state();
        if state.popups.len() >= MOST_POPUPS {
            return;
        }
        state.popups.push_back(url);
        if state.popups.len() > 1 {
            return;
        }
    }
    let page = Arc::clone(page);
    tokio::spawn(async move {
        // One after the other: the last one stays.
        loop {
            let Some(url) = page.state().popups.front().cloned() else { return };
            let gone = page.ask("Page.navigate", &json!({ "url": url, "transitionType": "link" }));
            let _ = gone.done_within(crate::browser::PATIENCE).await;
            page.state().popups.pop_front();
        }
    });
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct History {
    pub(super) current_index: usize,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) url: String,
    pub(super) title: String,
}

/// The history of a page, which the browser knows whatever the page does.
pub(super) async fn history(page: &Page) -> Result<History, crate::connection::CallError> {
    let call = page.ask("Page.getNavigationHistory", &json!({}));
    page.insist(call, "Page.getNavigationHistory", &json!({})).await
}

/// What the page is called now.
pub(super) async fn title(page: &Page) -> String {
    let Ok(mut history) = history(page).await else { return String::new() };
    let at = history.current_index;
    if at < history.entries.len() { history.entries.swap_remove(at).title } else { String::new() }
}

/// Tells where the page is and what it is called, one question at a time.
fn ask_for_title(page: &Arc<Page>) {
    {
        let titles = &mut page.state().titles;
        if titles.0 {
            titles.1 = true;
            return;
        }
        titles.0 = true;
    }
    let page = Arc::clone(page);
    tokio::spawn(async move {
        loop {
            if let Ok(history) = history(&page).await
                && let Some(Entry { url, title, .. }) = history.entries.get(history.current_index)
            {
                page.sink.tell(PageEvent::Located { url: cut(url), title: cut(title) });
            }
            let titles = &mut page.state().titles;
            titles.0 = std::mem::take(&mut titles.1);
            if !titles.0 {
                return;
            }
        }
    });
}

fn cut(text: &str) -> String {
    wharf_core::text::cut(text, 4_096).to_owned()
}
