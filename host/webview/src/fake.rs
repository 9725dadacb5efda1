//! A backend of JavaScript without a browser: an engine for each page on a thread of
//! its own. It runs real scripts, promises, timers and dialogs, loads pages over HTTP
//! and runs the scripts in them; it has no document, draws nothing and enforces no
//! origins. A part for tests.

mod http;
mod page;
mod shared;
mod world;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};

use self::{
    page::PageTask,
    shared::{Running, Shared},
};
use crate::{
    Abilities, DialogAnswer, Failure, FailureKind, Injection, Operation, Order, OrderOutput, PageId, PageSettings,
    Settled, Sink, Token, WebViewBackend,
};

/// The backend.
#[derive(Debug, Default)]
pub struct Fake {
    pages: Mutex<HashMap<PageId, PageThread>>,
}

#[derive(Debug)]
struct PageThread {
    shared: Arc<Shared>,
    sink: Sink,
    work: mpsc::Sender<PageTask>,
    ends: JoinHandle<()>,
}

impl Fake {
    /// A backend without pages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Crashes a page, whatever it does.
    pub fn crash(&self, page: PageId) {
        if let Some(thread) = self.pages().get(&page) {
            thread.shared.crash();
            let _ = thread.work.send(PageTask::Look);
        }
    }

    /// Ends all pages, as a killed browser does.
    pub fn kill(&self) {
        let pages: Vec<_> = self.pages().drain().collect();
        for (_, thread) in pages {
            thread.shared.close();
            let _ = thread.work.send(PageTask::Close { unasked: Some("the browser was killed".into()) });
        }
    }

    /// How many pages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages().is_empty()
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<PageId, PageThread>> {
        self.pages.lock()
    }

    fn send(&self, page: PageId, token: Token, work: PageTask) {
        let (sent, sink) = match self.pages().get(&page) {
            Some(thread) => (thread.work.send(work).is_ok(), thread.sink.clone()),
            None => return,
        };
        if !sent {
            sink.settle(token, Settled::Failed(Failure::new(FailureKind::BackendGone, "the page has ended")));
        }
    }
}

#[async_trait]
impl WebViewBackend for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            operations: BTreeSet::from(["navigate", "reload", "resize", "stop"]),
            isolated_world: true,
            enforces_origins: false,
            sandbox: false,
        }
    }

    fn open(&self, page: PageId, _: PageSettings, sink: Sink) {
        let shared = Arc::new(Shared::new(sink.clone()));
        let (work, todo) = mpsc::channel();
        let of_page = Arc::clone(&shared);
        let ends = thread::spawn(move || page::run(&of_page, &todo));
        self.pages().insert(page, PageThread { shared, sink, work, ends });
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.send(page, injection.token, PageTask::Inject(injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        if order.operation == Operation::Stop {
            // Waits for nothing.
            let Some((shared, sink)) = self.shared(page) else { return };
            shared.interrupt(Running::any);
            sink.settle(order.token, Settled::Done(OrderOutput::json(&serde_json::Map::new())));
            return;
        }
        self.send(page, order.token, PageTask::Perform(order));
    }

    fn interrupt(&self, page: PageId, token: Token) {
        if let Some((shared, _)) = self.shared(page) {
            shared.give_up(token);
        }
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        if let Some((shared, _)) = self.shared(page) {
            shared.answer(answer);
        }
    }

    fn close(&self, page: PageId) {
        let thread = self.pages().remove(&page);
        if let Some(thread) = thread {
            thread.shared.close();
            let _ = thread.work.send(PageTask::Close { unasked: None });
        }
    }

    async fn shut_down(&self, patience: Duration) {
        let threads: Vec<_> = self.pages().drain().map(|(_, thread)| thread).collect();
        for thread in &threads {
            thread.shared.close();
            let _ = thread.work.send(PageTask::Close { unasked: None });
        }
        let until = Instant::now() + patience;
        let joined = tokio::task::spawn_blocking(move || {
            for thread in threads {
                while !thread.ends.is_finished() && Instant::now() < until {
                    thread::park_timeout(Duration::from_millis(5));
                }
            }
        });
        let _ = joined.await;
    }
}

impl Fake {
    fn shared(&self, page: PageId) -> Option<(Arc<Shared>, Sink)> {
        self.pages().get(&page).map(|thread| (Arc::clone(&thread.shared), thread.sink.clone()))
    }
}

#[cfg(test)]
mod tests;
