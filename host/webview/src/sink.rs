//! The way back from a backend to the core, for one page.

use std::{fmt, sync::Arc};

use crate::{PageEvent, PageId, Settled, Token};

/// Takes what a backend has to say of one page, from any thread, without waiting.
/// Says nothing of what the core makes of it, and holds no lock of the core while a
/// backend's own code runs.
#[derive(Clone)]
pub struct Sink {
    page: PageId,
    hears: Arc<dyn ReportReceiver>,
}

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It is the result now.
    Accepted,
    /// There is no request of this page with this token, it has been settled
    /// already, or its deadline has passed: nothing was changed.
    Ignored,
}

/// The core, as a sink sees it; a test of a backend may stand in for it.
pub trait ReportReceiver: Send + Sync {
    /// See [`Sink::settle`].
    fn settle(&self, page: PageId, token: Token, settled: Settled) -> Receipt;
    /// See [`Sink::tell`].
    fn tell(&self, page: PageId, event: PageEvent);
}

impl Sink {
    /// The way back for one page.
    #[must_use]
    pub fn new(page: PageId, hears: Arc<dyn ReportReceiver>) -> Self {
        Self { page, hears }
    }

    /// The page that this is about.
    #[must_use]
    pub fn page(&self) -> PageId {
        self.page
    }

    /// Says what came of an injection or an order. The first report with a token
    /// of this page counts, and only that.
    pub fn settle(&self, token: Token, settled: Settled) -> Receipt {
        self.hears.settle(self.page, token, settled)
    }

    /// Says what happened in the page.
    pub fn tell(&self, event: PageEvent) {
        self.hears.tell(self.page, event);
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Sink").field(&self.page).finish()
    }
}
