//! Programs of Debian's that `cargo xtask test` unpacks below `target/`, where they are not installed.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// Where tests are built, below which programs are unpacked.
#[must_use]
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from)
}

/// A program of the system's, or an unpacked one.
#[derive(Debug)]
pub struct DebianProgram {
    path: PathBuf,
    /// Where the libraries of an unpacked one are.
    libraries: Option<OsString>,
}

impl DebianProgram {
    /// A program that is installed, or unpacked into a folder of its name below `target`; nothing
    /// where it is neither, which says so.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
    pub fn find(name: &str, target: &Path) -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        if let Some(path) = folders.map(|folder| folder.join(name)).find(|path| path.is_file()) {
            return Some(Self { path, libraries: None });
        }
        let root = target.join(name);
        let unpacked = ["usr/bin", "usr/sbin"].map(|folder| root.join(folder).join(name));
        let Some(path) = unpacked.into_iter().find(|path| path.is_file()) else {
            eprintln!("{name} is not there, so this tests nothing: `cargo xtask test` unpacks it");
            return None;
        };
        Some(Self { path, libraries: libraries(&root) })
    }

    /// A command that runs it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

/// A library of the system's, or one that was unpacked into a folder of this name below `target`;
/// nothing where it is neither, which says so. `path` is below the folder of the machine's libraries.
#[must_use]
#[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
pub fn library(name: &str, path: &str, target: &Path) -> Option<PathBuf> {
    let machine = format!("usr/lib/{}-linux-gnu", env::consts::ARCH);
    let found = [PathBuf::from("/"), target.join(name)].map(|root| root.join(&machine).join(path));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        eprintln!("{name} is not there, so this tests nothing: `cargo xtask test` unpacks it");
    }
    found
}

/// Where the libraries of programs are that were unpacked below this folder, as the loader's
/// variable names them.
pub(crate) fn libraries(root: &Path) -> Option<OsString> {
    let machine = format!("{}-linux-gnu", env::consts::ARCH);
    env::join_paths(["usr/lib", "lib"].map(|folder| root.join(folder).join(&machine))).ok()
}
