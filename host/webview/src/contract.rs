//! The suite that every backend passes: what [`WebViewBackend`] promises, as plugins
//! see it through [`WebViews`]. It knows nothing of how a backend runs a page.

mod crowds;
mod dialogs;
mod endings;
mod navigations;
mod reports;
mod results;
mod scripts;
mod server;
mod tap;
mod worlds;

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use wharf_core::{Context, Grants, PluginName, SessionId, TenantId, WebViewGrant, WebViewLimits, WebViewOwner};

use self::{server::Server, tap::Tap};
use crate::{
    DialogPolicy, FailureKind, Outcome, OutcomeState, PageId, PageInfo, RequestId, Script, Settings, Wanted,
    WebViewBackend, WebViews,
};

/// Longer than anything here takes on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(120);

/// A backend, and the ways to hurt it that only it knows.
pub struct Subject {
    /// The backend. The suite ends it.
    pub backend: Arc<dyn WebViewBackend>,
    /// Crashes a page.
    pub crash: Option<Box<dyn Fn(PageId) + Send + Sync>>,
    /// Ends what runs the pages, as if it were killed.
    pub kill: Option<Box<dyn Fn() + Send + Sync>>,
}

/// What the suite found.
#[derive(Debug, Default)]
pub struct Report {
    /// The promises that are kept.
    pub kept: Vec<&'static str>,
    /// Those that were not tried, and why.
    pub skipped: Vec<(&'static str, &'static str)>,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kept in &self.kept {
            writeln!(formatter, "kept     {kept}")?;
        }
        for (skipped, why) in &self.skipped {
            writeln!(formatter, "skipped  {skipped}: {why}")?;
        }
        Ok(())
    }
}

/// Checks every promise, one after the other. Needs a tokio runtime with at least
/// two threads.
///
/// # Panics
/// Where a promise is broken.
pub async fn check(subject: Subject) -> Report {
    let mut report = Report::default();
    let bench = Bench::new(&subject).await;
    let features = bench.features().await;
    macro_rules! keep {
        ($what:literal, $checked:expr) => {{
            tracing::info!("checks: {}", $what);
            $checked.await;
            report.kept.push($what);
        }};
    }
    macro_rules! keep_if {
        ($able:expr, $why:literal, $what:literal, $checked:expr) => {
            if $able { keep!($what, $checked) } else { report.skipped.push(($what, $why)) }
        };
    }
    let can = |operation| bench.pages_can(operation);
    keep!("a script that comes before its page is open waits for it", scripts::early(&bench));
    keep!("expressions, statements and promises come to what they say", scripts::values(&bench));
    keep!("what a script throws is told, and what cannot be parsed does not run", scripts::failures(&bench));
    keep!("a promise that never settles ends by its deadline and holds up nobody", scripts::never(&bench));
    keep_if!(
        can("stop"),
        "it stops no script",
        "an endless loop ends by deadline and by cancelling, and its page goes on",
        scripts::endless(&bench)
    );
    keep!("what cannot be JSON is refused with what to do", results::unserialisable(&bench));
    keep_if!(features.document, "it has no document", "nodes and windows are refused", results::nodes(&bench));
    keep!("half of a character becomes one that can be sent", results::surrogates(&bench));
    keep!("a cut result pages to exactly the whole", results::paged(&bench));
    keep!("50 MB are cut in the page and paged from there", results::large(&bench));
    keep!("a result that nobody polls is dropped and remembered as expired", results::never_polled(&bench));
    keep_if!(
        can("navigate"),
        "it cannot navigate",
        "navigating fails scripts that are pending, and tells where it went",
        navigations::navigate(&bench)
    );
    keep_if!(
        can("navigate"),
        "it cannot navigate",
        "a script that sends its page elsewhere ends with that",
        navigations::by_script(&bench)
    );
    keep_if!(
        features.document && can("navigate"),
        "it has no document",
        "a page sees no cookie and no storage of another",
        navigations::storage(&bench)
    );
    keep!("a dialog waits for its answer, and is told", dialogs::reported(&bench));
    keep!("dialogs are accepted and dismissed at once where that is asked for", dialogs::at_once(&bench));
    keep!("a dialog that nobody answers is dismissed in the end", dialogs::forgotten(&bench));
    keep_if!(
        bench.backend.abilities().isolated_world,
        "it has no isolated world",
        "the isolated world is out of reach of the page's scripts",
        worlds::isolated(&bench)
    );
    keep!("what is forged, late or told twice changes nothing", reports::check(&bench));
    keep_if!(
        can("stop"),
        "it stops no script",
        "100 scripts in 10 pages: one stuck, one behind a dialog, the others unharmed",
        crowds::check(&bench)
    );
    keep!("closing a page cancels what is pending", endings::close(&bench));
    match &subject.crash {
        Some(crash) if can("navigate") => {
            keep!("a crash fails what is pending, until the page is navigated", endings::crash(&bench, crash));
        }
        _ => report.skipped.push(("a crash fails what is pending", "nothing crashes a page here")),
    }
    match &subject.kill {
        Some(kill) => keep!("what runs pages may die: what is pending fails", endings::kill(&bench, kill)),
        None => report.skipped.push(("what runs pages may die", "nothing kills it here")),
    }
    keep!("after the end nothing is begun", endings::shut_down(&bench));
    report
}

