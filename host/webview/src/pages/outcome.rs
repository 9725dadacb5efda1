//! Results of requests, as their owner gets them.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{
    select,
    time::{Instant, sleep_until},
};
/// The state of a request.
pub use wharf_contract::webview::RequestState as OutcomeState;
use wharf_core::WebViewOwner;

use super::{Core, WebViews, read::is_text};
use crate::{
    Dialog, Failure, FailureKind, Injection, PageId, RequestId, Token, WebViewError,
    page::{Page, PageState},
    requests::{self, IsPending, Request, RequestEnd, RequestLookup},
};

/// The result of a request, so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its state.
    pub state: OutcomeState,
    /// Since it was made; of one that has ended, until it ended.
    pub elapsed: Duration,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// The media type of `data`; empty where there is none.
    pub mime_type: &'static str,
    /// The result, or its beginning.
    pub data: Arc<[u8]>,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// Whether `data` is not all of it.
    pub truncated: bool,
    /// The dialog of the page, where one waits for an answer.
    pub dialog: Option<Dialog>,
    /// What to do instead of polling so often.
    pub advice: Option<String>,
    /// Further fields of the contract.
    pub meta: Map<String, Value>,
}

impl Outcome {
    /// Whether `data` is a text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        is_text(self.mime_type)
    }

    fn empty(state: OutcomeState) -> Self {
        Self {
            state,
            elapsed: Duration::ZERO,
            failure: None,
            mime_type: "",
            data: Arc::default(),
            bytes: 0,
            truncated: false,
            dialog: None,
            advice: None,
            meta: Map::new(),
        }
    }

    /// Of a request that is not here: what its host held has ended with it.
    fn absent(error: &WebViewError) -> Self {
        Self::empty(match error {
            WebViewError::HostEnded { .. } => OutcomeState::Expired,
            _ => OutcomeState::Unknown,
        })
    }

    /// Nothing of a request that its page does not know.
    fn of(state: &PageState, id: RequestId, now: Instant) -> Option<Self> {
        let request = match state.requests.look(id) {
            RequestLookup::Unknown => return None,
            RequestLookup::Expired => return Some(Self::empty(OutcomeState::Expired)),
            RequestLookup::Kept(request) => request,
        };
        let since = |until: Instant| until.saturating_duration_since(request.made);
        let outcome = match &request.state {
            requests::RequestState::Pending { .. } => {
                Self { elapsed: since(now), ..Self::empty(OutcomeState::Pending) }
            }
            requests::RequestState::Ended { at, ended: RequestEnd::Failed(failure) } => {
                Self { elapsed: since(*at), failure: Some(failure.clone()), ..Self::empty(OutcomeState::Failed) }
            }
            requests::RequestState::Ended { at, ended: RequestEnd::Done(done) } => Self {
                elapsed: since(*at),
                mime_type: done.mime_type,
                data: Arc::clone(&done.data),
                bytes: done.bytes,
                truncated: done.bytes > done.data.len() as u64,
                meta: done.meta.clone(),
                ..Self::empty(OutcomeState::Done)
            },
        };
        Some(Self { dialog: state.dialog(now), ..outcome })
    }
}

/// A request that is pending, or whose end is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestInfo {
    /// Its handle.
    pub id: RequestId,
    /// `script`, or the name of the operation.
    pub kind: &'static str,
    /// `pending`, `done` or `failed`.
    pub state: OutcomeState,
    /// Since it was made; of one that has ended, until it ended.
    pub elapsed: Duration,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// Why it failed.
    pub failure: Option<FailureKind>,
}

impl RequestInfo {
    fn of(id: RequestId, request: &Request, now: Instant) -> Self {
        let since = |until: Instant| until.saturating_duration_since(request.made);
        let (state, until, bytes, failure) = match &request.state {
            requests::RequestState::Pending { .. } => (OutcomeState::Pending, now, 0, None),
            requests::RequestState::Ended { at, ended: RequestEnd::Done(done) } => {
                (OutcomeState::Done, *at, done.bytes, None)
            }
            requests::RequestState::Ended { at, ended: RequestEnd::Failed(failure) } => {
                (OutcomeState::Failed, *at, 0, Some(failure.kind))
            }
        };
        Self { id, kind: request.kind, state, elapsed: since(until), bytes, failure }
    }
}

