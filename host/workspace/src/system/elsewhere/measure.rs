//! Measures a workspace by the blocks of its files on disk, since a file
//! with holes takes less than its length.
//!
//! The owner of the files may change them meanwhile, so the measurement opens every directory
//! below its parent and follows no link.

use std::{ffi::OsString, fs::File, io, path::Path};

use cap_fs_ext::MetadataExt as _;
use cap_primitives::{
    fs::{FollowSymlinks, Metadata, ReadDir, open_dir_nofollow, read_base_dir, stat},
    time::SystemClock,
};

use super::{modes::bytes_on_disk, parent_of};
use crate::{
    DiskUsage,
    owners::{FileBirth, FileNumber},
};

/// Deepest nesting of directories, counted from the workspace; a deeper one counts as too
/// many entries.
const MAX_DEPTH: usize = 256;

/// Measures the files below a directory, and stops beyond `most` entries.
pub(crate) fn measure(directory: &Path, most: u64) -> io::Result<DiskUsage> {
    let (parent, name) = parent_of(directory)?;
    count(open_dir_nofollow(&parent, name)?, most, |_, _, _| {})
}

/// The same for an open directory. `see` is told of each file with its bytes, and may ask when it
/// was made.
pub(crate) fn measure_below(
    directory: &File,
    most: u64,
    see: impl FnMut(FileNumber, u64, &dyn Fn() -> Option<FileBirth>),
) -> io::Result<DiskUsage> {
    count(directory.try_clone()?, most, see)
}

/// A directory whose own entries are counted.
struct Level {
    directory: File,
    /// The directories in it that are not counted yet.
    inner: Vec<OsString>,
}

fn count(
    root: File,
    most: u64,
    mut see: impl FnMut(FileNumber, u64, &dyn Fn() -> Option<FileBirth>),
) -> io::Result<DiskUsage> {
    let mut usage = DiskUsage::default();
    // One open directory for each level.
    let entries = read_base_dir(&root)?;
    let mut levels = vec![read(root, entries, &mut usage, most, &mut see)?];
    while usage.entries <= most {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { return Ok(usage) };
        let Some(name) = level.inner.pop() else {
            levels.pop();
            continue;
        };
        if depth > MAX_DEPTH {
            // A directory that is not measured may hold any number of files.
            usage.entries = most.saturating_add(1);
            break;
        }
        let name = Path::new(&name);
        match open(&level.directory, name) {
            Ok((inner, entries)) => levels.push(read(inner, entries, &mut usage, most, &mut see)?),
            Err(error) => match stat(&level.directory, name, FollowSymlinks::No) {
                // Its owner closed it to all, and a host that is not root cannot open it.
                Ok(about) if about.is_dir() && error.kind() == io::ErrorKind::PermissionDenied => {
                    usage.incomplete = true;
                }
                Ok(about) if about.is_dir() => return Err(error),
                // Its owner removed or replaced it.
                Ok(_) => {}
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => {}
                Err(_) => return Err(error),
            },
        }
    }
    usage.incomplete = true;
    Ok(usage)
}

/// Opens a directory right below another one, and its list of entries.
fn open(parent: &File, name: &Path) -> io::Result<(File, ReadDir)> {
    let directory = open_dir_nofollow(parent, name)?;
    let entries = read_base_dir(&directory)?;
    Ok((directory, entries))
}

/// Counts the entries of a directory, and stops beyond `most` of all.
fn read(
    directory: File,
    entries: ReadDir,
    usage: &mut DiskUsage,
    most: u64,
    see: &mut impl FnMut(FileNumber, u64, &dyn Fn() -> Option<FileBirth>),
) -> io::Result<Level> {
    let mut inner = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        usage.entries += 1;
        if usage.entries > most {
            break;
        }
        // Windows says in no listing which file it is.
        let about = match stat(&directory, name.as_ref(), FollowSymlinks::No) {
            Ok(about) => about,
            // It has just been removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let bytes = bytes_on_disk(&about);
        usage.bytes = usage.bytes.saturating_add(bytes);
        see(FileNumber { device: about.dev(), inode: about.ino() }, bytes, &|| birth(&about));
        if about.is_dir() {
            inner.push(name);
        }
    }
    Ok(Level { directory, inner })
}

/// When a file was made; nothing where its file system does not know.
fn birth(about: &Metadata) -> Option<FileBirth> {
    let born = about.created().ok()?.duration_since(SystemClock::UNIX_EPOCH).ok()?;
    Some(FileBirth(i64::try_from(born.as_secs()).ok()?, born.subsec_nanos()))
}
