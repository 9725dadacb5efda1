//! The thread of a page: does one thing after the other, as a page does.

use std::sync::{
    Arc,
    mpsc::{Receiver, RecvTimeoutError},
};

use rquickjs::Runtime;
use serde_json::Map;

use super::{
    http,
    shared::{Running, Shared},
    world::World,
};
use crate::{
    ConsoleEntry, ConsoleKind, Failure, FailureKind, Injection, NavigationResult, Operation, Order, OrderOutput,
    PageEvent, Settled,
};

/// A task of a page.
#[derive(Debug)]
pub(super) enum PageTask {
    Inject(Injection),
    Perform(Order),
    /// Something has changed.
    Look,
    Close {
        unasked: Option<String>,
    },
}

struct Page<'p> {
    shared: &'p Arc<Shared>,
    worlds: Option<Worlds>,
    runtime: Runtime,
    url: String,
}

struct Worlds {
    own: World,
    isolated: World,
}

/// Lives as long as the page.
pub(super) fn run(shared: &Arc<Shared>, todo: &Receiver<PageTask>) {
    let Ok(runtime) = Runtime::new() else {
        return shared.sink.tell(PageEvent::Closed { unasked: Some("there is no engine".into()) });
    };
    let stops = Arc::clone(shared);
    runtime.set_interrupt_handler(Some(Box::new(move || stops.stops())));
    let mut page = Page { shared, worlds: None, runtime, url: "about:blank".into() };
    page.begin_document("");
    shared.sink.tell(PageEvent::Opened);
    let unasked = loop {
        let wait = page.worlds.as_ref().map(|worlds| worlds.own.wait().min(worlds.isolated.wait()));
        match todo.recv_timeout(wait.unwrap_or(std::time::Duration::from_secs(3_600))) {
            Ok(PageTask::Inject(injection)) => page.inject(&injection),
            Ok(PageTask::Perform(order)) => page.perform(order),
            Ok(PageTask::Look) | Err(RecvTimeoutError::Timeout) => {}
            Ok(PageTask::Close { unasked }) => break unasked,
            Err(RecvTimeoutError::Disconnected) => break None,
        }
        page.go_on();
    };
    // The page drops what it holds first.
    let sink = shared.sink.clone();
    drop(page);
    sink.tell(PageEvent::Closed { unasked });
}

impl Page<'_> {
    fn begin_document(&mut self, title: &str) {
        let world = |page: &Self| World::new(&page.runtime, page.shared, &page.url, title).ok();
        self.worlds = None;
        self.worlds = world(self).zip(world(self)).map(|(own, isolated)| Worlds { own, isolated });
    }

    fn inject(&self, injection: &Injection) {
        // A page that has crashed answers nothing.
        let Some(worlds) = &self.worlds else { return };
        if self.shared.begin(Running::Request(injection.token)) {
            let world = if injection.isolated { &worlds.isolated } else { &worlds.own };
            world.inject(self.shared, injection);
            self.shared.end();
        }
    }

    fn perform(&mut self, order: Order) {
        if !self.shared.begin(Running::Request(order.token)) {
            return;
        }
        let settled = match order.operation {
            Operation::Navigate { url } => self.navigate(url),
            Operation::Reload => self.navigate(self.url.clone()),
            Operation::Resize { .. } => Ok(OrderOutput::json(&Map::new())),
            other => {
                let message = format!("`{}` needs a browser", other.name());
                Err(Failure::new(FailureKind::Unsupported, message))
            }
        };
        self.shared.end();
        self.shared.sink.settle(order.token, settled.map_or_else(Settled::Failed, Settled::Done));
    }

    fn navigate(&mut self, url: String) -> Result<OrderOutput, Failure> {
        let sink = &self.shared.sink;
        sink.tell(PageEvent::Loading(true));
        let loaded = if url == "about:blank" { Ok(None) } else { http::get(&url).map(Some) };
        let loaded = loaded.map_err(|error| {
            sink.tell(PageEvent::Loading(false));
            Failure::new(FailureKind::Network, format!("{url} cannot be loaded: {error}"))
        })?;
        sink.tell(PageEvent::Navigating);
        self.url = url;
        let title = loaded.as_ref().map(|loaded| loaded.title.clone()).unwrap_or_default();
        self.begin_document(&title);
        self.shared.sink.tell(PageEvent::Located { url: self.url.clone(), title });
        let Some(worlds) = &self.worlds else { return Err(Failure::new(FailureKind::Crashed, "it has no engine")) };
        for script in loaded.iter().flat_map(|loaded| &loaded.scripts) {
            if let Some(text) = worlds.own.run(script) {
                let (kind, url) = (ConsoleKind::Exception, Some(self.url.clone()));
                let entry = ConsoleEntry { kind, text, url, line: None };
                self.shared.sink.tell(PageEvent::Console(entry));
            }
        }
        let title = worlds.own.title();
        self.shared.sink.tell(PageEvent::Located { url: self.url.clone(), title: title.clone() });
        self.shared.sink.tell(PageEvent::Loading(false));
        let (url, status) = (self.url.clone(), loaded.map(|loaded| loaded.status));
        Ok(OrderOutput::json(&NavigationResult { url, title, status, ..NavigationResult::default() }))
    }

    /// Does what became due meanwhile.
    fn go_on(&mut self) {
        self.shared.begin(Running::Later);
        if let Some(worlds) = &self.worlds {
            worlds.own.run_timers();
            worlds.isolated.run_timers();
        }
        while self.runtime.is_job_pending() && !self.shared.stops() {
            // An exception of a job is ignored.
            let _ = self.runtime.execute_pending_job();
        }
        self.shared.end();
        let goes = self.worlds.as_ref().and_then(|worlds| worlds.own.goes());
        if self.shared.has_crashed() {
            self.worlds = None;
            self.shared.sink.tell(PageEvent::Crashed);
        } else if let Some(url) = goes {
            // A navigation of its own has no result to report.
            let _ = self.navigate(url);
        }
    }
}
