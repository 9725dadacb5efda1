//! Copies of the system's settings, which every sandbox gets.
//!
//! The root keeps what it has read: reading the files anew for each sandbox would be a third of
//! the time that one takes. A look at each file says whether it has changed. Knows nothing of sandboxes.

use std::{fs, os::unix::fs::MetadataExt as _};

use crate::system_paths::SETTINGS;

/// What tells a file from itself with other contents: device, inode, times of the last changes, size.
type FileIdentity = (u64, u64, (i64, i64), (i64, i64), u64);

#[derive(Default)]
pub(super) struct SystemSettings(Vec<(FileIdentity, &'static str, Vec<u8>)>);

impl SystemSettings {
    /// Reads what has changed since the last time.
    pub(super) fn refresh(&mut self) {
        self.follow(SETTINGS);
    }

    fn follow(&mut self, paths: impl IntoIterator<Item = &'static str>) {
        let mut before = std::mem::take(&mut self.0);
        for path in paths {
            let Ok(about) = fs::metadata(path) else { continue };
            let changed = (about.mtime(), about.mtime_nsec());
            let changed_about = (about.ctime(), about.ctime_nsec());
            let identity = (about.dev(), about.ino(), changed, changed_about, about.len());
            if let Some(kept) = before.iter().position(|kept| (kept.0, kept.1) == (identity, path)) {
                self.0.push(before.swap_remove(kept));
            } else if let Ok(contents) = fs::read(path) {
                self.0.push((identity, path, contents));
            }
        }
    }

    /// The files that there are, with their contents.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(_, path, contents)| (*path, contents.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_read_again_and_what_is_gone_is_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = |name: &str| -> &'static str {
            let path = directory.path().join(name).into_os_string().into_string().expect("text");
            Box::leak(path.into_boxed_str())
        };
        let paths = [place("hosts"), place("resolv.conf"), place("absent")];
        fs::write(paths[0], "one").expect("a file");
        fs::write(paths[1], "same").expect("a file");
        let mut settings = SystemSettings::default();
        let mut now = || {
            settings.follow(paths);
            let text = |(path, contents): (&'static str, &[u8])| (path, String::from_utf8_lossy(contents).into_owned());
            settings.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(now(), [(paths[0], "one".to_owned()), (paths[1], "same".to_owned())]);
        // Another file of the same name and length, as editors leave it.
        fs::write(paths[2], "two").expect("a file");
        fs::rename(paths[2], paths[0]).expect("a new name");
        assert_eq!(now(), [(paths[0], "two".to_owned()), (paths[1], "same".to_owned())]);
        fs::remove_file(paths[0]).expect("removed");
        assert_eq!(now(), [(paths[1], "same".to_owned())]);
    }
}
