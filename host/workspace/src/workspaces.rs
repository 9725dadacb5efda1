//! The workspaces of a host: finds them, makes them, and says which are full.

use std::{
    fs, io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::RwLock;
use wharf_core::{ProcessLimits, TenantId, WorkspaceKey, WorkspaceStay, grant::GrantClock};

use crate::{
    DiskUsage, WorkspaceError,
    census::Census,
    exchange::ExchangeFolders,
    in_use::{UseSteps, WorkspacesInUse},
    layout::{self, Layout, TrialWorkspace, Workspace},
    lock::{LockError, WorkspaceLock},
    volume::Volume,
};

/// How long a start waits for other workspaces of its tenant to be measured.
const COUNTING: Duration = Duration::from_secs(1);
/// Another host takes a workspace away within a few system calls.
const LEAVING: Duration = Duration::from_millis(1);
const ATTEMPTS: usize = 100;

/// The limits and the expiry of workspaces.
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Limits of their number and size.
    pub limits: ProcessLimits,
    /// The time without use after which a workspace expires; absent for never.
    pub expiry: Option<Duration>,
}

impl WorkspaceOptions {
    /// These limits and this expiry.
    #[must_use]
    pub fn new(limits: &ProcessLimits, expiry: Option<Duration>) -> Self {
        Self { limits: limits.clone(), expiry }
    }
}

/// The workspaces below one directory. Hosts may share it.
#[derive(Debug)]
pub struct Workspaces {
    pub(crate) layout: Layout,
    pub(crate) options: WorkspaceOptions,
    /// The clock by which uses are stored.
    clock: GrantClock,
    pub(crate) census: Census,
    folders: ExchangeFolders,
    pub(crate) in_use: WorkspacesInUse,
    // A call that finds or makes a workspace shares it for a few system calls; a removal
    // has it alone, so that no call finds a workspace that is about to go.
    pub(crate) leaving: RwLock<()>,
}

impl Workspaces {
    /// Opens the directory of workspaces, which the first workspace creates.
    #[must_use]
    pub fn new(directory: &Path, options: WorkspaceOptions) -> Self {
        Self {
            layout: Layout::new(directory),
            census: Census::new(&options.limits),
            folders: ExchangeFolders::new(&options.limits),
            options,
            clock: GrantClock::new(SystemTime::now),
            in_use: WorkspacesInUse::default(),
            leaving: RwLock::default(),
        }
    }

    /// The same with another clock for uses: one that is never behind the
    /// time by which [`Workspaces::sweep`] judges.
    #[must_use]
    pub fn with_clock(self, clock: GrantClock) -> Self {
        Self { clock, ..self }
    }

    /// The workspace of a session, where it has one. Counts as use, and is kept from being
    /// removed by the stay that comes with it.
    #[must_use]
    pub fn find(&self, key: &WorkspaceKey) -> Option<Workspace> {
        let _staying = self.leaving.read();
        if !self.of(key).files.is_dir() {
            return None;
        }
        let stay = self.note_use(key, None)?;
        // Its user is asked for now: until here another host could make it anew.
        Some(Workspace { stay: Some(stay), ..self.of(key) })
    }

