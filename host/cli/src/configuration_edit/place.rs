//! Where a configuration that is changed stands: read and written as a whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
};

use wharf::{Configuration, InvalidConfiguration};

use super::EditError;
use crate::cluster_shelf::ClusterShelf;

/// Where what is changed stands.
#[derive(Debug)]
pub(super) enum EditPlace {
    File(PathBuf),
    /// With the tables that all hosts have.
    Cluster(Rc<ClusterShelf>),
}

impl EditPlace {
    /// A file. A link stays one: what it leads to is replaced.
    pub(super) fn file(path: &Path) -> Self {
        Self::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
    }

    /// What a person calls it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Cluster(_) => "the tables of all hosts of the cluster".to_owned(),
        }
    }

    /// What it says; nothing where it is not there.
    pub(super) fn read(&self) -> Result<Option<String>, EditError> {
        match self {
            Self::File(path) => read(path),
            Self::Cluster(shelf) => Ok(Some(shelf.tables()?)),
        }
    }

    /// What a text amounts to here.
    pub(super) fn check(&self, text: &str) -> Result<Configuration, InvalidConfiguration> {
        match self {
            Self::File(path) => Configuration::parse(text, path.parent().unwrap_or(Path::new("."))),
            Self::Cluster(shelf) => shelf.check(text),
        }
    }

    /// Writes a text, where nobody has changed what it said before.
    pub(super) fn write(&self, before: Option<&str>, text: &str) -> Result<(), EditError> {
        match self {
            Self::File(path) => write(path, before, text),
            Self::Cluster(shelf) => Ok(shelf.write(before.unwrap_or_default(), text)?),
        }
    }
}

fn write(path: &Path, before: Option<&str>, text: &str) -> Result<(), EditError> {
    let failed = |source| EditError::File { what: "write", path: path.to_owned(), source };
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(failed)?;
    let new = new_file(directory, path).map_err(failed)?;
    io::Write::write_all(&mut new.as_file(), text.as_bytes()).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    if read(path)?.as_deref() != before {
        return Err(EditError::Changed { path: path.to_owned() });
    }
    new.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A file beside the one that it will replace, with its permissions and owner.
fn new_file(directory: &Path, old: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wharf-").suffix(".toml");
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

fn read(path: &Path) -> Result<Option<String>, EditError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EditError::File { what: "read", path: path.to_owned(), source }),
    }
}
