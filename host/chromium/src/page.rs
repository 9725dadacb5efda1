//! One page: a browser context of its own, with its way to the network, and a window in
//! it. Owns the state of the page, and the ways to ask the browser and to tell the
//! core.
//!
//! It never knows what an event means, nor how a request is carried out.

mod console;
mod contexts;
mod document;
mod downloads;
mod floods;
mod held_scripts;
mod threads;
mod title;
mod traffic;
mod wrappers;

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
};
use wharf_webview::{DialogAnswer, Failure, FailureKind, PageId, PageSettings, Proxy, Settled, Sink, Token};

pub(crate) use self::{
    console::{MOST_ENTRY_BYTES, plain_entry},
    contexts::{FrameContexts, WORLD},
    document::DocumentLoad,
    downloads::RunningDownload,
    traffic::NetworkRequest,
    wrappers::{KeptWrappers, call as call_wrapper},
};
use self::{
    contexts::Contexts, document::Document, downloads::Downloads, floods::ConsoleFloods, held_scripts::HeldScripts,
    threads::ScriptThread, title::TitleQuestion, traffic::Traffic,
};
use crate::{
    browser::Browser,
    connection::{Call, CallError},
    refusals::ProxyRefusals,
};

/// The browser's answer to every command just between two documents, how often it is
/// asked again, and after which time.
const BETWEEN: &str = "Not attached to an active page";
const BETWEEN_TIMES: u32 = 100;
const BETWEEN_TIME: Duration = Duration::from_millis(20);

/// A page that is open, or opens.
pub(crate) struct Page {
    pub(crate) id: PageId,
    pub(crate) sink: Sink,
    pub(crate) settings: PageSettings,
    pub(crate) browser: Arc<Browser>,
    pub(crate) context: String,
    /// The window, once there is one.
    pub(crate) window: OnceLock<Window>,
    pub(crate) appeared: Notify,
    /// Its only way out.
    _proxy: Proxy,
    pub(crate) refusals: ProxyRefusals,
    // Not an async lock: held for a look-up. The sink is never told under it.
    state: Mutex<PageState>,
    /// Counts changes of what orders wait for.
    changes: watch::Sender<u64>,
}

/// The page's own target and the session that leads there.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) target: String,
    pub(crate) session: String,
}

#[derive(Debug, Default)]
pub(crate) struct PageState {
    pub(crate) contexts: Contexts,
    pub(crate) wrappers: KeptWrappers,
    pub(crate) document: Document,
    pub(crate) traffic: Traffic,
    pub(crate) downloads: Downloads,
    pub(crate) held: HeldScripts,
    pub(crate) floods: ConsoleFloods,
    /// What is open besides the window: the kind of target, by session.
    pub(crate) sessions: HashMap<String, String>,
    /// The thread of scripts of each session.
    pub(crate) threads: HashMap<String, ScriptThread>,
    /// Requests that are under way.
    pub(crate) running: HashMap<Token, RunningRequest>,
    /// Whether a dialog is open.
    pub(crate) dialog: bool,
    pub(crate) crashed: bool,
    /// Addresses of windows that the page wanted to open, which wait to be opened in
    /// the page itself.
    pub(crate) popups: VecDeque<String>,
    pub(crate) title: TitleQuestion,
}

/// A request that is under way.
#[derive(Debug)]
pub(crate) enum RunningRequest {
    /// A script, with its place among those of its session's thread.
    Script { session: String, number: u64 },
    /// Something else.
    Order(AbortHandle),
}

impl Page {
    pub(crate) fn new(
        browser: Arc<Browser>,
        context: String,
        proxy: Proxy,
        refusals: ProxyRefusals,
        settings: PageSettings,
        sink: Sink,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: sink.page(),
            sink,
            settings,
            browser,
            context,
            window: OnceLock::new(),
            appeared: Notify::new(),
            _proxy: proxy,
            refusals,
            state: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    /// Answers the dialog that is open.
    pub(crate) fn answer_dialog(&self, answer: &DialogAnswer) {
        let mut said = json!({ "accept": answer.accept });
        if let Some(text) = &answer.text {
            said["promptText"] = json!(text);
        }
        self.post(self.main_session(), "Page.handleJavaScriptDialog", &said);
    }

    /// Has its renderer crash.
    pub(crate) fn crash(&self) {
        self.post(self.main_session(), "Page.crash", &json!({}));
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.state.lock()
    }

    /// Wakes orders that wait for something to change.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Waits until `look` finds something. Each change that it may look at is announced
    /// by [`Page::changed`].
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&PageState) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            // The sender lives as long as the page.
            let _ = changes.changed().await;
        }
    }

    pub(crate) fn window(&self) -> Option<&Window> {
        self.window.get()
    }

    pub(crate) fn is_main(&self, frame: &str) -> bool {
        self.window().is_some_and(|window| window.target == frame)
    }

    pub(crate) fn is_main_session(&self, session: &str) -> bool {
        self.window().is_some_and(|window| window.session == session)
    }

    /// The session of the window. Nothing is asked of a page before it has one.
    pub(crate) fn main_session(&self) -> &str {
        self.window().map_or("", |window| &window.session)
    }

    pub(crate) fn call<P: Serialize>(&self, session: &str, method: &str, params: &P) -> Call {
        self.browser.connection.call(Some(session), method, params)
    }

    pub(crate) fn post<P: Serialize>(&self, session: &str, method: &str, params: &P) {
        self.browser.connection.post(Some(session), method, params);
    }

    /// Asks its window.
    pub(crate) fn ask<P: Serialize>(&self, method: &str, params: &P) -> Call {
        self.call(self.main_session(), method, params)
    }

    /// Waits for an answer. Just between two documents the browser refuses every
    /// command; it is asked again then.
    pub(crate) async fn insist<P: Serialize, T: DeserializeOwned>(
        &self,
        mut call: Call,
        method: &str,
        params: &P,
    ) -> Result<T, CallError> {
        let mut times = 0;
        loop {
            match call.read().await {
                Err(CallError::Refused(said)) if said.contains(BETWEEN) && times < BETWEEN_TIMES => {
                    times += 1;
                    tokio::time::sleep(BETWEEN_TIME).await;
                    call = self.ask(method, params);
                }
                answered => return answered,
            }
        }
    }

    pub(crate) fn settle(&self, token: Token, settled: Settled) {
        self.state().running.remove(&token);
        let settled = match settled {
            Settled::Failed(Failure { kind: FailureKind::Navigated | FailureKind::Crashed, .. })
                if self.browser.is_dying() =>
            {
                Settled::Failed(Failure::new(FailureKind::BackendGone, "the browser ended"))
            }
            settled => settled,
        };
        self.sink.settle(token, settled);
    }

    pub(crate) fn fail(&self, token: Token, kind: FailureKind, message: impl Into<String>) {
        self.settle(token, Settled::Failed(Failure::new(kind, message)));
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Page").field("id", &self.id).field("context", &self.context).finish_non_exhaustive()
    }
}
