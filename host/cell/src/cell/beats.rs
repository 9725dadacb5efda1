//! What a member does each second: it beats, reads who lives, and lets go of what is idle.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use wharf_core::{service::Things, text::with_causes};

use super::Membership;
use crate::{Beat, HostReport, StoreUnavailable};

/// How often idle sessions are let go.
const LETTING_GO: Duration = Duration::from_secs(30);
/// How often certificates are read again.
const RENEWING: Duration = Duration::from_secs(60);

/// Keeps a member alive until it leaves.
pub(super) async fn keep(cell: Arc<Membership>) {
    let stop = cell.stop.clone();
    // The member's handle is what keeps it; this task is not.
    let weak = Arc::downgrade(&cell);
    let mut ticks = interval(cell.settings.times.beat);
    drop(cell);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_in_contact = true;
    let (mut let_go, mut renewed) = (Instant::now(), Instant::now());
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = stop.cancelled() => return,
        }
        let Some(cell) = weak.upgrade() else { return };
        match cell.beat().await {
            Ok(()) if !is_in_contact => {
                is_in_contact = true;
                tracing::info!(target: "wharf::cell", "the database of the cell answers again");
            }
            Ok(()) => {}
            Err(error) if is_in_contact => {
                is_in_contact = false;
                let error = with_causes(&error);
                tracing::warn!(target: "wharf::cell", error, "the database of the cell does not answer");
            }
            Err(_) => {}
        }
        if let_go.elapsed() >= LETTING_GO {
            let_go = Instant::now();
            cell.let_go(cell.settings.times.idle, Things::Kept).await;
        }
        if renewed.elapsed() >= RENEWING {
            renewed = Instant::now();
            cell.renew();
        }
    }
}

impl Membership {
    async fn beat(self: &Arc<Self>) -> Result<(), StoreUnavailable> {
        let sent = Instant::now();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let report = HostReport {
            sessions: count(self.held.len()),
            calls: count(self.held.calls()),
            is_ending: self.standing.is_ending(),
            told: self.told(),
        };
        let beating = self.members.beat(self.standing.incarnation(), report);
        match self.in_time(beating).await? {
            Beat::Alive { is_draining, plugins, front_ends, .. } => {
                self.standing.beaten(sent, is_draining);
                self.plugins.send_if_modified(|known| std::mem::replace(known, plugins) != plugins);
                self.connected.send_if_modified(|known| std::mem::replace(known, front_ends) != front_ends);
            }
            Beat::Dead => return self.begin_anew().await,
        }
        self.in_time(self.suspicion.refresh()).await?;
        self.compare_notices();
        let own = self.standing.incarnation();
        self.suspicion.declare_silent(own).await;
        let cell = Arc::clone(self);
        self.tasks.spawn(async move { cell.suspicion.look_at_silent(own).await });
        Ok(())
    }

    async fn in_time<T>(
        &self,
        asking: impl Future<Output = Result<T, StoreUnavailable>>,
    ) -> Result<T, StoreUnavailable> {
        let asked = timeout(self.settings.times.beat_patience, asking).await;
        asked.unwrap_or_else(|late| Err(StoreUnavailable(Box::new(late))))
    }

    /// The others took this host for dead: its sessions belong to them. All that lives here ends,
    /// and another life begins.
    async fn begin_anew(&self) -> Result<(), StoreUnavailable> {
        tracing::warn!(
            target: "wharf::cell",
            incarnation = %self.standing.incarnation(), sessions = self.held.len(),
            "the other hosts declared this one dead: what it ran for its sessions ends, and it joins anew"
        );
        self.standing.ended();
        self.held.clear();
        self.away.clear();
        if let Some(host) = self.host.get() {
            host.end_all().await;
        }
        if let Err(error) = self.change_life() {
            return Err(StoreUnavailable(Box::new(error)));
        }
        match self.enter().await {
            Ok(()) => {
                // Nobody has told a dead host anything.
                self.everything_may_have_changed();
                Ok(())
            }
            Err(error) => Err(StoreUnavailable(Box::new(error))),
        }
    }

    /// Lets go of sessions that nobody has used for so long and in which nothing lives.
    pub(super) async fn let_go(&self, idle: Duration, things: Things) {
        let Some(host) = self.host.get() else { return };
        let idle = self.held.take_idle(idle, &host.sessions(things).await);
        if idle.is_empty() {
            return;
        }
        let sessions = idle.len();
        let releasing = self.homes.release(&idle, self.standing.incarnation());
        if let Err(error) = self.in_time(releasing).await {
            // A call of such a session claims it again, and counts its epoch on.
            tracing::debug!(sessions, error = with_causes(&error), "idle sessions were not released");
        }
    }

    fn renew(&self) {
        match (self.settings.certificates)() {
            Ok(tls) => {
                self.shown.renew(&tls);
                self.links.renew(&tls);
            }
            Err(error) => {
                tracing::warn!(target: "wharf::cell", %error, "the certificates cannot be read again; the earlier ones stay");
            }
        }
    }
}
