//! One page: a browser context of its own, with its way to the network, and a window
//! in it. What is asked of it is sent at once; what comes back is told to its sink.
//!
//! Events are taken on the task that reads for the whole browser, so nothing there
//! waits. Whatever waits for an answer is a task of its own, so that no script,
//! dialog or order keeps another one from being sent.

mod capture;
mod contexts;
mod dialogs;
mod document;
mod downloads;
mod files;
mod flood;
mod frames;
mod held;
mod inject;
mod input;
mod interception;
mod interrupt;
mod logs;
mod navigate;
mod network;
mod orders;
mod setup;
mod wrapper;

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
};
use wharf_webview::{
    DialogAnswer, Failure, FailureKind, Injection, Order, PageEvent, PageId, PageSettings, Proxy, Settled, Sink, Token,
};

use super::{
    browser::Browser,
    connection::{Call, CallError, Event},
    refusals::Refusals,
    routes::Target,
};
use contexts::Contexts;
use document::Document;
use downloads::Downloads;
use flood::Floods;
use held::Held;
use inject::Thread;
use network::Traffic;
pub(super) use setup::{make_context, open};
use wrapper::Wrappers;

/// Sessions of a page at most: frames of other origins and workers. Further ones run
/// without being looked into; the proxy holds for them all the same.
const MOST_SESSIONS: usize = 256;

/// What the browser says to everything just between two documents, how often it is
/// asked again, and after which time.
const BETWEEN: &str = "Not attached to an active page";
const BETWEEN_TIMES: u32 = 100;
const BETWEEN_TIME: Duration = Duration::from_millis(20);

/// A page that is open, or opens.
pub(super) struct Page {
    id: PageId,
    sink: Sink,
    settings: PageSettings,
    browser: Arc<Browser>,
    context: String,
    /// The window, once there is one.
    window: OnceLock<Window>,
    appeared: Notify,
    /// Its only way out.
    _proxy: Proxy,
    refusals: Refusals,
    // Not an async lock: held for a look-up. The sink is never told under it.
    state: Mutex<State>,
    /// Counts changes of what orders wait for.
    changes: watch::Sender<u64>,
}

/// The page's own target and the session that leads there.
#[derive(Debug)]
struct Window {
    target: String,
    session: String,
}

#[derive(Debug, Default)]
struct State {
    contexts: Contexts,
    wrappers: Wrappers,
    document: Document,
    traffic: Traffic,
    downloads: Downloads,
    held: Held,
    floods: Floods,
    /// What is open besides the window: the kind of target, by session.
    sessions: HashMap<String, String>,
    /// The thread of scripts of each session.
    threads: HashMap<String, Thread>,
    /// Requests that are under way.
    running: HashMap<Token, Running>,
    /// Whether a dialog is open.
    dialog: bool,
    crashed: bool,
    /// Windows that it wanted to open, and of which an address is not gone to yet.
    popups: VecDeque<String>,
    /// Whether its title is being asked for, and whether it has changed since.
    titles: (bool, bool),
}

/// A request that is under way.
#[derive(Debug)]
enum Running {
    /// A script, with its place among those of its session's thread.
    Script { session: String, number: u64 },
    /// Something else.
    Order(AbortHandle),
}

