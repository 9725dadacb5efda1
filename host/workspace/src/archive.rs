//! The operator's side: the files of a workspace as one archive.

use std::{
    io::{self, Write},
    path::Path,
};

use cap_std::{ambient_authority, fs::Dir};
use tar::{Builder, EntryType, Header};
use wharf_core::WorkspaceKey;

use crate::{
    WorkspaceError, Workspaces,
    walk::{BackupContent, BackupEntry, FilesLeftOut, walk},
};

/// What says at the end of an archive which files are not in it.
const LEFT_OUT: &str = "wharf-left-out.txt";

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
    let mut left_out = FilesLeftOut::default();
    walk(root, Path::new(""), |_| true, &mut left_out, &mut |entry| add(&mut archive, entry))?;
    tell(&mut archive, &left_out)?;
    archive.finish()
}

fn add(archive: &mut Builder<&mut dyn Write>, entry: BackupEntry<'_>) -> io::Result<()> {
    let BackupEntry { path, mode, changed, content } = entry;
    // Whether it can be run stays; who may read it is for the reader to say.
    let mode = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
    match content {
        BackupContent::Directory => {
            archive.append_data(&mut header(EntryType::Directory, 0, 0o755, changed), path, io::empty())
        }
        BackupContent::Link(target) => {
            archive.append_link(&mut header(EntryType::Symlink, 0, mode, changed), path, target)
        }
        BackupContent::File(bytes, content) => {
            archive.append_data(&mut header(EntryType::Regular, bytes, mode, changed), path, content)
        }
    }
}

fn header(kind: EntryType, size: u64, mode: u32, changed: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(changed);
    header
}

fn tell(archive: &mut Builder<&mut dyn Write>, left_out: &FilesLeftOut) -> io::Result<()> {
    if left_out.count == 0 {
        return Ok(());
    }
    let mut text =
        format!("{} files are not in this archive: no files, or the host may not read them.\n", left_out.count);
    for path in &left_out.named {
        text.push_str(&format!("{}\n", path.display().to_string().escape_debug()));
    }
    let mut header = Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, LEFT_OUT, text.as_bytes())
}
