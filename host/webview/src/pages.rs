//! The pages of a host, by owner and id: what an adapter calls.
//!
//! Owns who may see which page, how many there are, and how long. Files that belong
//! together: `open` makes a page and finds room for it, `run` hands over scripts and
//! operations, `outcome` tells their results, `read` pages through results, `reports`
//! takes what a backend reports, `exchange` moves files, `keep` lives as long as a page
//! does, `sweep` closes pages that are not used, `watch` shows them to the operator,
//! `room` drops results where there is no room, `parameters` and `settings` are what
//! callers hand in.

mod exchange;
mod keep;
mod metrics;
mod open;
mod outcome;
mod parameters;
mod read;
mod reports;
mod room;
mod run;
mod settings;
mod status;
mod sweep;
mod watch;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    select,
    time::{Instant, sleep_until},
};
use wharf_completion::polls::{GuidanceEffect, Language};
use wharf_core::{WebViewLimits, WebViewOwner, handle::Handle};

pub use metrics::Metrics;
pub use outcome::{Outcome, OutcomeState, RequestInfo};
pub(crate) use parameters::{MAXIMUM_SIZE, object};
pub use parameters::{OpenPageRequest, Script};
pub use read::ResultPiece;
pub use settings::Settings;
pub use sweep::SweepReport;

use self::metrics::Counters;
use crate::{
    CloseReason, DialogAnswer, LogName, LogPage, PageId, PageInfo, RequestId, WebViewBackend, WebViewError,
    page::{Page, PageState},
    requests::RequestLookup,
    shares::PageQuotas,
};

/// The web pages of a host.
///
/// Cheap to clone; all clones are the same pages. They end with
/// [`WebViews::shut_down`]; a host that ends without it leaves that to its backend.
#[derive(Clone)]
pub struct WebViews {
    core: Arc<Core>,
}

/// What all pages share.
pub(crate) struct Core {
    backend: Arc<dyn WebViewBackend>,
    settings: Settings,
    limits: Arc<WebViewLimits>,
    table: Mutex<PageTable>,
    quotas: Arc<PageQuotas>,
    counters: Counters,
}

/// All pages, and whether more may be opened.
#[derive(Debug, Default)]
struct PageTable {
    pages: HashMap<PageId, Arc<Page>>,
    last_serial: u64,
    closed: bool,
}

impl PageTable {
    /// Forgets a page, and drops all that was kept of it.
    fn drop_page(&mut self, page: &Page) {
        self.pages.remove(&page.id);
        page.decide(|state, _| state.forget());
        page.alarm.notify_one();
    }
}

impl Core {
    /// Held for a look, never across an await or a call of a backend. A page may be
    /// locked under it, never the other way.
    fn table(&self) -> MutexGuard<'_, PageTable> {
        self.table.lock()
    }

    fn page(&self, id: PageId) -> Option<Arc<Page>> {
        self.table().pages.get(&id).cloned()
    }

    /// The pages that `which` accepts, in the order in which they were opened.
    fn pages(&self, which: impl Fn(&Page) -> bool) -> Vec<Arc<Page>> {
        let mut pages: Vec<_> = self.table().pages.values().filter(|page| which(page)).cloned().collect();
        pages.sort_by_key(|page| page.serial);
        pages
    }

    fn change<T>(&self, page: &Page, change: impl FnOnce(&mut PageState, Instant) -> T) -> T {
        page.change(&*self.backend, change)
    }

    fn look<T>(&self, page: &Page, look: impl FnOnce(&mut PageState, Instant) -> T) -> T {
        page.look(&*self.backend, look)
    }

    /// Refuses what names another host, or an earlier incarnation of this one: it is gone,
    /// although something of it may still be here.
    fn own(&self, id: &Handle, what: &'static str) -> Result<(), WebViewError> {
        if self.settings.handles.is_of_another_host(id) { Err(WebViewError::HostEnded { what }) } else { Ok(()) }
    }

    fn info(&self, page: &Page) -> PageInfo {
        self.look(page, |state, now| page.info(state, now))
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Their keepers end.
        for page in self.table().pages.values() {
            page.decide(|state, _| state.forgotten = true);
            page.alarm.notify_one();
        }
    }
}

impl WebViews {
    /// The pages that a backend will run; none so far.
    #[must_use]
    pub fn new(backend: Arc<dyn WebViewBackend>, settings: Settings) -> Self {
        let limits = Arc::new(settings.limits.clone());
        let (table, counters, quotas) = (Mutex::default(), Counters::default(), PageQuotas::new(&limits));
        Self { core: Arc::new(Core { backend, settings, limits, table, quotas, counters }) }
    }

