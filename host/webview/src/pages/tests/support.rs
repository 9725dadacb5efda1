//! A backend that does nothing by itself: a test settles what it was asked.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;
use wharf_core::{Context, Grants, PluginName, TenantId, WebViewGrant, WebViewLimits, WebViewOwner};

use crate::{
    Abilities, DialogAnswer, DialogKind, DialogOpened, Failure, Injection, OpenPageRequest, Order, OrderOutput,
    Outcome, PageEvent, PageId, PageSettings, PageWorkspace, RequestId, Script, Settings, Settled, Sink, Token,
    WebViewBackend, WebViewError, WebViews,
};

/// What a backend was asked.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Open,
    Inject(Injection),
    Perform(Order),
    Interrupt(Token),
    Answer(DialogAnswer),
    Draw,
    Close,
}

type Then = Box<dyn Fn(PageId, &Call) + Send + Sync>;

#[derive(Default)]
pub(super) struct Quiet {
    calls: Mutex<HashMap<PageId, Vec<Call>>>,
    sinks: Mutex<HashMap<PageId, Sink>>,
    /// Done whenever something is asked.
    pub(super) then: Mutex<Option<Arc<Then>>>,
    /// Pages are not open before a test says so.
    pub(super) slow: AtomicBool,
    /// Pictures are drawn one for each of these that a test hands in.
    pub(super) pictures: Pictures,
}

pub(super) struct Pictures(pub(super) Semaphore);

impl Default for Pictures {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Quiet {
    fn note(&self, page: PageId, call: Call) {
        lock(&self.calls).entry(page).or_default().push(call.clone());
        let then = lock(&self.then).clone();
        if let Some(then) = then {
            then(page, &call);
        }
    }

    pub(super) fn sink(&self, page: PageId) -> Sink {
        lock(&self.sinks)[&page].clone()
    }

    /// What it was asked of a page since the last time.
    pub(super) fn calls(&self, page: PageId) -> Vec<Call> {
        std::mem::take(lock(&self.calls).entry(page).or_default())
    }

    /// The same in words.
    pub(super) fn words(&self, page: PageId) -> Vec<&'static str> {
        let word = |call: &Call| match call {
            Call::Open => "open",
            Call::Inject(_) => "inject",
            Call::Perform(order) => order.operation.name(),
            Call::Interrupt(_) => "interrupt",
            Call::Answer(answer) => {
                if answer.accept {
                    "accept"
                } else {
                    "dismiss"
                }
            }
            Call::Draw => "draw",
            Call::Close => "close",
        };
        self.calls(page).iter().map(word).collect()
    }

    /// The token of the last request.
    pub(super) fn token(&self, page: PageId) -> Token {
        let token = |call: &Call| match call {
            Call::Inject(injection) => Some(injection.token),
            Call::Perform(order) => Some(order.token),
            _ => None,
        };
        lock(&self.calls)[&page].iter().rev().find_map(token).expect("a request")
    }
}

