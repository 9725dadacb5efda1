//! Where a configuration that is changed stands: read and written as a whole.

use std::{
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use wharf::{Configuration, InvalidConfiguration};

use super::EditError;
use crate::{cluster_shelf::ClusterShelf, replaced_file};

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
            Self::Cluster(shelf) => match shelf.refused(text)? {
                Some((host, problem)) => Err(EditError::OfHost { host, problem }),
                None => Ok(shelf.write(before.unwrap_or_default(), text)?),
            },
        }
    }
}

fn write(path: &Path, before: Option<&str>, text: &str) -> Result<(), EditError> {
    match replaced_file::replace(path, before, text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(EditError::Changed { path: path.to_owned() }),
        Err(source) => Err(EditError::File { what: "write", path: path.to_owned(), source }),
    }
}

fn read(path: &Path) -> Result<Option<String>, EditError> {
    let failed = |source| EditError::File { what: "read", path: path.to_owned(), source };
    replaced_file::read(path).map_err(failed)
}
