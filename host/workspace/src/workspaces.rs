//! Where the workspaces are and whose.
//!
//! ```text
//! DIRECTORY/DIGEST/session.json   whose it is
//! DIRECTORY/DIGEST/used           changed when it is used; its time is the last use
//! DIRECTORY/DIGEST/files          what tools and processes see as the workspace
//! DIRECTORY/DIGEST/home           the home directory of its processes, with `tmp` in it
//! ```
//!
//! The digest is of tenant and session, so that no id is ever read as a path.

use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use wharf_core::{ProcessLimits, SessionId, TenantId, WorkspaceKey};

use crate::{
    WorkspaceError,
    measure::{Usage, measure},
};

pub(crate) const SESSION: &str = "session.json";
const USED: &str = "used";
const FILES: &str = "files";
const HOME: &str = "home";
const TEMPORARY: &str = "home/tmp";
/// Directories that are being made or removed.
pub(crate) const HALF_DONE: &str = ".half-";

/// The last use is written this often at most.
const USE_IS_FRESH: Duration = Duration::from_secs(60);
/// A workspace that was used so long ago is not measured again.
const ACTIVE: Duration = Duration::from_secs(30);

/// Where the host is root, each session has a user of its own, from here on: a
/// range that neither systems nor containers give out by themselves
/// (systemd's UIDS-GIDS leaves it free).
const FIRST_USER: u32 = 1_879_048_192;
const USERS: u32 = 268_000_000;

/// How workspaces are kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Bytes that one may hold.
    pub quota_bytes: u64,
    /// Files and directories that one may hold.
    pub quota_entries: u64,
    /// After how long without use one expires; never where absent.
    pub expiry: Option<Duration>,
}

impl Settings {
    /// What the limits say, and this expiry.
    #[must_use]
    pub fn new(limits: &ProcessLimits, expiry: Option<Duration>) -> Self {
        Self { quota_bytes: limits.workspace_bytes, quota_entries: limits.workspace_entries, expiry }
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

/// What is known of one that was used lately.
#[derive(Debug, Clone, Copy)]
struct Known {
    used: Instant,
    /// When that was last written to the disk.
    noted: Instant,
    full: bool,
}

/// The workspaces below one directory. Hosts may share it.
#[derive(Debug)]
pub struct Workspaces {
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
    // Held for a look-up, never while files are touched.
    known: Mutex<HashMap<WorkspaceKey, Known>>,
}

impl Workspaces {
    /// Opens the directory of workspaces, which is made once a session needs
    /// one.
    #[must_use]
    pub fn new(directory: &Path, settings: Settings) -> Self {
        Self { directory: directory.to_owned(), settings, known: Mutex::default() }
    }

    /// The workspace of a session, where it has one. Counts as use.
    #[must_use]
    pub fn find(&self, key: &WorkspaceKey) -> Option<Workspace> {
        let found = self.of(key);
        if !found.files.is_dir() {
            return None;
        }
        self.note_use(key);
        Some(found)
    }

    /// The workspace of a session, made where there is none. Counts as use.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn create(&self, key: &WorkspaceKey) -> Result<Workspace, WorkspaceError> {
        if let Some(found) = self.find(key) {
            return Ok(found);
        }
        self.make(key).map_err(WorkspaceError::storage("make", self.place(key)))?;
        self.note_use(key);
        Ok(self.of(key))
    }

    /// What a workspace holds; nothing where there is none.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn usage(&self, key: &WorkspaceKey) -> Result<Usage, WorkspaceError> {
        let place = self.place(key);
        let usage = self.measure(&place).map_err(WorkspaceError::storage("measure", place))?;
        self.note_usage(key, &usage);
        Ok(usage)
    }

    /// How many bytes one may hold.
    #[must_use]
    pub fn quota_bytes(&self) -> u64 {
        self.settings.quota_bytes
    }

    /// Whether it held more than it may when it was last measured. What is
    /// full takes no more, and gives files up.
    #[must_use]
    pub fn is_full(&self, key: &WorkspaceKey) -> bool {
        self.known().get(key).is_some_and(|known| known.full)
    }

    /// The workspaces that were used within the last half minute. Those that
    /// were not are forgotten here.
    #[must_use]
    pub fn active(&self) -> Vec<WorkspaceKey> {
        let mut known = self.known();
        known.retain(|_, known| known.used.elapsed() < ACTIVE);
        known.keys().cloned().collect()
    }

    /// Measures one that something runs in; says whether it holds more than it
    /// may.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn is_over_quota(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let usage = self.usage(key)?;
        Ok(self.exceeds(&usage))
    }

    /// Both parts, since processes write to both.
    pub(crate) fn measure(&self, place: &Path) -> io::Result<Usage> {
        let mut sum = Usage::default();
        for part in [FILES, HOME] {
            let part = match measure(&place.join(part), self.settings.quota_entries.saturating_sub(sum.entries)) {
                Ok(part) => part,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Usage::default(),
                Err(error) => return Err(error),
            };
            sum.bytes += part.bytes;
            sum.entries += part.entries;
            sum.incomplete |= part.incomplete;
        }
        Ok(sum)
    }

    fn exceeds(&self, usage: &Usage) -> bool {
        usage.bytes > self.settings.quota_bytes || usage.entries > self.settings.quota_entries
    }

    fn note_usage(&self, key: &WorkspaceKey, usage: &Usage) {
        let full = self.exceeds(usage);
        if let Some(known) = self.known().get_mut(key) {
            known.full = full;
        }
    }

    fn note_use(&self, key: &WorkspaceKey) {
        let now = Instant::now();
        let write = {
            let mut known = self.known();
            let new = !known.contains_key(key);
            let known = known.entry(key.clone()).or_insert(Known { used: now, noted: now, full: false });
            known.used = now;
            let write = new || known.noted.elapsed() >= USE_IS_FRESH;
            if write {
                known.noted = now;
            }
            write
        };
        if !write {
            return;
        }
        let used = fs::File::options().write(true).open(self.place(key).join(USED));
        if let Err(error) = used.and_then(|used| used.set_modified(SystemTime::now())) {
            tracing::warn!(session = %key.session, %error, "the use of a workspace cannot be noted");
        }
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

    /// Makes all of it aside, so that it appears whole or not at all.
    fn make(&self, key: &WorkspaceKey) -> io::Result<()> {
        let aside = self.furnish(user(key))?;
        let session = Session { tenant: key.tenant.clone(), session: key.session.clone() };
        fs::write(aside.path().join(SESSION), serde_json::to_vec(&session)?)?;
        fs::write(aside.path().join(USED), b"")?;
        match fs::rename(aside.path(), self.place(key)) {
            // Another call, or another host, was first.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                // It is not there any more under that name.
                drop(aside.keep());
                Ok(())
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<WorkspaceKey, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
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
