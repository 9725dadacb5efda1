//! Protects the connection, which all pages share, from a session that floods its
//! console: its console is ignored for a while, and a script that never releases its
//! thread is stopped.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use wharf_webview::{ConsoleKind, PageEvent};

use crate::{
    page::{Page, plain_entry},
    setup,
};

/// How long the console of a flooding session is ignored.
const QUIET: Duration = Duration::from_secs(5);
/// How long its thread may take to notice.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts an entry of a session. Whether it is to be reported.
pub(super) fn admits(page: &Arc<Page>, session: &str, bytes: usize) -> bool {
    let too_many = {
        let floods = &mut page.state().floods;
        if floods.is_deaf(session) {
            return false;
        }
        floods.count(session, bytes)
    };
    if too_many {
        let text = "more was written here than anybody reads; what follows is left out for some seconds";
        page.sink.tell(PageEvent::Console(plain_entry(ConsoleKind::Warning, text)));
        let (page, session) = (Arc::clone(page), session.to_owned());
        tokio::spawn(async move { quiet(&page, &session).await });
    }
    true
}

async fn quiet(page: &Page, session: &str) {
    page.post(session, "Log.disable", &json!({}));
    let mut heard = page.call(session, "Runtime.disable", &json!({}));
    if tokio::time::timeout(PATIENCE, &mut heard).await.is_err() {
        // It never releases its thread.
        page.post(session, "Runtime.terminateExecution", &json!({}));
        let text = "a script was stopped that did nothing but write here";
        page.sink.tell(PageEvent::Console(plain_entry(ConsoleKind::Warning, text)));
        let _ = heard.await;
    }
    tokio::time::sleep(QUIET).await;
    let mut state = page.state();
    state.floods.forget(session);
    // The browser reports all present contexts anew.
    state.contexts.forget_session(session);
    page.post(session, "Runtime.discardConsoleEntries", &json!({}));
    setup::listen(page, session);
}
