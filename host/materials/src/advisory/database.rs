//! The files of a database: one advisory each, as `*.json` in a directory and those below it.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use super::{
    AdvisoryMatch,
    entry::{Advisory, PackageIndex},
};
use crate::package::Package;

/// Bytes of one advisory: the longest that are published have a tenth.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Files of a database: those of all ecosystems together are fewer.
const MAX_FILES: u64 = 4_000_000;
/// How deep directories may be within each other.
const MAX_DEPTH: usize = 8;
/// Problems that are told.
const MAX_PROBLEMS: usize = 20;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// A directory of it cannot be read.
    #[error("the advisories in {} cannot be read", directory.display())]
    Directory {
        /// Which one.
        directory: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is none in it.
    #[error("{} has no advisory: no file `*.json` with one in the form of OSV", directory.display())]
    Empty {
        /// Where they were looked for.
        directory: PathBuf,
    },
    /// There are too many files.
    #[error("{} has more than {MAX_FILES} files", directory.display())]
    TooMany {
        /// Where they are.
        directory: PathBuf,
    },
}

/// Advisories on disk.
#[derive(Debug, Clone)]
pub struct AdvisoryDatabase {
    directory: PathBuf,
}

/// What a database says of packages.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct DatabaseReport {
    /// What is affected, in order, each once.
    pub matches: BTreeSet<AdvisoryMatch>,
    /// Advisories that were read.
    pub advisories: u64,
    /// How often an advisory about a package has versions of an order that is not known here, or the
    /// package has none.
    pub undecided: u64,
    /// Files that are no advisories, or cannot be read.
    pub unread: u64,
    /// Why, of the first of them.
    pub problems: Vec<String>,
}

impl AdvisoryDatabase {
    /// The advisories in a directory. Nothing is read yet.
    #[must_use]
    pub fn of(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Holds packages against all advisories. Takes the time of reading them all.
    ///
    /// # Errors
    /// [`DatabaseError`]. A single file that is no advisory is no error, but counted and told.
    pub fn check<'p>(&self, packages: impl IntoIterator<Item = &'p Package>) -> Result<DatabaseReport, DatabaseError> {
        let mut index = PackageIndex::new();
        for package in packages {
            if let Some(ecosystem) = &package.ecosystem {
                index.entry((ecosystem, &package.name)).or_default().push(package);
            }
        }
        let mut report = DatabaseReport::default();
        let mut left = vec![(self.directory.clone(), 0)];
        let mut files = 0_u64;
        while let Some((directory, depth)) = left.pop() {
            let failed = |source| DatabaseError::Directory { directory: directory.clone(), source };
            for entry in fs::read_dir(&directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                files += 1;
                if files > MAX_FILES {
                    return Err(DatabaseError::TooMany { directory: self.directory.clone() });
                }
                let path = entry.path();
                // Links are followed by nobody, so there is no way round.
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() && depth < MAX_DEPTH {
                    left.push((path, depth + 1));
                } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
                    report.take(&path, &index);
                }
            }
        }
        match report.advisories {
            0 => Err(DatabaseError::Empty { directory: self.directory.clone() }),
            _ => Ok(report),
        }
    }
}

impl DatabaseReport {
    fn take(&mut self, path: &Path, packages: &PackageIndex<'_>) {
        match read(path) {
            Ok(entry) => {
                self.advisories += 1;
                let verdict = entry.verdict(packages);
                self.matches.extend(verdict.matches);
                self.undecided += verdict.undecided;
            }
            Err(problem) => {
                self.unread += 1;
                if self.problems.len() < MAX_PROBLEMS {
                    self.problems.push(format!("{}: {problem}", path.display()));
                }
            }
        }
    }
}

fn read(path: &Path) -> Result<Advisory, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it has more than {MAX_FILE_BYTES} bytes"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("it is no advisory in the form of OSV: {error}"))
}
