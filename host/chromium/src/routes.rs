//! Leads each event of the browser to a page: the one whose session, context or frame
//! it names.
//!
//! Knows nothing of what events mean to a page.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
};

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::json;

use crate::connection::{BrowserConnection, Event, EventListener};

/// A page, as far as events are led to it. The task that reads for the whole browser
/// calls all of this: it must be quick and must not wait.
pub(crate) trait EventTarget: Send + Sync + 'static {
    /// Something happened in one of its sessions.
    fn hear(self: Arc<Self>, session: &str, event: Event<'_>);
    /// A target of its context has appeared, and waits until it may run.
    fn attached(self: Arc<Self>, session: String, target: &Target);
    /// A session is gone.
    fn detached(&self, session: &str);
    /// Whether the console of a session is ignored.
    fn is_deaf(&self, session: &str) -> bool;
    /// Whether this frame is in it.
    fn has_frame(&self, frame: &str) -> bool;
}

/// Where events go: to the page whose session or context they name.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    // Not an async lock: held for a look-up.
    table: Mutex<RouteTable>,
    connection: OnceLock<Weak<BrowserConnection>>,
}

#[derive(Debug, Default)]
struct RouteTable {
    contexts: HashMap<String, Weak<dyn EventTarget>>,
    sessions: HashMap<String, Weak<dyn EventTarget>>,
}

impl Routes {
    /// Sets the connection by which the events come.
    pub(crate) fn connect(&self, connection: &Arc<BrowserConnection>) {
        let _ = self.connection.set(Arc::downgrade(connection));
    }

    /// Has a page hear what happens in its context.
    pub(crate) fn add_context(&self, context: &str, page: Weak<dyn EventTarget>) {
        self.table().contexts.insert(context.to_owned(), page);
    }

    /// Has a page hear what happens in a session.
    pub(crate) fn add_session(&self, session: &str, page: Weak<dyn EventTarget>) {
        self.table().sessions.insert(session.to_owned(), page);
    }

    /// Forgets the context of a page and all its sessions.
    pub(crate) fn forget(&self, page: &Weak<dyn EventTarget>) {
        let mut table = self.table();
        table.contexts.retain(|_, other| !other.ptr_eq(page));
        let gone = table.sessions.extract_if(|_, other| other.ptr_eq(page)).collect::<Vec<_>>();
        drop(table);
        if let Some(connection) = self.connection() {
            for (session, _) in gone {
                connection.forget(&session);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, RouteTable> {
        self.table.lock()
    }

    fn connection(&self) -> Option<Arc<BrowserConnection>> {
        self.connection.get().and_then(Weak::upgrade)
    }

    fn of_session(&self, session: &str) -> Option<Arc<dyn EventTarget>> {
        self.table().sessions.get(session).and_then(Weak::upgrade)
    }
}

/// The parameters of `Target.attachedToTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetAttached {
    session_id: String,
    target_info: Target,
    #[serde(default)]
    waiting_for_debugger: bool,
}

/// A target, as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Target {
    pub(crate) target_id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    browser_context_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetDetached {
    session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadFrame {
    frame_id: String,
}

impl EventListener for Routes {
    fn is_deaf(&self, session: &str) -> bool {
        self.of_session(session).is_some_and(|page| page.is_deaf(session))
    }

    fn hear(&self, event: Event<'_>) {
        match event.method {
            "Target.attachedToTarget" => self.attached(event),
            "Target.detachedFromTarget" => {
                let Some(TargetDetached { session_id }) = event.read() else { return };
                let page = self.table().sessions.remove(&session_id).and_then(|page| page.upgrade());
                if let Some(connection) = self.connection() {
                    connection.forget(&session_id);
                }
                if let Some(page) = page {
                    page.detached(&session_id);
                }
            }
            // The browser tells of downloads in its own session.
            "Browser.downloadWillBegin" => {
                let Some(DownloadFrame { frame_id }) = event.read() else { return };
                if let Some(page) = self.all().into_iter().find(|page| page.has_frame(&frame_id)) {
                    page.hear("", event);
                }
            }
            "Browser.downloadProgress" => self.all().into_iter().for_each(|page| page.hear("", event)),
            _ => {
                let Some(session) = event.session else { return };
                if let Some(page) = self.of_session(session) {
                    page.hear(session, event);
                }
            }
        }
    }
}

impl Routes {
    fn all(&self) -> Vec<Arc<dyn EventTarget>> {
        self.table().contexts.values().filter_map(Weak::upgrade).collect()
    }

    fn attached(&self, event: Event<'_>) {
        let Some(TargetAttached { session_id, target_info, waiting_for_debugger }) = event.read() else { return };
        let context = target_info.browser_context_id.as_ref();
        let page = context.and_then(|context| self.table().contexts.get(context)?.upgrade());
        if let Some(page) = page {
            page.attached(session_id, &target_info);
        } else if waiting_for_debugger && let Some(connection) = self.connection() {
            // It belongs to no page, such as a part of the browser itself.
            connection.post(Some(&session_id), "Runtime.runIfWaitingForDebugger", &json!({}));
        }
    }
}
