//! A browser, a site on the loopback, and a receiver of what pages report.

use std::{
    collections::HashMap,
    fmt::{self, Debug, Formatter},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use wharf_chromium::{Chromium, ChromiumError, ChromiumSettings};
use wharf_core::{TenantId, WebViewLimits, origin::OriginPolicy};
use wharf_spawn::Spawner;
use wharf_test_support::{
    AMPLE,
    processes::{self, lives},
};
use wharf_webview::{
    FailureKind, Injection, Operation, Order, OrderOutput, PageEvent, PageId, PageSettings, PageShares, Receipt,
    ReportReceiver, Settled, Sink, Token, WebViewBackend as _,
};

/// What a path of the site answers: a status, headers and a body.
pub(crate) type Answer = (u16, &'static str, Vec<u8>);

/// A site of which each path answers what was said.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) port: u16,
    paths: Arc<Mutex<HashMap<String, Answer>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let site = Self { port, paths: Arc::default(), asked: Arc::default() };
        let ours = site.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let site = ours.clone();
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        let mut bytes = [0; 4096];
                        match stream.read(&mut bytes).await {
                            Ok(count @ 1..) => head.extend_from_slice(&bytes[..count]),
                            _ => return,
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    site.asked.lock().expect("a lock").push(path.clone());
                    if path.starts_with("/never") {
                        // Held open, and never answered.
                        let _ = stream.read(&mut [0; 1]).await;
                        return;
                    }
                    let plain = path.split('?').next().unwrap_or_default();
                    let known = site.paths.lock().expect("a lock").get(plain).cloned();
                    let (status, headers, body) =
                        known.unwrap_or((404, "content-type: text/html", b"no such page".to_vec()));
                    let head = format!(
                        "HTTP/1.1 {status} X\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all(head.as_bytes()).await;
                    let _ = stream.write_all(&body).await;
                });
            }
        });
        site
    }

    /// Has a path answer this page.
    pub(crate) fn page(&self, path: &str, html: &str) -> String {
        self.answer(path, 200, "content-type: text/html; charset=utf-8", html.as_bytes())
    }

    /// Has a path answer whatever is said.
    pub(crate) fn answer(&self, path: &str, status: u16, headers: &'static str, body: &[u8]) -> String {
        self.paths.lock().expect("a lock").insert(path.to_owned(), (status, headers, body.to_vec()));
        self.url(path)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// How often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.asked.lock().expect("a lock").iter().filter(|asked| asked.as_str() == path).count()
    }
}

/// Hears what pages say, and keeps all of it.
#[derive(Default)]
struct Heard {
    settled: Mutex<HashMap<Token, Settled>>,
    events: Mutex<HashMap<PageId, Vec<PageEvent>>>,
}

impl ReportReceiver for Heard {
    fn settle(&self, _page: PageId, token: Token, settled: Settled) -> Receipt {
        let mut kept = self.settled.lock().expect("a lock");
        let accepted = if kept.contains_key(&token) { Receipt::Ignored } else { Receipt::Accepted };
        kept.entry(token).or_insert(settled);
        drop(kept);
        accepted
    }

    fn tell(&self, page: PageId, event: PageEvent) {
        self.events.lock().expect("a lock").entry(page).or_default().push(event);
    }
}

/// A browser and a site.
pub(crate) struct Stage {
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) site: Site,
    pub(crate) limits: WebViewLimits,
    heard: Arc<Heard>,
    pub(crate) temporary: Arc<TempDir>,
    /// Where files wait that pages are given.
    pub(crate) staging: TempDir,
}

impl Stage {
    /// One with all defaults, or nothing where there is no Chromium.
    pub(crate) async fn new() -> Option<Self> {
        Self::with(WebViewLimits::default()).await
    }

    pub(crate) async fn with(limits: WebViewLimits) -> Option<Self> {
        Self::set_up(limits, |_| {}).await
    }

