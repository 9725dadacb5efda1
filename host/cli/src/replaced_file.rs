//! A file that is changed as a whole, unless somebody else changes it meanwhile.

use std::{fs, io, path::Path};

/// What it says; nothing where it is not there.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts a text in the place of what it said before; false, with nothing written, where it says
/// something else by now.
pub(crate) fn replace(path: &Path, before: Option<&str>, text: &str) -> io::Result<bool> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let new = beside(directory, path)?;
    io::Write::write_all(&mut new.as_file(), text.as_bytes())?;
    new.as_file().sync_all()?;
    if read(path)?.as_deref() != before {
        return Ok(false);
    }
    new.persist(path).map_err(|error| error.error)?;
    Ok(true)
}

/// A file beside the one that it will replace, with its permissions and owner.
fn beside(directory: &Path, old: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wharf-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
        let Ok(metadata) = fs::metadata(old) else {
            // As any new file: what its maker's mask leaves.
            return builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(directory);
        };
        let new = builder.tempfile_in(directory)?;
        let made = new.as_file().metadata()?;
        if (made.uid(), made.gid()) != (metadata.uid(), metadata.gid()) {
            fchown(new.as_file(), Some(metadata.uid()), Some(metadata.gid()))?;
        }
        new.as_file().set_permissions(metadata.permissions())?;
        Ok(new)
    }
    #[cfg(not(unix))]
    {
        let _ = old;
        builder.tempfile_in(directory)
    }
}
