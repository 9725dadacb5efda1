//! One page: its state behind one lock, and the way from there to a backend.
//!
//! Whatever happens to a page goes through [`Page::change`]: time passes first, then
//! the change is made, and what a backend has to do about it is handed over once the
//! lock is free, in the order in which it was decided. It never knows other pages,
//! nor who may have how many.

mod dialog;
mod entries;
mod events;
mod info;
mod life;
mod log;
mod outbox;
mod rest;
mod state;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use tokio::{
    runtime::Handle,
    sync::{Notify, watch},
    time::Instant,
};
use wharf_core::WebViewOwner;

pub use dialog::{DialogPolicy, dialog_policy_named};
pub(crate) use entries::{clean, download};
pub use info::{CloseReason, Dialog, PageInfo, Status};
pub use log::{Log, LogPage, log_named};
pub(crate) use outbox::Command;
pub(crate) use state::{Claim, State};

use crate::{PageId, PageShares, WebViewBackend, wrapper::Shelf};

/// Where the files of a page's session are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The directory of the workspace's files.
    pub files: PathBuf,
    /// Who owns what is put there, where that is another user than the host's.
    pub user: Option<u32>,
}

/// What is known of a page before it is there.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: PageId,
    pub(crate) serial: u64,
    pub(crate) shelf: Shelf,
    pub(crate) runtime: Handle,
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
    pub(crate) place: Option<Place>,
    pub(crate) opened: DateTime<Utc>,
    /// Whether what it downloads is taken.
    pub(crate) downloads: bool,
    /// Where the page keeps what was cut.
    pub(crate) shelf: Shelf,
    /// Takes what it needs of what its session and its tenant may have.
    pub(crate) shares: PageShares,
    /// On which its own work runs, whichever thread asks for it.
    pub(crate) runtime: Handle,
    state: Mutex<State>,
    changes: watch::Sender<()>,
    /// Wakes its keeper.
    pub(crate) alarm: Notify,
}

impl Page {
    pub(crate) fn new(known: Known, owner: WebViewOwner, place: Option<Place>, state: State) -> Self {
        let Known { id, serial, shelf, runtime, downloads, shares } = known;
        let (changes, _) = watch::channel(());
        let (state, opened) = (Mutex::new(state), Utc::now());
        let alarm = Notify::new();
        Self { id, serial, owner, place, opened, downloads, shelf, shares, runtime, state, changes, alarm }
    }

    /// Held for a look or a change, never across an await or a call of a backend.
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change leaves a state that holds.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, makes a change, tells who waits, and hands over what a backend
    /// has to do.
    pub(crate) fn change<T>(&self, backend: &dyn WebViewBackend, change: impl FnOnce(&mut State, Instant) -> T) -> T {
        self.with(backend, true, change)
    }

    /// The same for what only looks: who waits is told of nothing but what time has
    /// changed.
    pub(crate) fn look<T>(&self, backend: &dyn WebViewBackend, look: impl FnOnce(&mut State, Instant) -> T) -> T {
        self.with(backend, false, look)
    }

    fn with<T>(&self, backend: &dyn WebViewBackend, told: bool, act: impl FnOnce(&mut State, Instant) -> T) -> T {
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

    /// Makes a change, or has a look, without letting time pass: for who holds a lock
    /// of its own. Nobody is told before [`Page::change`] is called.
    pub(crate) fn decide<T>(&self, change: impl FnOnce(&mut State, Instant) -> T) -> T {
        change(&mut self.lock(), Instant::now())
    }

    /// When its keeper has to look next, which from now on counts on that.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.lock().next()
    }

    /// What happened is told here.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn info(&self, state: &State, now: Instant) -> PageInfo {
        state.info(self.id, self.opened, now)
    }

    /// Hands over what waits, unless another thread is at it: that one goes on until
    /// nothing is left.
    fn hand_over(&self, backend: &dyn WebViewBackend) {
        if !self.lock().outbox.begin() {
            return;
        }
        let ends = outbox::Ends(self);
        loop {
            let Some(command) = self.lock().outbox.take() else { break };
            command.carry_out(self.id, backend);
        }
        std::mem::forget(ends);
    }
}
