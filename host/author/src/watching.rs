//! The sources of a plugin, watched: each save is told once it is over.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::Duration,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::ModifyKind};

use crate::error::AuthorError;

/// How long it is quiet after a save: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(150);

/// Folders of what tools write, at any depth.
const WRITTEN: [&str; 6] = ["target", "dist", "node_modules", "__pycache__", "build", "venv"];

/// The sources of a plugin, as long as this lives.
#[derive(Debug)]
pub struct SourceWatch {
    folder: PathBuf,
    watcher: RecommendedWatcher,
    changes: Receiver<PathBuf>,
}

impl SourceWatch {
    /// Watches a folder and those below it. What is hidden, and what tools write there, is no source.
    ///
    /// # Errors
    /// Where the system cannot watch it.
    pub fn begin(folder: &Path) -> Result<Self, AuthorError> {
        let folder = folder.canonicalize().map_err(AuthorError::file(folder))?;
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let is_change = match event.kind {
                EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => false,
                EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other => true,
            };
            for path in event.paths.into_iter().filter(|_| is_change) {
                // Nobody listens any more where this fails.
                let _ = sender.send(path);
            }
        });
        let mut watch = Self { watcher: watcher.map_err(|error| unwatched(&folder, error))?, folder, changes };
        watch.watch_below(&watch.folder.clone())?;
        Ok(watch)
    }

    /// Waits until a source has changed and it has been quiet for a moment, and returns one of
    /// those that changed; nothing where that takes longer than `patience`.
    pub fn wait(&mut self, patience: Duration) -> Option<PathBuf> {
        let mut changed = Vec::new();
        let mut path = self.changes.recv_timeout(patience).ok()?;
        loop {
            changed.extend(self.look_at(path));
            path = match self.changes.recv_timeout(QUIET) {
                Ok(path) => path,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            };
        }
        // Some editors write another file first, which then takes the place of the old one.
        let there = changed.iter().rposition(|path| self.folder.join(path).exists());
        let last = there.or_else(|| changed.len().checked_sub(1))?;
        Some(changed.swap_remove(last))
    }

    /// The path where it is a source. A folder that is new is watched, too.
    fn look_at(&mut self, path: PathBuf) -> Option<PathBuf> {
        let path = path.strip_prefix(&self.folder).ok()?.to_owned();
        if !is_source(&path) {
            return None;
        }
        let whole = self.folder.join(&path);
        if whole.is_dir() && self.watch_below(&whole).is_err() {
            // It is gone again.
            return None;
        }
        Some(path)
    }

    /// Each folder by itself, so that those of compilers are never looked into.
    fn watch_below(&mut self, folder: &Path) -> Result<(), AuthorError> {
        self.watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| unwatched(folder, error))?;
        for entry in folder.read_dir().map_err(AuthorError::file(folder))?.flatten() {
            let path = entry.path();
            let below = path.strip_prefix(&self.folder).unwrap_or(&path);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_source(below) {
                self.watch_below(&path)?;
            }
        }
        Ok(())
    }
}

/// Whether a path in the folder of a plugin is one that its author writes.
fn is_source(path: &Path) -> bool {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let is_written = |name: &OsStr| {
        let name = name.to_string_lossy();
        // Hidden files, and those that editors keep beside the one that is written.
        name.starts_with('.') || name.ends_with('~') || name == "4913" || WRITTEN.contains(&name.as_ref())
    };
    !names.into_iter().any(is_written) && path != Path::new("Cargo.lock")
}

fn unwatched(folder: &Path, error: notify::Error) -> AuthorError {
    AuthorError::File { path: folder.to_owned(), source: std::io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn a_save_is_told_once_and_what_tools_write_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("target/debug")).expect("made");
        fs::create_dir_all(folder.path().join("src")).expect("made");
        let mut watch = SourceWatch::begin(folder.path()).expect("watched");
        for (path, text) in [
            ("target/debug/x.o", "1"),
            ("dist.wasm~", "1"),
            (".hidden", "1"),
            ("src/lib.rs", "fn"),
            ("src/lib.rs", "fn a() {}"),
        ] {
            fs::write(folder.path().join(path), text).expect("written");
        }
        assert_eq!(watch.wait(PATIENCE), Some(PathBuf::from("src/lib.rs")));
        assert_eq!(watch.wait(QUIET), None);
        // A new folder, and a file in it.
        fs::create_dir(folder.path().join("src/tools")).expect("made");
        assert_eq!(watch.wait(PATIENCE), Some(PathBuf::from("src/tools")));
        fs::write(folder.path().join("src/tools/a.rs"), "").expect("written");
        assert_eq!(watch.wait(PATIENCE), Some(PathBuf::from("src/tools/a.rs")));
    }
}
