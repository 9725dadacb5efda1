//! How cargo makes a component of a plugin. The build script of `wharf` and
//! `cargo xtask plugins` share this file, so both make the same components.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The target of every plugin.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Plugins are called afresh each time and compiled by the host: speed comes
/// first, but every byte is compiled, hashed and mapped.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_LTO", "fat"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_STRIP", "symbols"),
];

/// Flags for native builds, coverage for one, mean nothing to Wasm or break it.
const FOREIGN: [&str; 4] = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];

/// What cargo says of a package to what it starts. Build scripts that watch
/// such a variable would run again.
const OF_ANOTHER_PACKAGE: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CFG_", "CARGO_FEATURE_"];

/// Has `cargo` build the package below the target directory `folder`. One
/// package at a time: built together, features that one asks of a shared
/// dependency would change the bytes of the others. Where the sources lie, below `workspace` for one, is in no
/// component: two builds in different folders are the same bytes.
pub(crate) fn build(cargo: &mut Command, package: &str, workspace: &Path, folder: &Path) {
    for (name, _) in env::vars_os() {
        if OF_ANOTHER_PACKAGE.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(&name);
        }
    }
    for name in FOREIGN {
        cargo.env_remove(name);
    }
    cargo.args(["build", "--quiet", "--release", "--target", TARGET, "--package", package, "--target-dir"]).arg(folder);
    cargo.args(["--config", &format!("target.{TARGET}.rustflags={:?}", remapped(workspace, folder))]);
    cargo.envs(PROFILE);
}

/// Where cargo keeps what it fetched.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(env::home_dir()?.join(".cargo")))
}

/// Flags that have what is compiled name its sources by the same paths everywhere.
pub(crate) fn remapped(workspace: &Path, folder: &Path) -> Vec<String> {
    // The last one that fits counts.
    let paths = [
        Some((workspace.to_owned(), "/wharf")),
        cargo_home().map(|home| (home, "/cargo")),
        Some((folder.to_owned(), "/target")),
    ];
    let flag = |(path, name): (PathBuf, &str)| format!("--remap-path-prefix={}={name}", path.display());
    paths.into_iter().flatten().map(flag).collect()
}

/// Where cargo leaves the component of the library target `name`.
pub(crate) fn built(folder: &Path, name: &str) -> PathBuf {
    folder.join(TARGET).join("release").join(format!("{}.wasm", name.replace('-', "_")))
}

/// The folder where the compiler looks for the standard library of plugins.
pub(crate) fn library_folder(rustc: &mut Command) -> Option<PathBuf> {
    let output = rustc.args(["--print", "target-libdir", "--target", TARGET]).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(PathBuf::from(printed.trim()))
}

/// Whether that library is there.
pub(crate) fn has_standard_library(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
    })
}
