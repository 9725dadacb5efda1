//! The requests of one page: those that are pending, the results of those that ended,
//! and the ids of those that expired.
//!
//! A request goes one way: pending, ended, expired, unknown. It owns the limits on how
//! many there are, how much is kept and how long. It reads no clock, locks nothing, and
//! never knows a backend: times are handed in, and the tokens of what has to be
//! interrupted are handed back.

mod expired;
mod outcome;
mod request;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;
use wharf_completion::polls::Polls;
use wharf_core::{Share, WebViewLimits};

use self::expired::ExpiredRequests;
pub(crate) use self::{
    outcome::{RequestEnd, RequestResult},
    request::{IsPending, NewRequest, OrderEffect, Request, RequestState, RequestTask, RequestWork},
};
use crate::{Failure, FailureKind, RequestId, Token};

/// The result of a look-up.
#[derive(Debug)]
pub(crate) enum RequestLookup<'r> {
    /// It is pending, or its end is kept.
    Kept(&'r Request),
    /// It ended, and its result is not kept.
    Expired,
    /// There is none, or that is forgotten.
    Unknown,
}

/// There is no room for a further request, since all are pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllPending;

/// The requests of one page.
#[derive(Debug)]
pub(crate) struct Requests {
    limits: Arc<WebViewLimits>,
    kept: HashMap<RequestId, Request>,
    /// Tokens of requests that are not settled.
    tokens: HashMap<Token, RequestId>,
    deadlines: BTreeSet<(Instant, RequestId)>,
    /// Those that ended, the oldest end first.
    ended: VecDeque<RequestId>,
    expired: ExpiredRequests,
    bytes: u64,
    last_number: u64,
}

impl Requests {
    pub(crate) fn new(limits: Arc<WebViewLimits>) -> Self {
        let expired = ExpiredRequests::new(usize::try_from(limits.tombstones_per_page).unwrap_or(usize::MAX));
        Self {
            limits,
            kept: HashMap::new(),
            tokens: HashMap::new(),
            deadlines: BTreeSet::new(),
            ended: VecDeque::new(),
            expired,
            bytes: 0,
            last_number: 0,
        }
    }