/// What a backend has beside its abilities.
struct Features {
    document: bool,
}

/// A host with one plugin, and a server that its pages reach.
struct Bench {
    backend: Arc<dyn WebViewBackend>,
    tap: Arc<Tap>,
    pages: WebViews,
    grants: Grants,
    plugin: PluginName,
    server: Server,
}

impl Bench {
    async fn new(subject: &Subject) -> Self {
        let server = Server::start().await;
        let mut grant = WebViewGrant::with_reason("the contract suite");
        grant.origins = vec![server.origin().parse().expect("an origin")];
        grant.private_addresses = true;
        grant.maximum_pages = 100;
        let grants = Grants { webview: Some(grant), ..Grants::default() };
        let tap = Arc::new(Tap::new(Arc::clone(&subject.backend)));
        let backend = Arc::clone(&tap) as Arc<dyn WebViewBackend>;
        let limits = WebViewLimits { pages: 100, dialog_milliseconds: 300_000, ..WebViewLimits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let pages = WebViews::new(Arc::clone(&backend), settings);
        Self { backend, tap, pages, grants, plugin: "suite".parse().expect("a name"), server }
    }

    /// The same backend with other limits.
    fn with(&self, limits: WebViewLimits) -> Self {
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

    async fn features(&self) -> Features {
        let page = self.open();
        let document = page.value("typeof document === 'object' && typeof document.createElement === 'function'").await;
        page.close().await;
        Features { document: document == true }
    }

    fn pages_can(&self, operation: &str) -> bool {
        self.backend.abilities().operations.contains(operation)
    }

    fn open(&self) -> Page<'_> {
        self.open_with(DialogPolicy::Report)
    }

    fn open_with(&self, dialogs: DialogPolicy) -> Page<'_> {
        let granted = self.grants.webview(&self.plugin).expect("a grant");
        let session: SessionId = "suite".parse().expect("an id");
        let context = Context::new(TenantId::local(), session);
        let wanted = Wanted { dialogs, ..Wanted::default() };
        let info = self.pages.open(&granted, &context, None, wanted).expect("a page");
        Page { bench: self, id: info.id, owner: granted.owner(&context) }
    }
}

/// A page of the suite.
struct Page<'b> {
    bench: &'b Bench,
    id: PageId,
    owner: WebViewOwner,
}

impl Page<'_> {
    fn pages(&self) -> &WebViews {
        &self.bench.pages
    }

    fn execute(&self, source: &str) -> RequestId {
        self.begin(Script { deadline: Some(PATIENCE), ..Script::new(source) })
    }

    fn begin(&self, script: Script) -> RequestId {
        self.pages().execute(&self.owner, self.id, script).expect("a request")
    }

    async fn wait(&self, request: RequestId) -> Outcome {
        self.pages().wait(&self.owner, request, PATIENCE).await
    }

    fn poll(&self, request: RequestId) -> Outcome {
        self.pages().poll(&self.owner, request)
    }

    async fn run(&self, source: &str) -> Outcome {
        self.wait(self.execute(source)).await
    }

    /// What a script comes to that is expected to succeed.
    async fn value(&self, source: &str) -> Value {
        let outcome = self.run(source).await;
        assert_eq!(outcome.state, OutcomeState::Done, "{source}: {:?}", outcome.failure);
        serde_json::from_slice(&outcome.data).expect("JSON")
    }

    /// Why a script fails that is expected to.
    async fn failure(&self, source: &str) -> (FailureKind, String) {
        let outcome = self.run(source).await;
        failure(source, &outcome)
    }

    async fn navigate(&self, path: &str) -> Outcome {
        let url = format!("{}{path}", self.bench.server.origin());
        self.wait(self.perform("navigate", &serde_json::json!({ "url": url }))).await
    }

    fn perform(&self, operation: &str, parameters: &Value) -> RequestId {
        let granted = self.bench.grants.webview(&self.bench.plugin).expect("a grant");
        let parameters = parameters.to_string();
        let performed = self.pages().perform(&granted, &self.owner, self.id, operation, &parameters, Some(PATIENCE));
        performed.expect("a request")
    }

    fn info(&self) -> PageInfo {
        self.pages().info(&self.owner, self.id).expect("a page")
    }

    /// Waits until the page is as it should be.
    async fn until(&self, what: &str, is: impl Fn(&PageInfo) -> bool) -> PageInfo {
        let waits = async {
            loop {
                let info = self.info();
                if is(&info) {
                    return info;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waits).await;
        waited.unwrap_or_else(|_| panic!("the page never {what}: {:?}", self.info()))
    }

    async fn close(&self) {
        self.pages().close(&self.owner, self.id, PATIENCE).await.expect("a page");
    }
}

/// Why a request failed.
fn failure(source: &str, outcome: &Outcome) -> (FailureKind, String) {
    let said = || String::from_utf8_lossy(&outcome.data).into_owned();
    assert_eq!(outcome.state, OutcomeState::Failed, "{source} came to {}", said());
    let failure = outcome.failure.clone().expect("a failure");
    (failure.kind, failure.message)
}
