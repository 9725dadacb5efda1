//! What becomes of a session that writes more to its console than anybody reads: it
//! is not listened to for a while, and where it never lets go of its thread, what
//! runs there is stopped. All pages share the way to the host.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use wharf_webview::PageEvent;

use super::{Page, logs, setup};

/// What a session may write in [`WINDOW`].
const MOST_ENTRIES: u32 = 1_000;
const MOST_BYTES: usize = 4 << 20;
const WINDOW: Duration = Duration::from_secs(1);
/// How long a session that wrote more is not listened to.
const QUIET: Duration = Duration::from_secs(5);
/// How long it may take to hear that nobody listens.
const PATIENCE: Duration = Duration::from_secs(1);

/// What each session wrote lately.
#[derive(Debug, Default)]
pub(super) struct Floods {
    sessions: HashMap<String, Flood>,
}

#[derive(Debug)]
struct Flood {
    since: Instant,
    entries: u32,
    bytes: usize,
    /// Nobody listens.
    deaf: bool,
}

impl Floods {
    /// Whether nobody listens to this session.
    pub(super) fn is_deaf(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|flood| flood.deaf)
    }

    pub(super) fn forget(&mut self, session: &str) {
        self.sessions.remove(session);
    }

    /// Counts an entry; whether that is one too many.
    fn count(&mut self, session: &str, bytes: usize) -> bool {
        let now = Instant::now();
        let anew = || Flood { since: now, entries: 0, bytes: 0, deaf: false };
        let flood = self.sessions.entry(session.to_owned()).or_insert_with(anew);
        if now.duration_since(flood.since) > WINDOW {
            *flood = Flood { deaf: flood.deaf, ..anew() };
        }
        flood.entries += 1;
        flood.bytes += bytes;
        let too_many = !flood.deaf && (flood.entries > MOST_ENTRIES || flood.bytes > MOST_BYTES);
        flood.deaf |= too_many;
        too_many
    }
}

/// Counts an entry of a session; whether it is to be told.
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
        page.sink.tell(PageEvent::Console(logs::plain("warning", text)));
        let (page, session) = (Arc::clone(page), session.to_owned());
        tokio::spawn(async move { quiet(&page, &session).await });
    }
    true
}

async fn quiet(page: &Page, session: &str) {
    page.post(session, "Log.disable", &json!({}));
    let mut heard = page.call(session, "Runtime.disable", &json!({}));
    if tokio::time::timeout(PATIENCE, &mut heard).await.is_err() {
        // It never lets go of its thread.
        page.post(session, "Runtime.terminateExecution", &json!({}));
        let text = "a script was stopped that did nothing but write here";
        page.sink.tell(PageEvent::Console(logs::plain("warning", text)));
        let _ = heard.await;
    }
    tokio::time::sleep(QUIET).await;
    let mut state = page.state();
    state.floods.forget(session);
    // All that there are now are told anew.
    state.contexts.forget_session(session);
    page.post(session, "Runtime.discardConsoleEntries", &json!({}));
    setup::listen(page, session);
}
