//! Where the workspaces are and whose.
//!
//! ```text
//! DIRECTORY/DIGEST/session.json   whose it is
//! DIRECTORY/DIGEST/used           changed when it is used; its time is the last use
//! DIRECTORY/DIGEST/lock           locked by the hosts that use it (see `hold`)
//! DIRECTORY/DIGEST/files          what tools and processes see as the workspace
//! DIRECTORY/DIGEST/home           the home directory of its processes, with `tmp` in it
//! ```
//!
//! The digest is of tenant and session, so that no id is ever read as a path.

use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use wharf_core::{ProcessLimits, SessionId, TenantId, WorkspaceKey, grant::GrantClock};

use crate::{
    WorkspaceError,
    census::Census,
    folders::Folders,
    hold::{Hold, NotHeld},
    measure::{Usage, measure},
    volume::Volume,
};

pub(crate) const SESSION: &str = "session.json";
const USED: &str = "used";
pub(crate) const FILES: &str = "files";
pub(crate) const HOME: &str = "home";
const TEMPORARY: &str = "home/tmp";
/// Directories that are being made or removed.
pub(crate) const HALF_DONE: &str = ".half-";

/// The last use is written this often at most.
const USE_IS_FRESH: Duration = Duration::from_secs(60);
/// A workspace that was used so long ago is not in use, unless something runs there.
const ACTIVE: Duration = Duration::from_secs(30);
/// So many are held at once for having been used lately; each takes a descriptor. Those in
/// which something runs are held beside them.
const HELD: usize = 256;
/// A start waits so long for other workspaces of its tenant to be measured.
const COUNTING: Duration = Duration::from_secs(1);
/// Another host takes a workspace away within a few system calls.
const LEAVING: Duration = Duration::from_millis(1);
const ATTEMPTS: usize = 100;

/// Where the host is root, each session has a user of its own, from here on: a
/// range that neither systems nor containers give out by themselves
/// (systemd's UIDS-GIDS leaves it free).
const FIRST_USER: u32 = 1_879_048_192;
const USERS: u32 = 268_000_000;

/// How workspaces are kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many there may be, and how much they may hold.
    pub limits: ProcessLimits,
    /// After how long without use one expires; never where absent.
    pub expiry: Option<Duration>,
}

impl Settings {
    /// What the limits say, and this expiry.
    #[must_use]
    pub fn new(limits: &ProcessLimits, expiry: Option<Duration>) -> Self {
        Self { limits: limits.clone(), expiry }
    }
}

/// The directories of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// What tools and processes see as the workspace.
    pub files: PathBuf,
    /// The home directory of its processes, with a directory `tmp` in it.
    pub home: PathBuf,
    /// The user and group to whom they belong, where that is not the host's
    /// own.
    pub user: Option<u32>,
}

/// A workspace that is nobody's. Dropping it removes it.
#[derive(Debug)]
pub struct Trial {
    /// Its directories, and the user to whom they belong.
    pub workspace: Workspace,
    _aside: tempfile::TempDir,
}

/// Whose a workspace is, as its file says it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) tenant: TenantId,
    pub(crate) session: SessionId,
}

/// What is known of one that is in use.
#[derive(Debug)]
struct Known {
    used: Instant,
    /// When that was last written to the disk.
    noted: Instant,
    /// Something runs there.
    inhabited: bool,
    hold: Option<Hold>,
    volume: Arc<Volume>,
}

/// The workspaces below one directory. Hosts may share it.
#[derive(Debug)]
pub struct Workspaces {
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
    /// What a use is noted as.
    clock: GrantClock,
    pub(crate) census: Census,
    folders: Folders,
    // Held for a look-up, never while files are touched.
    known: Mutex<HashMap<WorkspaceKey, Known>>,
    // Whoever finds or makes one shares it for a few system calls; whoever takes one away
    // has it alone, so that nobody finds what is about to go.
    pub(crate) leaving: RwLock<()>,
}

impl Workspaces {
    /// Opens the directory of workspaces, which is made once a session needs
    /// one.
    #[must_use]
    pub fn new(directory: &Path, settings: Settings) -> Self {
        Self {
            directory: directory.to_owned(),
            census: Census::new(&settings.limits),
            folders: Folders::new(&settings.limits),
            settings,
            clock: GrantClock::new(SystemTime::now),
            known: Mutex::default(),
            leaving: RwLock::default(),
        }
    }

