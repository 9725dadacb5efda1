//! The workspaces that this host uses: the last use of each, its lock, and the stays in it.
//!
//! A stay is made under the lock of the map, with the use that it comes from, and counted by
//! its `Arc`: no tick has to find out whether something works in a workspace. Never touches
//! their files.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{WorkspaceKey, WorkspaceStay};

use crate::{lock::WorkspaceLock, volume::Volume};

/// Shortest time between two stores of the last use on disk.
const STORED_USE: Duration = Duration::from_secs(60);
/// A workspace without use for so long is not in use, unless something stays in it.
const ACTIVE: Duration = Duration::from_secs(30);
/// Most locks that are held for a recent use; each takes a descriptor. Locks of workspaces in
/// which something stays do not count.
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
    /// Held here, and once more by each stay.
    presence: Arc<Presence>,
    volume: Arc<Volume>,
}

/// This host in a workspace. The lock goes with the last that holds this.
#[derive(Debug, Default)]
struct Presence {
    /// None where the system refused it, or where it was given up for others.
    lock: Mutex<Option<WorkspaceLock>>,
}

/// The steps that a use still needs.
#[derive(Debug)]
pub(crate) struct UseSteps {
    /// A stay, where the workspace is locked already.
    pub(crate) stay: Option<WorkspaceStay>,
    /// To store the time on disk.
    pub(crate) store: bool,
}

impl WorkspaceInUse {
    fn is_active(&self) -> bool {
        self.is_inhabited() || self.used.elapsed() < ACTIVE
    }

    /// Whether something stays in it. Stays are made from this map alone, or cloned by
    /// one that has one: what says no stays so while the map is locked.
    fn is_inhabited(&self) -> bool {
        Arc::strong_count(&self.presence) > 1
    }

    fn is_locked(&self) -> bool {
        self.presence.lock.lock().is_some()
    }

    fn stay(&self) -> WorkspaceStay {
        WorkspaceStay::new(Arc::clone(&self.presence))
    }
}

impl WorkspacesInUse {
    /// Records a use, and returns the steps that it still needs.
    pub(crate) fn record_use(&self, key: &WorkspaceKey) -> UseSteps {
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        let Some(workspace) = workspaces.get_mut(key) else { return UseSteps { stay: None, store: true } };
        workspace.used = now;
        workspace.volume.note_use();
        let store = workspace.stored.elapsed() >= STORED_USE;
        if store {
            workspace.stored = now;
        }
        UseSteps { stay: workspace.is_locked().then(|| workspace.stay()), store }
    }

    /// Keeps a workspace with its lock; without a lock where the system refused it.
    pub(crate) fn keep(&self, key: &WorkspaceKey, lock: Option<WorkspaceLock>, volume: Arc<Volume>) -> WorkspaceStay {
        volume.note_use();
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        make_room(&workspaces);
        let fresh = || WorkspaceInUse { used: now, stored: now, presence: Arc::default(), volume };
        let workspace = workspaces.entry(key.clone()).or_insert_with(fresh);
        if lock.is_some() {
            *workspace.presence.lock.lock() = lock;
        }
        workspace.stay()
    }

    /// The workspaces of a recent use, or in which something stays.
    pub(crate) fn active(&self) -> Vec<WorkspaceKey> {
        let workspaces = self.workspaces();
        workspaces.iter().filter(|(_, workspace)| workspace.is_active()).map(|(key, _)| key.clone()).collect()
    }

    /// Forgets the idle workspaces, and returns those that are due to be measured.
    pub(crate) fn due(&self) -> Vec<(WorkspaceKey, Arc<Volume>)> {
        let now = Instant::now();
        let mut workspaces = self.workspaces();
        for workspace in workspaces.values_mut() {
            if workspace.is_inhabited() {
                // A process may write until it ends, and the workspace is measured after that.
                workspace.used = now;
                workspace.volume.note_use();
            }
        }
        workspaces.retain(|_, workspace| workspace.is_active() || workspace.volume.is_stale());
        let due = workspaces.iter().filter(|(_, workspace)| workspace.volume.is_due(now, true));
        due.map(|(key, workspace)| (key.clone(), Arc::clone(&workspace.volume))).collect()
    }

    /// Gives up the lock of a workspace, unless something stays in it. Returns whether this
    /// host holds it no longer.
    pub(crate) fn let_go(&self, key: &WorkspaceKey) -> bool {
        let mut workspaces = self.workspaces();
        match workspaces.get(key) {
            Some(workspace) if workspace.is_inhabited() => false,
            Some(_) => workspaces.remove(key).is_some(),
            None => true,
        }
    }

    fn workspaces(&self) -> MutexGuard<'_, HashMap<WorkspaceKey, WorkspaceInUse>> {
        self.workspaces.lock()
    }
}

/// Gives up the lock of the least recent use, where too many are held. A workspace in which
/// something stays keeps its lock.
fn make_room(workspaces: &HashMap<WorkspaceKey, WorkspaceInUse>) {
    let idle = workspaces.values().filter(|workspace| !workspace.is_inhabited() && workspace.is_locked());
    let idle: Vec<_> = idle.collect();
    if idle.len() < MOST_LOCKS {
        return;
    }
    if let Some(oldest) = idle.into_iter().min_by_key(|workspace| workspace.used) {
        *oldest.presence.lock.lock() = None;
    }
}
