//! The directory of one run of the browser: its profile, and what it downloads.
//!
//! It appears by rename, with its lock held, and goes with the browser. The next host
//! sweeps the directories of a host that was killed: it gets their locks.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::fs::OFlags;
use wharf_core::text::for_shell;
use wharf_webview::PageId;

use crate::{error::ChromiumError, settings::ChromiumSettings};

const NAME: &str = "wharf-browser-";
const HALF_DONE: &str = ".half-";
const LOCK: &str = "lock";
/// A directory that is still unfinished after this time was abandoned.
const OLD: Duration = Duration::from_secs(3_600);

/// The directory of a browser that runs. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Profile {
    place: PathBuf,
    user: Option<u32>,
    /// Held while the browser lives.
    _lock: File,
}

impl Profile {
    /// Makes a profile directory below `temporary`, and sweeps those that no host holds.
    /// `user` is the user that the browser runs as, where that is not the host's own.
    pub(crate) fn create(temporary: &Path, user: Option<u32>) -> Result<Self, ChromiumError> {
        let unfit = |problem: String| ChromiumError::Directory { directory: temporary.to_owned(), problem };
        fs::create_dir_all(temporary).map_err(|error| unfit(format!("it cannot be made ({error})")))?;
        // The browser is told this path, and changes its directory.
        let temporary = &fs::canonicalize(temporary).map_err(|error| unfit(error.to_string()))?;
        sweep(temporary);
        if user.is_some()
            && let Some(closed) = temporary.ancestors().find(|path| !is_open_to_all(path))
        {
            let closed = closed.display().to_string();
            let word = for_shell(&closed);
            return Err(unfit(format!(
                "{closed} is closed to other users, and the browser runs as one; choose another directory for temporary \
                 files, or allow others to pass (`chmod o+x {word}`)"
            )));
        }
        Self::make(temporary, user).map_err(|error| unfit(error.to_string()))
    }

    fn make(temporary: &Path, user: Option<u32>) -> io::Result<Self> {
        // Not a secret, only a name that is free.
        let name = PageId::random()?;
        let half = temporary.join(format!("{HALF_DONE}{NAME}{name}"));
        let place = temporary.join(format!("{NAME}{name}"));
        // Another user may pass, and sees only what is its own.
        DirBuilder::new().mode(0o700).create(&half)?;
        let made = (|| {
            let mode = if user.is_some() { 0o711 } else { 0o700 };
            fs::set_permissions(&half, fs::Permissions::from_mode(mode))?;
            let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(half.join(LOCK))?;
            lock.try_lock().map_err(io::Error::from)?;
            // Below a directory of the host's own, a browser that was taken over can
            // put no link in the host's way.
            for (part, owner) in [("profile", user), ("downloads", None)] {
                let part = half.join(part);
                DirBuilder::new().mode(0o700).create(&part)?;
                match owner {
                    Some(user) => chown(&part, Some(user), Some(user))?,
                    None => fs::set_permissions(&part, fs::Permissions::from_mode(mode))?,
                }
            }
            fs::rename(&half, &place)?;
            Ok(lock)
        })();
        match made {
            Ok(lock) => Ok(Self { place, user, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&half);
                Err(error)
            }
        }
    }

    /// The browser's own directory, its home among it.
    pub(crate) fn profile(&self) -> PathBuf {
        self.place.join("profile")
    }

    /// All that the browser may write.
    pub(crate) fn writable(&self) -> [PathBuf; 2] {
        [self.profile(), self.place.join("downloads")]
    }

    /// The directory of one page's downloads.
    pub(crate) fn downloads(&self, page: PageId) -> PathBuf {
        self.place.join("downloads").join(page.to_string())
    }

    /// Makes that directory, which belongs to the browser.
    pub(crate) fn make_downloads(&self, page: PageId) -> io::Result<PathBuf> {
        let place = self.downloads(page);
        DirBuilder::new().mode(0o700).create(&place)?;
        chown(&place, self.user, self.user)?;
        Ok(place)
    }

    /// Removes the downloads of one page.
    pub(crate) fn forget(&self, page: PageId) {
        remove(&self.place.join("downloads").join(page.to_string()));
    }