    /// Adds a request that is pending for at most `patience`.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        id: RequestId,
        token: Token,
        task: RequestTask,
        patience: Duration,
    ) -> Result<(), AllPending> {
        self.make_room()?;
        let deadline = now + patience;
        self.tokens.insert(token, id);
        self.deadlines.insert((deadline, id));
        self.insert(now, id, task, RequestState::Pending { token, deadline, patience });
        Ok(())
    }

    /// Adds a request that has failed before its backend was asked.
    pub(crate) fn begin_failed(
        &mut self,
        now: Instant,
        id: RequestId,
        mut task: RequestTask,
        failure: Failure,
    ) -> Result<(), AllPending> {
        self.make_room()?;
        let ended = RequestEnd::Failed(failure);
        set(&mut task.shares.bytes, ended.size());
        self.insert(now, id, task, RequestState::Ended { at: now, ended });
        self.keep(id);
        Ok(())
    }

    fn insert(&mut self, now: Instant, id: RequestId, task: RequestTask, state: RequestState) {
        self.last_number += 1;
        let (number, RequestTask { kind, work, shares }) = (self.last_number, task);
        self.kept.insert(id, Request { made: now, number, kind, work, state, polls: Polls::default(), shares });
    }

    fn make_room(&mut self) -> Result<(), AllPending> {
        while self.kept.len() as u64 >= self.limits.requests_per_page {
            let oldest = self.ended.front().copied().ok_or(AllPending)?;
            self.expire(oldest);
        }
        Ok(())
    }

    /// Whether a request is pending, or its end is kept.
    pub(crate) fn keeps(&self, id: RequestId) -> bool {
        self.kept.contains_key(&id)
    }

    /// Whether a token can still settle something.
    pub(crate) fn awaits(&self, token: Token) -> bool {
        self.tokens.contains_key(&token)
    }

    /// Takes a token, once: what it settles.
    pub(crate) fn claim(&mut self, token: Token) -> Option<(RequestId, RequestWork)> {
        let id = self.tokens.remove(&token)?;
        Some((id, self.kept.get(&id)?.work.clone()))
    }

    /// Ends a request, where it is still pending. Whether it was. `share` has room for
    /// its result; a result without one is so small that it needs none.
    pub(crate) fn finish(&mut self, now: Instant, id: RequestId, ended: RequestEnd, share: Option<Share>) -> bool {
        let Some(request) = self.kept.get_mut(&id) else { return false };
        let RequestState::Pending { token, deadline, .. } = request.state else { return false };
        match share {
            Some(share) => request.shares.bytes = share,
            None => set(&mut request.shares.bytes, ended.size()),
        }
        request.state = RequestState::Ended { at: now, ended };
        self.tokens.remove(&token);
        self.deadlines.remove(&(deadline, id));
        self.keep(id);
        true
    }

    /// Ends a request with a failure, where it is pending. Its token, since a backend
    /// may still work on it.
    pub(crate) fn fail(&mut self, now: Instant, id: RequestId, failure: Failure) -> Option<Token> {
        let RequestState::Pending { token, .. } = self.kept.get(&id)?.state else { return None };
        self.finish(now, id, RequestEnd::Failed(failure), None);
        Some(token)
    }

    /// Ends the requests that depend on the document of the page.
    pub(crate) fn leave_document(&mut self, now: Instant, failure: &Failure) {
        self.fail_where(now, failure, |work| !work.outlives_document());
    }

    /// Ends all that is pending.
    pub(crate) fn fail_all(&mut self, now: Instant, failure: &Failure) {
        self.fail_where(now, failure, |_| true);
    }

    fn fail_where(&mut self, now: Instant, failure: &Failure, which: impl Fn(&RequestWork) -> bool) {
        // The earliest deadline first, so that the order does not depend on chance.
        let pending: Vec<_> = self.deadlines.iter().map(|(_, id)| *id).collect();
        for id in pending {
            if self.kept.get(&id).is_some_and(|request| which(&request.work)) {
                self.finish(now, id, RequestEnd::Failed(failure.clone()), None);
            }
        }
    }

    /// Lets time pass: ends requests that took too long, and expires results that were
    /// kept for long enough. The tokens of the requests that it ended, since a backend
    /// may still work on them.
    pub(crate) fn pass(&mut self, now: Instant) -> Vec<Token> {
        let mut late = Vec::new();
        while let Some((deadline, id)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            let patience = match self.kept.get(&id).map(|request| &request.state) {
                Some(RequestState::Pending { patience, .. }) => *patience,
                _ => Duration::ZERO,
            };
            let message = format!(
                "it took longer than the {} ms that it had; ask for more with `milliseconds`, or see what keeps the page",
                patience.as_millis()
            );
            // As of its deadline, so that the result does not depend on when anybody looks.
            late.extend(self.fail(deadline, id, Failure::new(FailureKind::TimeOut, message)));
        }
        let kept_for = Duration::from_secs(self.limits.kept_seconds);
        while let Some(oldest) = self.ended.front().copied() {
            match self.kept.get(&oldest).map(|request| &request.state) {
                Some(RequestState::Ended { at, .. }) if *at + kept_for > now => break,
                _ => self.expire(oldest),
            }
        }
        late
    }

    /// When time will next change something.
    pub(crate) fn next(&self) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        let expiry = self.ended.front().and_then(|id| match self.kept.get(id)?.state {
            RequestState::Ended { at, .. } => Some(at + Duration::from_secs(self.limits.kept_seconds)),
            RequestState::Pending { .. } => None,
        });
        deadline.into_iter().chain(expiry).min()
    }

    pub(crate) fn look(&self, id: RequestId) -> RequestLookup<'_> {
        match self.kept.get(&id) {
            Some(request) => RequestLookup::Kept(request),
            None if self.expired.contains(id) => RequestLookup::Expired,
            None => RequestLookup::Unknown,
        }
    }

    /// The polls of a request that is pending or kept.
    pub(crate) fn polls(&mut self, id: RequestId) -> Option<&mut Polls<IsPending>> {
        self.kept.get_mut(&id).map(|request| &mut request.polls)
    }

    /// Drops the result of a request that has ended. Whether it was kept.
    pub(crate) fn acknowledge(&mut self, id: RequestId) -> bool {
        let ended = matches!(self.kept.get(&id), Some(Request { state: RequestState::Ended { .. }, .. }));
        if ended {
            self.expire(id);
        }
        ended
    }

    /// When the oldest request whose result is kept ended.
    pub(crate) fn oldest_end(&self) -> Option<Instant> {
        match self.kept.get(self.ended.front()?)?.state {
            RequestState::Ended { at, .. } => Some(at),
            RequestState::Pending { .. } => None,
        }
    }

    /// Drops the oldest result. Whether there was one.
    pub(crate) fn let_go_of_oldest(&mut self) -> bool {
        let oldest = self.ended.front().copied();
        oldest.is_some_and(|oldest| {
            self.expire(oldest);
            true
        })
    }

    /// Drops all results.
    pub(crate) fn clear(&mut self) {
        while self.let_go_of_oldest() {}
    }

    /// Those that are pending or kept, the newest first.
    pub(crate) fn list(&self) -> Vec<(RequestId, &Request)> {
        let mut all: Vec<_> = self.kept.iter().map(|(id, request)| (*id, request)).collect();
        all.sort_by_key(|(_, request)| std::cmp::Reverse(request.number));
        all
    }

    pub(crate) fn pending(&self) -> usize {
        self.deadlines.len()
    }

    /// How many results are kept, and their bytes.
    pub(crate) fn held(&self) -> (usize, u64) {
        (self.ended.len(), self.bytes)
    }

    /// How many are remembered as expired.
    pub(crate) fn remembered(&self) -> usize {
        self.expired.len()
    }

    /// Counts the result of a request that has just ended, and makes room for it.
    fn keep(&mut self, id: RequestId) {
        self.ended.push_back(id);
        self.bytes += self.size(id);
        // The newest stays: its size was bounded before.
        while self.bytes > self.limits.result_bytes_per_page && self.ended.len() > 1 {
            let Some(oldest) = self.ended.front().copied() else { break };
            self.expire(oldest);
        }
    }

    fn expire(&mut self, id: RequestId) {
        let size = self.size(id);
        if self.kept.remove(&id).is_none() {
            return;
        }
        self.bytes -= size;
        if self.ended.front() == Some(&id) {
            self.ended.pop_front();
        } else {
            self.ended.retain(|other| *other != id);
        }
        self.expired.remember(id);
    }

    fn size(&self, id: RequestId) -> u64 {
        match self.kept.get(&id).map(|request| &request.state) {
            Some(RequestState::Ended { ended, .. }) => ended.size(),
            _ => 0,
        }
    }
}

/// Sets the amount of a share, even beyond its limit.
fn set(share: &mut Share, amount: u64) {
    let held = share.amount();
    share.shrink(held.saturating_sub(amount));
    share.record(amount.saturating_sub(held));
}

#[cfg(test)]
mod tests;
