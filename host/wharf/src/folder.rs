//! A folder in which each `NAME.wasm` is a plugin: what lies there, and which files
//! are whole.
//!
//! A file that somebody still writes must not be loaded, so one counts once it has
//! looked the same twice. Knows no engine and no host.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use wharf_core::PluginName;
use wharf_files::regular_file;

use crate::file_stamp::SignedFileStamp;

/// How long a file has to look the same.
pub(crate) const SETTLE: Duration = Duration::from_millis(300);
/// Files that are looked at; further ones are passed over.
const MAX_FILES: usize = 256;

/// A file as it was seen.
#[derive(Debug, Clone)]
struct TrackedFile {
    last: SignedFileStamp,
    since: Instant,
    /// As it was when it was last whole.
    whole: Option<SignedFileStamp>,
}

impl TrackedFile {
    fn is_settled(&self) -> bool {
        self.whole == Some(self.last)
    }
}

/// A file that is to be a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderPlugin {
    /// Its name, or what comes nearest to it.
    pub(crate) name: PluginName,
    /// Where it is.
    pub(crate) file: PathBuf,
    /// Why it is not a plugin, where that is plain to see.
    pub(crate) problem: Option<String>,
    /// Whether nobody writes it any more.
    pub(crate) is_settled: bool,
}

/// What one look at the folder brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FolderChanges {
    /// A file has come, changed or gone, as far as whole ones count.
    pub(crate) changed: bool,
    /// A file may still be written.
    pub(crate) waiting: bool,
}

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    // Held for a look at a directory, never across an await.
    seen: Mutex<BTreeMap<OsString, TrackedFile>>,
}

impl Folder {
    /// A folder in which every file is taken for whole: nobody knows better at a start.
    pub(crate) fn open(path: PathBuf) -> Self {
        let folder = Self { path, seen: Mutex::default() };
        match folder.list() {
            Ok(files) => {
                let now = Instant::now();
                let seen =
                    files.into_iter().map(|(name, last)| (name, TrackedFile { last, since: now, whole: Some(last) }));
                *folder.seen.lock() = seen.collect();
            }
            Err(error) => tracing::warn!("the folder of plugins {} cannot be read: {error}", folder.path.display()),
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks again. A folder that cannot be read is left as it was: it may be away for
    /// a moment.
    pub(crate) fn look(&self, now: Instant) -> FolderChanges {
        let files = match self.list() {
            Ok(files) => files,
            Err(error) => {
                tracing::debug!("the folder of plugins {} cannot be read: {error}", self.path.display());
                return FolderChanges::default();
            }
        };
        let mut seen = self.seen.lock();
        let before = seen.len();
        seen.retain(|name, _| files.contains_key(name));
        let mut news = FolderChanges { changed: seen.len() != before, waiting: false };
        for (name, look) in files {
            let file = seen.entry(name).or_insert(TrackedFile { last: look, since: now, whole: None });
            if file.last != look {
                (file.last, file.since) = (look, now);
            }
            if file.is_settled() {
                continue;
            }
            if now.saturating_duration_since(file.since) >= SETTLE {
                file.whole = Some(look);
                news.changed = true;
            } else {
                news.waiting = true;
            }
        }
        news
    }

    /// What lies there as it was looked at last, by name.
    pub(crate) fn files(&self) -> Vec<FolderPlugin> {
        let seen = self.seen.lock();
        seen.iter().map(|(name, seen)| self.found(name, seen)).collect()
    }

    fn found(&self, file_name: &OsStr, seen: &TrackedFile) -> FolderPlugin {
        let file = self.path.join(file_name);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // What cargo builds has underscores, which no name of a plugin has.
        let (name, problem) = match stem.replace('_', "-").parse() {
            Ok(name) => (name, None),
            Err(error) => (nearest(&stem), Some(format!("{} names no plugin: {error}", file.display()))),
        };
        let problem = problem.or_else(|| {
            (!seen.last.file.is_file)
                .then(|| format!("{} is no regular file; links out of the folder are not followed", file.display()))
        });
        FolderPlugin { name, file, problem, is_settled: seen.is_settled() }
    }

    fn list(&self) -> io::Result<BTreeMap<OsString, SignedFileStamp>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_wanted = Path::new(&name).extension().is_some_and(|ending| ending == "wasm")
                && !name.to_string_lossy().starts_with('.');
            if !is_wanted {
                continue;
            }
            if files.len() >= MAX_FILES {
                tracing::warn!("of the files in {}, {MAX_FILES} are taken for plugins", self.path.display());
                break;
            }
            // Of the entry itself, where it is a link. It may be gone again.
            if let Ok(metadata) = entry.metadata() {
                files.insert(name, SignedFileStamp::of(&entry.path(), &metadata));
            }
        }
        Ok(files)
    }
}

