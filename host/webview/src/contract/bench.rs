//! A host with one plugin, whose pages the backend under test runs.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::error::Elapsed;
use wharf_core::{Context, Grants, PluginName, SessionId, TenantId, WebViewGrant, WebViewLimits, WebViewOwner};

use super::{server::TestServer, tap::Tap};
use crate::{
    DialogPolicy, FailureKind, OpenPageRequest, Outcome, OutcomeState, PageId, PageInfo, RequestId, Script, Settings,
    WebViewBackend, WebViews,
};

/// Longer than anything here takes on a machine that is busy with something else.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// What a backend has beside its abilities.
pub(super) struct Features {
    pub(super) document: bool,
}

/// A host with one plugin, and a server that its pages reach.
pub(super) struct Bench {
    pub(super) backend: Arc<dyn WebViewBackend>,
    pub(super) tap: Arc<Tap>,
    pub(super) pages: WebViews,
    pub(super) grants: Grants,
    pub(super) plugin: PluginName,
    pub(super) server: TestServer,
}

impl Bench {
    pub(super) async fn new(subject: &Arc<dyn WebViewBackend>) -> Self {
        let server = TestServer::start().await;
        let mut grant = WebViewGrant::with_reason("the contract suite");
        grant.origins = vec![server.origin().parse().expect("an origin")];
        grant.private_addresses = true;
        grant.maximum_pages = 100;
        let grants = Grants { webview: Some(grant), ..Grants::default() };
        let tap = Arc::new(Tap::new(Arc::clone(subject)));
        let backend = Arc::clone(&tap) as Arc<dyn WebViewBackend>;
        let limits = WebViewLimits { pages: 100, dialog_milliseconds: 300_000, ..WebViewLimits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let pages = WebViews::new(Arc::clone(&backend), settings);
        Self { backend, tap, pages, grants, plugin: "suite".parse().expect("a name"), server }
    }

    /// The same backend with other limits.
    pub(super) fn with(&self, limits: WebViewLimits) -> Self {
        let settings = Settings { limits, ..Settings::default() };
        Self {
            backend: Arc::clone(&self.backend),
            tap: Arc::clone(&self.tap),
            pages: WebViews::new(Arc::clone(&self.backend), settings),
            grants: self.grants.clone(),
            plugin: self.plugin.clone(),
            server: self.server.clone(),
        }
    }

    pub(super) async fn features(&self) -> Features {
        let page = self.open();
        let document = page.value("typeof document === 'object' && typeof document.createElement === 'function'").await;
        page.close().await;
        Features { document: document == true }
    }

    pub(super) fn pages_can(&self, operation: &str) -> bool {
        self.backend.abilities().operations.contains(operation)
    }

    pub(super) fn open(&self) -> Page<'_> {
        self.open_with(DialogPolicy::Report)
    }

    pub(super) fn open_with(&self, dialogs: DialogPolicy) -> Page<'_> {
        let granted = self.grants.webview(&self.plugin).expect("a grant");
        let session: SessionId = "suite".parse().expect("an id");
        let context = Context::new(TenantId::local(), session);
        let wanted = OpenPageRequest { dialogs, ..OpenPageRequest::default() };
        let info = self.pages.open(&granted, &context, None, wanted).expect("a page");
        Page { bench: self, id: info.id, owner: granted.owner(&context) }
    }
}

/// A page of the suite.
pub(super) struct Page<'b> {
    pub(super) bench: &'b Bench,
    pub(super) id: PageId,
    pub(super) owner: WebViewOwner,
}

impl Page<'_> {
    pub(super) fn pages(&self) -> &WebViews {
        &self.bench.pages
    }

    pub(super) fn execute(&self, source: &str) -> RequestId {
        self.begin(Script { deadline: Some(PATIENCE), ..Script::new(source) })
    }

    pub(super) fn begin(&self, script: Script) -> RequestId {
        self.pages().execute(&self.owner, self.id, script).expect("a request")
    }

    pub(super) async fn wait(&self, request: RequestId) -> Outcome {
        self.pages().wait(&self.owner, request, PATIENCE).await
    }

    pub(super) fn poll(&self, request: RequestId) -> Outcome {
        self.pages().poll(&self.owner, request)
    }

    pub(super) async fn run(&self, source: &str) -> Outcome {
        self.wait(self.execute(source)).await
    }

    /// The value of a script that is expected to succeed.
    pub(super) async fn value(&self, source: &str) -> Value {
        let outcome = self.run(source).await;
        assert_eq!(outcome.state, OutcomeState::Done, "{source}: {:?}", outcome.failure);
        serde_json::from_slice(&outcome.data).expect("JSON")
    }

    /// Why a script fails that is expected to.
    pub(super) async fn failure(&self, source: &str) -> (FailureKind, String) {
        let outcome = self.run(source).await;
        failure(source, &outcome)
    }

    pub(super) async fn navigate(&self, path: &str) -> Outcome {
        let url = format!("{}{path}", self.bench.server.origin());
        self.wait(self.perform("navigate", &serde_json::json!({ "url": url }))).await
    }

    pub(super) fn perform(&self, operation: &str, parameters: &Value) -> RequestId {
        let granted = self.bench.grants.webview(&self.bench.plugin).expect("a grant");
        let parameters = parameters.to_string();
        let performed = self.pages().perform(&granted, &self.owner, self.id, operation, &parameters, Some(PATIENCE));
        performed.expect("a request")
    }

    pub(super) fn info(&self) -> PageInfo {
        self.pages().info(&self.owner, self.id).expect("a page")
    }

    /// Waits until the page is as it should be.
    pub(super) async fn until(&self, what: &str, is: impl Fn(&PageInfo) -> bool) -> PageInfo {
        let look = || Some(self.info()).filter(|info| is(info));
        until(look).await.unwrap_or_else(|_| panic!("the page never {what}: {:?}", self.info()))
    }

    pub(super) async fn close(&self) {
        self.pages().close(&self.owner, self.id, PATIENCE).await.expect("a page");
    }
}

/// Looks again and again until something is found; an error where it never is.
pub(super) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> Result<T, Elapsed> {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await
}

/// Why a request failed.
pub(super) fn failure(source: &str, outcome: &Outcome) -> (FailureKind, String) {
    let said = || String::from_utf8_lossy(&outcome.data).into_owned();
    assert_eq!(outcome.state, OutcomeState::Failed, "{source} came to {}", said());
    let failure = outcome.failure.clone().expect("a failure");
    (failure.kind, failure.message)
}
