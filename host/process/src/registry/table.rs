//! The processes of a host by session and id, in memory.
//!
//! Owns how a process is found: only its owner finds it. It takes no lock, waits for
//! nothing and touches no file.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use wharf_core::{PluginName, SessionId, TenantId, quota::Level};

use super::process::Process;
use crate::{Owner, ProcessId};

type SessionKey = (TenantId, SessionId);

/// Every process that somebody can still find, and whether more may come.
#[derive(Debug, Default)]
pub(super) struct ProcessTable {
    sessions: HashMap<SessionKey, HashMap<ProcessId, Arc<Process>>>,
    closed: bool,
}

impl ProcessTable {
    /// Takes no new processes from now on.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn insert(&mut self, process: Arc<Process>) {
        self.sessions.entry(session_of(&process.owner)).or_default().insert(process.id, process);
    }

    pub(super) fn remove(&mut self, process: &Process) {
        if let Some(processes) = self.sessions.get_mut(&session_of(&process.owner)) {
            processes.remove(&process.id);
        }
    }

    /// The process, where it is this owner's.
    pub(super) fn find(&self, owner: &Owner, id: ProcessId) -> Option<Arc<Process>> {
        let found = self.sessions.get(&session_of(owner))?.get(&id)?;
        (found.owner == *owner).then(|| Arc::clone(found))
    }

    pub(super) fn owned_by<'t>(&'t self, owner: &'t Owner) -> impl Iterator<Item = &'t Arc<Process>> {
        let session = self.sessions.get(&session_of(owner)).into_iter().flat_map(HashMap::values);
        session.filter(move |process| process.owner == *owner)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Process>> {
        self.sessions.values().flat_map(HashMap::values)
    }

    /// What runs in a session, whichever plugin started it.
    pub(super) fn alive_in(&self, tenant: &TenantId, session: &SessionId) -> Vec<Arc<Process>> {
        let processes = self.sessions.get(&(tenant.clone(), session.clone())).into_iter().flat_map(HashMap::values);
        processes.filter(|process| process.is_alive()).cloned().collect()
    }

    /// What a plugin runs, in whatever session.
    pub(super) fn alive_of(&self, plugin: &PluginName) -> Vec<Arc<Process>> {
        self.all().filter(|process| process.owner.plugin == *plugin && process.is_alive()).cloned().collect()
    }

    /// The sessions in which something runs.
    pub(super) fn running_sessions(&self) -> Vec<SessionKey> {
        let runs = |processes: &HashMap<_, Arc<Process>>| processes.values().any(|process| process.is_alive());
        self.sessions.iter().filter(|(_, processes)| runs(processes)).map(|(session, _)| session.clone()).collect()
    }

    /// The ended processes of this owner's session, or of its tenant where the limit is
    /// wider: the oldest first.
    pub(super) fn ended(&self, owner: &Owner, level: Level) -> VecDeque<Arc<Process>> {
        let sessions = self.sessions.iter().filter(|((tenant, session), _)| {
            *tenant == owner.tenant && (level != Level::Session || *session == owner.session)
        });
        let processes = sessions.flat_map(|(_, processes)| processes.values());
        oldest_first(processes.filter(|process| !process.is_alive())).into()
    }

    /// Takes out the processes that have been ended for `lifetime` now.
    pub(super) fn take_expired(&mut self, now: DateTime<Utc>, lifetime: Duration) -> Vec<Arc<Process>> {
        let mut taken = Vec::new();
        for processes in self.sessions.values_mut() {
            let expired = processes.extract_if(|_, process| process.has_been_ended_for(lifetime, now));
            taken.extend(expired.map(|(_, process)| process));
        }
        self.sessions.retain(|_, processes| !processes.is_empty());
        taken
    }
}

/// Processes in the order in which they were started.
pub(super) fn oldest_first<'p>(processes: impl Iterator<Item = &'p Arc<Process>>) -> Vec<Arc<Process>> {
    let mut processes: Vec<_> = processes.cloned().collect();
    processes.sort_by_key(|process| (process.started, process.id));
    processes
}

fn session_of(owner: &Owner) -> SessionKey {
    (owner.tenant.clone(), owner.session.clone())
}
