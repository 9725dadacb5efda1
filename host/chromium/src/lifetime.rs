//! The life of a page, from the request to open it until the browser has released it;
//! and the table of all pages that are alive.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};
use wharf_webview::{PageEvent, PageId, PageSettings, Proxy, ProxySettings, Sink};

use crate::{
    browser::Browser, browsers::Browsers, connection::CallError, keeper::BrowserLease, page::Page,
    refusals::ProxyRefusals, setup,
};

/// The pages that are alive, each from the request to open it.
#[derive(Debug, Clone)]
pub(crate) struct OpenPages {
    // Not an async lock: held for a look-up.
    slots: Arc<Mutex<HashMap<PageId, PageSlot>>>,
    /// Changes whenever a page has ended.
    fewer: watch::Sender<()>,
}

#[derive(Debug)]
struct PageSlot {
    sink: Sink,
    /// Once it takes scripts.
    page: Option<Arc<Page>>,
    /// The user that runs it, where that is not the host's.
    user: Option<u32>,
    close: mpsc::Sender<()>,
}

impl OpenPages {
    pub(crate) fn new() -> Self {
        Self { slots: Arc::default(), fewer: watch::Sender::new(()) }
    }

    /// The page; its sink alone, while it takes no scripts yet; none once it is closed,
    /// which its sink was told.
    pub(crate) fn get(&self, id: PageId) -> Option<Result<Arc<Page>, Sink>> {
        self.slots().get(&id).map(|slot| slot.page.clone().ok_or_else(|| slot.sink.clone()))
    }

    /// The user that runs a page, where that is not the host's.
    pub(crate) fn user(&self, id: PageId) -> Option<u32> {
        self.slots().get(&id).and_then(|slot| slot.user)
    }

    /// Asks a page to close.
    pub(crate) fn close(&self, id: PageId) {
        if let Some(slot) = self.slots().get(&id) {
            // A full channel has been asked already.
            let _ = slot.close.try_send(());
        }
    }

    /// Waits until no page is left.
    pub(crate) async fn none_left(&self) {
        let mut fewer = self.fewer.subscribe();
        while !self.slots().is_empty() {
            let _ = fewer.changed().await;
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<PageId, PageSlot>> {
        self.slots.lock()
    }
}

/// The life of one page.
pub(crate) struct PageLifetime {
    pages: OpenPages,
    browsers: Arc<Browsers>,
    sink: Sink,
    settings: PageSettings,
    lease: BrowserLease,
}

impl PageLifetime {
    /// Begins the life of a page: it is in the table when this returns, and opens on
    /// a task of its own.
    pub(crate) fn begin(pages: &OpenPages, browsers: &Arc<Browsers>, settings: PageSettings, sink: Sink) {
        let (close, closing) = mpsc::channel(1);
        let lease = browsers.lease(&settings.tenant);
        let slot = PageSlot { sink: sink.clone(), page: None, user: lease.keeper().user(), close };
        pages.slots().insert(sink.page(), slot);
        let life = Self { pages: pages.clone(), browsers: Arc::clone(browsers), sink, settings, lease };
        tokio::spawn(life.live(closing));
    }

    async fn live(self, mut closing: mpsc::Receiver<()>) {
        let id = self.sink.page();
        let unasked = match self.open().await {
            Ok((browser, page)) => {
                if let Some(slot) = self.pages.slots().get_mut(&id) {
                    slot.page = Some(Arc::clone(&page));
                }
                self.sink.tell(PageEvent::Opened);
                tokio::select! {
                    _ = closing.recv() => {
                        setup::dispose(&page).await;
                        None
                    }
                    reason = browser.ended() => {
                        setup::dispose(&page).await;
                        Some(reason.to_string())
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a page cannot be opened");
                Some(error)
            }
        };
        self.pages.slots().remove(&id);
        self.sink.tell(PageEvent::Closed { unasked });
        drop(self.lease);
        self.pages.fewer.send_replace(());
    }

    async fn open(&self) -> Result<(Arc<Browser>, Arc<Page>), String> {
        let browser =
            self.browsers.browser(&self.lease).await.map_err(|error| wharf_core::text::with_causes(&error))?;
        let refusals = ProxyRefusals::default();
        let told = refusals.clone();
        let settings = ProxySettings {
            connections: usize::try_from(self.settings.limits.connections_per_page).unwrap_or(usize::MAX),
            shares: Some(self.settings.shares.clone()),
            user: self.lease.keeper().user(),
            denied: Arc::new(move |denied| told.add(denied)),
            names: None,
        };
        let proxy = Proxy::start(Arc::clone(&self.settings.policy), settings).await;
        let proxy = proxy.map_err(|error| format!("the page has no way to the network: {error}"))?;
        let refused = |error: CallError| format!("the browser opens no page: {error}");
        let context = setup::make_context(&browser, proxy.address()).await.map_err(refused)?;
        let page = Page::new(Arc::clone(&browser), context, proxy, refusals, self.settings.clone(), self.sink.clone());
        if let Err(error) = setup::open(&page).await {
            setup::dispose(&page).await;
            return Err(if browser.has_ended() { browser.ended().await.to_string() } else { refused(error) });
        }
        Ok((browser, page))
    }
}
