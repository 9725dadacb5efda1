//! One process for the operator, who sees what it may use up and reach, and all that runs of it.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::timeout};
use wharf_spawn::{SandboxMechanism, TreeProcess};

use super::{Processes, bounds::ProcessBounds, process::Process};
use crate::{Owner, ProcessId, ProcessSnapshot};

/// How long the system has to tell of a tree.
const PATIENCE: Duration = Duration::from_millis(500);

/// A process as its operator looks at it.
#[derive(Debug, Clone)]
pub struct ProcessLook {
    /// Whose it is.
    pub owner: Owner,
    /// How it is.
    pub process: ProcessSnapshot,
    /// What it may use up and reach; absent for one of an earlier host.
    pub bounds: Option<ProcessBounds>,
    /// What contains it; absent where nothing does, and until it runs.
    pub mechanism: Option<SandboxMechanism>,
    /// What runs of it, the first 200 by process id; absent where the system does not tell within half a
    /// second.
    pub tree: Option<Vec<TreeProcess>>,
}

impl Processes {
    /// A process, whosever it is: no owner's call may lead here.
    pub(super) fn of_anybody(&self, id: ProcessId) -> Option<Arc<Process>> {
        self.table().all().find(|process| process.id == id).cloned()
    }

    /// A process with its bounds and its tree, for the operator; nothing where it is unknown. Counts as
    /// no poll.
    pub async fn look(&self, id: ProcessId) -> Option<ProcessLook> {
        let process = self.of_anybody(id)?;
        Some(ProcessLook {
            owner: process.owner.clone(),
            process: process.snapshot().await,
            bounds: process.bounds.clone(),
            mechanism: process.mechanism.get().copied(),
            tree: process.tree().await,
        })
    }
}

impl Process {
    /// A process may make those wait that read its command line. So one thread at a time looks at it, and
    /// its stop frees that thread.
    async fn tree(&self) -> Option<Vec<TreeProcess>> {
        let Some(child) = self.child() else { return Some(Vec::new()) };
        let Ok(look) = timeout(PATIENCE, Arc::clone(&self.looks).lock_owned()).await else { return None };
        let told = spawn_blocking(move || {
            let tree = child.tree();
            drop((look, child));
            tree
        });
        timeout(PATIENCE, told).await.ok()?.ok()
    }
}
