//! `cargo xtask deny`: licences, sources and known vulnerabilities of what Wharf
//! is built on, by cargo-deny, and who read it, by cargo-vet. The rules are in
//! `deny.toml`, the record of readers is in `supply-chain/`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use lexopt::Arg;

use crate::command::{self, say};
use crate::record::{self, Pinned, Record};
use crate::workspace::Workspace;

const HELP: &str = "\
Checks the dependencies with cargo-deny, by the rules of deny.toml: licences, banned
and duplicate crates, sources, and known vulnerabilities where the database of
advisories can be reached.

Then checks with cargo-vet that each dependency was read or is exempt, by the record in
supply-chain/, and says how many packages of the command were read. No record of others
is fetched.

Each tool is installed below target/ where it is missing.

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
    deny(&workspace)?;
    vet(&workspace)
}

fn deny(workspace: &Workspace) -> Result<()> {
    let tool = find(workspace, "cargo-deny")?;
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

fn vet(workspace: &Workspace) -> Result<()> {
    let tool = find(workspace, "cargo-vet")?;
    // It asks the cargo that starts it, and does not run without.
    let mut cargo = command::cargo(&workspace.root);
    if let Some(folder) = tool.parent().filter(|folder| folder.is_absolute()) {
        cargo.env("PATH", command::search_path(folder, None)?);
    }
    command::run(cargo.args(["vet", "--locked"]))?;
    let linked = record::of_command(workspace, "normal")?;
    let locked = record::locked(workspace)?.into_iter().map(|(_, package)| package).collect();
    say(&figures(&linked, &locked, &Record::of(workspace)?));
    Ok(())
}

/// How many packages somebody read of those that the command is linked of.
fn figures(linked: &BTreeSet<Pinned>, locked: &BTreeSet<Pinned>, record: &Record) -> String {
    let command: BTreeSet<_> = linked.intersection(locked).cloned().collect();
    let counted = |some: &BTreeSet<Pinned>| command.intersection(some).count();
    format!(
        "Of {} packages of registries in the command, {} were read whole by us and {} by others whose record is \
         imported; {} are exempt: we did not read them, or do not vouch for them. Of all {} in Cargo.lock, we read {}.",
        command.len(),
        counted(&record.read),
        counted(&record.imported),
        counted(&record.exempt),
        locked.len(),
        locked.intersection(&record.read).count(),
    )
}

fn find(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    if command::exists(name) {
        return Ok(name.into());
    }
    let folder = workspace.target().join("tools");
    let tool = folder.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !tool.is_file() {
        say(&format!("Installing {name} below target/tools (once; some minutes to compile)."));
        let mut cargo = command::cargo(&workspace.root);
        command::run(cargo.args(["install", "--locked", "--quiet", name, "--root"]).arg(&folder))?;
    }
    Ok(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_count_each_package_of_the_command_once_and_none_of_ours() {
        let tree = "wharf-cli v0.1.0 (/repository/host/cli)\nhex v0.4.3\nfnv v1.0.7\nhex v0.4.3 (*)\n";
        let lock = "[[package]]\nname = \"hex\"\nversion = \"0.4.3\"\nsource = \"registry+https://example.org\"\n\n\
                    [[package]]\nname = \"fnv\"\nversion = \"1.0.7\"\nsource = \"registry+https://example.org\"\n\n\
                    [[package]]\nname = \"apart\"\nversion = \"1.0.0\"\nsource = \"registry+https://example.org\"\n";
        let locked = record::packages(lock).into_iter().map(|(_, package)| package).collect();
        let record = Record::parse(
            "[[audits.hex]]\nversion = \"0.4.3\"\n\n[[audits.apart]]\nversion = \"1.0.0\"\n",
            "[[exemptions.fnv]]\nversion = \"1.0.7\"\n",
            "",
        );
        let figures = figures(&record::in_tree(tree), &locked, &record);
        assert!(
            figures.starts_with("Of 2 packages of registries in the command, 1 were read whole by us"),
            "{figures}"
        );
        assert!(
            figures.contains("1 are exempt") && figures.ends_with("Of all 3 in Cargo.lock, we read 2."),
            "{figures}"
        );
    }
}
