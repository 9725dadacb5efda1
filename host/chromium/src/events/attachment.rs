//! Targets of a page that come and go: its window, frames of other origins, workers.

use std::sync::{Arc, Weak};

use serde_json::json;

use crate::{
    page::{Page, Window},
    routes::Target,
    setup,
};

/// How many sessions a page has: frames of other origins, and workers. Further ones run
/// unobserved; the proxy holds for them, too.
const MOST_SESSIONS: usize = 256;

pub(super) fn attached(page: &Arc<Page>, session: String, target: &Target) {
    let connection = &page.browser.connection;
    let is_window = target.kind == "page";
    if is_window && page.window.get().is_some() {
        // A second window, which the browser was told not to open.
        let close = json!({ "targetId": target.target_id });
        connection.post(None, "Target.closeTarget", &close);
        return;
    }
    let full = !is_window && page.state().sessions.len() >= MOST_SESSIONS;
    if full {
        page.post(&session, "Runtime.runIfWaitingForDebugger", &json!({}));
        let detach = json!({ "sessionId": session });
        connection.post(None, "Target.detachFromTarget", &detach);
        return;
    }
    let listening: Weak<Page> = Arc::downgrade(page);
    page.browser.routes.add_session(&session, listening);
    if is_window {
        let _ = page.window.set(Window { target: target.target_id.clone(), session });
        page.appeared.notify_one();
        return;
    }
    setup::beside(page, &session, &target.kind);
    page.state().sessions.insert(session, target.kind.clone());
}

pub(super) fn detached(page: &Page, session: &str) {
    let mut state = page.state();
    state.sessions.remove(session);
    state.threads.remove(session);
    state.contexts.forget_session(session);
    state.wrappers.forget_session(session);
    state.traffic.forget_session(session);
    state.floods.forget(session);
    drop(state);
    page.changed();
}
