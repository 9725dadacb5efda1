//! The directories and files of workspaces.
//!
//! ```text
//! DIRECTORY/DIGEST/session.json   its tenant and session
//! DIRECTORY/DIGEST/used           its modification time is the last use
//! DIRECTORY/DIGEST/lock           locked by the hosts that use it (see `lock`)
//! DIRECTORY/DIGEST/files          the workspace, as tools and processes see it
//! DIRECTORY/DIGEST/home           the home directory of its processes, with `tmp` in it
//! ```
//!
//! The digest is of tenant and session, so that no id is ever read as a path. The owner of `files`
//! is the user of the session (see `users`). Never knows
//! which workspaces are in use, or how many there may be.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use wharf_core::{SessionId, TenantId, WorkspaceKey, WorkspaceStay};
use wharf_files::private_files;

use crate::{
    DiskUsage,
    system::{give_to, is_root, let_users_through, measure},
    users,
};

pub(crate) const SESSION: &str = "session.json";
pub(crate) const USED: &str = "used";
pub(crate) const FILES: &str = "files";
pub(crate) const HOME: &str = "home";
pub(crate) const TEMPORARY: &str = "home/tmp";
/// The beginning of names of directories that are being made or removed.
const HALF_DONE: &str = ".half-";

/// The directories of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The workspace, as tools and processes see it.
    pub files: PathBuf,
    /// The home directory of its processes, with a directory `tmp` in it.
    pub home: PathBuf,
    /// The user and group that own them, where that is not the host's own.
    pub user: Option<u32>,
    /// Keeps the workspace from being removed: whatever works in it holds this. Absent where it
    /// was named and not used.
    pub stay: Option<WorkspaceStay>,
}

/// A workspace of no session. Dropping it removes it.
#[derive(Debug)]
pub struct TrialWorkspace {
    /// Its directories and its user.
    pub workspace: Workspace,
    _aside: tempfile::TempDir,
}

/// The content of `session.json`.
#[derive(Debug, Serialize, Deserialize)]
struct WorkspaceOwner {
    tenant: TenantId,
    session: SessionId,
}

/// The directory of workspaces, which the first workspace creates.
#[derive(Debug)]
pub(crate) struct Layout {
    directory: PathBuf,
}

impl Layout {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of a workspace, whether it exists or not.
    pub(crate) fn path(&self, key: &WorkspaceKey) -> PathBuf {
        self.directory.join(name(key))
    }

    /// The directories of a workspace, whether it exists or not.
    pub(crate) fn workspace(&self, key: &WorkspaceKey) -> Workspace {
        let [files, home] = parts(&self.path(key));
        let user = users::user_of(&files);
        Workspace { files, home, user, stay: None }
    }

    /// The paths of all workspaces, with those that are half done.
    pub(crate) fn paths(&self) -> io::Result<Vec<PathBuf>> {
        match fs::read_dir(&self.directory) {
            Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Makes a workspace aside, so that it appears whole or not at all. Returns its size,
    /// or none where another call or host was first.
    pub(crate) fn make(&self, key: &WorkspaceKey) -> io::Result<Option<DiskUsage>> {
        let aside = self.furnish(self.new_user()?)?;
        let mut furnished = DiskUsage::default();
        for part in parts(aside.path()) {
            furnished.add(&measure(&part, u64::MAX)?);
        }
        let owner = WorkspaceOwner { tenant: key.tenant.clone(), session: key.session.clone() };
        fs::write(aside.path().join(SESSION), serde_json::to_vec(&owner)?)?;
        fs::write(aside.path().join(USED), b"")?;
        let path = self.path(key);
        match fs::rename(aside.path(), &path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(None),
            // Windows has other words for it.
            Err(_) if cfg!(windows) && path.is_dir() => Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                // It does not exist under its first name any more.
                drop(aside.keep());
                Ok(Some(furnished))
            }
        }
    }

    /// Makes a workspace of no session, as those of sessions are made.
    pub(crate) fn trial(&self) -> io::Result<TrialWorkspace> {
        let user = is_root().then_some(users::SHARED);
        let aside = self.furnish(user)?;
        let [files, home] = parts(aside.path());
        Ok(TrialWorkspace { workspace: Workspace { files, home, user, stay: None }, _aside: aside })
    }

    /// A user for a workspace that is about to be made.
    fn new_user(&self) -> io::Result<Option<u32>> {
        if !is_root() {
            return Ok(None);
        }
        let taken = self.paths()?.iter().filter_map(|path| users::user_of(&path.join(FILES))).collect();
        users::draw(&taken).map(Some)
    }

    /// An empty directory for a workspace that is being made or removed.
    pub(crate) fn aside(&self) -> io::Result<tempfile::TempDir> {
        tempfile::Builder::new().prefix(HALF_DONE).tempdir_in(&self.directory)
    }

    /// Makes the directories of a workspace, aside.
    fn furnish(&self, user: Option<u32>) -> io::Result<tempfile::TempDir> {
        private_files::make_directory(&self.directory)?;
        if is_root() {
            // The users of workspaces must reach their own, and list none of them.
            let_users_through(&self.directory)?;
        }
        let aside = self.aside()?;
        for part in [FILES, HOME, TEMPORARY] {
            let part = aside.path().join(part);
            private_files::make_directory(&part)?;
            if let Some(user) = user {
                give_to(&part, user)?;
            }
        }
        // The processes of its user must reach the directories below.
        let_users_through(aside.path())?;
        Ok(aside)
    }
}

/// The measured directories of a workspace: `files` and `home`.
pub(crate) fn parts(path: &Path) -> [PathBuf; 2] {
    [path.join(FILES), path.join(HOME)]
}

/// Whether a workspace is being made or removed.
pub(crate) fn is_half_done(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(HALF_DONE))
}

/// The tenant and session of a workspace.
pub(crate) fn owner(path: &Path) -> Option<WorkspaceKey> {
    key_in(&fs::read(path.join(SESSION)).ok()?)
}

fn key_in(record: &[u8]) -> Option<WorkspaceKey> {
    let owner: WorkspaceOwner = serde_json::from_slice(record).ok()?;
    Some(WorkspaceKey::restored(owner.tenant, owner.session))
}

/// The name of the directory of the workspace whose owner this record names.
pub(crate) fn name_in(record: &[u8]) -> Option<String> {
    key_in(record).map(|key| name(&key))
}

/// The name of the directory of a workspace.
fn name(key: &WorkspaceKey) -> String {
    digest(key).to_hex()[..32].to_owned()
}

/// The time of the last use of a workspace.
pub(crate) fn last_use(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path.join(USED))?.modified()
}

/// Stores the time of the last use of a workspace.
pub(crate) fn store_use(path: &Path, time: SystemTime) -> io::Result<()> {
    fs::File::options().write(true).open(path.join(USED))?.set_modified(time)
}

fn digest(key: &WorkspaceKey) -> blake3::Hash {
    // Ids have no zero byte.
    blake3::hash(format!("{}\0{}", key.tenant, key.session).as_bytes())
}
