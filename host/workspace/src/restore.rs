//! The operator's side: workspaces that a backup hands out become workspaces again.
//!
//! What the backup says is believed of nothing but content: who owns a workspace has to agree with
//! its name, users are drawn anew, and no step follows a link that the backup made.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek as _, SeekFrom, Write as _},
    path::{Component, Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use cap_fs_ext::DirExt as _;
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use wharf_files::private_files;

use crate::{
    backup::MAX_OWNER_BYTES,
    layout::{self, FILES, HOME, SESSION, TEMPORARY, USED},
    system::{is_root, let_users_through},
    users,
    walk::{BackupContent, BackupEntry},
};

/// Bytes that are read at a time; as many zeros in a row become a hole.
const CHUNK_BYTES: usize = 64 << 10;

/// Why an entry does not become a part of a workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceRefusal {
    /// No backup has such an entry.
    #[error("{0}")]
    Foreign(&'static str),
    /// Its content cannot be read, or the disk refuses.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Makes workspaces below a directory that no host uses yet. They are usable once
/// [`WorkspaceRestore::finish`] has returned.
#[derive(Debug)]
pub struct WorkspaceRestore {
    directory: PathBuf,
    root: Dir,
    /// Users that have a workspace here; none where children are the host's own user.
    taken: Option<HashSet<u32>>,
    open: Option<OpenWorkspace>,
    restored: u64,
}

/// The workspace that entries belong to.
#[derive(Debug)]
struct OpenWorkspace {
    name: PathBuf,
    root: Dir,
    user: Option<u32>,
    is_owned: bool,
    is_used: bool,
    /// The directory of the last entry, with its path below the workspace.
    parent: Option<(PathBuf, Dir)>,
}

impl WorkspaceRestore {
    /// Makes the directory.
    ///
    /// # Errors
    /// Where it is there already, or the system refuses.
    pub fn new(directory: &Path) -> io::Result<Self> {
        private_files::make_new_directory(directory)?;
        let taken = is_root().then(HashSet::new);
        if taken.is_some() {
            let_users_through(directory)?;
        }
        let root = Dir::open_ambient_dir(directory, ambient_authority())?;
        Ok(Self { directory: directory.to_owned(), root, taken, open: None, restored: 0 })
    }

    /// Whether each workspace gets a user of its own: where root restores.
    #[must_use]
    pub fn has_session_users() -> bool {
        is_root()
    }

    /// Takes the next entry of [`Workspaces::back_up`](crate::Workspaces::back_up).
    ///
    /// # Errors
    /// Where no backup has such an entry at this place, or the disk refuses. What was made stays.
    pub fn add(&mut self, entry: BackupEntry<'_>) -> Result<(), WorkspaceRefusal> {
        let mut parts = entry.path.components();
        let Some(Component::Normal(name)) = parts.next() else {
            return Err(WorkspaceRefusal::Foreign("its path is not below a workspace"));
        };
        let below = parts.as_path();
        if below.as_os_str().is_empty() {
            return self.begin(name, &entry.content);
        }
        let Some(open) = self.open.as_mut().filter(|open| open.name == name) else {
            return Err(WorkspaceRefusal::Foreign("its workspace does not come right before it"));
        };
        match below.to_str() {
            Some(SESSION) => open.owner(entry.content),
            Some(USED) => open.used(entry.content),
            _ if below.starts_with(FILES) || below.starts_with(HOME) => {
                let below = below.to_owned();
                open.content(&below, entry)
            }
            _ => Err(WorkspaceRefusal::Foreign("a workspace has no such file")),
        }
    }

    /// Ends the last workspace. Returns how many there are.
    ///
    /// # Errors
    /// As [`WorkspaceRestore::add`].
    pub fn finish(mut self) -> Result<u64, WorkspaceRefusal> {
        self.end()?;
        Ok(self.restored)
    }

    fn begin(&mut self, name: &OsStr, content: &BackupContent<'_>) -> Result<(), WorkspaceRefusal> {
        self.end()?;
        let is_digest =
            name.len() == 32 && name.as_encoded_bytes().iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_digest || !matches!(content, BackupContent::Directory) {
            return Err(WorkspaceRefusal::Foreign("it is no directory of a workspace"));
        }
        let path = self.directory.join(name);
        private_files::make_new_directory(&path).map_err(twice)?;
        let_users_through(&path)?;
        let user = self.taken.as_mut().map(|taken| users::draw(taken).inspect(|user| _ = taken.insert(*user)));
        let root = self.root.open_dir_nofollow(name)?;
        let name = PathBuf::from(name);
        let user = user.transpose()?;
        self.open = Some(OpenWorkspace { name, root, user, is_owned: false, is_used: false, parent: None });
        Ok(())
    }

    fn end(&mut self) -> Result<(), WorkspaceRefusal> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let is_whole = open.is_owned
            && open.is_used
            && [FILES, HOME].iter().all(|part| open.root.symlink_metadata(part).is_ok_and(|about| about.is_dir()));
        if !is_whole {
            return Err(WorkspaceRefusal::Foreign("the workspace before it is not whole"));
        }
        // A session may have removed it, and processes need it.
        if open.root.symlink_metadata(TEMPORARY).is_err() {
            let home = open.root.open_dir_nofollow(HOME)?;
            let name = OsStr::new("tmp");
            home.create_dir(name)?;
            settle_directory(&home, name, 0o700, open.user)?;
        }
        self.restored += 1;
        Ok(())
    }
}

impl OpenWorkspace {
    /// The tenant and session, whose digest is the name of the directory.
    fn owner(&mut self, content: BackupContent<'_>) -> Result<(), WorkspaceRefusal> {
        let BackupContent::File(bytes, content) = content else {
            return Err(WorkspaceRefusal::Foreign("it is no file"));
        };
        if bytes > MAX_OWNER_BYTES {
            return Err(WorkspaceRefusal::Foreign("it is too long"));
        }
        let mut record = Vec::new();
        content.take(MAX_OWNER_BYTES).read_to_end(&mut record)?;
        if layout::name_in(&record).is_none_or(|name| Path::new(&name) != self.name) {
            return Err(WorkspaceRefusal::Foreign("it names another session than its directory is for"));
        }
        create_in(&self.root, OsStr::new(SESSION))?.write_all(&record)?;
        self.is_owned = true;
        Ok(())
    }

    /// A restore counts as a use: no workspace expires because its backup is old.
    fn used(&mut self, content: BackupContent<'_>) -> Result<(), WorkspaceRefusal> {
        if !matches!(content, BackupContent::File(0, _)) {
            return Err(WorkspaceRefusal::Foreign("it is no empty file"));
        }
        create_in(&self.root, OsStr::new(USED))?;
        self.is_used = true;
        Ok(())
    }

    fn content(&mut self, below: &Path, entry: BackupEntry<'_>) -> Result<(), WorkspaceRefusal> {
        let Some(name) = below.file_name() else { return Err(WorkspaceRefusal::Foreign("it has no name")) };
        let above = below.parent().unwrap_or(Path::new(""));
        let is_part = above.as_os_str().is_empty();
        let user = self.user;
        let parent = self.parent(above)?;
        match entry.content {
            BackupContent::Directory => {
                parent.create_dir(name).map_err(twice)?;
                // Its owner may always go in, or the rest of it could not be made.
                settle_directory(parent, name, entry.mode | 0o700, user)?;
            }
            _ if is_part => return Err(WorkspaceRefusal::Foreign("it is no directory")),
            BackupContent::Link(target) => link(parent, target, name, user)?,
            BackupContent::File(bytes, content) => {
                let mut file = create_in(parent, name)?;
                fill(&mut file, bytes, content)?;
                settle(&file, entry.mode, user)?;
                // A time that the system does not have changes nothing of the file.
                let _ = UNIX_EPOCH
                    .checked_add(Duration::from_secs(entry.changed))
                    .map(|changed| file.set_modified(changed));
            }
        }
        Ok(())
    }

    /// The directory of this path, which entries made: each step is a directory and no link.
    fn parent(&mut self, path: &Path) -> Result<&Dir, WorkspaceRefusal> {
        let open = match self.parent.take() {
            Some((open, directory)) if open == path => directory,
            _ => {
                let mut directory = self.root.try_clone()?;
                for step in path.components() {
                    directory = directory
                        .open_dir_nofollow(step)
                        .map_err(|_| WorkspaceRefusal::Foreign("no directory of the backup is above it"))?;
                }
                directory
            }
        };
        Ok(&self.parent.insert((path.to_owned(), open)).1)
    }
}

/// Makes a file whose name is free.
fn create_in(parent: &Dir, name: &OsStr) -> Result<File, WorkspaceRefusal> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    Ok(parent.open_with(name, &options).map_err(twice)?.into_std())
}

