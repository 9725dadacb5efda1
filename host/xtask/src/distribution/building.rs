//! How the program is built that many people run: the same bytes in whatever folder, of the same sources, with the same
//! compiler and tools.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command::{self, say};
use crate::compiler;
use crate::component;
use crate::components;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

/// Optimised as a whole.
pub(crate) const PROFILE: &str = "distribution";

/// What make is told: OpenSSL would have the folder of its build in it, as a place from which it loads nothing.
const NO_PLACES: &str = "ENGINESDIR=/nonexistent MODULESDIR=/nonexistent";

/// When the sources were committed, in seconds since 1970, which OpenSSL says as the time of its build. Nothing outside of
/// a repository.
pub(crate) fn committed(root: &Path) -> Option<String> {
    let mut git = Command::new("git");
    let time = command::capture(git.current_dir(root).args(["log", "-1", "--format=%ct"])).ok()?;
    Some(time.trim().to_owned())
}

/// Builds the program with its plugins, in a place that no other build writes to.
pub(crate) fn build(workspace: &Workspace, profile: &str, committed: Option<&str>) -> Result<PathBuf> {
    components::build(workspace, false, Choice::from_environment()?)?;
    say(&format!("Building the host with the profile {profile} (distribution: 20 minutes, and 6 GB of memory)"));
    let folder = workspace.target().join("released");
    let compiler = compiler::install(&folder)?;
    let mut cargo = command::cargo(&workspace.root);
    cargo.args(["build", "--profile", profile, "--locked", "--package", "wharf-cli", "--bin", "wharf", "--target-dir"]);
    cargo.arg(&folder).envs(compiler::environment_of_all(&compiler, &component::remapped(&workspace.root, &folder)));
    cargo.env("GNUMAKEFLAGS", NO_PLACES).env("CARGO_INCREMENTAL", "0").env_remove("RUSTFLAGS");
    cargo.envs(committed.map(|time| ("SOURCE_DATE_EPOCH", time)));
    command::run(&mut cargo)?;
    let built = if profile == "dev" { "debug" } else { profile };
    Ok(folder.join(built).join(format!("wharf{}", env::consts::EXE_SUFFIX)))
}
