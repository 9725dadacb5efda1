//! All processes of a session, or of the host: for limits that hold for them
//! together, and for those who watch the host.

use std::{collections::HashMap, sync::Arc, time::Duration};

use wharf_core::{PluginName, SessionId, TenantId};

use super::{LONGEST_GRACE, Processes, process::Process};
use crate::{KilledBy, Owner, Snapshot, Status};

/// How many processes there are in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// That are being started.
    pub starting: usize,
    /// Whose leader runs.
    pub running: usize,
    /// Whose leader has ended while descendants live on.
    pub left_behind: usize,
    /// Of which only the tombstone is left.
    pub ended: usize,
}

impl Counts {
    fn count(&mut self, process: &Process) {
        match process.status() {
            Status::Starting => self.starting += 1,
            Status::Running => self.running += 1,
            Status::Finished | Status::Failed | Status::Killed if process.is_alive() => self.left_behind += 1,
            Status::Finished | Status::Failed | Status::Killed => self.ended += 1,
        }
    }
}

impl Processes {
    /// The sessions in which something runs, be it only what a command left
    /// behind.
    #[must_use]
    pub fn running_sessions(&self) -> Vec<(TenantId, SessionId)> {
        let table = self.table();
        let running =
            table.sessions.iter().filter(|(_, processes)| processes.values().any(|process| process.is_alive()));
        running.map(|(session, _)| session.clone()).collect()
    }

    /// All processes with their owners, in the order in which they were started:
    /// for the operator. Counts as no poll.
    pub async fn all(&self) -> Vec<(Owner, Snapshot)> {
        let mut all: Vec<_> = self.table().sessions.values().flat_map(HashMap::values).cloned().collect();
        all.sort_by_key(|process| (process.started, process.id));
        let mut shown = Vec::with_capacity(all.len());
        for process in all {
            shown.push((process.owner.clone(), process.snapshot().await));
        }
        shown
    }

    /// How many processes there are, over all sessions.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.table().sessions.values().flat_map(HashMap::values).for_each(|process| counts.count(process));
        counts
    }

    /// Kills everything that a session runs when this is asked, whoever started
    /// it, on this account, without asking it first. Returns how many processes
    /// were starting or running, once none of them is or patience with them is
    /// over. Once begun, it goes on though the future is dropped.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId, by: KilledBy) -> usize {
        let alive: Vec<_> = {
            let table = self.table();
            let processes = table.sessions.get(&(tenant.clone(), session.clone()));
            let processes = processes.into_iter().flat_map(HashMap::values);
            processes.filter(|process| process.is_alive()).cloned().collect()
        };
        let running = alive.iter().filter(|process| !process.status().has_ended()).count();
        stop(alive, by, Duration::ZERO).await;
        running
    }

    /// The same for all that a plugin runs, in whatever session: it is gone, and nobody
    /// else can reach them.
    pub async fn end_plugin(&self, plugin: &PluginName) -> usize {
        let alive: Vec<_> = {
            let table = self.table();
            let processes = table.sessions.values().flat_map(HashMap::values);
            processes.filter(|process| process.owner.plugin == *plugin && process.is_alive()).cloned().collect()
        };
        let running = alive.iter().filter(|process| !process.status().has_ended()).count();
        stop(alive, KilledBy::User, Duration::ZERO).await;
        running
    }

    /// Stops all processes, as [`Processes::stop`] does, at once, and starts no
    /// more.
    pub async fn shut_down(&self, grace: Duration) {
        let all: Vec<_> = {
            let mut table = self.table();
            table.closed = true;
            table.sessions.values().flat_map(HashMap::values).cloned().collect()
        };
        stop(all, KilledBy::HostLost, grace.min(LONGEST_GRACE)).await;
    }
}

async fn stop(processes: Vec<Arc<Process>>, by: KilledBy, grace: Duration) {
    let stop = |process: Arc<Process>| tokio::spawn(async move { process.stop(by, grace).await });
    let stops: Vec<_> = processes.into_iter().map(stop).collect();
    for stop in stops {
        if let Err(error) = stop.await {
            tracing::error!(%error, "a process was not stopped");
        }
    }
}
