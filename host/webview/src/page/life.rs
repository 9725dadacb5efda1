//! Where a page is in its life: opening, open, closed, and what ends with each step.

use tokio::time::Instant;

use super::{CloseReason, Status, clean, outbox::Command, state::State};
use crate::{Failure, FailureKind, WebViewError, shares::Places};

/// The longest reason that is told, in bytes.
const MAXIMUM_REASON: usize = 4 << 10;

/// Where a page is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Opening,
    Open,
    /// Asked to close; its backend has not said that it is.
    Closing(CloseReason),
    Closed(CloseReason),
}

impl State {
    pub(super) fn status(&self) -> Status {
        match self.life {
            Life::Opening => Status::Opening,
            Life::Open if self.crashed => Status::Crashed,
            Life::Open if self.loading => Status::Loading,
            Life::Open => Status::Ready,
            Life::Closing(_) | Life::Closed(_) => Status::Closed,
        }
    }

    /// Whether it takes requests.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.life, Life::Opening | Life::Open)
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.life, Life::Closed(_))
    }

    /// When it was closed, or asked to.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.ended
    }

    pub(crate) fn why(&self) -> Option<CloseReason> {
        match self.life {
            Life::Opening | Life::Open => None,
            Life::Closing(why) | Life::Closed(why) => Some(why),
        }
    }

    pub(super) fn usable(&self) -> Result<(), WebViewError> {
        self.why().map_or(Ok(()), |why| Err(WebViewError::Closed { reason: why.as_str() }))
    }

    pub(super) fn opened(&mut self) {
        if self.life == Life::Opening {
            self.life = Life::Open;
            for command in std::mem::take(&mut self.held) {
                self.outbox.push(command);
            }
        }
    }

    pub(super) fn leave_document(&mut self, now: Instant) {
        let failure = Failure::new(FailureKind::Navigated, "the page went elsewhere before this was done");
        self.requests.leave_document(now, &failure);
        self.crashed = false;
        self.dialog = None;
        self.cuts.clear();
        self.reads.clear();
        self.asides.clear();
    }

    pub(super) fn crash(&mut self, now: Instant) {
        self.requests.fail_all(now, &crashed("the page crashed; navigate or reload it"));
        self.crashed = true;
        self.loading = false;
        self.dialog = None;
        self.cuts.clear();
        self.reads.clear();
        self.asides.clear();
    }

    pub(super) fn load(&mut self, loading: bool) {
        self.loading = loading;
    }

    /// Asks its backend to close it. Whether nobody had.
    pub(crate) fn close(&mut self, now: Instant, why: CloseReason) -> bool {
        if !self.is_open() {
            return false;
        }
        self.end(now, &Failure::new(FailureKind::Cancelled, format!("its page was closed ({})", why.as_str())));
        self.life = Life::Closing(why);
        self.places.open = None;
        self.outbox.push(Command::Close);
        true
    }

    /// Nothing is left of it.
    pub(crate) fn gone(&mut self, now: Instant, unasked: Option<&str>) {
        let why = match self.life {
            Life::Opening | Life::Open => {
                let reason = unasked.unwrap_or("the browser ended");
                self.end(now, &Failure::new(FailureKind::BackendGone, clean(reason, MAXIMUM_REASON)));
                CloseReason::BackendGone
            }
            Life::Closing(why) | Life::Closed(why) => why,
        };
        self.life = Life::Closed(why);
        self.places = Places { open: None, _present: None };
    }

    /// Nobody can ask for it any more: what was kept of it goes.
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
        self.dialog = None;
        self.cuts.clear();
        self.reads.clear();
        self.asides.clear();
        self.loading = false;
    }
}

pub(super) fn crashed(message: &str) -> Failure {
    Failure::new(FailureKind::Crashed, message)
}