fn twice(error: io::Error) -> WorkspaceRefusal {
    match error.kind() {
        io::ErrorKind::AlreadyExists => WorkspaceRefusal::Foreign("it is there twice"),
        _ => error.into(),
    }
}

/// Writes so many bytes, and leaves holes where there are zeros: a file with holes takes no more
/// room than it took.
fn fill(file: &mut File, bytes: u64, content: &mut dyn Read) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut written = 0;
    loop {
        let mut filled = 0;
        while filled < chunk.len() {
            match content.read(&mut chunk[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        if filled == 0 {
            break;
        }
        if filled == chunk.len() && chunk.iter().all(|byte| *byte == 0) {
            file.seek(SeekFrom::Current(filled as i64))?;
        } else {
            file.write_all(&chunk[..filled])?;
        }
        written += filled as u64;
    }
    // The last hole, too. What came short is found by who reads the archive.
    file.set_len(written.min(bytes))
}

/// Gives a file its user and its permissions.
#[cfg(unix)]
fn settle(made: &File, mode: u32, user: Option<u32>) -> io::Result<()> {
    use std::{
        fs::Permissions,
        os::unix::fs::{PermissionsExt as _, fchown},
    };
    if let Some(user) = user {
        fchown(made, Some(user), Some(user))?;
    }
    // After the owner: a change of the owner takes bits away.
    made.set_permissions(Permissions::from_mode(mode & 0o777))
}

/// The same of a directory that was just made: nobody else gets this far to put a link there.
#[cfg(unix)]
fn settle_directory(parent: &Dir, name: &OsStr, mode: u32, user: Option<u32>) -> io::Result<()> {
    use rustix::fs::{AtFlags, Mode, chmodat};
    give(parent, name, user)?;
    Ok(chmodat(parent, name, Mode::from_raw_mode((mode & 0o777) as _), AtFlags::empty())?)
}

#[cfg(unix)]
fn give(parent: &Dir, name: &OsStr, user: Option<u32>) -> io::Result<()> {
    use rustix::fs::{AtFlags, Gid, Uid, chownat};
    let Some(user) = user else { return Ok(()) };
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
    Ok(chownat(parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(unix))]
fn settle_directory(_: &Dir, _: &OsStr, _: u32, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn settle(_: &File, _: u32, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(parent: &Dir, target: &Path, name: &OsStr, user: Option<u32>) -> Result<(), WorkspaceRefusal> {
    parent.symlink_contents(target, name).map_err(twice)?;
    Ok(give(parent, name, user)?)
}

#[cfg(not(unix))]
fn link(_: &Dir, _: &Path, _: &OsStr, _: Option<u32>) -> Result<(), WorkspaceRefusal> {
    Err(WorkspaceRefusal::Foreign("links cannot be made on this system"))
}
