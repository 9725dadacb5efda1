//! Files of a workspace on their way into a page: opened by name, and copied to where
//! the browser can read them.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, Uid, fchmod, fchown, fstat, mkdir},
    io::Errno,
};

use super::beneath::{beneath, directory, file, root};
use crate::{PageWorkspace, WebViewError};

/// Open files on their way into a page: they stay the same whatever their names lead to
/// later.
#[derive(Debug)]
pub(crate) struct UploadFiles {
    files: Vec<(String, File)>,
    pub(crate) bytes: u64,
}

/// Opens files of a workspace by their paths in it.
pub(crate) fn open(workspace: &PageWorkspace, paths: &[PathBuf]) -> Result<UploadFiles, WebViewError> {
    let system = |source| WebViewError::System { action: "open the files of the workspace", source };
    let files = root(&workspace.files).map_err(system)?;
    let mut staged = UploadFiles { files: Vec::with_capacity(paths.len()), bytes: 0 };
    for path in paths {
        let shown = wharf_core::text::line(&path.to_string_lossy(), 300);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let opened = name.ok_or(Errno::INVAL).and_then(|name| Ok((name, file(&files, path)?)));
        let (name, opened) = opened.map_err(|error| WebViewError::Invalid {
            problem: match error {
                Errno::NOENT | Errno::NOTDIR => format!("there is no file `{shown}` in the workspace"),
                Errno::XDEV | Errno::LOOP => {
                    format!("`{shown}` leads out of the workspace, or through a link; name the file itself by its path in it")
                }
                Errno::INVAL => format!("`{shown}` is no regular file"),
                other => format!("`{shown}` cannot be opened: {}", io::Error::from(other)),
            },
        })?;
        let size = fstat(&opened).map_err(|error| system(error.into()))?.st_size;
        staged.bytes = staged.bytes.saturating_add(u64::try_from(size).unwrap_or_default());
        staged.files.push((name, opened.into()));
    }
    Ok(staged)
}

/// Copies files below a directory of the host alone, where `reader` can read them, by
/// paths that cannot be guessed. Returns the paths. All together copy at most the bytes
/// that they had when they were opened.
pub(crate) fn stage(
    staging: &Path,
    page: &str,
    number: u64,
    reader: Option<u32>,
    staged: UploadFiles,
) -> io::Result<Vec<PathBuf>> {
    // Nobody else can write to these directories, nor list them.
    let mode = Mode::from_raw_mode(0o711);
    match mkdir(staging, mode) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let (of_page, _) = directory(root(staging)?, page, mode)?;
    let (of_request, _) = directory(of_page, &number.to_string(), mode)?;
    let mut left = staged.bytes;
    let mut paths = Vec::with_capacity(staged.files.len());
    for (at, (name, source)) in staged.files.into_iter().enumerate() {
        // Two files may have one name.
        let at = at.to_string();
        let (folder, _) = directory(&of_request, &at, mode)?;
        left -= write(&folder, &name, source, left, reader)?;
        paths.push(staging.join(page).join(number.to_string()).join(at).join(name));
    }
    Ok(paths)
}

fn write(folder: impl AsFd, name: &str, source: File, most: u64, reader: Option<u32>) -> io::Result<u64> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let mut made = File::from(beneath(folder, Path::new(name), flags, Mode::from_raw_mode(0o600))?);
    let bytes = io::copy(&mut source.take(most), &mut made)?;
    fchmod(&made, Mode::from_raw_mode(0o400))?;
    if let Some(reader) = reader {
        fchown(&made, Some(Uid::from_raw(reader)), None)?;
    }
    Ok(bytes)
}
