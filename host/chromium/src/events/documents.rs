//! Documents that come and go, their addresses and titles, and windows that pages open.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{ConsoleEntry, ConsoleKind, PageEvent};

use super::network;
use crate::{
    browser::PATIENCE,
    connection::Event,
    history,
    page::{Page, plain_entry},
    scripts::held,
};

/// How many windows wait to be opened in the page itself.
const MOST_POPUPS: usize = 8;

#[derive(Debug, Deserialize)]
struct FrameNavigated {
    frame: NavigatedFrame,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    id: String,
    loader_id: String,
    url: String,
    mime_type: String,
    unreachable_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent {
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

/// The page is about to leave its document.
pub(super) fn leaves(page: &Page) {
    let is_news = page.state().document.leave();
    if is_news {
        page.sink.tell(PageEvent::Navigating);
    }
}

pub(super) fn hear(page: &Arc<Page>, session: &str, event: Event<'_>) {
    match event.method {
        "Page.frameNavigated" => {
            if let Some(FrameNavigated { frame }) = event.read()
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
            if let Some(FrameEvent { frame_id, reason, .. }) = event.read()
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
            if let Some(said) = event.read::<FrameEvent>()
                && page.is_main(&said.frame_id)
            {
                main_frame(page, event.method, said);
            }
        }
        _ => {}
    }
}

fn navigated(page: &Arc<Page>, frame: NavigatedFrame) {
    leaves(page);
    let mut state = page.state();
    let NavigatedFrame { id: _, loader_id: loader, url, mime_type, unreachable_url } = frame;
    let unreachable = unreachable_url.is_some();
    let url = unreachable_url.unwrap_or(url);
    state.document.arrive(loader.clone(), url.clone(), mime_type, unreachable);
    state.crashed = false;
    let main = page.main_session();
    if state.floods.is_deaf(main) {
        // The browser was told not to report contexts, so the old ones go here.
        state.contexts.forget_session(main);
    }
    drop(state);
    held::left(page);
    network::left_behind(page, &loader);
    page.sink.tell(PageEvent::Located { url: cut(&url), title: String::new() });
    page.changed();
}

fn main_frame(page: &Arc<Page>, method: &str, said: FrameEvent) {
    match method {
        "Page.navigatedWithinDocument" => {
            let mut state = page.state();
            state.document.moves += 1;
            if let Some(url) = said.url {
                state.document.url = url;
            }
            drop(state);
            held::stayed(page);
            history::report(page);
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
            history::report(page);
        }
        "Page.frameStartedLoading" => page.sink.tell(PageEvent::Loading(true)),
        "Page.frameStoppedLoading" => {
            page.sink.tell(PageEvent::Loading(false));
            held::stopped(page);
            history::report(page);
        }
        _ => {}
    }
    page.changed();
}

/// Opens a window of the page in the page itself, where the policy grants its address.
fn popup(page: &Arc<Page>, url: String) {
    let text = format!("the page opened a window at {}", cut(&url));
    page.sink.tell(PageEvent::Console(ConsoleEntry { url: Some(cut(&url)), ..plain_entry(ConsoleKind::Popup, &text) }));
    if page.settings.policy.url(&url).is_err() {
        let text = format!("the window was not opened: the page may not reach {}", cut(&url));
        return page.sink.tell(PageEvent::Console(plain_entry(ConsoleKind::Error, &text)));
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
            let _ = gone.done_within(PATIENCE).await;
            page.state().popups.pop_front();
        }
    });
}

fn cut(text: &str) -> String {
    wharf_core::text::cut(text, 4_096).to_owned()
}