    /// One of other settings.
    pub(crate) async fn set_up(limits: WebViewLimits, change: impl FnOnce(&mut ChromiumSettings)) -> Option<Self> {
        let (temporary, staging) = (place(), place());
        let mut settings = settings(&temporary, &limits);
        settings.staging = Some(staging.path().to_owned());
        change(&mut settings);
        let chromium = match Chromium::new(Spawner::new(), settings) {
            Ok(chromium) => Arc::new(chromium),
            Err(ChromiumError::NotFound) => {
                note("NOT TESTED: there is no Chromium here");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        Some(Self {
            chromium,
            site: Site::start().await,
            limits,
            heard: Arc::default(),
            temporary: Arc::new(temporary),
            staging,
        })
    }

    /// A page that may reach the site.
    pub(crate) async fn page(&self) -> Page<'_> {
        self.page_with(|_| {}).await
    }

    pub(crate) async fn page_with(&self, change: impl FnOnce(&mut PageSettings)) -> Page<'_> {
        let page = self.begin(change);
        page.until("the page is open", |events| events.contains(&PageEvent::Opened).then_some(())).await;
        page
    }

    /// A page of another tenant.
    pub(crate) async fn page_of(&self, tenant: &str) -> Page<'_> {
        self.page_with(|settings| settings.tenant = tenant.parse().expect("a tenant")).await
    }

    /// A page that may not be open yet.
    pub(crate) fn begin(&self, change: impl FnOnce(&mut PageSettings)) -> Page<'_> {
        let id = PageId::random().expect("an id");
        let origins = vec![format!("http://localhost:{}", self.site.port).parse().expect("an origin")];
        let mut settings = PageSettings {
            tenant: TenantId::local(),
            width: 1280,
            height: 800,
            policy: Arc::new(OriginPolicy::new("browser".parse().expect("a name"), origins, true)),
            downloads: false,
            locale: None,
            time_zone: None,
            user_agent: None,
            limits: Arc::new(self.limits.clone()),
            shares: PageShares::alone(&self.limits),
        };
        change(&mut settings);
        self.chromium.open(id, settings, Sink::new(id, Arc::clone(&self.heard) as Arc<dyn ReportReceiver>));
        Page { stage: self, id }
    }

    pub(crate) async fn end(self) {
        self.chromium.shut_down(AMPLE).await;
        let left = fs::read_dir(self.temporary.path()).expect("a directory").count();
        assert_eq!(left, 0, "directories are left");
    }
}

/// A directory that the browser's user can reach.
pub(crate) fn place() -> TempDir {
    let temporary = tempfile::tempdir().expect("a directory");
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o711)).expect("open");
    temporary
}

pub(crate) fn settings(temporary: &TempDir, limits: &WebViewLimits) -> ChromiumSettings {
    ChromiumSettings {
        program: None,
        user: None,
        no_sandbox: false,
        shared: true,
        readable: Vec::new(),
        staging: None,
        temporary: temporary.path().to_owned(),
        limits: Arc::new(limits.clone()),
    }
}

/// A page of a stage.
#[derive(Clone, Copy)]
pub(crate) struct Page<'s> {
    pub(crate) stage: &'s Stage,
    pub(crate) id: PageId,
}

