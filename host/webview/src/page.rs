//! One page: its state behind one lock, and the way from there to a backend.
//!
//! Every change of a page goes through [`Page::change`]: time passes first, then the
//! change is made, and once the lock is free, the commands to the backend are handed
//! over in the order in which they were decided. It never knows other pages, nor how
//! many an owner may have.

mod cut_results;
mod dialog;
mod entries;
mod events;
mod info;
mod life;
mod log;
mod outbox;
mod picture;
mod state;

use std::{path::PathBuf, sync::Arc};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    runtime::Handle,
    sync::{Notify, watch},
    time::Instant,
};
use wharf_core::{OriginPolicy, WebViewOwner, WorkspaceStay};

pub use dialog::{DialogPolicy, dialog_policy_named};
pub(crate) use entries::{clean, download};
pub use info::{CloseReason, Dialog, PageInfo, PageStatus};
pub use log::{LogName, LogPage, log_named};
pub(crate) use outbox::BackendCommand;
use picture::Picture;
pub(crate) use state::{PageState, TokenClaim};

use crate::{PageId, PageShares, WebViewBackend, wrapper::ResultStore};

/// The workspace of a page's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWorkspace {
    /// The directory of the workspace's files.
    pub files: PathBuf,
    /// The owner of its files, where that is not the host's own user.
    pub user: Option<u32>,
    /// Keeps it from being removed while the page is open.
    pub stay: Option<WorkspaceStay>,
}

/// The fixed parts of a page that is about to be made.
#[derive(Debug)]
pub(crate) struct NewPage {
    pub(crate) id: PageId,
    pub(crate) serial: u64,
    pub(crate) result_store: ResultStore,
    pub(crate) runtime: Handle,
    pub(crate) policy: Arc<OriginPolicy>,
    pub(crate) downloads: bool,
    pub(crate) shares: PageShares,
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) id: PageId,
    /// In which order it was opened.
    pub(crate) serial: u64,
    pub(crate) owner: WebViewOwner,
    pub(crate) workspace: Option<PageWorkspace>,
    pub(crate) opened: DateTime<Utc>,
    /// Where it may go.
    pub(crate) policy: Arc<OriginPolicy>,
    /// Whether its downloads are kept.
    pub(crate) downloads: bool,
    /// Where the page keeps the results that were cut.
    pub(crate) result_store: ResultStore,
    /// Takes its shares of the quotas.
    pub(crate) shares: PageShares,
    /// The runtime of its own tasks, from whichever thread they are spawned.
    pub(crate) runtime: Handle,
    state: Mutex<PageState>,
    changes: watch::Sender<()>,
    picture: Picture,
    /// Wakes its keeper.
    pub(crate) alarm: Notify,
}

impl Page {
    pub(crate) fn new(
        known: NewPage,
        owner: WebViewOwner,
        mut workspace: Option<PageWorkspace>,
        mut state: PageState,
    ) -> Self {
        // A page is remembered after its end, and its workspace may go then.
        state.stay = workspace.as_mut().and_then(|workspace| workspace.stay.take());
        let NewPage { id, serial, result_store, runtime, policy, downloads, shares } = known;
        let (changes, _) = watch::channel(());
        let (state, opened) = (Mutex::new(state), Utc::now());
        Self {
            id,
            serial,
            owner,
            workspace,
            opened,
            downloads,
            result_store,
            shares,
            runtime,
            policy,
            state,
            changes,
            picture: Picture::default(),
            alarm: Notify::new(),
        }
    }

    /// Held for a look or a change, never across an await or a call of a backend.
    fn lock(&self) -> MutexGuard<'_, PageState> {
        // Each change leaves a state that holds.
        self.state.lock()
    }

    /// Lets time pass, makes a change, wakes the tasks that wait, and hands commands
    /// over to the backend.
    pub(crate) fn change<T>(
        &self,
        backend: &dyn WebViewBackend,
        change: impl FnOnce(&mut PageState, Instant) -> T,
    ) -> T {
        self.with(backend, true, change)
    }

    /// As [`Page::change`], without a change: it wakes the tasks that wait only where
    /// time has changed something.
    pub(crate) fn look<T>(&self, backend: &dyn WebViewBackend, look: impl FnOnce(&mut PageState, Instant) -> T) -> T {
        self.with(backend, false, look)
    }

    fn with<T>(&self, backend: &dyn WebViewBackend, told: bool, act: impl FnOnce(&mut PageState, Instant) -> T) -> T {
        let (acted, passed, early) = {
            let mut state = self.lock();
            let now = Instant::now();
            let passed = state.pass(now);
            let acted = act(&mut state, now);
            (acted, passed, state.needs_alarm())
        };
        if early {
            self.alarm.notify_one();
        }
        if told || passed {
            self.changes.send_replace(());
        }
        self.hand_over(backend);
        acted
    }

    /// Looks or makes a change without letting time pass, for callers that hold a lock
    /// of their own. It wakes no task: call [`Page::change`] later for that.
    pub(crate) fn decide<T>(&self, change: impl FnOnce(&mut PageState, Instant) -> T) -> T {
        change(&mut self.lock(), Instant::now())
    }

    /// When its keeper has to look next. The keeper relies on that from now on.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.lock().next()
    }

    /// Tells of each change.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn info(&self, state: &PageState, now: Instant) -> PageInfo {
        state.info(self.id, self.opened, now)
    }

    /// Hands over the commands that wait, unless another thread does so already: that
    /// thread goes on until none is left.
    fn hand_over(&self, backend: &dyn WebViewBackend) {
        if !self.lock().outbox.begin() {
            return;
        }
        let broken_off = BrokenOff(self);
        loop {
            let Some(command) = self.lock().outbox.take() else { break };
            command.carry_out(self.id, backend);
        }
        std::mem::forget(broken_off);
    }
}

/// Lets another thread go on where a backend panics.
struct BrokenOff<'p>(&'p Page);

impl Drop for BrokenOff<'_> {
    fn drop(&mut self) {
        self.0.lock().outbox.give_up();
    }
}
