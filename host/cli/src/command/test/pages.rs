//! Scripted web pages: a backend without a browser, whose pages are what the cases say.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use wharf::webview::{
    Abilities, DialogAnswer, Failure, FailureKind, Injection, NavigationResult, Operation, Order, OrderOutput,
    PageEvent, PageId, PageSettings, ScriptAnswer, Settled, Sink, Token, WebViewBackend, WrappedScript,
};

use super::{
    script::{PageScript, ScriptResult},
    stage::Stage,
};

/// Where a page is that has been nowhere.
const BLANK: &str = "about:blank";

/// What a person does to a page changes nothing that could be seen in a scripted one.
const OPERATIONS: [&str; 8] = ["key", "mouse", "navigate", "network-idle", "reload", "resize", "stop", "text"];

/// The pages that are open.
#[derive(Debug)]
pub(super) struct ScriptedPages {
    stage: Arc<Stage>,
    // A blocking lock: held for a look-up, and never while the core is told something.
    open: Mutex<HashMap<PageId, OpenPage>>,
}

#[derive(Debug, Clone)]
struct OpenPage {
    sink: Sink,
    url: String,
}

impl ScriptedPages {
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        Self { stage, open: Mutex::default() }
    }

    fn page(&self, page: PageId) -> Option<OpenPage> {
        self.open.lock().get(&page).cloned()
    }

    /// Goes to an address, and tells what is there.
    fn navigate(&self, page: PageId, sink: &Sink, url: &str) -> Result<OrderOutput, Failure> {
        let (title, status) = if url == BLANK {
            (String::new(), None)
        } else {
            let Some(PageScript { title, status, .. }) = self.stage.page(url) else {
                let message = format!("no [[page]] of the cases has the address {url}, so nothing is there");
                return Err(Failure::new(FailureKind::Network, message));
            };
            (title.clone(), Some(*status))
        };
        sink.tell(PageEvent::Navigating);
        if let Some(open) = self.open.lock().get_mut(&page) {
            url.clone_into(&mut open.url);
        }
        sink.tell(PageEvent::Located { url: url.to_owned(), title: title.clone() });
        sink.tell(PageEvent::Loading(false));
        let mime_type = status.map(|_| "text/html".to_owned());
        let url = url.to_owned();
        Ok(OrderOutput::json(&NavigationResult { url, title, mime_type, redirects: 0, status, download: false }))
    }

    /// What a script comes to in a page.
    fn run(&self, url: &str, injection: &Injection) -> Settled {
        // Results are never cut, so nobody reads on in one.
        let Some(WrappedScript { script, most }) = WrappedScript::find(&injection.sources) else {
            return Settled::Failed(Failure::new(FailureKind::Unsupported, "a scripted page keeps no results"));
        };
        let page = (url != BLANK).then(|| self.stage.page(url)).flatten();
        let own = page.and_then(|page| result_of(&page.scripts, script));
        let title = Value::from(page.map(|page| page.title.as_str()).unwrap_or_default());
        let location = Value::from(url);
        let answer = match (own, script.trim().trim_end_matches(';')) {
            (Some(ScriptResult { throws: Some(message), .. }), _) => ScriptAnswer::Throws(message),
            (Some(ScriptResult { value: Some(value), .. }), _) => ScriptAnswer::Value(value),
            (Some(_), _) => ScriptAnswer::Undefined,
            (None, "document.title") => ScriptAnswer::Value(&title),
            (None, "location.href") => ScriptAnswer::Value(&location),
            (None, _) => {
                self.stage.without_result(url, script);
                ScriptAnswer::Throws("no [[page]] of the cases says what this script comes to")
            }
        };
        let envelope = answer.envelope();
        if matches!(answer, ScriptAnswer::Value(_)) && envelope.len() > most {
            let message = format!("the value that the cases give has more than {most} bytes");
            return Settled::Failed(Failure::new(FailureKind::Unserialisable, message));
        }
        Settled::Envelope(envelope)
    }
}

/// The result that is about this script: by its text, else by a text in it.
fn result_of<'s>(scripts: &'s [ScriptResult], script: &str) -> Option<&'s ScriptResult> {
    let same = scripts.iter().find(|result| result.script.trim() == script.trim());
    same.or_else(|| scripts.iter().find(|result| script.contains(&result.script)))
}

#[async_trait]
impl WebViewBackend for ScriptedPages {
    fn name(&self) -> &'static str {
        "script"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            operations: BTreeSet::from(OPERATIONS),
            isolated_world: true,
            enforces_origins: true,
            sandbox: true,
        }
    }

    fn open(&self, page: PageId, _settings: PageSettings, sink: Sink) {
        self.open.lock().insert(page, OpenPage { sink: sink.clone(), url: BLANK.to_owned() });
        sink.tell(PageEvent::Opened);
    }

    fn inject(&self, page: PageId, injection: Injection) {
        let Some(OpenPage { sink, url }) = self.page(page) else { return };
        sink.settle(injection.token, self.run(&url, &injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        let Some(OpenPage { sink, url }) = self.page(page) else { return };
        let performed = match &order.operation {
            Operation::Navigate { url } => self.navigate(page, &sink, url),
            Operation::Reload => self.navigate(page, &sink, &url),
            _ => Ok(OrderOutput::json(&Map::new())),
        };
        sink.settle(order.token, performed.map_or_else(Settled::Failed, Settled::Done));
    }

    // Nothing runs, and no dialog opens.
    fn interrupt(&self, _page: PageId, _token: Token) {}

    fn answer_dialog(&self, _page: PageId, _answer: DialogAnswer) {}

    fn close(&self, page: PageId) {
        let closed = self.open.lock().remove(&page);
        if let Some(OpenPage { sink, .. }) = closed {
            sink.tell(PageEvent::Closed { unasked: None });
        }
    }

    async fn shut_down(&self, _patience: Duration) {
        let open: Vec<_> = self.open.lock().drain().map(|(_, page)| page).collect();
        for OpenPage { sink, .. } in open {
            sink.tell(PageEvent::Closed { unasked: None });
        }
    }
}