#[async_trait]
impl WebViewBackend for Quiet {
    fn name(&self) -> &'static str {
        "quiet"
    }

    fn abilities(&self) -> Abilities {
        let operations = ["navigate", "reload", "screenshot", "resize", "set-files", "stop", "network-idle"];
        Abilities {
            operations: BTreeSet::from(operations),
            isolated_world: false,
            enforces_origins: true,
            sandbox: true,
        }
    }

    fn open(&self, page: PageId, _: PageSettings, sink: Sink) {
        lock(&self.sinks).insert(page, sink.clone());
        self.note(page, Call::Open);
        if !self.slow.load(Relaxed) {
            sink.tell(PageEvent::Opened);
        }
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.note(page, Call::Inject(injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        self.note(page, Call::Perform(order));
    }

    fn interrupt(&self, page: PageId, token: Token) {
        self.note(page, Call::Interrupt(token));
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        self.note(page, Call::Answer(answer));
    }

    async fn picture(&self, page: PageId) -> Result<Vec<u8>, Failure> {
        self.note(page, Call::Draw);
        self.pictures.0.acquire().await.expect("it stays open").forget();
        Ok(b"a picture".to_vec())
    }

    fn close(&self, page: PageId) {
        self.note(page, Call::Close);
        if !self.slow.load(Relaxed) {
            self.sink(page).tell(PageEvent::Closed { unasked: None });
        }
    }

    async fn shut_down(&self, _: Duration) {}
}

/// A host whose backend does what the test says.
pub(super) struct Bench {
    pub(super) quiet: Arc<Quiet>,
    pub(super) pages: WebViews,
    pub(super) grants: Grants,
    pub(super) plugin: PluginName,
    pub(super) context: Context,
    pub(super) place: Option<PageWorkspace>,
}

impl Bench {
    pub(super) fn new(limits: WebViewLimits) -> Self {
        Self::with(Settings { limits, ..Settings::default() })
    }

    pub(super) fn with(settings: Settings) -> Self {
        let quiet = Arc::new(Quiet::default());
        let pages = WebViews::new(Arc::clone(&quiet) as Arc<_>, settings);
        let mut grant = WebViewGrant::with_reason("a test");
        grant.origins = vec!["https://example.com".parse().expect("an origin")];
        grant.maximum_pages = 50;
        (grant.downloads, grant.uploads) = (true, true);
        let grants = Grants { webview: Some(grant), ..Grants::default() };
        let context = Context::new(TenantId::local(), "one".parse().expect("an id"));
        Self { quiet, pages, grants, plugin: "browser".parse().expect("a name"), context, place: None }
    }

    /// The same pages, seen by another owner.
    pub(super) fn seen_by(&self, context: Context, plugin: &str) -> Self {
        Self {
            quiet: Arc::clone(&self.quiet),
            pages: self.pages.clone(),
            grants: self.grants.clone(),
            plugin: plugin.parse().expect("a name"),
            context,
            place: None,
        }
    }

    /// The same, where the session has a workspace.
    pub(super) fn placed(mut self, files: &Path) -> Self {
        self.place = Some(PageWorkspace { files: files.to_path_buf(), user: None, stay: None });
        self
    }

    pub(super) fn owner(&self) -> WebViewOwner {
        self.grants.webview(&self.plugin).expect("a grant").owner(&self.context)
    }

    pub(super) fn try_open(&self, wanted: OpenPageRequest) -> Result<PageId, WebViewError> {
        let granted = self.grants.webview(&self.plugin).expect("a grant");
        self.pages.open(&granted, &self.context, self.place.clone(), wanted).map(|info| info.id)
    }

    pub(super) fn open(&self) -> PageId {
        self.try_open(OpenPageRequest::default()).expect("a page")
    }

    pub(super) fn try_execute(&self, page: PageId, script: Script) -> Result<RequestId, WebViewError> {
        self.pages.execute(&self.owner(), page, script)
    }

    pub(super) fn execute(&self, page: PageId) -> RequestId {
        self.try_execute(page, Script::new("1")).expect("a request")
    }

    pub(super) fn try_perform(&self, page: PageId, name: &str, parameters: &str) -> Result<RequestId, WebViewError> {
        let granted = self.grants.webview(&self.plugin).expect("a grant");
        self.pages.perform(&granted, &self.owner(), page, name, parameters, None)
    }

    pub(super) fn perform(&self, page: PageId, name: &str, parameters: &str) -> RequestId {
        self.try_perform(page, name, parameters).expect("a request")
    }

    pub(super) fn poll(&self, request: RequestId) -> Outcome {
        self.pages.poll(&self.owner(), request)
    }

    /// Where a request stands, in a word: why it failed, where it did.
    pub(super) fn word(&self, request: RequestId) -> &'static str {
        let outcome = self.poll(request);
        outcome.failure.map_or(outcome.state.as_str(), |failure| failure.kind.as_str())
    }

    /// Settles the last script of a page with a text of so many bytes.
    pub(super) fn settle(&self, page: PageId, bytes: usize) {
        let envelope = format!("{{\"type\":\"string\"}}\n\"{}\"", "x".repeat(bytes - 2));
        self.quiet.sink(page).settle(self.quiet.token(page), Settled::Envelope(envelope));
    }

    pub(super) fn finish(&self, page: PageId, mime_type: &'static str, bytes: usize) {
        let finished = OrderOutput { mime_type, data: vec![b' '; bytes] };
        self.quiet.sink(page).settle(self.quiet.token(page), Settled::Done(finished));
    }

    pub(super) fn fail(&self, page: PageId, failure: Failure) {
        self.quiet.sink(page).settle(self.quiet.token(page), Settled::Failed(failure));
    }

    pub(super) fn tell(&self, page: PageId, event: PageEvent) {
        self.quiet.sink(page).tell(event);
    }

    pub(super) fn show_dialog(&self, page: PageId, kind: DialogKind) {
        let opened = DialogOpened { kind, message: "sure?".into(), default_text: "so".into() };
        self.tell(page, PageEvent::DialogOpened(opened));
    }
}
