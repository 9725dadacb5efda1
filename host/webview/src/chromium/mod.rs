//! Pages in a Chromium that the host runs itself, driven by the DevTools protocol over
//! a pair of pipes.
//!
//! One browser serves all pages of a host; it runs in its own sandbox and, where the
//! host is root, as a user of its own. Each page is a browser context with cookies,
//! storage and cache of its own, and with a proxy as its only way out. Linux only.
//! Knows nothing of owners, ids that callers see, or deadlines.

mod browser;
mod connection;
mod error;
mod find;
mod flags;
mod keeper;
mod keys;
mod message;
mod page;
mod profile;
mod refusals;
mod routes;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{mpsc, watch};
use wharf_contract::webview::OperationName;
use wharf_core::WebViewLimits;
use wharf_spawn::Spawner;

use crate::{
    Abilities, DialogAnswer, Failure, FailureKind, Injection, Order, PageEvent, PageId, PageSettings, Proxy,
    ProxySettings, Settled, Sink, Token, WebViewBackend,
};
pub use error::ChromiumError;
use keeper::{Keeper, Needed};
use page::Page;
pub use profile::Staging;
use refusals::Refusals;

/// The user of the browser where the host is root: one that nothing else is given,
/// above those of sessions.
pub const BROWSER_USER: u32 = 2_147_400_000;

/// Runs pages in Chromium.
#[derive(Debug)]
pub struct Chromium {
    keeper: Arc<Keeper>,
    sandbox: bool,
    // Not an async lock: held for a look-up.
    pages: Arc<Mutex<HashMap<PageId, Slot>>>,
    /// Says that there are fewer of them.
    fewer: watch::Sender<()>,
}

/// How Chromium is run.
#[derive(Debug, Clone)]
pub struct ChromiumSettings {
    /// The program; else the first of those that are known is taken.
    pub program: Option<PathBuf>,
    /// As root, the user that it runs as: [`BROWSER_USER`] where absent. Where the
    /// host is not root, it runs as the host's own.
    pub user: Option<u32>,
    /// Runs it without its own sandbox: whoever breaks out of a page then has all that
    /// the browser's user has.
    pub no_sandbox: bool,
    /// Where profiles and downloads are while it runs. As root, other users have to
    /// be able to pass there.
    pub temporary: PathBuf,
    /// Limits of the browser itself: how long it idles, and how often it may crash.
    pub limits: Arc<WebViewLimits>,
}

/// A Chromium that works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub program: PathBuf,
    /// What it says that it is, such as `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Whether it runs pages in its own sandbox.
    pub sandbox: bool,
    /// The user that it runs as, where that is not the host's own.
    pub user: Option<u32>,
}

/// A page, from the moment that it was asked for.
#[derive(Debug)]
struct Slot {
    sink: Sink,
    /// Once it takes scripts.
    page: Option<Arc<Page>>,
    close: mpsc::Sender<()>,
}

impl ChromiumSettings {
    /// The same with the user that is chosen where none is said.
    fn decided(self) -> Self {
        let user = rustix::process::geteuid().is_root().then(|| self.user.unwrap_or(BROWSER_USER));
        Self { user, ..self }
    }
}

impl Chromium {
    /// Runs pages by these settings. The browser is started with the first page.
    ///
    /// # Errors
    /// Where there is no program to be run.
    pub fn new(spawner: Spawner, settings: ChromiumSettings) -> Result<Self, ChromiumError> {
        let settings = settings.decided();
        let program = find::program(settings.program.as_deref())?;
        let sandbox = !settings.no_sandbox;
        let keeper = Keeper::new(spawner, settings, program);
        Ok(Self { keeper, sandbox, pages: Arc::default(), fewer: watch::Sender::new(()) })
    }

    /// Starts the browser once to see whether it works here, and ends it.
    ///
    /// # Errors
    /// Where it does not; the message says what to do.
    pub async fn find(spawner: Spawner, settings: ChromiumSettings) -> Result<Found, ChromiumError> {
        let settings = settings.decided();
        let program = find::program(settings.program.as_deref())?;
        let (sandbox, user) = (!settings.no_sandbox, settings.user);
        let keeper = Keeper::new(spawner, settings, program.clone());
        let version = keeper.browser().await?.about().product.clone();
        keeper.shut_down().await;
        Ok(Found { program, version, sandbox, user })
    }

    /// The process of the browser, if one runs; for tests.
    #[doc(hidden)]
    pub async fn process(&self) -> Option<u32> {
        self.keeper.process().await
    }

