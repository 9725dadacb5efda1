//! The backend: hands what the core asks for on to the page in question.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use wharf_contract::webview::OperationName;
use wharf_spawn::Spawner;
use wharf_webview::{
    Abilities, DialogAnswer, Failure, FailureKind, Injection, Order, PageId, PageSettings, Settled, Sink, Token,
    WebViewBackend,
};

use crate::{
    browsers::Browsers,
    error::ChromiumError,
    find,
    lifetime::{OpenPages, PageLifetime},
    orders,
    page::Page,
    scripts,
    settings::ChromiumSettings,
};

/// Runs pages in Chromium.
#[derive(Debug)]
pub struct Chromium {
    browsers: Arc<Browsers>,
    sandbox: bool,
    pages: OpenPages,
}

/// A Chromium that was started here and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledChromium {
    /// Where it is.
    pub program: PathBuf,
    /// The product and version that it reports, such as `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Whether it runs pages in its own sandbox.
    pub sandbox: bool,
    /// The user that it runs as, where that is not the host's own.
    pub user: Option<u32>,
    /// Whether Landlock keeps the files of the host out of its reach.
    pub closes_files: bool,
}

impl Chromium {
    /// Runs pages by these settings. The browser is started with the first page.
    ///
    /// # Errors
    /// There is no program to run.
    pub fn new(spawner: Spawner, settings: ChromiumSettings) -> Result<Self, ChromiumError> {
        let settings = settings.decided();
        let program = find::program(settings.program.as_deref())?;
        let sandbox = !settings.no_sandbox;
        let browsers = Arc::new(Browsers::new(spawner, settings, program));
        Ok(Self { browsers, sandbox, pages: OpenPages::new() })
    }

    /// Starts the browser once to see whether it works here, and ends it.
    ///
    /// # Errors
    /// The browser does not start; the message says what to do.
    pub async fn probe(spawner: Spawner, settings: ChromiumSettings) -> Result<InstalledChromium, ChromiumError> {
        let settings = settings.decided();
        let program = find::program(settings.program.as_deref())?;
        let (sandbox, user) = (!settings.no_sandbox, settings.user);
        let browsers = Browsers::new(spawner, ChromiumSettings { shared: true, ..settings }, program.clone());
        let (version, closes_files) = browsers.probe().await?;
        Ok(InstalledChromium { program, version, sandbox, user, closes_files })
    }

    /// The processes of the browsers that run; for tests.
    #[doc(hidden)]
    pub async fn processes(&self) -> Vec<u32> {
        self.browsers.processes().await
    }

    /// Has the renderer of a page crash; for tests.
    #[doc(hidden)]
    pub fn crash(&self, page: PageId) {
        if let Some(Ok(page)) = self.pages.get(page) {
            page.crash();
        }
    }

    fn with_page(&self, id: PageId, token: Token, act: impl FnOnce(&Arc<Page>)) {
        match self.pages.get(id) {
            Some(Ok(page)) => act(&page),
            Some(Err(sink)) => {
                let failure = Failure::new(FailureKind::BackendGone, "the page is not open");
                sink.settle(token, Settled::Failed(failure));
            }
            // Closed, which its sink was told.
            None => {}
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Without a runtime nothing is followed any more, and the browser has ended
        // with what followed it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let browsers = Arc::clone(&self.browsers);
            runtime.spawn(async move { browsers.shut_down().await });
        }
    }
}

#[async_trait]
impl WebViewBackend for Chromium {
    fn name(&self) -> &'static str {
        "chromium"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            operations: OperationName::WORDS.iter().copied().collect(),
            isolated_world: true,
            enforces_origins: true,
            sandbox: self.sandbox,
        }
    }

    fn user(&self, page: PageId) -> Option<u32> {
        self.pages.user(page)
    }

    fn open(&self, _: PageId, settings: PageSettings, sink: Sink) {
        PageLifetime::begin(&self.pages, &self.browsers, settings, sink);
    }

    fn inject(&self, page: PageId, injection: Injection) {
        self.with_page(page, injection.token, move |page| scripts::inject(page, injection));
    }

    fn perform(&self, page: PageId, order: Order) {
        self.with_page(page, order.token, move |page| orders::begin(page, order));
    }

    fn interrupt(&self, page: PageId, token: Token) {
        if let Some(Ok(page)) = self.pages.get(page) {
            scripts::interrupt(&page, token);
        }
    }

    async fn picture(&self, page: PageId) -> Result<Vec<u8>, Failure> {
        match self.pages.get(page) {
            Some(Ok(page)) => orders::picture(&page).await,
            _ => Err(Failure::new(FailureKind::BackendGone, "the page is not open")),
        }
    }

    fn answer_dialog(&self, page: PageId, answer: DialogAnswer) {
        if let Some(Ok(page)) = self.pages.get(page) {
            page.answer_dialog(&answer);
        }
    }

    fn close(&self, page: PageId) {
        self.pages.close(page);
    }

    async fn shut_down(&self, patience: Duration) {
        let gone = async {
            // All pages end with their browsers.
            self.browsers.shut_down().await;
            self.pages.none_left().await;
        };
        if tokio::time::timeout(patience, gone).await.is_err() {
            tracing::warn!("the browser did not end in time; its supervisor ends it with the host");
        }
    }
}