impl Page {
    pub(super) fn new(
        browser: Arc<Browser>,
        context: String,
        proxy: Proxy,
        refusals: Refusals,
        settings: PageSettings,
        sink: Sink,
    ) -> Arc<Self> {
        let page = Arc::new(Self {
            id: sink.page(),
            sink,
            settings,
            browser: Arc::clone(&browser),
            context,
            window: OnceLock::new(),
            appeared: Notify::new(),
            _proxy: proxy,
            refusals,
            state: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        browser.add_context(&page.context, &page);
        page
    }

    /// Runs a script.
    pub(super) fn inject(self: &Arc<Self>, injection: Injection) {
        let injection = self.state().held.take(injection);
        if let Some(injection) = injection {
            inject::begin(self, injection);
        }
    }

    /// Does something else.
    pub(super) fn perform(self: &Arc<Self>, order: Order) {
        orders::begin(self, order);
    }

    /// Stops what a request does.
    pub(super) fn interrupt(self: &Arc<Self>, token: Token) {
        let mut state = self.state();
        state.held.forget(token);
        let running = state.running.remove(&token);
        drop(state);
        match running {
            Some(Running::Order(task)) => task.abort(),
            Some(Running::Script { session, number }) => interrupt::begin(self, session, Some(number)),
            None => {}
        }
    }

    /// Answers the dialog that is open.
    pub(super) fn answer_dialog(&self, answer: &DialogAnswer) {
        dialogs::answer(self, answer);
    }

    /// Has its renderer crash.
    pub(super) fn crash(&self) {
        self.post(self.main_session(), "Page.crash", &json!({}));
    }

    /// Hears what happens in one of its sessions.
    pub(super) fn hear(self: &Arc<Self>, session: &str, event: Event<'_>) {
        let (domain, _) = event.method.split_once('.').unwrap_or_default();
        match domain {
            "Fetch" => interception::hear(self, session, event),
            "Network" => network::hear(self, session, event),
            "Runtime" => {
                contexts::hear(self, session, event);
                logs::hear(self, session, event);
            }
            "Log" => logs::hear(self, session, event),
            "Page" if event.method.starts_with("Page.javascriptDialog") => dialogs::hear(self, session, event),
            "Page" => document::hear(self, session, event),
            "Inspector" => self.crashed(session, event),
            "Browser" => downloads::hear(self, event),
            _ => {}
        }
    }

    /// A target of its context is there, and waits to be let run.
    pub(super) fn attached(self: &Arc<Self>, session: String, target: &Target) {
        let is_window = target.kind == "page";
        if is_window && self.window.get().is_some() {
            // A window beside it, which the browser was told not to open.
            let close = json!({ "targetId": target.target_id });
            self.browser.connection.post(None, "Target.closeTarget", &close);
            return;
        }
        let full = !is_window && self.state().sessions.len() >= MOST_SESSIONS;
        if full {
            self.post(&session, "Runtime.runIfWaitingForDebugger", &json!({}));
            let detach = json!({ "sessionId": session });
            self.browser.connection.post(None, "Target.detachFromTarget", &detach);
            return;
        }
        self.browser.add_session(&session, self);
        if is_window {
            let _ = self.window.set(Window { target: target.target_id.clone(), session });
            self.appeared.notify_one();
            return;
        }
        setup::beside(self, &session, &target.kind);
        self.state().sessions.insert(session, target.kind.clone());
    }

    /// A session is gone.
    pub(super) fn detached(&self, session: &str) {
        let mut state = self.state();
        state.sessions.remove(session);
        state.threads.remove(session);
        state.contexts.forget_session(session);
        state.wrappers.forget_session(session);
        state.traffic.forget_session(session);
        state.floods.forget(session);
        drop(state);
        self.changed();
    }

    /// Whether nobody listens to what a session writes to its console.
    pub(super) fn is_deaf(&self, session: &str) -> bool {
        self.state().floods.is_deaf(session)
    }

    /// Whether this frame is in it.
    pub(super) fn has_frame(&self, frame: &str) -> bool {
        self.is_main(frame) || self.state().contexts.knows(frame)
    }

    /// Closes it, with all that it keeps.
    pub(super) async fn dispose(self: &Arc<Self>) {
        let running = std::mem::take(&mut self.state().running);
        for request in running.into_values() {
            if let Running::Order(task) = request {
                task.abort();
            }
        }
        let context = json!({ "browserContextId": self.context });
        let disposed = self.browser.connection.call(None, "Target.disposeBrowserContext", &context);
        if let Err(error) = disposed.done_within(super::browser::PATIENCE).await {
            tracing::debug!(%error, "the context of a page did not go by itself");
        }
        self.browser.forget_page(self);
        let (profile, id) = (Arc::clone(&self.browser.profile), self.id);
        let _ = tokio::task::spawn_blocking(move || profile.forget(id)).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes orders that wait for something to change.
    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Waits until this says something. Whatever changes it says so by
    /// [`Page::changed`].
    async fn until<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            // The sender is the page's own.
            let _ = changes.changed().await;
        }
    }

    fn window(&self) -> Option<&Window> {
        self.window.get()
    }

    fn is_main(&self, frame: &str) -> bool {
        self.window().is_some_and(|window| window.target == frame)
    }

    fn is_main_session(&self, session: &str) -> bool {
        self.window().is_some_and(|window| window.session == session)
    }

    /// The session of the window. Nothing is asked of a page before it has one.
    fn main_session(&self) -> &str {
        self.window().map_or("", |window| &window.session)
    }

    fn call<P: Serialize>(&self, session: &str, method: &str, params: &P) -> Call {
        self.browser.connection.call(Some(session), method, params)
    }

    fn post<P: Serialize>(&self, session: &str, method: &str, params: &P) {
        self.browser.connection.post(Some(session), method, params);
    }

    /// Asks its window.
    fn ask<P: Serialize>(&self, method: &str, params: &P) -> Call {
        self.call(self.main_session(), method, params)
    }

    /// Waits for an answer. Just between two documents the browser says no to
    /// everything, and is asked again.
    async fn insist<P: Serialize, T: DeserializeOwned>(
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

    fn settle(&self, token: Token, settled: Settled) {
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

    fn fail(&self, token: Token, kind: FailureKind, message: impl Into<String>) {
        self.settle(token, Settled::Failed(Failure::new(kind, message)));
    }

    fn crashed(&self, session: &str, event: Event<'_>) {
        match event.method {
            // Its page is told that it is gone.
            "Inspector.targetCrashed" if self.browser.is_dying() => {}
            "Inspector.targetCrashed" if self.is_main_session(session) => {
                let mut state = self.state();
                state.crashed = true;
                state.dialog = false;
                state.contexts.clear();
                state.wrappers.clear();
                state.traffic.clear();
                drop(state);
                held::crashed(self);
                self.sink.tell(PageEvent::Crashed);
                self.sink.tell(PageEvent::Console(logs::plain("crash", "the page crashed; navigate or reload it")));
                self.changed();
            }
            "Inspector.targetCrashed" => {
                let mut state = self.state();
                state.contexts.forget_session(session);
                state.wrappers.forget_session(session);
            }
            "Inspector.targetReloadedAfterCrash" if self.is_main_session(session) => {
                self.state().crashed = false;
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Page").field("id", &self.id).field("context", &self.context).finish_non_exhaustive()
    }
}
