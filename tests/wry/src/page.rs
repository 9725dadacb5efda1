//! One WebView, on the thread of the loop: scripts in it, and what it tells.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    rc::{Rc, Weak},
    time::Duration,
};

use gtk::{gio, glib, prelude::*};
use javascriptcore::ValueExt;
use webkit2gtk::{ScriptDialog, WebViewExt};
use wharf_webview::{
    Failure, FailureKind, Injection, Operation, Order, PageEvent, PageSettings, Proxy, Settled, Sink, Token,
};
use wry::{ProxyConfig, ProxyEndpoint, WebViewBuilder, WebViewBuilderExtUnix, WebViewExtUnix};

use crate::{
    dialogs,
    navigation::{self, Navigation},
};

/// The world that page scripts see nothing of.
pub(crate) const WORLD: &str = "wharf";

/// How long a page may not answer, whose script was given up, before it is given up
/// itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long behind the errors of its scripts the end of a process may be told.
const CRASH: Duration = Duration::from_millis(500);

pub(crate) struct Page {
    pub(crate) sink: Sink,
    pub(crate) view: webkit2gtk::WebView,
    pub(crate) opened: Cell<bool>,
    pub(crate) navigation: RefCell<Option<Navigation>>,
    pub(crate) dialog: RefCell<Option<ScriptDialog>>,
    /// Scripts whose end was not told yet.
    running: RefCell<HashSet<Token>>,
    window: gtk::Window,
    // Closed with the page, and last.
    _wry: wry::WebView,
    _proxy: Proxy,
}

impl Page {
    pub(crate) fn open(sink: Sink, settings: &PageSettings, proxy: Proxy) -> wry::Result<Rc<Self>> {
        let window = gtk::Window::new(gtk::WindowType::Toplevel);
        let size = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
        window.set_default_size(size(settings.width), size(settings.height));
        let endpoint =
            ProxyEndpoint { host: proxy.address().ip().to_string(), port: proxy.address().port().to_string() };
        // What it keeps is its own, in memory, and ends with it.
        let mut builder = WebViewBuilder::new().with_incognito(true).with_proxy_config(ProxyConfig::Http(endpoint));
        if let Some(user_agent) = &settings.user_agent {
            builder = builder.with_user_agent(user_agent);
        }
        // The handlers need the page, which is there once the view is.
        let page: Rc<RefCell<Weak<Self>>> = Rc::default();
        let (asking, policy) = (Rc::clone(&page), std::sync::Arc::clone(&settings.policy));
        let builder = builder
            .with_download_started_handler(|_, _| false)
            .with_new_window_req_handler(|_, _| wry::NewWindowResponse::Deny)
            .with_navigation_handler(move |url| {
                let decided = navigation::decide(&policy, &url);
                if let (Err(denied), Some(page)) = (&decided, asking.borrow().upgrade()) {
                    page.denied(&url, &denied.message);
                }
                decided.is_ok()
            })
            .with_url("about:blank");
        let wry = builder.build_gtk(&window)?;
        let opened = Rc::new(Self {
            sink,
            view: wry.webview(),
            opened: Cell::new(false),
            navigation: RefCell::default(),
            dialog: RefCell::default(),
            running: RefCell::default(),
            window: window.clone(),
            _wry: wry,
            _proxy: proxy,
        });
        *page.borrow_mut() = Rc::downgrade(&opened);
        navigation::follow(&opened);
        dialogs::follow(&opened);
        let crashed = Rc::downgrade(&opened);
        opened.view.connect_web_process_terminated(move |_, _| {
            if let Some(page) = crashed.upgrade() {
                page.crashed();
            }
        });
        window.show_all();
        Ok(opened)
    }

    pub(crate) fn inject(self: &Rc<Self>, injection: Injection) {
        if injection.frame.is_some() {
            let failure = Failure::new(FailureKind::Unsupported, "this app runs scripts in the page itself alone");
            self.sink.settle(injection.token, Settled::Failed(failure));
            return;
        }
        self.running.borrow_mut().insert(injection.token);
        self.attempt(Rc::new(injection), 0);
    }

