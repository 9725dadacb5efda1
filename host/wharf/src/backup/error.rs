//! Why there is no backup, and why nothing was restored.

use std::{
    io,
    path::{Path, PathBuf},
};

use wharf_state::InventoryError;
use wharf_workspace::WorkspaceError;

use super::{list::LIST_FILE, manifest::FORMAT};
use crate::{added::AddedError, encryption::EncryptionError};

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// No host has used the directory.
    #[error("there is no data directory {path}; name that of your hosts with --data")]
    Absent {
        /// Which.
        path: PathBuf,
    },
    /// The data directory cannot be read, or a copy of what changes cannot be made in it.
    #[error("cannot back up {path}; a backup has to be made by the user of the hosts, or by root")]
    Data {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no snapshot of the state.
    #[error("cannot copy the state: the copy takes as much room in the data directory as the state")]
    State(#[from] InventoryError),
    /// The data directory is encrypted, and its keys cannot be had.
    #[error(transparent)]
    Encryption(#[from] EncryptionError),
    /// The plugins cannot be read.
    #[error(transparent)]
    Plugins(#[from] AddedError),
    /// The workspaces cannot be read.
    #[error(transparent)]
    Workspaces(#[from] WorkspaceError),
    /// The archive cannot be written.
    #[error("the backup cannot be written")]
    Write(#[source] io::Error),
}

impl BackupError {
    pub(super) fn data(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Data { path, source }
    }
}

/// Why nothing was restored. Nothing is left of what was unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The data directory is in use.
    #[error(
        "{path} is not empty, and a restore replaces nothing; name a new directory with --data, or end the hosts that \
         use it and move what is in it away"
    )]
    Occupied {
        /// Which.
        path: PathBuf,
    },
    /// The hosts of the data directory would not get what root restores.
    #[error("{path} belongs to user {owner}; restore as this user, so that its hosts may use what is restored")]
    Owner {
        /// Which.
        path: PathBuf,
        /// The number of the user.
        owner: u32,
    },
    /// A directory or file cannot be made.
    #[error("cannot restore into {path}; nothing was restored")]
    Storage {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is a file of another kind.
    #[error("this is no backup of `wharf backup`; nothing was restored")]
    Foreign,
    /// A later version wrote it.
    #[error(
        "the backup has format {found}, and this version of Wharf reads formats up to {FORMAT}; nothing was restored. \
         Use Wharf {wharf} or a later version"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The version that wrote it.
        wharf: String,
    },
    /// It cannot be read to its end.
    #[error("the backup is damaged or cut; nothing was restored. Use another backup")]
    Damaged(#[source] io::Error),
    /// It ends before its list.
    #[error("the backup is cut: it ends before the list of what is in it; nothing was restored. Use another backup")]
    Cut,
    /// Something in it is not as it was written.
    #[error(
        "the backup is not what was written: {}; nothing was restored. Use another backup",
        match line {
            Some(line) => format!("line {line} of its list is of another file than the one that is in it"),
            None => "its list is of more or fewer files than are in it".to_owned(),
        }
    )]
    Unlike {
        /// The first line of its list that differs.
        line: Option<usize>,
    },
    /// It has what no backup has.
    #[error("the backup has {entry}, which `wharf backup` does not write: {problem}; nothing was restored")]
    Refused {
        /// Its path, made visible.
        entry: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It is encrypted, and the configuration has not the master key under which it was made.
    #[error("the backup is encrypted; nothing was restored")]
    Encryption(#[from] EncryptionError),
    /// The state in it cannot be used.
    #[error("the state of the backup cannot be used; nothing was restored")]
    State(#[from] InventoryError),
}

impl RestoreError {
    pub(super) fn damaged(source: io::Error) -> Self {
        Self::Damaged(source)
    }

    pub(super) fn refused(path: &Path, problem: &'static str) -> Self {
        let entry = path.as_os_str().as_encoded_bytes().escape_ascii().take(512).map(char::from).collect();
        Self::Refused { entry, problem }
    }

    /// The own list cannot be written.
    pub(super) fn list(source: io::Error) -> Self {
        Self::Storage { path: LIST_FILE.into(), source }
    }

    pub(super) fn storage(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Storage { path, source }
    }
}
