//! Which page an event of the browser is for: the one whose session, context or frame
//! it names.
//!
//! Knows nothing of what events mean to a page.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use serde::Deserialize;
use serde_json::json;

use super::{
    browser::Browser,
    connection::{Event, Listener},
    page::Page,
};

/// Where events go: to the page whose session or context they name.
#[derive(Debug, Default)]
pub(super) struct Routes {
    // Not an async lock: held for a look-up.
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
pub(super) struct Pages {
    pub(super) contexts: HashMap<String, Weak<Page>>,
    pub(super) sessions: HashMap<String, Weak<Page>>,
    pub(super) browser: Option<Weak<Browser>>,
}

impl Routes {
    pub(super) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of an event by which it finds its page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    target_info: Target,
    #[serde(default)]
    waiting_for_debugger: bool,
}

/// A target, as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Target {
    pub(super) target_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    browser_context_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfAFrame {
    frame_id: String,
}

impl Listener for Routes {
    fn is_deaf(&self, session: &str) -> bool {
        let page = self.pages().sessions.get(session).and_then(Weak::upgrade);
        page.is_some_and(|page| page.is_deaf(session))
    }

    fn hear(&self, event: Event<'_>) {
        match event.method {
            "Target.attachedToTarget" => self.attached(event),
            "Target.detachedFromTarget" => {
                let Some(Detached { session_id }) = event.read() else { return };
                let (page, browser) = {
                    let pages = self.pages();
                    (pages.sessions.get(&session_id).and_then(Weak::upgrade), pages.browser())
                };
                if let Some(browser) = browser {
                    browser.forget_session(&session_id);
                }
                if let Some(page) = page {
                    page.detached(&session_id);
                }
            }
            // Told to whoever asked for downloads, which is the browser's own session.
            "Browser.downloadWillBegin" => {
                let Some(OfAFrame { frame_id }) = event.read() else { return };
                if let Some(page) = self.all().into_iter().find(|page| page.has_frame(&frame_id)) {
                    page.hear("", event);
                }
            }
            "Browser.downloadProgress" => self.all().into_iter().for_each(|page| page.hear("", event)),
            _ => {
                let Some(session) = event.session else { return };
                let page = self.pages().sessions.get(session).and_then(Weak::upgrade);
                if let Some(page) = page {
                    page.hear(session, event);
                }
            }
        }
    }
}

impl Routes {
    fn all(&self) -> Vec<Arc<Page>> {
        self.pages().contexts.values().filter_map(Weak::upgrade).collect()
    }

    fn attached(&self, event: Event<'_>) {
        let Some(Attached { session_id, target_info, waiting_for_debugger }) = event.read() else { return };
        let (page, browser) = {
            let pages = self.pages();
            let context = target_info.browser_context_id.as_ref();
            (context.and_then(|context| pages.contexts.get(context)?.upgrade()), pages.browser())
        };
        match (page, browser) {
            (Some(page), _) => page.attached(session_id, &target_info),
            // Of nobody, such as a part of the browser itself.
            (None, Some(browser)) if waiting_for_debugger => {
                browser.connection.post(Some(&session_id), "Runtime.runIfWaitingForDebugger", &json!({}));
            }
            (None, _) => {}
        }
    }
}

impl Pages {
    fn browser(&self) -> Option<Arc<Browser>> {
        self.browser.as_ref().and_then(Weak::upgrade)
    }
}
