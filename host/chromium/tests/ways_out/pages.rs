//! Pages of a real browser, and a receiver of the results of what they were asked to do.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::PermissionsExt,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tempfile::TempDir;
use wharf_chromium::{Chromium, ChromiumError, ChromiumSettings};
use wharf_core::{OriginPolicy, TenantId, WebViewLimits};
use wharf_spawn::Spawner;
use wharf_test_support::{AMPLE, until};
use wharf_webview::{
    FailureKind, Injection, Operation, Order, PageEvent, PageId, PageSettings, PageShares, Receipt, ReportReceiver,
    Settled, Sink, Token, WebViewBackend,
};

#[derive(Default)]
struct Heard {
    settled: Mutex<HashMap<Token, Settled>>,
    opened: Mutex<HashMap<PageId, PageEvent>>,
    documents: Mutex<HashMap<PageId, usize>>,
}

impl ReportReceiver for Heard {
    fn settle(&self, _page: PageId, token: Token, settled: Settled) -> Receipt {
        self.settled.lock().expect("a lock").insert(token, settled);
        Receipt::Accepted
    }

    fn tell(&self, page: PageId, event: PageEvent) {
        match event {
            PageEvent::Opened | PageEvent::Closed { .. } => {
                self.opened.lock().expect("a lock").insert(page, event);
            }
            PageEvent::Navigating => *self.documents.lock().expect("a lock").entry(page).or_default() += 1,
            _ => {}
        }
    }
}

pub(crate) struct Browser {
    chromium: Arc<Chromium>,
    heard: Arc<Heard>,
    _temporary: TempDir,
}

impl Browser {
    /// Nothing where there is no Chromium.
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    pub(crate) fn start() -> Option<Self> {
        let temporary = tempfile::tempdir().expect("a directory");
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o711)).expect("open");
        let settings = ChromiumSettings {
            program: None,
            user: None,
            no_sandbox: false,
            shared: true,
            readable: Vec::new(),
            staging: None,
            temporary: temporary.path().to_owned(),
            limits: Arc::default(),
        };
        match Chromium::new(Spawner::new(), settings) {
            Ok(chromium) => Some(Self { chromium: Arc::new(chromium), heard: Arc::default(), _temporary: temporary }),
            Err(ChromiumError::NotFound) => {
                eprintln!("NOT TESTED: there is no Chromium here");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A page that may reach these origins.
    pub(crate) async fn open(&self, origins: &[String], private_addresses: bool) -> Page {
        let id = PageId::random().expect("an id");
        let origins = origins.iter().map(|origin| origin.parse().expect("an origin")).collect();
        let settings = PageSettings {
            tenant: TenantId::local(),
            width: 800,
            height: 600,
            policy: Arc::new(OriginPolicy::new("browser".parse().expect("a name"), origins, private_addresses)),
            downloads: true,
            locale: None,
            time_zone: None,
            user_agent: None,
            limits: Arc::new(WebViewLimits::default()),
            shares: PageShares::alone(&WebViewLimits::default()),
        };
        self.chromium.open(id, settings, Sink::new(id, Arc::clone(&self.heard) as Arc<dyn ReportReceiver>));
        let page = Page { id, chromium: Arc::clone(&self.chromium), heard: Arc::clone(&self.heard) };
        let opened = page.wait("a page is open", || page.heard.opened.lock().expect("a lock").get(&id).cloned()).await;
        assert_eq!(opened, PageEvent::Opened);
        page
    }

    pub(crate) async fn end(self) {
        self.chromium.shut_down(AMPLE).await;
    }
}

pub(crate) struct Page {
    id: PageId,
    chromium: Arc<Chromium>,
    heard: Arc<Heard>,
}

impl Page {
    pub(crate) async fn navigate(&self, url: &str) -> Settled {
        let token = Token::random().expect("a token");
        let order = Order { token, operation: Operation::Navigate { url: url.to_owned() }, deadline: AMPLE };
        self.chromium.perform(self.id, order);
        self.outcome(token, url).await
    }

    pub(crate) async fn go(&self, url: &str) {
        let settled = self.navigate(url).await;
        assert!(matches!(settled, Settled::Done(_)), "{url}: {settled:?}");
    }

    /// Runs an expression or statements, and does not wait for the result.
    pub(crate) fn start(&self, script: &str) -> Token {
        let wrap =
            |body: &str| format!("(async () => JSON.stringify({{ value: await (async () => {{ {body} }})() }}))()");
        let sources = vec![wrap(&format!("return (\n{script}\n)")), wrap(script)];
        let token = Token::random().expect("a token");
        self.chromium.inject(self.id, Injection { token, sources, isolated: false, frame: None });
        token
    }

    /// Runs a script in whatever document is there by then: what a page shows in
    /// place of one that was refused comes when it comes.
    pub(crate) async fn run(&self, script: &str) -> Value {
        let document = || self.heard.documents.lock().expect("a lock").get(&self.id).copied();
        loop {
            let before = document();
            let token = self.start(script);
            let settled = || self.heard.settled.lock().expect("a lock").get(&token).cloned();
            let settled =
                self.wait(script, || settled().map(Some).or_else(|| (document() != before).then_some(None))).await;
            match settled {
                Some(Settled::Envelope(envelope)) => {
                    let envelope: Value = serde_json::from_str(&envelope).expect("an envelope");
                    return envelope["value"].clone();
                }
                Some(Settled::Failed(failure)) if failure.kind == FailureKind::Navigated => {}
                None => {}
                Some(other) => panic!("{script}: {other:?}"),
            }
        }
    }

    async fn outcome(&self, token: Token, what: &str) -> Settled {
        self.wait(what, || self.heard.settled.lock().expect("a lock").get(&token).cloned()).await
    }

    async fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        until(what, look).await
    }
}