    /// The same with another clock by which uses are noted: one that is never behind the
    /// time by which [`Workspaces::sweep`] is told to judge.
    #[must_use]
    pub fn with_clock(self, clock: GrantClock) -> Self {
        Self { clock, ..self }
    }

    /// The workspace of a session, where it has one. Counts as use.
    #[must_use]
    pub fn find(&self, key: &WorkspaceKey) -> Option<Workspace> {
        let _staying = self.leaving.read().unwrap_or_else(PoisonError::into_inner);
        let found = self.of(key);
        if !found.files.is_dir() {
            return None;
        }
        self.note_use(key, None).then_some(found)
    }

    /// The workspace of a session, made where there is none. Counts as use.
    ///
    /// # Errors
    /// Where there are as many as there may be, or the disk refuses.
    pub fn create(&self, key: &WorkspaceKey) -> Result<Workspace, WorkspaceError> {
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.find(key) {
                return Ok(found);
            }
            let failed = |error| WorkspaceError::storage("make", self.place(key))(error);
            let admitted = self.census.admit(&self.directory, key).map_err(failed)?.map_err(WorkspaceError::Full)?;
            let staying = self.leaving.read().unwrap_or_else(PoisonError::into_inner);
            let made = self.make(key).map_err(failed)?;
            let volume = self.census.add(&self.place(key), key, Some(admitted), made);
            if self.note_use(key, Some(volume)) {
                return Ok(self.of(key));
            }
            drop(staying);
            std::thread::sleep(LEAVING);
        }
        Err(WorkspaceError::InUse)
    }

    /// The workspace of a session for something that is to run there, made where there is
    /// none. Nothing is started, or made for it, where the session, its tenant or all
    /// tenants together hold more than they may: a process that is shorter than the time
    /// between two measures is ended by none of them. Blocks, since what was never measured
    /// is measured first, and what may have changed since is measured again.
    ///
    /// # Errors
    /// As [`Workspaces::create`]; [`WorkspaceError::NoRoom`] names the limit that is broken.
    pub fn create_to_run(&self, key: &WorkspaceKey) -> Result<Workspace, WorkspaceError> {
        self.count_tenant(&key.tenant).map_err(WorkspaceError::storage("read", self.directory.clone()))?;
        let excess = match self.volume(key) {
            Some(volume) => {
                let measured = volume.measure_first().and_then(|()| volume.measure_if_stale());
                measured.map_err(WorkspaceError::storage("measure", self.place(key)))?;
                volume.excess()
            }
            None => self.census.excess(key),
        };
        excess.map_or_else(|| self.create(key), |full| Err(WorkspaceError::NoRoom(full)))
    }

    /// Measures the workspaces of a tenant that were never measured, or in which something
    /// happened since, as many as there is time for: the background does so as well.
    fn count_tenant(&self, tenant: &TenantId) -> io::Result<()> {
        let began = Instant::now();
        for volume in self.census.of_tenant(&self.directory, tenant)? {
            if !volume.is_stale() || !volume.is_due(Instant::now(), true) {
                continue;
            }
            if began.elapsed() >= COUNTING {
                break;
            }
            // One that cannot be read is told where it is used, and by the background.
            let _ = volume.measure_if_stale();
        }
        Ok(())
    }

    /// What a workspace holds; nothing where there is none.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn usage(&self, key: &WorkspaceKey) -> Result<Usage, WorkspaceError> {
        let Some(volume) = self.volume(key) else { return Ok(Usage::default()) };
        let measured = volume.measure().map_err(WorkspaceError::storage("measure", self.place(key)))?;
        Ok(measured.usage)
    }

    /// How many bytes one may hold.
    #[must_use]
    pub fn quota_bytes(&self) -> u64 {
        self.settings.limits.workspace_bytes
    }

    /// What is filled by writing to a workspace, where there is one.
    #[must_use]
    pub fn volume(&self, key: &WorkspaceKey) -> Option<Arc<Volume>> {
        let place = self.place(key);
        if let Some(volume) = self.census.volume(&place) {
            return Some(volume);
        }
        place.join(FILES).is_dir().then(|| self.census.add(&place, key, None, None))
    }

    /// What is filled by writing to an exchange folder that is open.
    ///
    /// # Errors
    /// Where it cannot be looked at.
    pub fn folder(&self, folder: &fs::File) -> io::Result<Arc<Volume>> {
        self.folders.volume(folder)
    }

    /// Whether it holds more than it may, or its tenant or all tenants do, as far as is
    /// known. What is full takes no more, and gives files up.
    #[must_use]
    pub fn is_full(&self, key: &WorkspaceKey) -> bool {
        self.census.volume(&self.place(key)).is_some_and(|volume| volume.excess().is_some())
    }

    /// The workspaces that were used within the last half minute, or in which something runs.
    #[must_use]
    pub fn active(&self) -> Vec<WorkspaceKey> {
        let known = self.known();
        known.iter().filter(|(_, known)| known.is_active()).map(|(key, _)| key.clone()).collect()
    }

    /// What is to be measured now: what was used lately, and where something runs. The rest is
    /// no longer held, and another host may remove it.
    #[must_use]
    pub fn due(&self, inhabited: &BTreeSet<WorkspaceKey>) -> Vec<(Option<WorkspaceKey>, Arc<Volume>)> {
        for key in inhabited {
            // Also what an earlier look found in use, and has let go.
            if !self.known().contains_key(key) {
                let _ = self.find(key);
            }
        }
        let now = Instant::now();
        let mut known = self.known();
        for (key, known) in known.iter_mut() {
            known.inhabited = inhabited.contains(key);
            if known.inhabited {
                // What runs there may write until it ends, and is measured after that.
                known.used = now;
                known.volume.note_use();
            }
        }
        known.retain(|_, known| known.is_active() || known.volume.is_stale());
        let due = known.iter().filter(|(_, known)| known.volume.is_due(now, true));
        let workspaces = due.map(|(key, known)| (Some(key.clone()), Arc::clone(&known.volume)));
        let folders = self.folders.all().into_iter().filter(|folder| folder.is_due(now, false));
        workspaces.chain(folders.map(|folder| (None, folder))).collect()
    }

    /// Measures one that something runs in; says whether what runs there must end, because
    /// it holds more than it may, or grows while its tenant or all tenants hold too much.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn is_over_quota(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let Some(volume) = self.volume(key) else { return Ok(false) };
        let measured = volume.measure().map_err(WorkspaceError::storage("measure", self.place(key)))?;
        Ok(measured.must_end())
    }

    /// Whether this host uses it now. Otherwise it does not hold it any longer.
    pub(crate) fn let_go(&self, key: &WorkspaceKey) -> bool {
        let mut known = self.known();
        match known.get(key) {
            Some(one) if one.inhabited => false,
            Some(_) => known.remove(key).is_some(),
            None => true,
        }
    }

    /// Holds it from now on, and notes the time. False where it is on its way out.
    fn note_use(&self, key: &WorkspaceKey, volume: Option<Arc<Volume>>) -> bool {
        let now = Instant::now();
        let (missing, write) = match self.known().get_mut(key) {
            Some(known) => {
                known.used = now;
                known.volume.note_use();
                let write = known.noted.elapsed() >= USE_IS_FRESH;
                if write {
                    known.noted = now;
                }
                (known.hold.is_none(), write)
            }
            None => (true, true),
        };
        if missing {
            let place = self.place(key);
            let hold = match Hold::shared(&place) {
                Ok(hold) => Some(hold),
                Err(NotHeld::Gone | NotHeld::InUse) => return false,
                Err(NotHeld::System(error)) => {
                    tracing::warn!(session = %key.session, %error, "a workspace cannot be locked");
                    None
                }
            };
            let volume = volume.unwrap_or_else(|| self.census.add(&place, key, None, None));
            volume.note_use();
            let mut known = self.known();
            make_room(&mut known);
            let fresh = || Known { used: now, noted: now, inhabited: false, hold: None, volume };
            known.entry(key.clone()).or_insert_with(fresh).hold = hold;
        }
        if write {
            let used = fs::File::options().write(true).open(self.place(key).join(USED));
            if let Err(error) = used.and_then(|used| used.set_modified(self.clock.now())) {
                tracing::warn!(session = %key.session, %error, "the use of a workspace cannot be noted");
            }
        }
        true
    }

    pub(crate) fn used(place: &Path) -> io::Result<SystemTime> {
        fs::metadata(place.join(USED))?.modified()
    }

    pub(crate) fn place(&self, key: &WorkspaceKey) -> PathBuf {
        self.directory.join(&digest(key).to_hex()[..32])
    }

    /// Where the workspace of a session is, made or not. Counts as no use.
    #[must_use]
    pub fn of(&self, key: &WorkspaceKey) -> Workspace {
        let place = self.place(key);
        Workspace { files: place.join(FILES), home: place.join(HOME), user: user(key) }
    }

    /// Makes a workspace that is nobody's, as those of sessions are made: to try
    /// in it what processes can do here.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn trial(&self) -> Result<Trial, WorkspaceError> {
        let user = is_root().then_some(FIRST_USER + USERS);
        let aside = self.furnish(user).map_err(WorkspaceError::storage("make", &self.directory))?;
        let workspace = Workspace { files: aside.path().join(FILES), home: aside.path().join(HOME), user };
        Ok(Trial { workspace, _aside: aside })
    }

    /// The directories of a workspace, aside.
    fn furnish(&self, user: Option<u32>) -> io::Result<tempfile::TempDir> {
        private(&self.directory)?;
        if is_root() {
            // Those whose workspaces these are must get there, and see none of them.
            fs::set_permissions(&self.directory, fs::Permissions::from_mode(0o711))?;
        }
        let aside = tempfile::Builder::new().prefix(HALF_DONE).tempdir_in(&self.directory)?;
        for part in [FILES, HOME, TEMPORARY] {
            let part = aside.path().join(part);
            private(&part)?;
            if let Some(user) = user {
                chown(&part, Some(user), Some(user))?;
            }
        }
        // Its owner's processes must get to what is theirs below it.
        fs::set_permissions(aside.path(), fs::Permissions::from_mode(0o711))?;
        Ok(aside)
    }

    /// Makes all of it aside, so that it appears whole or not at all. Returns what it holds
    /// then, where this is who made it.
    fn make(&self, key: &WorkspaceKey) -> io::Result<Option<Usage>> {
        let aside = self.furnish(user(key))?;
        let mut furnished = Usage::default();
        for part in [FILES, HOME] {
            furnished.add(&measure(&aside.path().join(part), u64::MAX)?);
        }
        let session = Session { tenant: key.tenant.clone(), session: key.session.clone() };
        fs::write(aside.path().join(SESSION), serde_json::to_vec(&session)?)?;
        fs::write(aside.path().join(USED), b"")?;
        match fs::rename(aside.path(), self.place(key)) {
            // Another call, or another host, was first.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                // It is not there any more under that name.
                drop(aside.keep());
                Ok(Some(furnished))
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<WorkspaceKey, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn is_active(&self) -> bool {
        self.inhabited || self.used.elapsed() < ACTIVE
    }
}

/// Lets the one go that was used least lately, where too many are held. What runs somewhere
/// keeps it.
fn make_room(known: &mut HashMap<WorkspaceKey, Known>) {
    if known.values().filter(|known| known.hold.is_some()).count() >= HELD
        && let Some(oldest) =
            known.values_mut().filter(|known| known.hold.is_some() && !known.inhabited).min_by_key(|known| known.used)
    {
        oldest.hold = None;
    }
}

/// Makes a directory that only its owner may enter.
fn private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(path)
}

fn digest(key: &WorkspaceKey) -> blake3::Hash {
    // Ids hold no zero byte.
    blake3::hash(format!("{}\0{}", key.tenant, key.session).as_bytes())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The user of a session: its own where the host may choose one. The system
/// counts processes by user, and counts none of root's.
fn user(key: &WorkspaceKey) -> Option<u32> {
    if !is_root() {
        return None;
    }
    let digest = digest(key);
    let [a, b, c, d, ..] = *digest.as_bytes();
    Some(FIRST_USER + u32::from_le_bytes([a, b, c, d]) % USERS)
}