    /// The workspace of a session, made where there is none. Counts as use, with a stay.
    ///
    /// # Errors
    /// Where the limit of their number is reached, or the disk refuses.
    pub fn create(&self, key: &WorkspaceKey) -> Result<Workspace, WorkspaceError> {
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.find(key) {
                return Ok(found);
            }
            let failed = |error| WorkspaceError::storage("make", self.layout.path(key))(error);
            let reserved = self.census.reserve(&self.layout, key).map_err(failed)?.map_err(WorkspaceError::Full)?;
            let staying = self.leaving.read();
            let made = self.layout.make(key).map_err(failed)?;
            let volume = self.census.add(&self.layout.path(key), key, Some(reserved), made);
            if let Some(stay) = self.note_use(key, Some(volume)) {
                return Ok(Workspace { stay: Some(stay), ..self.of(key) });
            }
            drop(staying);
            std::thread::sleep(LEAVING);
        }
        Err(WorkspaceError::InUse)
    }

    /// The workspace of a session for a process that is to run there, made where there is
    /// none. Refuses, and makes none, where the session, its tenant or all
    /// tenants together hold more than they may: no measurement would end a process that is
    /// shorter than the time between two of them. Blocks, because it measures
    /// workspaces that were never measured, or that may have changed since.
    ///
    /// # Errors
    /// As [`Workspaces::create`]; [`WorkspaceError::NoRoom`] names the broken limit.
    pub fn create_to_run(&self, key: &WorkspaceKey) -> Result<Workspace, WorkspaceError> {
        self.count_tenant(&key.tenant).map_err(WorkspaceError::storage("read", self.layout.directory()))?;
        let excess = match self.volume(key) {
            Some(volume) => {
                let measured = volume.measure_first().and_then(|()| volume.measure_if_stale());
                measured.map_err(WorkspaceError::storage("measure", self.layout.path(key)))?;
                volume.excess()
            }
            None => self.census.excess(key),
        };
        excess.map_or_else(|| self.create(key), |full| Err(WorkspaceError::NoRoom(full)))
    }

    /// Measures the workspaces of a tenant that were never measured, or that may have changed
    /// since, for as long as there is time: the background does so as well.
    fn count_tenant(&self, tenant: &TenantId) -> io::Result<()> {
        let began = Instant::now();
        for volume in self.census.of_tenant(&self.layout, tenant)? {
            if !volume.is_stale() || !volume.is_due(Instant::now(), true) {
                continue;
            }
            if began.elapsed() >= COUNTING {
                break;
            }
            // Its next use, and the background, report a workspace that cannot be read.
            let _ = volume.measure_if_stale();
        }
        Ok(())
    }

    /// The size of a workspace; zero where there is none.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn usage(&self, key: &WorkspaceKey) -> Result<DiskUsage, WorkspaceError> {
        let Some(volume) = self.volume(key) else { return Ok(DiskUsage::default()) };
        let measured = volume.measure().map_err(WorkspaceError::storage("measure", self.layout.path(key)))?;
        Ok(measured.usage)
    }

    /// The bytes that one workspace may hold.
    #[must_use]
    pub fn quota_bytes(&self) -> u64 {
        self.options.limits.workspace_bytes
    }

    /// The volume of a workspace, where there is one.
    #[must_use]
    pub fn volume(&self, key: &WorkspaceKey) -> Option<Arc<Volume>> {
        let path = self.layout.path(key);
        if let Some(volume) = self.census.volume(&path) {
            return Some(volume);
        }
        self.of(key).files.is_dir().then(|| self.census.add(&path, key, None, None))
    }

    /// The volume of an open exchange folder.
    ///
    /// # Errors
    /// Where its metadata cannot be read.
    pub fn folder(&self, folder: &fs::File) -> io::Result<Arc<Volume>> {
        self.folders.volume(folder)
    }

    /// Whether the workspace, its tenant or all tenants hold more than they may, by the last
    /// count. A full workspace takes no more bytes; files can be removed from it.
    #[must_use]
    pub fn is_full(&self, key: &WorkspaceKey) -> bool {
        self.census.volume(&self.layout.path(key)).is_some_and(|volume| volume.excess().is_some())
    }

    /// The workspaces that were used within the last half minute, or in which something stays.
    #[must_use]
    pub fn active(&self) -> Vec<WorkspaceKey> {
        self.in_use.active()
    }

    /// The volumes that are due to be measured: of workspaces and folders of a recent use, and
    /// of workspaces in which something stays. Gives up the others, which another host may
    /// then remove.
    #[must_use]
    pub fn due(&self) -> Vec<(Option<WorkspaceKey>, Arc<Volume>)> {
        let workspaces = self.in_use.due().into_iter().map(|(key, volume)| (Some(key), volume));
        let now = Instant::now();
        let folders = self.folders.all().into_iter().filter(|folder| folder.is_due(now, false));
        workspaces.chain(folders.map(|folder| (None, folder))).collect()
    }

    /// Measures a workspace in which something runs. Returns whether its processes must end:
    /// it holds more than it may, or grows while its tenant or all tenants hold too much.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn is_over_quota(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let Some(volume) = self.volume(key) else { return Ok(false) };
        let measured = volume.measure().map_err(WorkspaceError::storage("measure", self.layout.path(key)))?;
        Ok(measured.must_end())
    }

    /// Locks a workspace, and stores the time. Nothing where it is being removed.
    fn note_use(&self, key: &WorkspaceKey, volume: Option<Arc<Volume>>) -> Option<WorkspaceStay> {
        let UseSteps { mut stay, store } = self.in_use.record_use(key);
        if stay.is_none() {
            let path = self.layout.path(key);
            let lock = match WorkspaceLock::shared(&path) {
                Ok(lock) => Some(lock),
                Err(LockError::Gone | LockError::InUse) => return None,
                Err(LockError::System(error)) => {
                    tracing::warn!(session = %key.session, %error, "a workspace cannot be locked");
                    None
                }
            };
            let volume = volume.unwrap_or_else(|| self.census.add(&path, key, None, None));
            stay = Some(self.in_use.keep(key, lock, volume));
        }
        if store && let Err(error) = layout::store_use(&self.layout.path(key), self.clock.now()) {
            tracing::warn!(session = %key.session, %error, "the use of a workspace cannot be noted");
        }
        stay
    }

    /// The directories of the workspace of a session, whether it exists or not. Counts as no
    /// use.
    #[must_use]
    pub fn of(&self, key: &WorkspaceKey) -> Workspace {
        self.layout.workspace(key)
    }

    /// Makes a workspace of no session, as those of sessions are made, for trials of
    /// what processes can do here.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn trial(&self) -> Result<TrialWorkspace, WorkspaceError> {
        self.layout.trial().map_err(WorkspaceError::storage("make", self.layout.directory()))
    }
}
