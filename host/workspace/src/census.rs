//! Which workspaces there are, whose, and what they take of the limits by tenant and host.
//!
//! The directory says which there are, since other hosts make and remove some as well; it
//! is read when this host has to know, and each workspace's owner once.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs, io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use wharf_core::{
    ProcessLimits, Quota, QuotaFull, Share, TenantId, WorkspaceKey,
    quota::{Bound, Bounds},
};

use crate::{
    measure::Usage,
    volume::{Extent, Volume},
    workspaces::{FILES, HALF_DONE, HOME, SESSION, Session},
};

/// What other hosts made is looked for this often at most.
const FRESH: Duration = Duration::from_secs(2);

/// Limits are set there.
const SECTION: &str = "[process.limits]";

/// Counts workspaces and what they hold.
#[derive(Debug)]
pub(crate) struct Census {
    number: Arc<Quota>,
    bytes: Arc<Quota>,
    entries: Arc<Quota>,
    most_entries: u64,
    // Held while the directory is read, seldom; never while files of guests are.
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    workspaces: HashMap<OsString, Counted>,
    read: Option<Instant>,
}

#[derive(Debug)]
struct Counted {
    key: WorkspaceKey,
    volume: Arc<Volume>,
    _number: Share,
}

/// A place among the workspaces, before there is anything in it.
#[derive(Debug)]
pub(crate) struct Admitted(Share);

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
            known: Mutex::default(),
        }
    }

    /// Makes room for one more workspace of a tenant.
    pub(crate) fn admit(&self, directory: &Path, key: &WorkspaceKey) -> io::Result<Result<Admitted, QuotaFull>> {
        let mut known = self.lock();
        if known.read.is_none() {
            self.read(&mut known, directory)?;
        }
        let mut taken = self.number.take(&key.tenant, &key.session, 1);
        if taken.is_err() && known.read.is_none_or(|read| read.elapsed() >= FRESH) {
            // Some may be gone.
            self.read(&mut known, directory)?;
            taken = self.number.take(&key.tenant, &key.session, 1);
        }
        Ok(taken.map(Admitted))
    }

    /// Counts a workspace that this host has just made, or found. `usage` is what it holds
    /// where that is known.
    pub(crate) fn add(
        &self,
        place: &Path,
        key: &WorkspaceKey,
        admitted: Option<Admitted>,
        usage: Option<Usage>,
    ) -> Arc<Volume> {
        let mut known = self.lock();
        let name = place.file_name().unwrap_or_default().to_owned();
        let counted = known.workspaces.entry(name).or_insert_with(|| self.counted(place, key, admitted, usage));
        Arc::clone(&counted.volume)
    }

    /// What a workspace holds, where it is counted.
    pub(crate) fn volume(&self, place: &Path) -> Option<Arc<Volume>> {
        let name = place.file_name()?;
        self.lock().workspaces.get(name).map(|counted| Arc::clone(&counted.volume))
    }

    /// What the workspaces of a tenant hold that this host knows of.
    pub(crate) fn of_tenant(&self, directory: &Path, tenant: &TenantId) -> io::Result<Vec<Arc<Volume>>> {
        let mut known = self.lock();
        if known.read.is_none() {
            self.read(&mut known, directory)?;
        }
        let own = known.workspaces.values().filter(|counted| counted.key.tenant == *tenant);
        Ok(own.map(|counted| Arc::clone(&counted.volume)).collect())
    }

    /// The limit that is broken where a session has no workspace yet: its tenant, or all
    /// tenants together, hold too much.
    pub(crate) fn excess(&self, key: &WorkspaceKey) -> Option<QuotaFull> {
        let nothing = |quota: &Arc<Quota>| quota.take(&key.tenant, &key.session, 0).err();
        nothing(&self.bytes).or_else(|| nothing(&self.entries))
    }

    /// Forgets one that was removed.
    pub(crate) fn forget(&self, place: &Path) {
        if let Some(name) = place.file_name() {
            self.lock().workspaces.remove(name);
        }
    }

    /// Reads which workspaces there are now, and returns them.
    pub(crate) fn all(&self, directory: &Path) -> io::Result<Vec<(WorkspaceKey, Arc<Volume>)>> {
        let mut known = self.lock();
        self.read(&mut known, directory)?;
        let all = known.workspaces.values();
        Ok(all.map(|counted| (counted.key.clone(), Arc::clone(&counted.volume))).collect())
    }

    fn read(&self, known: &mut Known, directory: &Path) -> io::Result<()> {
        let mut names = HashMap::new();
        let entries = match fs::read_dir(directory) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(HALF_DONE) {
                names.insert(entry.file_name(), entry.path());
            }
        }
        known.workspaces.retain(|name, _| names.contains_key(name));
        for (name, place) in names {
            if !known.workspaces.contains_key(&name)
                && let Some(key) = owner(&place)
            {
                known.workspaces.insert(name, self.counted(&place, &key, None, None));
            }
        }
        known.read = Some(Instant::now());
        Ok(())
    }

    fn counted(&self, place: &Path, key: &WorkspaceKey, admitted: Option<Admitted>, usage: Option<Usage>) -> Counted {
        let share = |quota: &Arc<Quota>| quota.open(&key.tenant, &key.session);
        let number = admitted.map_or_else(
            || {
                // It is there, whatever the limits say.
                let mut number = share(&self.number);
                number.record(1);
                number
            },
            |admitted| admitted.0,
        );
        let extent = Extent::Parts([FILES, HOME].map(|part| place.join(part)).to_vec());
        let volume = Volume::new(extent, self.most_entries, share(&self.bytes), share(&self.entries), usage);
        Counted { key: key.clone(), volume: Arc::new(volume), _number: number }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose a workspace is.
pub(crate) fn owner(place: &Path) -> Option<WorkspaceKey> {
    let session: Session = serde_json::from_slice(&fs::read(place.join(SESSION)).ok()?).ok()?;
    Some(WorkspaceKey::restored(session.tenant, session.session))
}
