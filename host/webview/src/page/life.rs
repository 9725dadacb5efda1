//! The life of a page: opening, open, closed, and what ends with each step.

use tokio::time::Instant;

use super::{
    entries::clean,
    info::{CloseReason, PageStatus},
    outbox::BackendCommand,
    state::{PageLife, PageState, crashed},
};
use crate::{Failure, FailureKind, WebViewError, shares::OpenPageShares};

/// The longest reason of an end, in bytes.
const MAXIMUM_REASON: usize = 4 << 10;

impl PageState {
    pub(super) fn status(&self) -> PageStatus {
        match self.life {
            PageLife::Opening => PageStatus::Opening,
            PageLife::Open if self.crashed => PageStatus::Crashed,
            PageLife::Open if self.loading => PageStatus::Loading,
            PageLife::Open => PageStatus::Ready,
            PageLife::Closing(_) | PageLife::Closed(_) => PageStatus::Closed,
        }
    }

    /// Whether it takes requests.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.life, PageLife::Opening | PageLife::Open)
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.life, PageLife::Closed(_))
    }

    /// When it was closed, or asked to.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.ended
    }

    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        match self.life {
            PageLife::Opening | PageLife::Open => None,
            PageLife::Closing(why) | PageLife::Closed(why) => Some(why),
        }
    }

    pub(super) fn usable(&self) -> Result<(), WebViewError> {
        self.close_reason().map_or(Ok(()), |why| Err(WebViewError::Closed { reason: why.as_str() }))
    }

    pub(super) fn opened(&mut self) {
        if self.life == PageLife::Opening {
            self.life = PageLife::Open;
            for command in std::mem::take(&mut self.held) {
                self.outbox.push(command);
            }
        }
    }

    pub(super) fn leave_document(&mut self, now: Instant) {
        let failure = Failure::new(FailureKind::Navigated, "the page went elsewhere before this was done");
        self.requests.leave_document(now, &failure);
        self.crashed = false;
        self.dialog.clear();
        self.cut_results.clear();
    }

    pub(super) fn crash(&mut self, now: Instant) {
        self.requests.fail_all(now, &crashed("the page crashed; navigate or reload it"));
        self.crashed = true;
        self.loading = false;
        self.dialog.clear();
        self.cut_results.clear();
    }

    pub(super) fn load(&mut self, loading: bool) {
        self.loading = loading;
    }

    /// Asks its backend to close it. Whether that is the first time.
    pub(crate) fn close(&mut self, now: Instant, why: CloseReason) -> bool {
        if !self.is_open() {
            return false;
        }
        self.end(now, &Failure::new(FailureKind::Cancelled, format!("its page was closed ({})", why.as_str())));
        self.life = PageLife::Closing(why);
        self.places.open = None;
        self.outbox.push(BackendCommand::Close);
        true
    }

    /// Nothing is left of it.
    pub(crate) fn gone(&mut self, now: Instant, unasked: Option<&str>) {
        let why = match self.life {
            PageLife::Opening | PageLife::Open => {
                let reason = unasked.unwrap_or("the browser ended");
                self.end(now, &Failure::new(FailureKind::BackendGone, clean(reason, MAXIMUM_REASON)));
                CloseReason::BackendGone
            }
            PageLife::Closing(why) | PageLife::Closed(why) => why,
        };
        self.life = PageLife::Closed(why);
        self.places = OpenPageShares { open: None, _present: None };
    }

    /// No caller can ask for it any more: drops all that was kept of it.
    pub(crate) fn forget(&mut self) {
        self.forgotten = true;
        self.remembered = None;
        self.requests.clear();
        self.logs.clear();
    }

    fn end(&mut self, now: Instant, failure: &Failure) {
        self.requests.fail_all(now, failure);
        self.ended = Some(now);
        self.held.clear();
        self.dialog.clear();
        self.cut_results.clear();
        self.loading = false;
        self.stay = None;
    }
}
