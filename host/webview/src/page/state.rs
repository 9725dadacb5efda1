//! The state of a page: its requests, dialog and logs, and the commands to its backend.
//!
//! Reads no clock and calls no backend: [`super::Page`] does, around it.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::Map;
use tokio::{sync::oneshot, time::Instant};
use wharf_contract::webview::POPUPS;
use wharf_core::{Share, WebViewLimits, WorkspaceStay};

use super::{
    cut_results::{CutResult, CutResults},
    dialog::{DialogPolicy, PageDialog},
    info::{CloseReason, Dialog, PageInfo},
    log::PageLogs,
    outbox::{BackendCommand, BackendOutbox},
};
use crate::{
    DialogAnswer, Failure, FailureKind, Injection, Operation, PageId, PageShares, RequestId, Settled, Token,
    WebViewError,
    requests::{AllPending, NewRequest, OrderEffect, RequestEnd, RequestWork, Requests},
    shares::OpenPageShares,
};

/// What a token settles.
#[derive(Debug)]
pub(crate) enum TokenClaim {
    /// A request.
    Request(RequestId, RequestWork),
    /// A read of the core's own.
    Read(oneshot::Sender<Settled>),
    /// A script of the core's own whose result is ignored.
    Aside,
}

/// The stage of a page's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageLife {
    Opening,
    Open,
    /// Asked to close; its backend has not said that it is.
    Closing(CloseReason),
    Closed(CloseReason),
}

#[derive(Debug)]
pub(crate) struct PageState {
    limits: Arc<WebViewLimits>,
    pub(super) life: PageLife,
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
    /// Whether it was given files, which have to be removed in the end.
    pub(crate) staged: bool,
    /// The share of those files.
    pub(crate) transfer: Share,
    pub(super) places: OpenPageShares,
    /// Keeps its workspace, as long as it is open.
    pub(crate) stay: Option<WorkspaceStay>,
    /// Its place among closed pages.
    pub(crate) remembered: Option<Share>,
    used: Instant,
    last_used: DateTime<Utc>,
    pub(super) ended: Option<Instant>,
    pub(crate) forgotten: bool,
    pub(crate) requests: Requests,
    pub(super) dialog: PageDialog,
    pub(crate) logs: PageLogs,
    /// Commands that wait until the page is open.
    pub(super) held: Vec<BackendCommand>,
    pub(crate) outbox: BackendOutbox,
    pub(super) cut_results: CutResults,
    last_number: u64,
    /// When the keeper of the page looks next.
    keeper: Option<Instant>,
}

impl PageState {
    pub(crate) fn new(
        now: Instant,
        limits: Arc<WebViewLimits>,
        dialogs: DialogPolicy,
        (width, height): (u32, u32),
        open: BackendCommand,
        (places, shares): (OpenPageShares, &PageShares),
    ) -> Self {
        let mut outbox = BackendOutbox::default();
        outbox.push(open);
        Self {
            life: PageLife::Opening,
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
            stay: None,
            remembered: None,
            used: now,
            last_used: Utc::now(),
            ended: None,
            forgotten: false,
            requests: Requests::new(Arc::clone(&limits)),
            dialog: PageDialog::new(dialogs, Duration::from_millis(limits.dialog_milliseconds)),
            logs: PageLogs::new(&limits, shares),
            held: Vec::new(),
            outbox,
            cut_results: CutResults::default(),
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
        self.dismiss_dialog(now) | changed
    }

    pub(super) fn next(&mut self) -> Option<Instant> {
        self.keeper = self.due();
        self.keeper
    }

    /// Whether something is due before the keeper looks next.
    pub(super) fn needs_alarm(&self) -> bool {
        self.forgotten
            || (self.staged && self.is_closed())
            || self.due().is_some_and(|due| self.keeper.is_none_or(|keeper| due < keeper))
    }

    fn due(&self) -> Option<Instant> {
        self.requests.next().into_iter().chain(self.dialog.due()).min()
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
            closed_because: self.close_reason(),
            meta: Map::from_iter([(POPUPS.to_owned(), self.popups.into())]),
        }
    }

    /// Notes that somebody uses the page.
    pub(crate) fn touch(&mut self, now: Instant) {
        self.used = now;
        self.last_used = Utc::now();
    }

    /// For how long it has not been used; none while requests are pending, or once it
    /// is closed.
    pub(crate) fn idle(&self, now: Instant) -> Option<Duration> {
        let idle = self.is_open() && self.requests.pending() == 0;
        idle.then(|| now.saturating_duration_since(self.used))
    }

