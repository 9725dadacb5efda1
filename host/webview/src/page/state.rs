//! What a page is in: requests, dialog, logs, and what its backend has to do.
//!
//! Reads no clock and calls no backend: [`super::Page`] does, around it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde_json::Map;
use tokio::{sync::oneshot, time::Instant};
use wharf_contract::webview::POPUPS;
use wharf_core::{Share, WebViewLimits};

use super::{
    DialogPolicy, PageInfo,
    dialog::OpenDialog,
    life::{Life, crashed},
    log::Logs,
    outbox::{Command, Outbox},
    rest::Cut,
};
use crate::{
    Failure, Operation, PageId, PageShares, RequestId, Settled, Token, WebViewError,
    pages::Beginning,
    requests::{AllPending, Ended, Matter, Requests, Work},
    shares::Places,
    wrapper::RESULTS_IN_PAGE,
};

/// What a token turned out to settle.
#[derive(Debug)]
pub(crate) enum Claim {
    /// A request.
    Request(RequestId, Work),
    /// A read of the core's own.
    Read(oneshot::Sender<Settled>),
    /// Something of the core's own of which nobody waits to hear.
    Aside,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(super) limits: Arc<WebViewLimits>,
    pub(super) dialogs: DialogPolicy,
    pub(super) life: Life,
    pub(super) crashed: bool,
    pub(super) loading: bool,
    pub(super) url: String,
    pub(super) title: String,
    width: u32,
    height: u32,
    pub(super) popups: u64,
    pub(crate) downloads: u64,
    /// Bytes of files that it was given.
    pub(crate) staged_bytes: u64,
    /// Whether files wait for it that have to be removed.
    pub(crate) staged: bool,
    /// What those files take up.
    pub(crate) transfer: Share,
    pub(super) places: Places,
    /// Its place among closed pages.
    pub(crate) remembered: Option<Share>,
    used: Instant,
    last_used: DateTime<Utc>,
    pub(super) ended: Option<Instant>,
    pub(crate) forgotten: bool,
    pub(crate) requests: Requests,
    pub(super) dialog: Option<OpenDialog>,
    pub(crate) logs: Logs,
    /// What waits until the page is open.
    pub(super) held: Vec<Command>,
    pub(crate) outbox: Outbox,
    pub(super) cuts: VecDeque<Cut>,
    pub(super) reads: HashMap<Token, oneshot::Sender<Settled>>,
    pub(super) asides: HashSet<Token>,
    last_number: u64,
    /// When the keeper of the page looks next, as far as it knows.
    keeper: Option<Instant>,
}

impl State {
    pub(crate) fn new(
        now: Instant,
        limits: Arc<WebViewLimits>,
        dialogs: DialogPolicy,
        (width, height): (u32, u32),
        open: Command,
        (places, shares): (Places, &PageShares),
    ) -> Self {
        let mut outbox = Outbox::default();
        outbox.push(open);
        Self {
            dialogs,
            life: Life::Opening,
            crashed: false,
            loading: false,
            url: "about:blank".to_owned(),
            title: String::new(),
            width,
            height,
            popups: 0,
            downloads: 0,
            staged_bytes: 0,
            staged: false,
            transfer: shares.transfer(),
            places,
            remembered: None,
            used: now,
            last_used: Utc::now(),
            ended: None,
            forgotten: false,
            requests: Requests::new(Arc::clone(&limits)),
            dialog: None,
            logs: Logs::new(&limits, shares),
            held: Vec::new(),
            outbox,
            cuts: VecDeque::new(),
            reads: HashMap::new(),
            asides: HashSet::new(),
            last_number: 0,
            keeper: None,
            limits,
        }
    }

    /// Lets time pass. Whether it changed something.
    pub(super) fn pass(&mut self, now: Instant) -> bool {
        let held = self.requests.held();
        let late = self.requests.pass(now);
        let changed = !late.is_empty() || self.requests.held() != held;
        for token in late {
            self.interrupt(token);
        }
        self.pass_dialog(now) | changed
    }

    pub(super) fn next(&mut self) -> Option<Instant> {
        self.keeper = self.due();
        self.keeper
    }

    /// Whether something is due before the keeper looks.
    pub(super) fn needs_alarm(&self) -> bool {
        self.forgotten
            || (self.staged && self.is_closed())
            || self.due().is_some_and(|due| self.keeper.is_none_or(|keeper| due < keeper))
    }

