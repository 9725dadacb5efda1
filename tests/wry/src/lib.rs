//! The WebViews of an app, lent to the host: a [`WebViewBackend`] over wry on Linux.
//!
//! An example to start from. It shows what matters whatever the app is made with:
//! GTK and WebKit belong to the app's main thread, so every function posts to that
//! thread's loop and returns; the page's sink gets the results from there. Nothing
//! waits, so a page that is stuck holds up no other.
//!
//! wry opens and configures the WebViews. Scripts go past it to WebKit, since wry's
//! own evaluation tells exceptions, syntax errors and `undefined` alike, and drops
//! what comes before the first document.
//!
//! What WebKit cannot do, and [`Abilities`] does not claim: it stops no script. Of
//! one that never ends the page is given up after a moment, as if it had crashed.
//! Each page's proxy is its way to the network, as with Chromium; but nobody has
//! tried here all the ways around it, so `enforces_origins` is `false`.

mod dialogs;
mod navigation;
mod page;

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use gtk::glib::{self, MainContext};
use wharf_webview::{
    Abilities, DialogAnswer, Failure, FailureKind, Injection, Order, PageEvent, PageId, PageSettings, Proxy,
    ProxySettings, Settled, Sink, Token, WebViewBackend,
};

use page::Page;

thread_local! {
    /// The pages, on the thread of the loop alone.
    static PAGES: RefCell<HashMap<PageId, Rc<Page>>> = RefCell::default();
}

/// Runs pages in WebViews of the app, each in a window of its own.
///
/// `gtk::init` has to be called on the main thread, and its loop to run there, while
/// pages are used; the functions of this are called from any other thread.
#[derive(Debug, Default)]
pub struct WryBackend {
    // From asking for a page until it is gone; not an async lock: held for a look-up.
    sinks: Arc<Mutex<HashMap<PageId, Sink>>>,
    ended: AtomicBool,
}

impl WryBackend {
    /// A backend without pages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the process of a page, as a crash does; for tests.
    pub fn crash(&self, page: PageId) {
        with_page(page, |page| page.crash());
    }

    fn sinks(&self) -> MutexGuard<'_, HashMap<PageId, Sink>> {
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a page on the loop, or fails what was asked of it.
    fn ask(&self, id: PageId, token: Token, act: impl FnOnce(&Rc<Page>) + Send + 'static) {
        let Some(sink) = self.sinks().get(&id).cloned() else { return };
        post(move || match page(id) {
            Some(page) => act(&page),
            None => {
                let failure = Failure::new(FailureKind::BackendGone, "the page is not open");
                sink.settle(token, Settled::Failed(failure));
            }
        });
    }
}

/// Has the loop of the main thread do something, in the order of calls, and never
/// before this returns: the core answers from within what it is told, and WebKit does
/// not bear to be called then.
fn post(act: impl FnOnce() + Send + 'static) {
    MainContext::default().spawn_with_priority(glib::Priority::DEFAULT, async move { act() });
}

fn page(id: PageId) -> Option<Rc<Page>> {
    PAGES.with_borrow(|pages| pages.get(&id).cloned())
}

fn with_page(id: PageId, act: impl FnOnce(&Rc<Page>) + Send + 'static) {
    post(move || {
        if let Some(page) = page(id) {
            act(&page);
        }
    });
}

#[async_trait]
impl WebViewBackend for WryBackend {
    fn name(&self) -> &'static str {
        "wry"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            operations: BTreeSet::from(["navigate", "back", "forward", "reload"]),
            isolated_world: true,
            enforces_origins: false,
            sandbox: false,
        }
    }

    fn open(&self, page: PageId, settings: PageSettings, sink: Sink) {
        if self.ended.load(Ordering::Relaxed) {
            sink.tell(PageEvent::Closed { unasked: Some("the app is about to end".to_owned()) });
            return;
        }
        self.sinks().insert(page, sink.clone());
        let sinks = Arc::clone(&self.sinks);
        tokio::spawn(async move {
            let proxy = ProxySettings {
                connections: usize::try_from(settings.limits.connections_per_page).unwrap_or(usize::MAX),
                shares: Some(settings.shares.clone()),
                user: None,
                denied: Arc::new(|denied| tracing::info!(target = denied.target, "a page did not get a connection")),
                names: None,
            };
            let proxy = Proxy::start(Arc::clone(&settings.policy), proxy).await;
            post(move || {
                // Closed before it was there.
                if !sinks.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&page) {
                    return;
                }
                let opened = proxy
                    .map_err(|error| error.to_string())
                    .and_then(|proxy| Page::open(sink.clone(), &settings, proxy).map_err(|error| error.to_string()));
                match opened {
                    Ok(opened) => PAGES.with_borrow_mut(|pages| drop(pages.insert(page, opened))),
                    Err(problem) => {
                        sinks.lock().unwrap_or_else(PoisonError::into_inner).remove(&page);
                        sink.tell(PageEvent::Closed { unasked: Some(problem) });
                    }
                }
            });
        });
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.ask(page, injection.token, move |page| page.inject(injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        self.ask(page, order.token, move |page| page.perform(&order));
    }

    fn interrupt(&self, page: PageId, token: Token) {
        with_page(page, move |page| page.interrupt(token));
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        with_page(page, move |page| page.answer_dialog(&answer));
    }

    fn close(&self, page: PageId) {
        let Some(sink) = self.sinks().remove(&page) else { return };
        post(move || {
            if let Some(page) = PAGES.with_borrow_mut(|pages| pages.remove(&page)) {
                page.close();
            }
            sink.tell(PageEvent::Closed { unasked: None });
        });
    }

    async fn shut_down(&self, patience: Duration) {
        self.ended.store(true, Ordering::Relaxed);
        let pages: Vec<_> = self.sinks().keys().copied().collect();
        for page in &pages {
            self.close(*page);
        }
        // Behind the last of them.
        let (done, is_done) = tokio::sync::oneshot::channel();
        post(move || {
            let _ = done.send(());
        });
        if tokio::time::timeout(patience, is_done).await.is_err() {
            tracing::warn!("the app's loop did not close its pages in time");
        }
    }
}