    /// Removes all of it: the browser has ended.
    pub(crate) fn remove(&self) {
        remove(&self.place);
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A directory for files on their way into pages, beside those of browsers and swept
/// like them. Dropping it removes it.
#[derive(Debug)]
pub struct Staging(Profile);

impl Staging {
    /// Makes one, and sweeps the directories of hosts that were killed.
    ///
    /// # Errors
    /// It cannot be made where the browser's user can reach it; the message says what
    /// to do.
    pub fn create(settings: &ChromiumSettings) -> Result<Self, ChromiumError> {
        let user = settings.clone().decided().user;
        Profile::create(&settings.temporary, user).map(Self)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.place
    }
}

/// Removes the directories of hosts that were killed.
fn sweep(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_ours =
            || entry.metadata().is_ok_and(|about| about.is_dir() && about.uid() == rustix::process::geteuid().as_raw());
        let place = entry.path();
        if name.strip_prefix(HALF_DONE).is_some_and(|name| name.starts_with(NAME)) && is_ours() {
            // Another host may be making it just now.
            let age = entry.metadata().and_then(|about| about.modified()).map(|made| made.elapsed());
            if age.is_ok_and(|age| age.is_ok_and(|age| age > OLD)) {
                remove(&place);
            }
            continue;
        }
        if !name.starts_with(NAME) || !is_ours() {
            continue;
        }
        let lock =
            OpenOptions::new().write(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(place.join(LOCK));
        // Held here while it is removed: another host may sweep, too.
        match lock.map(|lock| lock.try_lock().map(|()| lock)) {
            Ok(Ok(_held)) => remove(&place),
            Err(error) if error.kind() == io::ErrorKind::NotFound => remove(&place),
            Ok(Err(_)) | Err(_) => {}
        }
    }
}

fn remove(place: &Path) {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, place = %place.display(), "a directory of the browser is left");
        }
        _ => {}
    }
}

/// Removes a download that is not kept.
pub(crate) fn discard(download: &Path) {
    match fs::remove_file(download) {
        // It goes with the browser's own directory in the end.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "a download that nobody wants cannot be removed");
        }
        _ => {}
    }
}

fn is_open_to_all(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.permissions().mode() & 0o001 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::BROWSER_USER;

    fn names(place: &Path) -> Vec<String> {
        let names = fs::read_dir(place).expect("a directory").flatten();
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_directory_that_a_killed_host_left_is_swept_and_one_in_use_is_not() {
        let temporary = tempfile::tempdir().expect("a directory");
        let in_use = Profile::create(temporary.path(), None).expect("a profile");
        let left = temporary.path().join(format!("{NAME}left"));
        fs::create_dir_all(left.join("profile/deep")).expect("a directory");
        fs::write(left.join(LOCK), "").expect("a file");
        let other = temporary.path().join("something-else");
        fs::create_dir(&other).expect("a directory");
        let next = Profile::create(temporary.path(), None).expect("a profile");
        assert!(!left.exists() && other.exists() && in_use.profile().exists() && next.profile().exists());
        drop((in_use, next));
        assert_eq!(names(temporary.path()), ["something-else"]);
    }

    #[test]
    fn what_one_page_had_goes_with_it() {
        let temporary = tempfile::tempdir().expect("a directory");
        let profile = Profile::create(temporary.path(), None).expect("a profile");
        let page = PageId::random().expect("an id");
        fs::write(profile.make_downloads(page).expect("a directory").join("some"), "some").expect("a file");
        profile.forget(page);
        assert_eq!(names(&profile.place.join("downloads")).len(), 0);
    }

    #[test]
    fn a_place_that_another_user_cannot_reach_is_an_error_that_says_so() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let closed = tempfile::tempdir().expect("a directory");
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).expect("closed");
        let error = Profile::create(closed.path(), Some(BROWSER_USER)).expect_err("closed");
        assert!(error.to_string().contains("is closed to other users"), "{error}");
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o711)).expect("open");
        let profile = Profile::create(closed.path(), Some(BROWSER_USER)).expect("a profile");
        let about = fs::metadata(profile.profile()).expect("it");
        assert_eq!((about.uid(), about.mode() & 0o777), (BROWSER_USER, 0o700));
    }
}
