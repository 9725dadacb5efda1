//! One request: what it does, its state, and the request to begin it.

use std::time::Duration;

use tokio::time::Instant;
use wharf_completion::polls::{Polled, Polls, Subject};

use super::outcome::RequestEnd;
use crate::{Failure, RequestId, Token, shares::RequestShares};

/// What a request does, as far as its end depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestWork {
    /// A script.
    Script { isolated: bool, frame: Option<String>, max_bytes: usize },
    /// An operation.
    Order(OrderEffect),
}

/// The effect of an order on its page, as far as the core has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEffect {
    /// It loads a document, which also revives a crashed page.
    Navigation,
    /// It works on the present document, and ends with it.
    Document,
    /// It changes the size of the viewport.
    Resize { width: u32, height: u32 },
    /// Anything else.
    Other,
}

impl RequestWork {
    /// Whether it goes on when its page leaves the document.
    pub(super) fn outlives_document(&self) -> bool {
        match self {
            Self::Script { .. } | Self::Order(OrderEffect::Document) => false,
            Self::Order(OrderEffect::Navigation | OrderEffect::Resize { .. } | OrderEffect::Other) => true,
        }
    }
}

/// A request that is pending, or whose end is kept.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) made: Instant,
    /// In which order it was made.
    pub(super) number: u64,
    pub(crate) kind: &'static str,
    pub(crate) work: RequestWork,
    pub(crate) state: RequestState,
    pub(super) polls: Polls<IsPending>,
    pub(super) shares: RequestShares,
}

/// The state of a request.
#[derive(Debug)]
pub(crate) enum RequestState {
    Pending { token: Token, deadline: Instant, patience: Duration },
    Ended { at: Instant, ended: RequestEnd },
}

/// Whether a request is pending, for the judgement of polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsPending(pub(crate) bool);

impl Polled for IsPending {
    const SUBJECT: Subject = Subject::Request;

    fn runs(self) -> bool {
        self.0
    }
}

/// What a request does, and its shares.
#[derive(Debug)]
pub(crate) struct RequestTask {
    /// `script`, or the name of the operation.
    pub(crate) kind: &'static str,
    pub(crate) work: RequestWork,
    pub(crate) shares: RequestShares,
}

/// A request that is to begin.
#[derive(Debug)]
pub(crate) struct NewRequest {
    pub(crate) id: RequestId,
    pub(crate) token: Token,
    pub(crate) task: RequestTask,
    pub(crate) patience: Duration,
    /// Why it cannot succeed, whatever state the page is in.
    pub(crate) unable: Option<Failure>,
}
