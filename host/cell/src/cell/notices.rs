//! Tells the other hosts what plugins tell of changes here, and the clients here what the others
//! tell.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use wharf_core::service::{Audience, ChangeRelay, offer::Change};

use super::{Cell, Membership};
use crate::{
    notices::{Batch, Gathered, NoticeBus, Published, WireNotice},
    peer,
};

/// From one batch to the next: changes in between go together.
const GATHER: Duration = Duration::from_millis(50);

impl ChangeRelay for Cell {
    fn relay(&self, change: &Change) {
        self.shared.gathered.add(change);
    }
}

async fn tell(cell: Weak<Membership>, gathered: Arc<Gathered>, stop: CancellationToken) {
    loop {
        // The member is not held while nothing changes: its handle is what keeps it.
        let notices = tokio::select! {
            notices = gathered.take() => notices,
            () = stop.cancelled() => return,
        };
        let Some(cell) = cell.upgrade() else { return };
        tokio::select! {
            () = cell.tell(notices) => {}
            () = stop.cancelled() => return,
        }
        drop(cell);
        tokio::select! {
            () = tokio::time::sleep(GATHER) => {}
            () = stop.cancelled() => return,
        }
    }
}

async fn listen(cell: Weak<Membership>, bus: Arc<dyn NoticeBus>, stop: CancellationToken) {
    loop {
        let published = tokio::select! {
            published = bus.next() => published,
            () = stop.cancelled() => return,
        };
        let (Some(published), Some(cell)) = (published, cell.upgrade()) else { return };
        match Published::read(&published) {
            Some(Published::Batch(batch)) => cell.hear(batch),
            Some(Published::Installed { installed }) => cell.hear_of_plugins(installed),
            None => {}
        }
    }
}

impl Membership {
    /// Tells and hears until the member leaves.
    pub(super) fn follow_notices(self: &Arc<Self>) {
        let (weak, stop) = (Arc::downgrade(self), self.stop.clone());
        self.tasks.spawn(tell(weak.clone(), Arc::clone(&self.gathered), stop.clone()));
        if let Some(bus) = &self.settings.bus {
            self.tasks.spawn(listen(weak, Arc::clone(bus), stop));
        }
    }

    /// How many batches this host has told.
    pub(super) fn told(&self) -> u64 {
        self.told.load(Ordering::Acquire)
    }

    /// Tells the others, by the bus or one by one.
    async fn tell(&self, notices: Vec<WireNotice>) {
        let from = self.standing.incarnation();
        let number = self.told.fetch_add(1, Ordering::AcqRel) + 1;
        let body = Batch { from, number, notices }.body();
        if let Some(bus) = &self.settings.bus
            && bus.publish(body.clone()).await
        {
            return;
        }
        let others = self.roster.others(from);
        let patience = self.settings.times.silence;
        join_all(others.iter().map(|peer| peer::tell(&self.links, peer, body.clone(), patience))).await;
    }

    /// Tells the clients here what another host has told.
    pub(super) fn hear(&self, batch: Batch) {
        if batch.from == self.standing.incarnation() {
            return;
        }
        let Some(host) = self.host.get() else { return };
        for notice in self.heard.hear(batch) {
            host.heard(notice.into_change());
        }
    }

    /// What is installed has changed: the database says what it is.
    fn hear_of_plugins(&self, revision: i64) {
        self.plugins.send_if_modified(|known| {
            let is_later = revision > *known;
            *known = revision.max(*known);
            is_later
        });
    }

    /// Looks whether something was missed, by what the database says.
    pub(super) fn compare_notices(&self) {
        if self.heard.compare(&self.roster.told(self.standing.incarnation())) {
            tracing::debug!(target: "wharf::cell", "changes that another host has told were not heard here");
            self.everything_may_have_changed();
        }
    }

    pub(super) fn everything_may_have_changed(&self) {
        if let Some(host) = self.host.get() {
            host.heard(Change::Missed(Audience::default()));
        }
    }
}
