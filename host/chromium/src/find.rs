//! Which program is the browser.

use std::{
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::error::ChromiumError;

/// Known programs, the preferred ones first: those without a user interface start in
/// half the time and take half the memory.
const NAMES: [&str; 8] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge-stable",
];

/// The program that was named, or the first that is found.
pub(crate) fn program(named: Option<&Path>) -> Result<PathBuf, ChromiumError> {
    if let Some(named) = named {
        // A bare name means the search path.
        let found = match named.components().count() {
            1 if !named.is_absolute() => in_path(named.as_os_str()),
            _ => Some(named.to_owned()).filter(|path| is_program(path)),
        };
        return found.ok_or_else(|| ChromiumError::NoProgram { program: named.to_owned() });
    }
    NAMES.iter().find_map(|name| in_path(OsStr::new(name))).ok_or(ChromiumError::NotFound)
}

fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let places = env::split_paths(&path).filter(|place| place.is_absolute()).collect::<Vec<_>>();
    places.into_iter().map(|place| place.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_named_is_that_one_or_an_error_that_says_what_to_do() {
        assert_eq!(program(Some(Path::new("/bin/sh"))).expect("a program"), Path::new("/bin/sh"));
        assert!(program(Some(Path::new("sh"))).expect("a program").ends_with("sh"));
        for none in ["/no/such/program", "/etc/passwd", "/tmp", "no-such-program-anywhere"] {
            let error = program(Some(Path::new(none))).expect_err("no program");
            assert!(error.to_string().contains("name a Chromium as `program`"), "{error}");
        }
    }
}
