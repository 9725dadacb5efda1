//! Decides when a browser runs: from the first page on, for a while after the last one,
//! and again after a crash, unless it crashes too often.
//!
//! Knows nothing of what pages do.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_spawn::Spawner;

use crate::{
    browser::{Browser, BrowserStart},
    error::ChromiumError,
    settings::ChromiumSettings,
};

/// Starts and stops the browser.
#[derive(Debug)]
pub(crate) struct BrowserKeeper {
    spawner: Spawner,
    settings: ChromiumSettings,
    program: PathBuf,
    // An async lock, so that calls during a start wait for that browser.
    running: tokio::sync::Mutex<Option<Arc<Browser>>>,
    crashes: Mutex<VecDeque<Instant>>,
    pages: AtomicUsize,
    /// How many leases there have been.
    opened: AtomicU64,
    ending: AtomicBool,
}

/// Keeps the browser running for one page, until it is dropped.
#[derive(Debug)]
pub(crate) struct BrowserLease(Arc<BrowserKeeper>);

impl BrowserKeeper {
    pub(crate) fn new(spawner: Spawner, settings: ChromiumSettings, program: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            spawner,
            settings,
            program,
            running: tokio::sync::Mutex::default(),
            crashes: Mutex::default(),
            pages: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            ending: AtomicBool::new(false),
        })
    }

    /// The user that the browser runs as, where it is another one than the host's.
    pub(crate) fn user(&self) -> Option<u32> {
        self.settings.user
    }

    /// Keeps the browser running for a page.
    pub(crate) fn lease(self: &Arc<Self>) -> BrowserLease {
        self.opened.fetch_add(1, SeqCst);
        self.pages.fetch_add(1, SeqCst);
        BrowserLease(Arc::clone(self))
    }

    /// The browser, started where there is none.
    pub(crate) async fn browser(self: &Arc<Self>) -> Result<Arc<Browser>, ChromiumError> {
        let mut running = self.running.lock().await;
        if let Some(browser) = running.as_ref() {
            if !browser.has_ended() && !browser.is_to_end() {
                return Ok(Arc::clone(browser));
            }
            // The remains of the last one go first.
            browser.ended().await;
            *running = None;
        }
        if self.ending.load(SeqCst) {
            return Err(ChromiumError::ShuttingDown);
        }
        self.may_start()?;
        let start = BrowserStart {
            program: &self.program,
            temporary: &self.settings.temporary,
            user: self.settings.user,
            sandbox: !self.settings.no_sandbox,
            file_bytes: usize::try_from(self.settings.limits.file_bytes).unwrap_or(usize::MAX / 4),
        };
        let browser = Browser::start(&self.spawner, start).await?;
        tracing::info!(product = browser.version().product, pid = browser.pid(), "the browser runs");
        *running = Some(Arc::clone(&browser));
        tokio::spawn(Arc::clone(self).watch(Arc::clone(&browser)));
        Ok(browser)
    }

    /// Its process, if it runs.
    pub(crate) async fn process(&self) -> Option<u32> {
        self.running.lock().await.as_ref().filter(|browser| !browser.has_ended()).map(|browser| browser.pid())
    }

    /// Ends the browser, if one runs, and has no other one started.
    pub(crate) async fn shut_down(&self) {
        self.ending.store(true, SeqCst);
        let browser = self.running.lock().await.take();
        if let Some(browser) = browser {
            browser.stop();
            browser.ended().await;
        }
    }

    /// Counts the browser's end as a crash, unless it was asked to end.
    async fn watch(self: Arc<Self>, browser: Arc<Browser>) {
        browser.ended().await;
        if !browser.is_to_end() {
            let mut crashes = self.crashes();
            crashes.push_back(Instant::now());
            while crashes.len() > usize::try_from(self.settings.limits.crashes).unwrap_or(usize::MAX) {
                crashes.pop_front();
            }
        }
    }

    fn may_start(&self) -> Result<(), ChromiumError> {
        let limits = &self.settings.limits;
        let window = Duration::from_secs(limits.crash_window_seconds);
        let mut crashes = self.crashes();
        while crashes.front().is_some_and(|at| at.elapsed() > window) {
            crashes.pop_front();
        }
        if u64::try_from(crashes.len()).is_ok_and(|count| count < limits.crashes) {
            return Ok(());
        }
        Err(ChromiumError::Crashing { crashes: limits.crashes, seconds: limits.crash_window_seconds })
    }

    fn crashes(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.crashes.lock()
    }

    /// Stops the browser once no page has leased it for `backend_idle_seconds`.
    async fn stop_when_idle(self: Arc<Self>) {
        let opened = self.opened.load(SeqCst);
        tokio::time::sleep(Duration::from_secs(self.settings.limits.backend_idle_seconds)).await;
        if self.opened.load(SeqCst) != opened {
            // It was leased meanwhile.
            return;
        }
        // A page that opens now waits for this lock, and starts another browser.
        let mut running = self.running.lock().await;
        if self.pages.load(SeqCst) == 0
            && let Some(browser) = running.take()
        {
            tracing::info!("the browser is stopped: no page is open");
            browser.stop();
            browser.ended().await;
        }
    }
}

impl Drop for BrowserLease {
    fn drop(&mut self) {
        if self.0.pages.fetch_sub(1, SeqCst) == 1
            && !self.0.ending.load(SeqCst)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(Arc::clone(&self.0).stop_when_idle());
        }
    }
}
