//! `cargo xtask deny`: licences, sources and known vulnerabilities of what Wharf
//! is built on, by cargo-deny. The rules are in `deny.toml`.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use lexopt::Arg;

use crate::command::{self, say};
use crate::workspace::Workspace;

const HELP: &str = "\
Checks the dependencies with cargo-deny, by the rules of deny.toml: licences, banned
and duplicate crates, sources, and known vulnerabilities where the database of
advisories can be reached. cargo-deny is installed below target/ where it is missing.

Usage: cargo xtask deny
";

/// A machine that only reaches package mirrors may leave the fetch hanging.
const FETCH_LIMIT: Duration = Duration::from_secs(90);

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    match arguments.next()? {
        None => {}
        Some(Arg::Short('h') | Arg::Long("help")) => {
            print!("{HELP}");
            return Ok(());
        }
        Some(other) => return Err(other.unexpected().into()),
    }
    let workspace = Workspace::find()?;
    let tool = find(&workspace)?;
    let deny = || {
        let mut deny = Command::new(&tool);
        deny.current_dir(&workspace.root);
        deny
    };
    command::run(deny().args(["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))?;
    say("Fetching the database of advisories.");
    if command::succeeds_within(deny().args(["fetch", "db"]), FETCH_LIMIT) {
        return command::run(deny().args(["check", "--hide-inclusion-graph", "--disable-fetch", "advisories"]));
    }
    say("The database of advisories cannot be reached from here: known vulnerabilities were NOT checked.");
    Ok(())
}

fn find(workspace: &Workspace) -> Result<PathBuf> {
    if command::exists("cargo-deny") {
        return Ok("cargo-deny".into());
    }
    let folder = workspace.target().join("tools");
    let tool = folder.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !tool.is_file() {
        say("Installing cargo-deny below target/tools (once; some minutes to compile).");
        let mut cargo = command::cargo(&workspace.root);
        command::run(cargo.args(["install", "--locked", "--quiet", "cargo-deny", "--root"]).arg(&folder))?;
    }
    Ok(tool)
}
