//! A backend in front of another one: hands everything on, and keeps the rights to
//! answer, so that a test can misuse them.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};

use crate::{Abilities, DialogAnswer, Injection, Order, PageId, PageSettings, Sink, Token, WebViewBackend};

pub(super) struct Tap {
    inner: Arc<dyn WebViewBackend>,
    seen: Mutex<TappedPages>,
}

#[derive(Default)]
struct TappedPages {
    sinks: HashMap<PageId, Sink>,
    /// The token that was handed out last, by page.
    tokens: HashMap<PageId, Token>,
}

impl Tap {
    pub(super) fn new(inner: Arc<dyn WebViewBackend>) -> Self {
        Self { inner, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, TappedPages> {
        self.seen.lock()
    }

    pub(super) fn sink(&self, page: PageId) -> Sink {
        self.seen().sinks.get(&page).cloned().expect("a page that was opened")
    }

    pub(super) fn last_token(&self, page: PageId) -> Token {
        self.seen().tokens.get(&page).copied().expect("a request")
    }
}

#[async_trait]
impl WebViewBackend for Tap {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn user(&self, page: PageId) -> Option<u32> {
        self.inner.user(page)
    }

    fn open(&self, page: PageId, settings: PageSettings, sink: Sink) {
        self.seen().sinks.insert(page, sink.clone());
        self.inner.open(page, settings, sink);
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.seen().tokens.insert(page, injection.token);
        self.inner.inject(page, injection);
    }

    fn perform(&self, page: PageId, order: Order) {
        self.seen().tokens.insert(page, order.token);
        self.inner.perform(page, order);
    }

    fn interrupt(&self, page: PageId, token: Token) {
        self.inner.interrupt(page, token);
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        self.inner.answer_dialog(page, answer);
    }

    fn close(&self, page: PageId) {
        self.inner.close(page);
    }

    async fn shut_down(&self, patience: Duration) {
        self.inner.shut_down(patience).await;
    }
}
