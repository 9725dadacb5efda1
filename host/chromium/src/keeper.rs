//! Decides when a browser runs: from the first page on, for a while after the last one,
//! and again after a crash, unless it crashes too often.
//!
//! Knows nothing of what pages do, nor of other browsers.

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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use wharf_spawn::{Spawner, offers_landlock};

use crate::{
    browser::{Browser, BrowserStart},
    enclosure::ReachableFiles,
    error::ChromiumError,
    settings::ChromiumSettings,
};

/// How long a browser that was stopped may take to leave its place to another one.
const PLACE: Duration = Duration::from_secs(5);

/// Starts and stops one browser at a time.
#[derive(Debug)]
pub(crate) struct BrowserKeeper {
    spawner: Spawner,
    settings: Arc<ChromiumSettings>,
    program: PathBuf,
    user: Option<u32>,
    /// Where files wait that its pages are given.
    staging: Option<PathBuf>,
    /// The places for browsers of all keepers.
    places: Arc<Semaphore>,
    /// What is known of the program, whichever keeper found it out.
    enclosed: Arc<StartsEnclosed>,
    // An async lock, so that calls during a start wait for that browser.
    running: tokio::sync::Mutex<Option<Arc<Browser>>>,
    crashes: Mutex<VecDeque<Instant>>,
    pages: AtomicUsize,
    /// When a page had it last.
    last_used: Mutex<Instant>,
    /// How many leases there have been.
    opened: AtomicU64,
    ending: AtomicBool,
}

/// Whether a browser of the program has started with the files of the host out of its reach. Once one has, a start
/// that fails is a failure, and no reason to start without.
#[derive(Debug, Default)]
pub(crate) struct StartsEnclosed(AtomicBool);

/// Keeps the browser running for one page, until it is dropped.
#[derive(Debug)]
pub(crate) struct BrowserLease(Arc<BrowserKeeper>);

impl BrowserKeeper {
    pub(crate) fn new(
        spawner: Spawner,
        settings: Arc<ChromiumSettings>,
        program: PathBuf,
        (user, staging): (Option<u32>, Option<PathBuf>),
        (places, enclosed): (Arc<Semaphore>, Arc<StartsEnclosed>),
    ) -> Arc<Self> {
        Arc::new(Self {
            spawner,
            settings,
            program,
            user,
            staging,
            places,
            enclosed,
            running: tokio::sync::Mutex::default(),
            crashes: Mutex::default(),
            pages: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            opened: AtomicU64::new(0),
            ending: AtomicBool::new(false),
        })
    }

    /// The user that the browser runs as, where it is another one than the host's.
    pub(crate) fn user(&self) -> Option<u32> {
        self.user
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
        let place = self.place()?;
        let browser = self.start().await?;
        tracing::info!(product = browser.version().product, pid = browser.pid(), "the browser runs");
        *running = Some(Arc::clone(&browser));
        tokio::spawn(Arc::clone(self).watch(Arc::clone(&browser), place));
        Ok(browser)
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, ChromiumError> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|refused| match refused {
            TryAcquireError::NoPermits => ChromiumError::Full { browsers: self.settings.limits.browsers },
            TryAcquireError::Closed => ChromiumError::ShuttingDown,
        })
    }

    /// Starts a browser that reaches no file of the host. Some programs never start so, such as one whose sandbox is
    /// a helper with rights of its own: these are started without, and the operator is told. The next start tries
    /// again, since a start fails for other reasons, too.
    async fn start(&self) -> Result<Arc<Browser>, ChromiumError> {
        let files = ReachableFiles { staging: self.staging.as_deref(), named: &self.settings.readable };
        let start = BrowserStart {
            program: &self.program,
            temporary: &self.settings.temporary,
            user: self.user,
            sandbox: !self.settings.no_sandbox,
            file_bytes: usize::try_from(self.settings.limits.file_bytes).unwrap_or(usize::MAX / 4),
            memory_bytes: self.settings.limits.browser_memory_bytes,
            files: offers_landlock().then_some(files),
        };
        match Browser::start(&self.spawner, start).await {
            Err(ChromiumError::Sandbox { .. } | ChromiumError::Ended { .. } | ChromiumError::Spawn(_))
                if start.files.is_some() && !self.enclosed.0.load(SeqCst) =>
            {
                let browser = Browser::start(&self.spawner, BrowserStart { files: None, ..start }).await?;
                tracing::warn!(
                    program = %self.program.display(),
                    "the browser does not start where Landlock keeps the files of the host out of its reach; it runs without \
                     that. Name what it reads as `readable` under [webview], or another browser as `program`"
                );
                Ok(browser)
            }
            started => {
                let is_enclosed = started.as_ref().is_ok_and(|browser| browser.closes_files());
                self.enclosed.0.fetch_or(is_enclosed, SeqCst);
                started
            }
        }
    }

    /// Stops the browser where no page needs it; whether there was one.
    pub(crate) async fn stop_idle(&self) -> bool {
        let mut running = self.running.lock().await;
        if self.pages.load(SeqCst) > 0 {
            return false;
        }
        let Some(browser) = running.take() else { return false };
        browser.stop();
        browser.ended().await;
        true
    }

    /// Waits for the place of a browser that was stopped.
    pub(crate) async fn place_is_free(&self) {
        let _ = tokio::time::timeout(PLACE, self.places.acquire()).await;
    }

    /// How long ago a page had it last; none while one has it.
    pub(crate) fn rested(&self) -> Option<Duration> {
        (self.pages.load(SeqCst) == 0).then(|| self.last_used.lock().elapsed())
    }

    /// Whether it has no page, no browser and no crash to remember.
    pub(crate) fn is_done(&self) -> bool {
        let runs = self.running.try_lock().map_or(true, |running| running.is_some());
        self.pages.load(SeqCst) == 0 && !runs && self.recent_crashes() == 0
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
    async fn watch(self: Arc<Self>, browser: Arc<Browser>, place: OwnedSemaphorePermit) {
        browser.ended().await;
        drop(place);
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
        if self.recent_crashes() < limits.crashes {
            return Ok(());
        }
        Err(ChromiumError::Crashing { crashes: limits.crashes, seconds: limits.crash_window_seconds })
    }

    fn recent_crashes(&self) -> u64 {
        let window = Duration::from_secs(self.settings.limits.crash_window_seconds);
        let mut crashes = self.crashes();
        while crashes.front().is_some_and(|at| at.elapsed() > window) {
            crashes.pop_front();
        }
        u64::try_from(crashes.len()).unwrap_or(u64::MAX)
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
        // A page that opens now waits for that, and starts another browser.
        if self.stop_idle().await {
            tracing::info!("the browser was stopped: no page is open");
        }
    }
}

impl BrowserLease {
    pub(crate) fn keeper(&self) -> &Arc<BrowserKeeper> {
        &self.0
    }
}

impl Drop for BrowserLease {
    fn drop(&mut self) {
        *self.0.last_used.lock() = Instant::now();
        if self.0.pages.fetch_sub(1, SeqCst) == 1
            && !self.0.ending.load(SeqCst)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(Arc::clone(&self.0).stop_when_idle());
        }
    }
}
