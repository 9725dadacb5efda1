//! The way back from a backend to the core, for one page.

use std::{fmt, sync::Arc};

use crate::{PageEvent, PageId, Settled, Token};

/// Takes the reports of a backend on one page, from any thread, without waiting. It
/// tells nothing of what the core does with them, and holds no lock of the core while a
/// backend's own code runs.
#[derive(Clone)]
pub struct Sink {
    page: PageId,
    hears: Arc<dyn ReportReceiver>,
}

/// Whether the core took a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// The report is the result of its request now.
    Accepted,
    /// The report changed nothing: no request of this page has this token, it has been
    /// settled already, or its deadline has passed.
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

    /// Reports the result of an injection or an order. Only the first report with a
    /// token of this page counts.
    pub fn settle(&self, token: Token, settled: Settled) -> Receipt {
        self.hears.settle(self.page, token, settled)
    }

    /// Reports an event of the page.
    pub fn tell(&self, event: PageEvent) {
        self.hears.tell(self.page, event);
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Sink").field(&self.page).finish()
    }
}
