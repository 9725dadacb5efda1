//! Where a page goes, and where it is.

use std::rc::Rc;

use gtk::gio;
use javascriptcore::ValueExt;
use webkit2gtk::{LoadEvent, NetworkError, URIResponseExt, WebResourceExt, WebViewExt};
use wharf_core::{Code, Error, OriginPolicy};
use wharf_webview::{Failure, FailureKind, NavigationResult, OrderOutput, PageEvent, Settled, Token};

use crate::page::{Page, WORLD};

/// A navigation that was asked for, until it is done.
pub(crate) struct Navigation {
    pub(crate) token: Token,
    /// An end before that belongs to the navigation before.
    started: bool,
    redirects: u64,
}

/// Whether a page, or a frame of it, may go there.
pub(crate) fn decide(policy: &OriginPolicy, url: &str) -> Result<(), Error> {
    match url.split(':').next() {
        // They have nothing of their own: what is in them asks again.
        Some("about" | "blob" | "data") => Ok(()),
        Some("http" | "https") => policy.url(url).map(drop),
        _ => Err(Error::new(Code::Denied, "pages go to `http:` and `https:` alone")),
    }
}

/// Has a page tell where it is, and what became of where it was sent.
pub(crate) fn follow(page: &Rc<Page>) {
    let following = Rc::downgrade(page);
    page.view.connect_load_changed(move |_, event| {
        if let Some(page) = following.upgrade() {
            page.load_changed(event);
        }
    });
    let following = Rc::downgrade(page);
    page.view.connect_load_failed(move |_, _, url, error| {
        if let Some(page) = following.upgrade()
            // Another one began meanwhile.
            && !error.matches(NetworkError::Cancelled)
        {
            let message = format!("{url} was not loaded: {}", error.message());
            page.end_navigation(Settled::Failed(Failure::new(FailureKind::Network, message)));
            page.sink.tell(PageEvent::Loading(false));
        }
        // No page of WebKit's own in its place.
        true
    });
    let following = Rc::downgrade(page);
    page.view.connect_title_notify(move |_| following.upgrade().iter().for_each(|page| page.located()));
    let following = Rc::downgrade(page);
    page.view.connect_uri_notify(move |_| following.upgrade().iter().for_each(|page| page.located()));
}

impl Page {
    /// Sends the page somewhere.
    pub(crate) fn navigate(&self, token: Token, go: impl FnOnce(&webkit2gtk::WebView)) {
        self.end_navigation(Settled::Failed(Failure::new(FailureKind::Cancelled, "the page was sent elsewhere")));
        *self.navigation.borrow_mut() = Some(Navigation { token, started: false, redirects: 0 });
        go(&self.view);
    }

    /// A page, or a frame of it, wanted to go where it may not.
    pub(crate) fn denied(&self, url: &str, why: &str) {
        let is_meant = self.navigation.borrow().is_some() && self.view.uri().is_some_and(|at| at == url);
        if is_meant {
            self.end_navigation(Settled::Failed(Failure::new(FailureKind::Denied, why)));
        }
    }

    fn load_changed(&self, event: LoadEvent) {
        match event {
            LoadEvent::Started => {
                if let Some(navigation) = self.navigation.borrow_mut().as_mut() {
                    navigation.started = true;
                }
                self.sink.tell(PageEvent::Loading(true));
            }
            LoadEvent::Redirected => {
                if let Some(navigation) = self.navigation.borrow_mut().as_mut() {
                    navigation.redirects += 1;
                }
            }
            LoadEvent::Committed if self.opened.get() => self.sink.tell(PageEvent::Navigating),
            LoadEvent::Finished if !self.opened.replace(true) => self.sink.tell(PageEvent::Opened),
            LoadEvent::Finished => {
                self.sink.tell(PageEvent::Loading(false));
                self.located();
                let ended = self.navigation.borrow_mut().take_if(|navigation| navigation.started);
                if let Some(navigation) = ended {
                    self.ended(navigation);
                }
            }
            _ => {}
        }
    }

    /// Tells the outcome of a navigation. WebKit tells the title when it likes,
    /// so the page is asked.
    fn ended(&self, navigation: Navigation) {
        let mut told = NavigationResult { url: self.place().0, redirects: navigation.redirects, ..Default::default() };
        let response = self.view.main_resource().and_then(|resource| resource.response());
        if let Some(response) = response.filter(|response| response.status_code() != 0) {
            told.status = response.status_code().try_into().ok();
            told.mime_type = response.mime_type().map(Into::into);
        }
        let sink = self.sink.clone();
        let none = gio::Cancellable::NONE;
        self.view.call_async_javascript_function(
            "return document.title",
            None,
            Some(WORLD),
            None,
            none,
            move |title| {
                told.title = title.map(|title| title.to_str().to_string()).unwrap_or_default();
                sink.settle(navigation.token, Settled::Done(OrderOutput::json(&told)));
            },
        );
    }

    pub(crate) fn end_navigation(&self, settled: Settled) {
        if let Some(navigation) = self.navigation.take() {
            self.sink.settle(navigation.token, settled);
        }
    }

    fn located(&self) {
        if self.opened.get() {
            let (url, title) = self.place();
            self.sink.tell(PageEvent::Located { url, title });
        }
    }

    fn place(&self) -> (String, String) {
        let text = |text: Option<gtk::glib::GString>| text.map(String::from).unwrap_or_default();
        (text(self.view.uri()), text(self.view.title()))
    }
}
