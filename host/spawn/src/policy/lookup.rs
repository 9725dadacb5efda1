//! Finds the file of a program by its name, on a path that no guest can change.
//!
//! Nothing holds the file between the look-up and the start, so every directory and
//! every link on the way to it has to be out of reach of guests, not only the
//! file itself.

#[cfg(unix)]
use std::path::Component;
use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

/// Most links that a look-up follows, as many as the system.
#[cfg(unix)]
const MAX_LINKS: usize = 40;

/// The directories in which programs may be, and those in which they may not.
#[derive(Debug)]
pub(super) struct Lookup {
    /// Directories that the child sees as the host has them; none given for a child
    /// that sees all.
    pub(super) shown: Option<Vec<PathBuf>>,
    /// Directories in which guests write.
    pub(super) writable: Vec<PathBuf>,
}

impl Lookup {
    /// The path of a program in the first directory of a search path that has it.
    pub(super) fn find(&self, program: &str, path: &OsStr) -> Option<PathBuf> {
        let writable: Vec<_> = self.writable.iter().map(|path| real(path)).collect();
        let runs = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.is_file() && is_executable(&file));
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| files_of(program).map(move |file| folder.join(file)))
            .find(|path| runs(path) && self.leads_nowhere_else(path, &writable))
    }

    /// Whether neither the file nor its folder is one in which guests write: nothing is
    /// contained here, so every child sees all.
    #[cfg(not(unix))]
    fn leads_nowhere_else(&self, path: &Path, writable: &[PathBuf]) -> bool {
        let is_out_of_reach = |path: &Path| {
            let real = fs::canonicalize(path);
            real.is_ok_and(|real| self.is_shown(&real) && !writable.iter().any(|folder| real.starts_with(folder)))
        };
        is_out_of_reach(path) && path.parent().is_some_and(is_out_of_reach)
    }

    /// Whether no guest can change a part of the way to this file, and the child sees every
    /// part as the host has it.
    #[cfg(unix)]
    fn leads_nowhere_else(&self, path: &Path, writable: &[PathBuf]) -> bool {
        let mut links = 0;
        let mut here = PathBuf::from("/");
        let mut ahead = reversed(path);
        while let Some(part) = ahead.pop() {
            if part == ".." {
                here.pop();
                continue;
            }
            let entry = here.join(part);
            if writable.iter().any(|writable| entry.starts_with(writable)) {
                return false;
            }
            let Ok(about) = fs::symlink_metadata(&entry) else { return false };
            // The child may see only a part of a directory on the way.
            if !about.is_dir() && !self.is_shown(&entry) {
                return false;
            }
            if !about.is_symlink() {
                here = entry;
                continue;
            }
            links += 1;
            let Ok(target) = fs::read_link(&entry) else { return false };
            if links > MAX_LINKS {
                return false;
            }
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            ahead.extend(reversed(&target));
        }
        self.is_shown(&here)
    }

    fn is_shown(&self, path: &Path) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown.iter().any(|shown| path.starts_with(shown)))
    }
}

/// The names that a program may have in a folder.
#[cfg(unix)]
fn files_of(program: &str) -> [OsString; 1] {
    [program.into()]
}

/// The names that a program may have in a folder, those that Windows starts first.
#[cfg(not(unix))]
fn files_of(program: &str) -> [OsString; 2] {
    [format!("{program}.exe").into(), program.into()]
}

/// The parts of a path, the last first.
#[cfg(unix)]
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    let mut parts: Vec<_> = parts.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

/// Whether any user may execute a file.
#[cfg(unix)]
fn is_executable(file: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0
}

/// Windows decides by the file's name and content, when it starts it.
#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// The canonical path of a directory; the given one where the directory is absent.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "#!/bin/sh\n").expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    #[test]
    fn no_name_leads_to_a_file_or_over_a_link_that_a_guest_can_change() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(directory.path()).expect("a path");
        let (system, guests) = (root.join("system"), root.join("guests"));
        program(&system.join("safe"));
        program(&guests.join("own"));
        // Links of the operator into directories of guests, to a file and to a folder,
        // and a guest's link, which leads back to the system.
        symlink(guests.join("own"), system.join("planted")).expect("a link");
        symlink(system.join("safe"), guests.join("back")).expect("a link");
        symlink(guests.join("back"), system.join("around")).expect("a link");
        symlink("safe", system.join("alias")).expect("a link");
        symlink(&guests, root.join("folder")).expect("a link");
        symlink("loop", system.join("loop")).expect("a link");
        let lookup = Lookup { shown: None, writable: vec![root.join("folder")] };
        let path = std::env::join_paths([&guests, &root.join("folder"), &system]).expect("a search path");
        let found = |name: &str| lookup.find(name, &path);
        assert_eq!(found("safe"), Some(system.join("safe")));
        assert_eq!(found("alias"), Some(system.join("alias")), "a program is called what it was asked for as");
        for name in ["own", "planted", "back", "around", "loop", "absent"] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn what_the_child_is_not_shown_or_sees_otherwise_is_no_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(directory.path()).expect("a path");
        let (shown, hidden) = (root.join("shown"), root.join("hidden"));
        program(&shown.join("here"));
        program(&hidden.join("there"));
        symlink(hidden.join("there"), shown.join("link")).expect("a link");
        symlink(shown.join("here"), hidden.join("back")).expect("a link");
        symlink(hidden.join("back"), shown.join("around")).expect("a link");
        let lookup = Lookup { shown: Some(vec![shown.clone()]), writable: Vec::new() };
        let path = std::env::join_paths([&hidden, &shown]).expect("a search path");
        assert_eq!(lookup.find("here", &path), Some(shown.join("here")));
        for name in ["there", "link", "around"] {
            assert_eq!(lookup.find(name, &path), None, "{name}");
        }
        assert_eq!(lookup.find("here", "shown:.".as_ref()), None, "a search path of relative folders leads nowhere");
    }
}