    /// All pages of an owner, in the order in which they were opened. Those that were
    /// closed a while ago are not kept.
    #[must_use]
    pub fn list(&self, owner: &WebViewOwner) -> Vec<PageInfo> {
        self.core.pages(|page| page.owner == *owner).iter().map(|page| self.core.info(page)).collect()
    }

    /// A page as it is now. This counts as no use of it.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`], also for what belongs to somebody else.
    pub fn info(&self, owner: &WebViewOwner, id: PageId) -> Result<PageInfo, WebViewError> {
        Ok(self.core.info(&*self.find(owner, id)?))
    }

    /// Closes a page. Returns once nothing is left of it, and at the latest after
    /// `patience`: then it is closed for its owner, while its backend still works on
    /// it.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`].
    pub async fn close(&self, owner: &WebViewOwner, id: PageId, patience: Duration) -> Result<(), WebViewError> {
        let page = self.find(owner, id)?;
        self.core.close(&page, CloseReason::Owner);
        self.core.closed(&page, Instant::now() + patience).await;
        Ok(())
    }

    /// Answers the dialog that waits.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`]; [`WebViewError::Conflict`] where none waits;
    /// [`WebViewError::Invalid`] for a text of more than 4 KiB.
    pub fn answer_dialog(&self, owner: &WebViewOwner, id: PageId, answer: DialogAnswer) -> Result<(), WebViewError> {
        let page = self.find(owner, id)?;
        if answer.text.as_ref().is_some_and(|text| text.len() > 4 << 10) {
            return Err(WebViewError::invalid("the answer to a dialog has at most 4096 bytes"));
        }
        let answered = self.core.change(&page, |state, now| {
            state.touch(now);
            state.answer(answer)
        });
        let problem = || "no dialog of this page waits for an answer".to_owned();
        answered.then_some(()).ok_or_else(|| WebViewError::Conflict { problem: problem() })
    }

    /// Entries of a log after a number, `most` at most and 1,000 at most, the oldest
    /// first.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`].
    pub fn entries(
        &self,
        owner: &WebViewOwner,
        id: PageId,
        log: LogName,
        after: u64,
        most: usize,
    ) -> Result<LogPage, WebViewError> {
        let page = self.find(owner, id)?;
        Ok(self.core.look(&page, |state, now| {
            state.touch(now);
            state.logs.of(log).page(after, most)
        }))
    }

    /// What advice in one language did so far.
    #[must_use]
    pub fn guidance_effect(&self, language: Language) -> GuidanceEffect {
        self.core.counters.polls.effect(language)
    }

    /// The counts now.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let core = &self.core;
        let mut now = *core.counters.counts();
        now.polls = core.counters.polls.totals();
        for page in core.pages(|_| true) {
            core.look(&page, |state, _| {
                *if state.is_open() { &mut now.open } else { &mut now.remembered } += 1;
                let (results, bytes) = state.requests.held();
                now.pending += state.requests.pending() as u64;
                now.results += results as u64;
                now.result_bytes += bytes;
                now.expired += state.requests.remembered() as u64;
                now.log_bytes += state.logs.bytes();
            });
        }
        now
    }

    /// Decides who may see a page, here alone.
    fn find(&self, owner: &WebViewOwner, id: PageId) -> Result<Arc<Page>, WebViewError> {
        self.core.own(&id.0, "page")?;
        self.core.page(id).filter(|page| page.owner == *owner).ok_or(WebViewError::NoPage)
    }

    /// The page of a request. The request of another owner does not exist here.
    fn find_request(&self, owner: &WebViewOwner, id: RequestId) -> Result<Arc<Page>, WebViewError> {
        self.core.own(&id.0, "request")?;
        let knows = |page: &Arc<Page>| {
            self.core.look(page, |state, _| !matches!(state.requests.look(id), RequestLookup::Unknown))
        };
        self.core.pages(|page| page.owner == *owner).into_iter().find(knows).ok_or(WebViewError::NoRequest)
    }
}

impl Core {
    fn close(&self, page: &Page, why: CloseReason) {
        if self.change(page, |state, now| state.close(now, why)) {
            self.counters.closed(why);
        }
    }

    /// Waits until nothing is left of a page.
    async fn closed(&self, page: &Page, until: Instant) {
        let mut changes = page.changes();
        while !self.look(page, |state, _| state.is_closed()) {
            select! {
                _ = changes.changed() => {}
                () = sleep_until(until) => break,
            }
        }
    }
}

impl fmt::Debug for WebViews {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebViews").field("backend", &self.core.backend.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
