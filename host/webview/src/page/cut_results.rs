//! The results that a page keeps in part, and the core's own scripts that read them
//! on or have the page drop them. Nobody else sees those scripts.
//!
//! Knows neither the other requests of the page nor whether it is open.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;

use crate::{Injection, RequestId, Settled, Token, wrapper::RESULTS_IN_PAGE};

/// How many reads of cut results may be on their way at once.
const MAXIMUM_READS: usize = 8;

/// A result whose rest the page keeps.
#[derive(Debug, Clone)]
pub(crate) struct CutResult {
    pub(crate) number: u64,
    pub(crate) isolated: bool,
    pub(crate) frame: Option<String>,
}

/// The cut results of one page. All of them end with its document.
#[derive(Debug, Default)]
pub(super) struct CutResults {
    /// By the request that it is the result of.
    kept: HashMap<RequestId, CutResult>,
    reads: HashMap<Token, oneshot::Sender<Settled>>,
    releases: HashSet<Token>,
}

impl CutResults {
    /// Where the page keeps the rest of a result.
    pub(super) fn find(&self, id: RequestId) -> Option<&CutResult> {
        self.kept.get(&id)
    }

    /// Adds a result, and forgets those of requests that are not kept any more. The page
    /// keeps the newest and drops the others by itself, in the order in which they ended
    /// there. Here they arrive in another one, so only the page knows which it has.
    pub(super) fn add(&mut self, id: RequestId, cut: CutResult, is_kept: impl Fn(RequestId) -> bool) {
        self.kept.retain(|other, _| is_kept(*other));
        self.kept.insert(id, cut);
    }

    pub(super) fn remove(&mut self, id: RequestId) -> Option<CutResult> {
        self.kept.remove(&id)
    }

    /// The script that has the page drop a result, as `make` writes it. None where
    /// as many are unanswered already: a page that answers nothing is not asked again
    /// and again.
    pub(super) fn release(&mut self, make: impl FnOnce() -> Injection) -> Option<Injection> {
        if self.releases.len() >= RESULTS_IN_PAGE {
            return None;
        }
        let injection = make();
        self.releases.insert(injection.token);
        Some(injection)
    }

    /// Expects the answer to a read; none where as many are on their way as may be.
    pub(super) fn expect_read(&mut self, token: Token) -> Option<oneshot::Receiver<Settled>> {
        if self.reads.len() >= MAXIMUM_READS {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.reads.insert(token, sender);
        Some(receiver)
    }

    /// Takes the token of a read, once. Returns where its answer is waited for.
    pub(super) fn claim_read(&mut self, token: Token) -> Option<oneshot::Sender<Settled>> {
        self.reads.remove(&token)
    }

    /// Takes the token of a release, once. Whether it is one.
    pub(super) fn claim_release(&mut self, token: Token) -> bool {
        self.releases.remove(&token)
    }

    /// Forgets all: the document that kept them is gone, and pending reads fail.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