    fn due(&self) -> Option<Instant> {
        self.requests.next().into_iter().chain(self.dialog_due()).min()
    }

    pub(super) fn info(&self, id: PageId, opened: DateTime<Utc>, now: Instant) -> PageInfo {
        PageInfo {
            id,
            status: self.status(),
            url: self.url.clone(),
            title: self.title.clone(),
            width: self.width,
            height: self.height,
            dialog: self.dialog(now),
            pending: self.requests.pending(),
            opened,
            last_used: self.last_used,
            closed_because: self.why(),
            meta: Map::from_iter([(POPUPS.to_owned(), self.popups.into())]),
        }
    }

    /// Notes that somebody uses the page.
    pub(crate) fn touch(&mut self, now: Instant) {
        self.used = now;
        self.last_used = Utc::now();
    }

    /// For how long nobody used it; none of what is pending or closed.
    pub(crate) fn idle(&self, now: Instant) -> Option<Duration> {
        let idle = self.is_open() && self.requests.pending() == 0;
        idle.then(|| now.saturating_duration_since(self.used))
    }

    /// The number of the next result, under which a page keeps what is cut.
    pub(crate) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Begins a request, and hands on what its backend has to do; where that is not
    /// known yet, whoever begins it does so later. Where it cannot succeed it has
    /// failed at once.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        beginning: Beginning,
        command: Option<Command>,
    ) -> Result<(), WebViewError> {
        self.usable()?;
        self.touch(now);
        let Beginning { id, token, task, patience, unable } = beginning;
        let full = |AllPending| WebViewError::TooManyRequests { limit: self.limits.requests_per_page };
        let stops = matches!(&command, Some(Command::Perform(order)) if order.operation == Operation::Stop);
        let behind = if stops { None } else { self.behind_dialog() };
        if let Some(failure) = unable.or(behind).or_else(|| self.behind_crash(&task.work)) {
            return self.requests.begin_failed(now, id, task, failure).map_err(full);
        }
        self.requests.begin(now, id, token, task, patience).map_err(full)?;
        if let Some(command) = command {
            self.hand(command);
        }
        Ok(())
    }

    /// Hands something on, once the page is open.
    pub(crate) fn hand(&mut self, command: Command) {
        if self.life == Life::Opening {
            self.held.push(command);
        } else {
            self.outbox.push(command);
        }
    }

    fn behind_crash(&self, work: &Work) -> Option<Failure> {
        let mends = matches!(work, Work::Order(Matter::Travel));
        (self.crashed && !mends).then(|| crashed("this page has crashed; navigate or reload it first"))
    }

    /// Takes a token, once.
    pub(crate) fn claim(&mut self, token: Token) -> Option<Claim> {
        if let Some(read) = self.reads.remove(&token) {
            return Some(Claim::Read(read));
        }
        if self.asides.remove(&token) {
            return Some(Claim::Aside);
        }
        self.requests.claim(token).map(|(id, work)| Claim::Request(id, work))
    }

    /// Notes what came of a request, for which `share` has room; false where that is
    /// decided already.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        id: RequestId,
        work: &Work,
        (ended, share): (Ended, Option<Share>),
    ) -> bool {
        let rest = match &ended {
            Ended::Done(done) => done.rest,
            Ended::Failed(_) => None,
        };
        let done = matches!(ended, Ended::Done(_));
        if !self.requests.finish(now, id, ended, share) {
            return false;
        }
        match work {
            Work::Order(Matter::Travel) if done => self.crashed = false,
            Work::Order(Matter::Size { width, height }) if done => (self.width, self.height) = (*width, *height),
            Work::Script { isolated, frame, .. } => {
                if let Some(number) = rest {
                    self.cuts.push_back(Cut { request: id, number, isolated: *isolated, frame: frame.clone() });
                    if self.cuts.len() > RESULTS_IN_PAGE {
                        self.cuts.pop_front();
                    }
                }
            }
            Work::Order(_) => {}
        }
        true
    }

    /// Ends a request with a failure, where it is pending, and stops it.
    pub(crate) fn fail(&mut self, now: Instant, id: RequestId, failure: Failure) {
        if let Some(token) = self.requests.fail(now, id, failure) {
            self.interrupt(token);
        }
    }

    fn interrupt(&mut self, token: Token) {
        let held = self.held.len();
        self.held.retain(|command| command.token() != Some(token));
        if self.held.len() == held && self.is_open() {
            self.outbox.push(Command::Interrupt(token));
        }
    }
}
