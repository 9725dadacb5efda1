//! An app that brings WebViews of its own instead of the host's browser.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use wharf::{
    Host, MemoryStore, async_trait,
    webview::{
        Abilities, DialogAnswer, Failure, FailureKind, Injection, Order, PageEvent, PageId, PageSettings, Settled,
        Sink, Token, WebViewBackend,
    },
};
use wharf_tests::{Data, Fixture, Setup};

use super::{here, ok, page, run};

/// Its pages say of each script how many sources it came in.
#[derive(Default)]
struct Own {
    pages: Mutex<HashMap<PageId, Sink>>,
}

impl Own {
    fn sink(&self, page: PageId) -> Option<Sink> {
        self.pages.lock().expect("a lock").get(&page).cloned()
    }
}

#[async_trait]
impl WebViewBackend for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn abilities(&self) -> Abilities {
        Abilities { operations: BTreeSet::new(), isolated_world: false, enforces_origins: false, sandbox: false }
    }

    fn open(&self, page: PageId, _: PageSettings, sink: Sink) {
        self.pages.lock().expect("a lock").insert(page, sink.clone());
        sink.tell(PageEvent::Opened);
        sink.tell(PageEvent::Located { url: "app://start".to_owned(), title: "The app's own".to_owned() });
    }

    fn inject(&self, page: PageId, injection: Injection) {
        let message = format!("{} sources", injection.sources.len().min(1));
        let failure = Failure::new(FailureKind::Exception, message);
        if let Some(sink) = self.sink(page) {
            // From another thread, as a WebView would.
            std::thread::spawn(move || sink.settle(injection.token, Settled::Failed(failure)));
        }
    }

    fn perform(&self, _: PageId, _: Order) {}

    fn interrupt(&self, _: PageId, _: Token) {}

    fn answer_dialog(&self, _: PageId, _: DialogAnswer) {}

    fn close(&self, page: PageId) {
        if let Some(sink) = self.pages.lock().expect("a lock").remove(&page) {
            sink.tell(PageEvent::Closed { unasked: None });
        }
    }

    async fn shut_down(&self, _: Duration) {
        self.pages.lock().expect("a lock").clear();
    }
}

#[tokio::test]
async fn plugins_reach_the_webviews_of_the_embedding_app() {
    let own = Arc::new(Own::default());
    let setup = Setup::new().webviews("origins = [\"*\"]");
    let builder = Host::builder(setup.configuration()).state(Arc::new(MemoryStore::default()));
    let host = builder.webview_backend(Arc::clone(&own) as Arc<dyn WebViewBackend>).open().await.expect("it opens");
    let fixture = Fixture { host: host.into(), data: Data::new() };
    let status = ok(&fixture, &here(), "status", "", json!({})).await;
    let status: Value = serde_json::from_str(status.as_str().expect("a text")).expect("JSON");
    assert_eq!((&status["backend"], &status["operations"]), (&json!("own"), &json!([])), "{status}");
    assert_eq!((&status["sandbox"], &status["enforces_origins"]), (&json!(false), &json!(false)), "{status}");
    let id = page(&fixture, &here()).await;
    let outcome = run(&fixture, &here(), &id, "1").await;
    assert_eq!((&outcome["kind"], &outcome["message"]), (&json!("exception"), &json!("1 sources")));
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["title"], "The app's own");
    // What it cannot do is said, and not tried.
    let outcome = super::perform(&fixture, &here(), &id, "screenshot", json!({})).await;
    assert_eq!(outcome["kind"], "unsupported", "{outcome}");
    ok(&fixture, &here(), "close", &id, json!({})).await;
    assert!(own.pages.lock().expect("a lock").is_empty());
    page(&fixture, &here()).await;
    fixture.host.shut_down(Duration::ZERO).await;
    assert!(own.pages.lock().expect("a lock").is_empty(), "a host that ends closes what it opened");
}