    /// The number of the next files that the page is given.
    pub(crate) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Begins a request, and hands its command on; without a command yet, the caller
    /// does that later. A request that cannot succeed has failed at once.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        request: NewRequest,
        command: Option<BackendCommand>,
    ) -> Result<(), WebViewError> {
        self.usable()?;
        self.touch(now);
        let NewRequest { id, token, task, patience, unable } = request;
        let full = |AllPending| WebViewError::TooManyRequests { limit: self.limits.requests_per_page };
        let stops = matches!(&command, Some(BackendCommand::Perform(order)) if order.operation == Operation::Stop);
        let behind = if stops { None } else { self.dialog.blocks() };
        if let Some(failure) = unable.or(behind).or_else(|| self.behind_crash(&task.work)) {
            return self.requests.begin_failed(now, id, task, failure).map_err(full);
        }
        self.requests.begin(now, id, token, task, patience).map_err(full)?;
        if let Some(command) = command {
            self.hand(command);
        }
        Ok(())
    }

    /// The dialog that waits for an answer.
    pub(crate) fn dialog(&self, now: Instant) -> Option<Dialog> {
        self.dialog.shown(now)
    }

    /// Answers the dialog that waits. Whether there was one.
    pub(crate) fn answer(&mut self, answer: DialogAnswer) -> bool {
        let waited = self.dialog.answered();
        if waited {
            self.outbox.push(BackendCommand::Answer(answer));
        }
        waited
    }

    /// Dismisses a dialog that has waited for long enough. Whether it has.
    fn dismiss_dialog(&mut self, now: Instant) -> bool {
        self.dialog.due().is_some_and(|due| due <= now) && self.answer(DialogAnswer { accept: false, text: None })
    }

    /// Where the page keeps the rest of a result.
    pub(crate) fn cut(&self, id: RequestId) -> Option<&CutResult> {
        self.cut_results.find(id)
    }

    /// Forgets where it does, and has the page drop it by the script that `release`
    /// writes.
    pub(crate) fn release(&mut self, id: RequestId, release: impl FnOnce(&CutResult) -> Injection) {
        let Some(cut) = self.cut_results.remove(id).filter(|_| self.is_open() && !self.crashed) else { return };
        let injection = self.cut_results.release(|| release(&cut));
        self.outbox.extend(injection.map(BackendCommand::Inject));
    }

    /// Expects the answer to a read of the core's own; none where as many are on their
    /// way as may be, or the page can answer none.
    pub(crate) fn expect_read(&mut self, token: Token) -> Option<oneshot::Receiver<Settled>> {
        if self.is_open() { self.cut_results.expect_read(token) } else { None }
    }

    /// Gives a read up: its reader waits no longer.
    pub(crate) fn give_up_read(&mut self, token: Token) {
        if self.cut_results.claim_read(token).is_some() {
            self.outbox.push(BackendCommand::Interrupt(token));
        }
    }

    /// Hands a command on, once the page is open.
    pub(crate) fn hand(&mut self, command: BackendCommand) {
        if self.life == PageLife::Opening {
            self.held.push(command);
        } else {
            self.outbox.push(command);
        }
    }

    fn behind_crash(&self, work: &RequestWork) -> Option<Failure> {
        let mends = matches!(work, RequestWork::Order(OrderEffect::Navigation));
        (self.crashed && !mends).then(|| crashed("this page has crashed; navigate or reload it first"))
    }

    /// Takes a token, once.
    pub(crate) fn claim(&mut self, token: Token) -> Option<TokenClaim> {
        if let Some(read) = self.cut_results.claim_read(token) {
            return Some(TokenClaim::Read(read));
        }
        if self.cut_results.claim_release(token) {
            return Some(TokenClaim::Aside);
        }
        self.requests.claim(token).map(|(id, work)| TokenClaim::Request(id, work))
    }

    /// Ends a request, for whose result `share` has room. False where it has ended
    /// already.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        id: RequestId,
        work: &RequestWork,
        (ended, share): (RequestEnd, Option<Share>),
    ) -> bool {
        let rest = match &ended {
            RequestEnd::Done(done) => done.rest,
            RequestEnd::Failed(_) => None,
        };
        let done = matches!(ended, RequestEnd::Done(_));
        if !self.requests.finish(now, id, ended, share) {
            return false;
        }
        match work {
            RequestWork::Order(OrderEffect::Navigation) if done => self.crashed = false,
            RequestWork::Order(OrderEffect::Resize { width, height }) if done => {
                (self.width, self.height) = (*width, *height)
            }
            RequestWork::Script { isolated, frame, .. } => {
                if let Some(number) = rest {
                    let (isolated, frame) = (*isolated, frame.clone());
                    let cut = CutResult { number, isolated, frame };
                    self.cut_results.add(id, cut, |other| self.requests.keeps(other));
                }
            }
            RequestWork::Order(_) => {}
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
            self.outbox.push(BackendCommand::Interrupt(token));
        }
    }
}

pub(super) fn crashed(message: &str) -> Failure {
    Failure::new(FailureKind::Crashed, message)
}
