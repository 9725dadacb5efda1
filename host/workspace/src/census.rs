//! Counts workspaces, and their sizes, towards the limits by tenant and host.
//!
//! The directory is the truth, since other hosts make and remove workspaces as well. The
//! census reads it when a limit depends on it, and each workspace's owner once.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    ProcessLimits, Quota, QuotaFull, Share, TenantId, WorkspaceKey,
    quota::{Bound, Bounds},
};

use crate::{
    DiskUsage,
    layout::{self, Layout},
    volume::{Volume, VolumeExtent},
};

/// Shortest time between two looks for workspaces of other hosts.
const FRESH: Duration = Duration::from_secs(2);

/// The section of the configuration that sets the limits.
const SECTION: &str = "[process.limits]";

/// Counts workspaces and their sizes.
#[derive(Debug)]
pub(crate) struct Census {
    number: Arc<Quota>,
    bytes: Arc<Quota>,
    entries: Arc<Quota>,
    most_entries: u64,
    // Held while the directory is read, which is seldom; never while files of guests are.
    state: Mutex<CensusState>,
}

#[derive(Debug, Default)]
struct CensusState {
    workspaces: HashMap<OsString, CountedWorkspace>,
    read: Option<Instant>,
}

#[derive(Debug)]
struct CountedWorkspace {
    key: WorkspaceKey,
    volume: Arc<Volume>,
    _number: Share,
}

/// A reserved place among the workspaces, for one that is about to be made.
#[derive(Debug)]
pub(crate) struct ReservedWorkspace(Share);

impl Census {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        let quota = |resource, session: Option<Bound>, tenant, host| {
            Quota::new(Bounds { resource, section: SECTION, session, tenant, host })
        };
        Self {
            number: quota(
                "workspaces",
                None,
                ("workspaces_per_tenant", limits.workspaces_per_tenant),
                ("workspaces", limits.workspaces),
            ),
            bytes: quota(
                "bytes of workspaces",
                Some(("workspace_bytes", limits.workspace_bytes)),
                ("workspace_total_bytes_per_tenant", limits.workspace_total_bytes_per_tenant),
                ("workspace_total_bytes", limits.workspace_total_bytes),
            ),
            entries: quota(
                "files and directories of workspaces",
                Some(("workspace_entries", limits.workspace_entries)),
                ("workspace_total_entries_per_tenant", limits.workspace_total_entries_per_tenant),
                ("workspace_total_entries", limits.workspace_total_entries),
            ),
            most_entries: limits.workspace_entries,
            state: Mutex::default(),
        }
    }

    /// Reserves a place for one more workspace of a tenant.
    pub(crate) fn reserve(
        &self,
        layout: &Layout,
        key: &WorkspaceKey,
    ) -> io::Result<Result<ReservedWorkspace, QuotaFull>> {
        let mut state = self.state();
        if state.read.is_none() {
            self.read(&mut state, layout)?;
        }
        let mut taken = self.number.take(&key.tenant, &key.session, 1);
        if taken.is_err() && state.read.is_none_or(|read| read.elapsed() >= FRESH) {
            // Other hosts may have removed some.
            self.read(&mut state, layout)?;
            taken = self.number.take(&key.tenant, &key.session, 1);
        }
        Ok(taken.map(ReservedWorkspace))
    }

    /// Counts a workspace that this host has just made, or found. `usage` is its size,
    /// where that is known.
    pub(crate) fn add(
        &self,
        path: &Path,
        key: &WorkspaceKey,
        reserved: Option<ReservedWorkspace>,
        usage: Option<DiskUsage>,
    ) -> Arc<Volume> {
        let mut state = self.state();
        let name = path.file_name().unwrap_or_default().to_owned();
        let counted = state.workspaces.entry(name).or_insert_with(|| self.counted(path, key, reserved, usage));
        Arc::clone(&counted.volume)
    }

    /// The volume of a workspace, where the census counts it.
    pub(crate) fn volume(&self, path: &Path) -> Option<Arc<Volume>> {
        let name = path.file_name()?;
        self.state().workspaces.get(name).map(|counted| Arc::clone(&counted.volume))
    }

    /// The volumes of a tenant's workspaces that the census counts.
    pub(crate) fn of_tenant(&self, layout: &Layout, tenant: &TenantId) -> io::Result<Vec<Arc<Volume>>> {
        let mut state = self.state();
        if state.read.is_none() {
            self.read(&mut state, layout)?;
        }
        let own = state.workspaces.values().filter(|counted| counted.key.tenant == *tenant);
        Ok(own.map(|counted| Arc::clone(&counted.volume)).collect())
    }

    /// The limit that is broken before a session has a workspace: its tenant, or all
    /// tenants together, hold too much.
    pub(crate) fn excess(&self, key: &WorkspaceKey) -> Option<QuotaFull> {
        let nothing = |quota: &Arc<Quota>| quota.take(&key.tenant, &key.session, 0).err();
        nothing(&self.bytes).or_else(|| nothing(&self.entries))
    }

    /// Forgets a workspace that was removed.
    pub(crate) fn forget(&self, path: &Path) {
        if let Some(name) = path.file_name() {
            self.state().workspaces.remove(name);
        }
    }

    /// Reads the directory, and returns all workspaces.
    pub(crate) fn all(&self, layout: &Layout) -> io::Result<Vec<(WorkspaceKey, Arc<Volume>)>> {
        let mut state = self.state();
        self.read(&mut state, layout)?;
        let all = state.workspaces.values();
        Ok(all.map(|counted| (counted.key.clone(), Arc::clone(&counted.volume))).collect())
    }

    fn read(&self, state: &mut CensusState, layout: &Layout) -> io::Result<()> {
        let mut paths = HashMap::new();
        for path in layout.paths()? {
            if let Some(name) = path.file_name().filter(|_| !layout::is_half_done(&path)) {
                paths.insert(name.to_owned(), path);
            }
        }
        state.workspaces.retain(|name, _| paths.contains_key(name));
        for (name, path) in paths {
            if !state.workspaces.contains_key(&name)
                && let Some(key) = layout::owner(&path)
            {
                state.workspaces.insert(name, self.counted(&path, &key, None, None));
            }
        }
        state.read = Some(Instant::now());
        Ok(())
    }

    fn counted(
        &self,
        path: &Path,
        key: &WorkspaceKey,
        reserved: Option<ReservedWorkspace>,
        usage: Option<DiskUsage>,
    ) -> CountedWorkspace {
        let share = |quota: &Arc<Quota>| quota.open(&key.tenant, &key.session);
        let number = reserved.map_or_else(
            || {
                // The workspace exists, even beyond the limits.
                let mut number = share(&self.number);
                number.record(1);
                number
            },
            |reserved| reserved.0,
        );
        let extent = VolumeExtent::Parts(layout::parts(path).to_vec());
        let volume = Volume::new(extent, self.most_entries, share(&self.bytes), share(&self.entries), usage);
        CountedWorkspace { key: key.clone(), volume: Arc::new(volume), _number: number }
    }

    fn state(&self) -> MutexGuard<'_, CensusState> {
        self.state.lock()
    }
}