impl WebViews {
    /// The requests of a page that are pending or whose ends are kept, the newest
    /// first: as many as `requests_per_page` at most. This counts as no use of the page.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`].
    pub fn requests(&self, owner: &WebViewOwner, page: PageId) -> Result<Vec<RequestInfo>, WebViewError> {
        let page = self.find(owner, page)?;
        Ok(self.core.look(&page, |state, now| {
            state.requests.list().into_iter().map(|(id, request)| RequestInfo::of(id, request, now)).collect()
        }))
    }

    /// The page of a request that is pending, kept or remembered as expired.
    ///
    /// # Errors
    /// [`WebViewError::NoRequest`].
    pub fn page_of(&self, owner: &WebViewOwner, request: RequestId) -> Result<PageId, WebViewError> {
        Ok(self.find_request(owner, request)?.id)
    }

    /// The result of a request so far; never waits. Until it is acknowledged, each poll
    /// gives the same answer. A request of another owner is unknown. One that is not here
    /// and whose id names another host is expired.
    #[must_use]
    pub fn poll(&self, owner: &WebViewOwner, id: RequestId) -> Outcome {
        match self.find_request(owner, id) {
            Ok(page) => self.core.polled(&page, id, true),
            Err(absent) => Outcome::absent(&absent),
        }
    }

    /// The result of a request once it has ended, and at the latest after `patience`
    /// (limit `wait_milliseconds`). Returns earlier where a dialog waits for an answer.
    /// The future may be dropped at any time: nothing is lost by that.
    pub async fn wait(&self, owner: &WebViewOwner, id: RequestId, patience: Duration) -> Outcome {
        let page = match self.find_request(owner, id) {
            Ok(page) => page,
            Err(absent) => return Outcome::absent(&absent),
        };
        let time_up = Instant::now() + patience.min(Duration::from_millis(self.core.limits.wait_milliseconds));
        let mut changes = page.changes();
        let mut waited = false;
        loop {
            changes.borrow_and_update();
            let outcome = self.core.look(&page, |state, now| {
                state.touch(now);
                self.core.outcome(state, id, now)
            });
            let pending = outcome.state == OutcomeState::Pending;
            if !pending || outcome.dialog.is_some() || time_up <= Instant::now() {
                // A wait that returns at once counts as a poll.
                return if waited || !pending { outcome } else { self.core.polled(&page, id, false) };
            }
            waited = true;
            select! {
                _ = changes.changed() => {}
                () = sleep_until(time_up) => {}
            }
        }
    }

    /// Drops the result of a request that has ended. A pending request stays as it is.
    ///
    /// # Errors
    /// [`WebViewError::NoRequest`].
    pub fn acknowledge(&self, owner: &WebViewOwner, id: RequestId) -> Result<(), WebViewError> {
        let page = self.find_request(owner, id)?;
        let token = Token::random().map_err(WebViewError::no_randomness)?;
        self.core.change(&page, |state, now| {
            state.touch(now);
            if state.requests.acknowledge(id) {
                state.release(id, |cut| {
                    let (isolated, frame) = (cut.isolated, cut.frame.clone());
                    Injection { token, sources: page.result_store.drop(cut.number), isolated, frame }
                });
            }
        });
        Ok(())
    }

    /// Ends a request with `cancelled`, and stops what it does as far as the backend
    /// can. A request that has ended stays as it is.
    ///
    /// # Errors
    /// [`WebViewError::NoRequest`].
    pub fn cancel(&self, owner: &WebViewOwner, id: RequestId) -> Result<(), WebViewError> {
        let page = self.find_request(owner, id)?;
        self.core.change(&page, |state, now| {
            state.touch(now);
            state.fail(now, id, Failure::new(FailureKind::Cancelled, "it was cancelled"));
        });
        Ok(())
    }
}

impl Core {
    /// The outcome of a request of this page.
    fn outcome(&self, state: &PageState, id: RequestId, now: Instant) -> Outcome {
        Outcome::of(state, id, now).unwrap_or_else(|| Outcome::absent(&WebViewError::NoRequest))
    }

    /// The outcome, with advice for callers that poll too often.
    fn polled(&self, page: &Page, id: RequestId, used: bool) -> Outcome {
        self.look(page, |state, now| {
            if used {
                state.touch(now);
            }
            let mut outcome = self.outcome(state, id, now);
            if let Some(polls) = state.requests.polls(id) {
                let pending = IsPending(outcome.state == OutcomeState::Pending);
                let settings = self.settings.polls.of(&page.owner.tenant, &page.owner.session);
                let guidance = polls.record(outcome.elapsed, pending, &settings, &self.counters.polls);
                outcome.advice = guidance.map(|guidance| guidance.text);
            }
            outcome
        })
    }
}
