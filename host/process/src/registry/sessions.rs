//! All processes of a session, a plugin or the host: for limits that hold for them
//! together, and for the operator.

use std::{collections::HashSet, sync::Arc, time::Duration};

use wharf_core::{PluginName, SessionId, TenantId};

use super::{Processes, process::Process, table::oldest_first, termination::LONGEST_GRACE};
use crate::{KilledBy, Owner, ProcessId, ProcessSnapshot, Status};

/// How many processes there are in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessCounts {
    /// That are being started.
    pub starting: usize,
    /// Whose leader runs.
    pub running: usize,
    /// Whose leader has ended while descendants live on.
    pub left_behind: usize,
    /// Of which only the tombstone is left.
    pub ended: usize,
}

impl ProcessCounts {
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
        self.table().running_sessions()
    }

    /// The sessions that have any process, ended ones that are kept included.
    #[must_use]
    pub fn sessions(&self) -> HashSet<(TenantId, SessionId)> {
        let of = |process: &Arc<Process>| (process.owner.tenant.clone(), process.owner.session.clone());
        self.table().all().map(of).collect()
    }

    /// All processes with their owners, in the order in which they were started:
    /// for the operator. Counts as no poll.
    pub async fn all(&self) -> Vec<(Owner, ProcessSnapshot)> {
        let all = oldest_first(self.table().all());
        let mut snapshots = Vec::with_capacity(all.len());
        for process in all {
            snapshots.push((process.owner.clone(), process.snapshot().await));
        }
        snapshots
    }

    /// Whose a process is, for the operator.
    #[must_use]
    pub fn owner_of(&self, id: ProcessId) -> Option<Owner> {
        self.of_anybody(id).map(|process| process.owner.clone())
    }

    /// How many processes there are, over all sessions.
    #[must_use]
    pub fn counts(&self) -> ProcessCounts {
        let mut counts = ProcessCounts::default();
        self.table().all().for_each(|process| counts.count(process));
        counts
    }

    /// Kills everything that a session runs now, whichever plugin started it, without
    /// asking it to end first; `by` says on whose account. Returns how many processes were
    /// starting or running, once none of them is or patience with them is over. Once
    /// begun, it goes on though the future is dropped.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId, by: KilledBy) -> usize {
        let alive = self.table().alive_in(tenant, session);
        kill(alive, by).await
    }

    /// Kills everything that a plugin runs, in whatever session: the plugin is gone, and
    /// nobody else can reach its processes. Returns the same count.
    pub async fn end_plugin(&self, plugin: &PluginName) -> usize {
        let alive = self.table().alive_of(plugin);
        kill(alive, KilledBy::User).await
    }

    /// Stops all processes, as [`Processes::stop`] does, at once, and starts no
    /// more.
    pub async fn shut_down(&self, grace: Duration) {
        let all: Vec<_> = {
            let mut table = self.table();
            table.close();
            table.all().cloned().collect()
        };
        stop(all, KilledBy::HostLost, grace.min(LONGEST_GRACE)).await;
    }
}

/// Kills what is alive, and returns how many leaders were starting or running.
async fn kill(alive: Vec<Arc<Process>>, by: KilledBy) -> usize {
    let running = alive.iter().filter(|process| !process.status().has_ended()).count();
    stop(alive, by, Duration::ZERO).await;
    running
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
