//! Debian's packages as a source of tools: downloaded and unpacked into a private
//! folder, or installed after a question.
//!
//! Knows apt and dpkg, and nothing of what the packages are for.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::command::{self, say};

/// Packages that every system which runs rustc has. A second copy of the C
/// library beside the system's would not work with it.
const NEVER_UNPACKED: [&str; 5] = ["libc6", "libgcc-s1", "libstdc++6", "gcc-12-base", "gcc-14-base"];

/// Whether this machine has apt and dpkg.
pub(crate) fn available() -> bool {
    command::exists("apt-get") && command::exists("dpkg")
}

/// Whether this is the superuser, who may refresh the lists and install.
pub(crate) fn is_root() -> bool {
    command::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Whether packages are installed without a question: `--yes`, or `CI` in the environment.
static YES: AtomicBool = AtomicBool::new(false);

/// Says that packages are installed without a question.
pub(crate) fn ask_nothing() {
    YES.store(true, Ordering::Relaxed);
}

/// Installs packages, once it has said which and why, and the person at the terminal has
/// agreed. Without a terminal there is nobody to ask. False where they were not installed:
/// there is no apt, this is not the superuser, or the answer was no.
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<bool> {
    if !available() || !is_root() {
        return Ok(false);
    }
    let names = packages.join(" ");
    say(&format!("Missing on this system: {names}, {purpose}."));
    let asks = !YES.load(Ordering::Relaxed) && env::var_os("CI").is_none() && io::stdin().is_terminal();
    if asks && !agrees(&mut io::stdin().lock(), "Install with apt-get (seconds, or a minute)? [Y/n] ")? {
        return Ok(false);
    }
    refresh_lists()?;
    say(&format!("Installing {names} (seconds, or a minute)."));
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["-qq", "install", "--yes", "--no-install-recommends"]).args(packages);
    command::capture(&mut install)?;
    Ok(true)
}

/// Asks a question whose usual answer is yes. The end of the input is no answer, so it is no.
fn agrees(input: &mut impl BufRead, question: &str) -> Result<bool> {
    eprint!("{question}");
    io::stderr().flush()?;
    let mut answer = String::new();
    let length = input.read_line(&mut answer)?;
    Ok(length > 0 && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

/// Brings apt's lists up to date, where this user may do that; once in a run.
pub(crate) fn refresh_lists() -> Result<()> {
    static REFRESHED: AtomicBool = AtomicBool::new(false);
    if REFRESHED.load(Ordering::Relaxed) {
        return Ok(());
    }
    if !is_root() {
        say("Not root: using apt's package lists as they are.");
        return Ok(());
    }
    say("Refreshing apt's package lists (a few seconds).");
    command::capture(Command::new("apt-get").args(["-qq", "update"]))?;
    REFRESHED.store(true, Ordering::Relaxed);
    Ok(())
}

/// The direct dependency of `package` whose name starts with `prefix`.
pub(crate) fn dependency(package: &str, prefix: &str) -> Result<String> {
    let listing = command::capture(Command::new("apt-cache").args(["depends", package]))?;
    dependency_in(&listing, prefix).with_context(|| format!("Debian's {package} depends on no {prefix}… any more"))
}

fn dependency_in(listing: &str, prefix: &str) -> Option<String> {
    listing
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with(prefix))
        .map(str::to_owned)
}

/// `package` and all that it needs to run, less the C and C++ runtimes.
pub(crate) fn with_libraries(package: &str) -> Result<BTreeSet<String>> {
    let listing = command::capture(Command::new("apt-cache").args([
        "depends",
        "--recurse",
        "--important",
        "--no-pre-depends",
        package,
    ]))?;
    Ok(packages_in(&listing))
}

fn packages_in(listing: &str) -> BTreeSet<String> {
    listing
        .lines()
        .filter(|line| !line.starts_with([' ', '|', '<']) && !line.is_empty())
        .filter(|line| !NEVER_UNPACKED.contains(line))
        .map(str::to_owned)
        .collect()
}

/// Downloads `packages` into `downloads` and unpacks them into `root`. What an
/// interrupted run had downloaded is used again; apt checks it.
pub(crate) fn unpack(packages: &BTreeSet<String>, downloads: &Path, root: &Path) -> Result<()> {
    fs::create_dir_all(downloads)?;
    fs::create_dir_all(root)?;
    let mut fetch = Command::new("apt-get");
    // apt otherwise warns that its own user may not write into this folder.
    fetch.args(["-qq", "-o", "APT::Sandbox::User=root", "download"]).args(packages).current_dir(downloads);
    command::capture(&mut fetch)?;
    for package in packages {
        let archive = archive_of(package, downloads)?;
        command::capture(Command::new("dpkg").arg("-x").arg(archive).arg(root))?;
    }
    Ok(())
}

/// The newest archive of a package: an interrupted run may have left one of an
/// earlier version.
fn archive_of(package: &str, downloads: &Path) -> Result<std::path::PathBuf> {
    let prefix = format!("{package}_");
    let mut newest = None;
    for entry in fs::read_dir(downloads)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".deb") {
            newest = newest.max(Some((entry.metadata()?.modified()?, entry.path())));
        }
    }
    match newest {
        Some((_, path)) => Ok(path),
        None => bail!("apt-get downloaded no {package}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_or_the_usual_answer_agrees() {
        for (answer, agreed) in
            [("\n", true), ("y\n", true), ("Yes\n", true), ("n\n", false), ("what\n", false), ("", false)]
        {
            assert_eq!(agrees(&mut answer.as_bytes(), "? ").expect("read"), agreed, "{answer:?}");
        }
    }

    #[test]
    fn versioned_dependencies_are_read_from_apt_not_remembered() {
        let listing = "libstd-rust-web-1.96\n  Depends: libc6\n  Depends: libllvm22\n  Conflicts: <libllvm1>\n";
        assert_eq!(dependency_in(listing, "libllvm").as_deref(), Some("libllvm22"));
        assert_eq!(dependency_in(listing, "wasi"), None);
    }

    #[test]
    fn the_c_library_is_never_unpacked_beside_the_systems() {
        let listing = "libllvm22\n  Depends: libc6\nlibc6\n  Depends: libgcc-s1\nlibz3-4\n<libvirtual>\n";
        assert_eq!(packages_in(listing).into_iter().collect::<Vec<_>>(), ["libllvm22", "libz3-4"]);
    }
}