impl Page<'_> {
    /// Sends a script.
    pub(crate) fn inject(&self, script: &str) -> Token {
        self.inject_in(script, false, None)
    }

    pub(crate) fn inject_in(&self, script: &str, isolated: bool, frame: Option<String>) -> Token {
        let wrap =
            |body: &str| format!("(async () => JSON.stringify({{ value: await (async () => {{ {body} }})() }}))()");
        let sources = vec![wrap(&format!("return (\n{script}\n)")), wrap(script)];
        self.inject_sources(sources, isolated, frame)
    }

    pub(crate) fn inject_sources(&self, sources: Vec<String>, isolated: bool, frame: Option<String>) -> Token {
        let token = Token::random().expect("a token");
        self.stage.chromium.inject(self.id, Injection { token, sources, isolated, frame });
        token
    }

    /// The outcome of a request.
    pub(crate) async fn outcome(&self, token: Token) -> Settled {
        let settled = || self.stage.heard.settled.lock().expect("a lock").get(&token).cloned();
        self.wait("a request is settled", settled).await
    }

    pub(crate) fn settled(&self, token: Token) -> bool {
        self.stage.heard.settled.lock().expect("a lock").contains_key(&token)
    }

    /// Runs a script: its value.
    pub(crate) async fn run(&self, script: &str) -> Value {
        match self.outcome(self.inject(script)).await {
            Settled::Envelope(envelope) => {
                let envelope: Value = serde_json::from_str(&envelope).expect("an envelope");
                envelope["value"].clone()
            }
            other => panic!("{script}: {other:?}"),
        }
    }

    pub(crate) fn order(&self, operation: Operation) -> Token {
        let token = Token::random().expect("a token");
        self.stage.chromium.perform(self.id, Order { token, operation, deadline: AMPLE });
        token
    }

    pub(crate) async fn perform(&self, operation: Operation) -> Settled {
        self.outcome(self.order(operation)).await
    }

    pub(crate) async fn done(&self, operation: Operation) -> OrderOutput {
        match self.perform(operation.clone()).await {
            Settled::Done(finished) => finished,
            other => panic!("{operation:?}: {other:?}"),
        }
    }

    /// The members of the result of an order.
    pub(crate) async fn told(&self, operation: Operation) -> Value {
        serde_json::from_slice(&self.done(operation).await.data).expect("JSON")
    }

    pub(crate) async fn failed(&self, operation: Operation) -> (FailureKind, String) {
        match self.perform(operation.clone()).await {
            Settled::Failed(failure) => (failure.kind, failure.message),
            other => panic!("{operation:?}: {other:?}"),
        }
    }

    pub(crate) async fn go(&self, url: &str) -> Value {
        self.told(Operation::Navigate { url: url.to_owned() }).await
    }

    pub(crate) fn events(&self) -> Vec<PageEvent> {
        self.stage.heard.events.lock().expect("a lock").get(&self.id).cloned().unwrap_or_default()
    }

    /// Waits until the events say something.
    pub(crate) async fn until<T>(&self, what: &str, look: impl Fn(&[PageEvent]) -> Option<T>) -> T {
        self.wait(what, || look(&self.events())).await
    }

    pub(crate) async fn close(&self) {
        self.stage.chromium.close(self.id);
        self.until("the page is closed", |events| {
            events.iter().any(|event| matches!(event, PageEvent::Closed { .. })).then_some(())
        })
        .await;
    }

    async fn wait<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        wharf_test_support::until(what, || look().ok_or(Seen(self))).await
    }
}

/// A page as a wait in vain shows it.
struct Seen<'p>(&'p Page<'p>);

impl Debug for Seen<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let heard: Vec<_> = self.0.events().into_iter().rev().take(20).collect();
        write!(formatter, "heard, the last first, {heard:#?}\nprocesses: {:#?}", told_of_processes())
    }
}

/// What the system says of all that runs below this test, its supervisors included.
fn told_of_processes() -> Vec<String> {
    let below = below(std::process::id()).into_iter();
    let about = below.map(|(pid, arguments)| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let status = read("status");
        let state: Vec<_> = status
            .lines()
            .filter(|line| ["State", "PPid", "Threads", "SigPnd"].iter().any(|key| line.starts_with(key)))
            .collect();
        let arguments: String = arguments.chars().take(100).collect();
        format!("{pid} {arguments}: {state:?} waits in {:?}", read("wchan"))
    });
    about.collect()
}

/// All processes that live below this one: id, name and the arguments.
pub(crate) fn below(ancestor: u32) -> Vec<(u32, String)> {
    let arguments = |pid: u32| {
        let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&text).replace('\0', " ")
    };
    processes::below(ancestor).into_iter().filter(|pid| lives(*pid)).map(|pid| (pid, arguments(pid))).collect()
}

pub(crate) fn path_of(text: &str) -> PathBuf {
    PathBuf::from(text)
}

/// Prints a note for the person who runs the tests.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}
