//! The operator's side: the files of a workspace as one archive.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, DirEntry, Metadata, OpenOptions},
    time::SystemClock,
};
use tar::{Builder, EntryType, Header};
use wharf_core::WorkspaceKey;

use crate::{WorkspaceError, Workspaces};

/// What says at the end of an archive which files are not in it.
const LEFT_OUT: &str = "wharf-left-out.txt";
/// How many of them it names.
const MOST_NAMED: usize = 1_000;

impl Workspaces {
    /// Writes the files of a workspace as a tar, while programs may change them: directories,
    /// files as long as they were when their turn came, and links as they are. Nothing outside the
    /// workspace is read. A file that the host may not read is named at the end, in
    /// `wharf-left-out.txt`. Counts as use. Returns whether there was such a workspace.
    ///
    /// # Errors
    /// Where `out` fails, or the workspace cannot be read.
    pub fn archive(&self, key: &WorkspaceKey, out: &mut dyn Write) -> Result<bool, WorkspaceError> {
        let Some(workspace) = self.find(key) else { return Ok(false) };
        let written = Dir::open_ambient_dir(&workspace.files, ambient_authority()).and_then(|root| write(&root, out));
        written.map(|()| true).map_err(WorkspaceError::storage("read", workspace.files))
    }
}

fn write(root: &Dir, out: &mut dyn Write) -> io::Result<()> {
    let mut archive = Builder::new(out);
    let mut left_out = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(path) = open.pop() {
        let Ok(directory) = directory(root, &path) else {
            left_out.push(path);
            continue;
        };
        let mut entries: Vec<_> = directory.entries()?.filter_map(Result::ok).collect();
        entries.sort_by_key(DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let at = path.join(entry.file_name());
            match add(&mut archive, &directory, &entry, &at)? {
                Added::Directory => below.push(at),
                Added::Whole => {}
                Added::Nothing => left_out.push(at),
            }
        }
        open.extend(below.into_iter().rev());
    }
    tell(&mut archive, &left_out)?;
    archive.finish()
}

/// No link leads out of `root`, whatever becomes of the names meanwhile.
fn directory(root: &Dir, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() { root.try_clone() } else { root.open_dir(path) }
}

/// What became of an entry.
enum Added {
    Directory,
    Whole,
    Nothing,
}

/// Fails only where the archive cannot be written.
fn add(archive: &mut Builder<&mut dyn Write>, parent: &Dir, entry: &DirEntry, at: &Path) -> io::Result<Added> {
    let Ok(about) = entry.metadata() else { return Ok(Added::Nothing) };
    if about.is_dir() {
        archive.append_data(&mut header(&about, EntryType::Directory, 0), at, io::empty())?;
        return Ok(Added::Directory);
    }
    if about.is_symlink() {
        let Ok(target) = parent.read_link_contents(entry.file_name()) else { return Ok(Added::Nothing) };
        archive.append_link(&mut header(&about, EntryType::Symlink, 0), at, target)?;
        return Ok(Added::Whole);
    }
    // What was a file may be a pipe by now, which must not hold this up.
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let opened = parent.open_with(entry.file_name(), &options).and_then(|file| Ok((file.metadata()?, file)));
    let Some((about, file)) = opened.ok().filter(|(about, _)| about.is_file()) else { return Ok(Added::Nothing) };
    let size = about.len();
    let content = file.take(size).chain(io::repeat(0)).take(size);
    archive.append_data(&mut header(&about, EntryType::Regular, size), at, content)?;
    Ok(Added::Whole)
}

fn header(about: &Metadata, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(if kind == EntryType::Directory { 0o755 } else { mode(about) });
    let changed = about.modified().ok().and_then(|time| time.duration_since(SystemClock::UNIX_EPOCH).ok());
    header.set_mtime(changed.map(|since| since.as_secs()).unwrap_or_default());
    header
}

/// Whether it can be run stays; who may read it is for the reader to say.
#[cfg(unix)]
fn mode(about: &Metadata) -> u32 {
    use cap_std::fs::PermissionsExt as _;
    if about.permissions().mode() & 0o100 == 0 { 0o644 } else { 0o755 }
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0o644
}

fn tell(archive: &mut Builder<&mut dyn Write>, left_out: &[PathBuf]) -> io::Result<()> {
    if left_out.is_empty() {
        return Ok(());
    }
    let mut text =
        format!("{} files are not in this archive: no files, or the host may not read them.\n", left_out.len());
    for path in left_out.iter().take(MOST_NAMED) {
        text.push_str(&format!("{}\n", path.display().to_string().escape_debug()));
    }
    let mut header = Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, LEFT_OUT, text.as_bytes())
}