/// A legal name that shows which file is meant.
fn nearest(stem: &str) -> PluginName {
    let legal = |character: char| match character.to_ascii_lowercase() {
        lower if lower.is_ascii_lowercase() || lower.is_ascii_digit() => lower,
        _ => '-',
    };
    let name: String = stem.chars().take(64).map(legal).collect();
    // Of a file without a stem there is nothing to show.
    name.parse().unwrap_or_else(|_| PluginName::host())
}

/// Reads a file of the folder, and nothing that a link leads to.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    regular_file::read_all(regular_file::open_itself(path)?, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Folder) -> Vec<(String, bool, bool)> {
        let files = folder.files();
        files.iter().map(|file| (file.name.to_string(), file.is_settled, file.problem.is_some())).collect()
    }

    #[test]
    fn a_file_counts_once_it_has_looked_the_same_twice() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |text: &str| fs::write(directory.path().join("one.wasm"), text).expect("written");
        let folder = Folder::open(directory.path().to_owned());
        let start = Instant::now();
        assert_eq!(folder.look(start), FolderChanges::default());
        write("a");
        assert_eq!(folder.look(start), FolderChanges { changed: false, waiting: true });
        assert_eq!(names(&folder), [("one".to_owned(), false, false)]);
        write("ab");
        assert_eq!(folder.look(start + SETTLE), FolderChanges { changed: false, waiting: true }, "it grew meanwhile");
        assert_eq!(folder.look(start + SETTLE * 2), FolderChanges { changed: true, waiting: false });
        assert_eq!(folder.look(start + SETTLE * 3), FolderChanges::default());
        assert_eq!(names(&folder), [("one".to_owned(), true, false)]);
        fs::remove_file(directory.path().join("one.wasm")).expect("removed");
        assert_eq!(folder.look(start + SETTLE * 3), FolderChanges { changed: true, waiting: false });
        assert!(names(&folder).is_empty());
    }

    #[test]
    fn what_is_no_plugin_by_its_name_or_kind_says_so_and_the_rest_is_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let outside = tempfile::NamedTempFile::new().expect("a file");
        for name in ["my_tool.wasm", "Loud Name.wasm", ".hidden.wasm", "read.me", "half.wasm.part"] {
            fs::write(directory.path().join(name), "x").expect("written");
        }
        std::os::unix::fs::symlink(outside.path(), directory.path().join("link.wasm")).expect("linked");
        fs::create_dir(directory.path().join("deep.wasm")).expect("made");
        let folder = Folder::open(directory.path().to_owned());
        let expected = [("loud-name", true), ("deep", true), ("link", true), ("my-tool", false)];
        let expected = expected.map(|(name, problem)| (name.to_owned(), true, problem));
        assert_eq!(names(&folder), expected);
        assert!(read(&directory.path().join("link.wasm"), 10).is_err(), "a link is not followed");
        assert!(read(&directory.path().join("deep.wasm"), 10).is_err());
        assert_eq!(read(&directory.path().join("my_tool.wasm"), 10).expect("a file"), b"x");
    }

    #[test]
    fn a_folder_that_is_away_for_a_moment_keeps_its_plugins() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("plugins");
        fs::create_dir(&path).expect("made");
        fs::write(path.join("one.wasm"), "x").expect("written");
        let folder = Folder::open(path.clone());
        fs::rename(&path, directory.path().join("away")).expect("moved");
        assert_eq!(folder.look(Instant::now()), FolderChanges::default());
        assert_eq!(names(&folder).len(), 1);
    }
}