    /// Runs one source, and the next where it cannot be parsed.
    fn attempt(self: &Rc<Self>, injection: Rc<Injection>, number: usize) {
        let Some(source) = injection.sources.get(number) else { return };
        let body = format!("return (\n{source}\n)");
        let world = injection.isolated.then_some(WORLD);
        let page = Rc::downgrade(self);
        let running = Rc::clone(&injection);
        self.view.call_async_javascript_function(&body, None, world, None, gio::Cancellable::NONE, move |result| {
            let Some(page) = page.upgrade() else { return };
            let settled = match result {
                Ok(value) if value.is_string() => Settled::Envelope(value.to_str().into()),
                Ok(_) => Settled::Failed(Failure::new(FailureKind::Exception, "the script came to no envelope")),
                // Whatever the script itself throws is in the envelope.
                Err(error) if error.message().contains("SyntaxError") => {
                    if number + 1 < running.sources.len() {
                        return page.attempt(running, number + 1);
                    }
                    Settled::Syntax { message: error.message().to_owned() }
                }
                Err(error) => return page.failed(running.token, error.message().to_owned()),
            };
            page.running.borrow_mut().remove(&running.token);
            page.sink.settle(running.token, settled);
        });
    }

    /// WebKit ends scripts with an error, too, when their process ends, and says so
    /// only then: a crash tells the core more, and what comes after it is ignored.
    fn failed(&self, token: Token, message: String) {
        self.running.borrow_mut().remove(&token);
        let sink = self.sink.clone();
        glib::timeout_add_local_once(CRASH, move || {
            sink.settle(token, Settled::Failed(Failure::new(FailureKind::Exception, message)));
        });
    }

    pub(crate) fn perform(self: &Rc<Self>, order: &Order) {
        match &order.operation {
            Operation::Navigate { url } => self.navigate(order.token, |view| view.load_uri(url)),
            Operation::Reload => self.navigate(order.token, WebViewExt::reload),
            Operation::Back if self.view.can_go_back() => self.navigate(order.token, WebViewExt::go_back),
            Operation::Forward if self.view.can_go_forward() => self.navigate(order.token, WebViewExt::go_forward),
            Operation::Back | Operation::Forward => {
                let failure = Failure::new(FailureKind::Invalid, "there is no page in that direction");
                self.sink.settle(order.token, Settled::Failed(failure));
            }
            other => {
                let failure = Failure::new(FailureKind::Unsupported, format!("this app cannot do `{}`", other.name()));
                self.sink.settle(order.token, Settled::Failed(failure));
            }
        }
    }

    /// WebKit stops no script. One that only waits does no harm; where the page does
    /// not answer, it is given up.
    pub(crate) fn interrupt(self: &Rc<Self>, token: Token) {
        if !self.running.borrow_mut().remove(&token) {
            return;
        }
        let answered = Rc::new(Cell::new(false));
        let answers = Rc::clone(&answered);
        let none = gio::Cancellable::NONE;
        self.view.call_async_javascript_function("return 1", None, Some(WORLD), None, none, move |_| answers.set(true));
        let page = Rc::downgrade(self);
        glib::timeout_add_local_once(PATIENCE, move || {
            if let Some(page) = page.upgrade()
                && !answered.get()
                && page.dialog.borrow().is_none()
            {
                page.crash();
            }
        });
    }

    pub(crate) fn crash(&self) {
        self.view.terminate_web_process();
    }

    fn crashed(&self) {
        self.dialog.take();
        self.running.borrow_mut().clear();
        if let Some(navigation) = self.navigation.take() {
            let failure = Failure::new(FailureKind::Crashed, "the page crashed");
            self.sink.settle(navigation.token, Settled::Failed(failure));
        }
        self.sink.tell(PageEvent::Crashed);
    }

    pub(crate) fn close(&self) {
        // Whatever it does right now, and whatever dialog it shows.
        self.view.terminate_web_process();
        if let Some(dialog) = self.dialog.take() {
            dialog.close();
        }
        self.window.close();
    }
}