    /// Has the renderer of a page crash; for tests.
    #[doc(hidden)]
    pub fn crash(&self, page: PageId) {
        if let Some(Ok(page)) = self.page(page) {
            page.crash();
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<PageId, Slot>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page, or the sink by which to say that it is not there.
    fn page(&self, id: PageId) -> Option<Result<Arc<Page>, Sink>> {
        self.pages().get(&id).map(|slot| slot.page.clone().ok_or_else(|| slot.sink.clone()))
    }

    fn with_page(&self, id: PageId, token: Token, act: impl FnOnce(&Arc<Page>)) {
        match self.page(id) {
            Some(Ok(page)) => act(&page),
            Some(Err(sink)) => {
                let failure = Failure::new(FailureKind::BackendGone, "the page is not open");
                sink.settle(token, Settled::Failed(failure));
            }
            // Closed, which its sink was told.
            None => {}
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Without a runtime nothing is followed any more, and the browser has ended
        // with what followed it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let keeper = Arc::clone(&self.keeper);
            runtime.spawn(async move { keeper.shut_down().await });
        }
    }
}

#[async_trait]
impl WebViewBackend for Chromium {
    fn name(&self) -> &'static str {
        "chromium"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            operations: OperationName::WORDS.iter().copied().collect(),
            isolated_world: true,
            enforces_origins: true,
            sandbox: self.sandbox,
        }
    }

    fn user(&self) -> Option<u32> {
        self.keeper.user()
    }

    fn open(&self, page: PageId, settings: PageSettings, sink: Sink) {
        let (close, closing) = mpsc::channel(1);
        self.pages().insert(page, Slot { sink: sink.clone(), page: None, close });
        let life = Life {
            keeper: Arc::clone(&self.keeper),
            pages: Arc::clone(&self.pages),
            fewer: self.fewer.clone(),
            sink,
            settings,
            needed: self.keeper.need(),
        };
        tokio::spawn(life.live(closing));
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.with_page(page, injection.token, move |page| page.inject(injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        self.with_page(page, order.token, move |page| page.perform(order));
    }

    fn interrupt(&self, page: PageId, token: Token) {
        if let Some(Ok(page)) = self.page(page) {
            page.interrupt(token);
        }
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        if let Some(Ok(page)) = self.page(page) {
            page.answer_dialog(&answer);
        }
    }

    fn close(&self, page: PageId) {
        if let Some(slot) = self.pages().get(&page) {
            // Where it is full, it has been said already.
            let _ = slot.close.try_send(());
        }
    }

    async fn shut_down(&self, patience: Duration) {
        let gone = async {
            // With the browser, all its pages.
            self.keeper.shut_down().await;
            let mut fewer = self.fewer.subscribe();
            while !self.pages().is_empty() {
                let _ = fewer.changed().await;
            }
        };
        if tokio::time::timeout(patience, gone).await.is_err() {
            tracing::warn!("the browser did not end in time; its supervisor ends it with the host");
        }
    }
}

/// One page, from the moment that it is asked for to the moment when nothing of it
/// is left.
struct Life {
    keeper: Arc<Keeper>,
    pages: Arc<Mutex<HashMap<PageId, Slot>>>,
    fewer: watch::Sender<()>,
    sink: Sink,
    settings: PageSettings,
    needed: Needed,
}

impl Life {
    async fn live(self, mut closing: mpsc::Receiver<()>) {
        let id = self.sink.page();
        let unasked = match self.open().await {
            Ok((browser, page)) => {
                if let Some(slot) = self.pages().get_mut(&id) {
                    slot.page = Some(Arc::clone(&page));
                }
                self.sink.tell(PageEvent::Opened);
                tokio::select! {
                    _ = closing.recv() => {
                        page.dispose().await;
                        None
                    }
                    reason = browser.ended() => {
                        page.dispose().await;
                        Some(reason.to_string())
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a page cannot be opened");
                Some(error)
            }
        };
        self.pages().remove(&id);
        self.sink.tell(PageEvent::Closed { unasked });
        drop(self.needed);
        self.fewer.send_replace(());
    }

    async fn open(&self) -> Result<(Arc<browser::Browser>, Arc<Page>), String> {
        let browser = self.keeper.browser().await.map_err(|error| wharf_core::text::with_causes(&error))?;
        let refusals = Refusals::default();
        let told = refusals.clone();
        let settings = ProxySettings {
            connections: usize::try_from(self.settings.limits.connections_per_page).unwrap_or(usize::MAX),
            shares: Some(self.settings.shares.clone()),
            user: self.keeper.user(),
            denied: Arc::new(move |denied| told.add(denied)),
            names: None,
        };
        let proxy = Proxy::start(Arc::clone(&self.settings.policy), settings).await;
        let proxy = proxy.map_err(|error| format!("the page has no way to the network: {error}"))?;
        let refused = |error: connection::CallError| format!("the browser opens no page: {error}");
        let context = page::make_context(&browser, proxy.address()).await.map_err(refused)?;
        let page = Page::new(Arc::clone(&browser), context, proxy, refusals, self.settings.clone(), self.sink.clone());
        if let Err(error) = page::open(&page).await {
            page.dispose().await;
            return Err(if browser.has_ended() { browser.ended().await.to_string() } else { refused(error) });
        }
        Ok((browser, page))
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<PageId, Slot>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
