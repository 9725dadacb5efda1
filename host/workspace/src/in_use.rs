//! The workspaces that this host uses: the last use of each, its lock, and whether anything
//! runs in it.
//!
//! Never touches their files.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::WorkspaceKey;

use crate::{lock::WorkspaceLock, volume::Volume};

/// Shortest time between two stores of the last use on disk.
const STORED_USE: Duration = Duration::from_secs(60);
/// A workspace without use for so long is not in use, unless something runs in it.
const ACTIVE: Duration = Duration::from_secs(30);
/// Most locks that are held for a recent use; each takes a descriptor. Locks of workspaces in
/// which something runs do not count.
const MOST_LOCKS: usize = 256;

/// The workspaces that this host uses.
#[derive(Debug, Default)]
pub(crate) struct WorkspacesInUse {
    // Held for a look-up, never while files are touched.
    workspaces: Mutex<HashMap<WorkspaceKey, WorkspaceInUse>>,
}

#[derive(Debug)]
struct WorkspaceInUse {
    used: Instant,
    /// When the last use was stored on disk.
    stored: Instant,
    /// Something runs in it.
    inhabited: bool,
    lock: Option<WorkspaceLock>,
    volume: Arc<Volume>,
}

/// The steps that a use still needs.
#[derive(Debug)]
pub(crate) struct UseSteps {
    /// To lock the workspace.
    pub(crate) lock: bool,
    /// To store the time on disk.
    pub(crate) store: bool,
}

impl WorkspaceInUse {
    fn is_active(&self) -> bool {
        self.inhabited || self.used.elapsed() < ACTIVE
    }
}

impl WorkspacesInUse {
    /// Records a use, and returns the steps that it still needs.
    pub(crate) fn record_use(&self, key: &WorkspaceKey) -> UseSteps {
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        let Some(workspace) = workspaces.get_mut(key) else { return UseSteps { lock: true, store: true } };
        workspace.used = now;
        workspace.volume.note_use();
        let store = workspace.stored.elapsed() >= STORED_USE;
        if store {
            workspace.stored = now;
        }
        UseSteps { lock: workspace.lock.is_none(), store }
    }

    /// Keeps a workspace with its lock; without a lock where the system refused it.
    pub(crate) fn keep(&self, key: &WorkspaceKey, lock: Option<WorkspaceLock>, volume: Arc<Volume>) {
        volume.note_use();
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        make_room(&mut workspaces);
        let fresh = || WorkspaceInUse { used: now, stored: now, inhabited: false, lock: None, volume };
        workspaces.entry(key.clone()).or_insert_with(fresh).lock = lock;
    }

    pub(crate) fn contains(&self, key: &WorkspaceKey) -> bool {
        self.workspaces().contains_key(key)
    }

    /// The workspaces of a recent use, or in which something runs.
    pub(crate) fn active(&self) -> Vec<WorkspaceKey> {
        let workspaces = self.workspaces();
        workspaces.iter().filter(|(_, workspace)| workspace.is_active()).map(|(key, _)| key.clone()).collect()
    }

    /// Notes in which workspaces something runs, forgets the idle ones, and returns those
    /// that are due to be measured.
    pub(crate) fn due(&self, inhabited: &BTreeSet<WorkspaceKey>) -> Vec<(WorkspaceKey, Arc<Volume>)> {
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        for (key, workspace) in workspaces.iter_mut() {
            workspace.inhabited = inhabited.contains(key);
            if workspace.inhabited {
                // A process may write until it ends, and the workspace is measured after that.
                workspace.used = now;
                workspace.volume.note_use();
            }
        }
        workspaces.retain(|_, workspace| workspace.is_active() || workspace.volume.is_stale());
        let due = workspaces.iter().filter(|(_, workspace)| workspace.volume.is_due(now, true));
        due.map(|(key, workspace)| (key.clone(), Arc::clone(&workspace.volume))).collect()
    }

    /// Gives up the lock of a workspace, unless something runs in it. Returns whether this
    /// host holds it no longer.
    pub(crate) fn let_go(&self, key: &WorkspaceKey) -> bool {
        let mut workspaces = self.workspaces();
        match workspaces.get(key) {
            Some(workspace) if workspace.inhabited => false,
            Some(_) => workspaces.remove(key).is_some(),
            None => true,
        }
    }

    fn workspaces(&self) -> MutexGuard<'_, HashMap<WorkspaceKey, WorkspaceInUse>> {
        self.workspaces.lock()
    }
}

/// Gives up the lock of the least recent use, where too many are held. A workspace in which
/// something runs keeps its lock.
fn make_room(workspaces: &mut HashMap<WorkspaceKey, WorkspaceInUse>) {
    let locked = workspaces.values().filter(|workspace| workspace.lock.is_some());
    if locked.count() < MOST_LOCKS {
        return;
    }
    let idle = workspaces.values_mut().filter(|workspace| workspace.lock.is_some() && !workspace.inhabited);
    if let Some(oldest) = idle.min_by_key(|workspace| workspace.used) {
        oldest.lock = None;
    }
}
