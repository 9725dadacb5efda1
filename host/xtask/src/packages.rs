//! Programs of the system that the demo and the tests need: installed where
//! they are missing and this user may.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, say};
use crate::debian;

/// A program, and the package of Debian that has it.
struct Program {
    command: &'static str,
    package: &'static str,
}

const fn program(command: &'static str, package: &'static str) -> Program {
    Program { command, package }
}

/// What contains the programs that tools start.
const CONTAINMENT: Program = program("bwrap", "bubblewrap");

/// Interactive programs that tests drive in terminals, and what follows them
/// over HTTP.
const INTERACTIVE: [Program; 11] = [
    program("zsh", "zsh"),
    program("python3", "python3"),
    program("sqlite3", "sqlite3"),
    program("gdb", "gdb"),
    program("less", "less"),
    program("vi", "vim-tiny"),
    program("top", "procps"),
    program("curl", "curl"),
    program("bc", "bc"),
    program("dc", "dc"),
    program("ed", "ed"),
];

/// Sees to it that bubblewrap is there, or says what goes without it.
pub(crate) fn ensure_containment() -> Result<()> {
    ensure(
        &[CONTAINMENT],
        "which contains the programs that tools start",
        "Programs are contained by Landlock where the kernel has it, and refused otherwise",
    )
}

/// Runs web pages. The one of several browsers that is ready in half the time.
const BROWSER: Program = program("chromium-headless-shell", "chromium-headless-shell");

/// Sees to it that a browser is there for the host to run web pages in.
pub(crate) fn ensure_browser() -> Result<()> {
    ensure(
        &[BROWSER],
        "in which the host runs web pages",
        "Without any Chromium there are no pages, and tests of them fail",
    )
}

/// Sees to it that the programs are there that tests drive in terminals.
pub(crate) fn ensure_interactive() -> Result<()> {
    ensure(&INTERACTIVE, "which tests drive in terminals", "Their tests say that they tested nothing")
}

fn ensure(programs: &[Program], purpose: &str, without: &str) -> Result<()> {
    let missing: Vec<_> = programs.iter().filter(|program| !command::exists(program.command)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
    let names = packages.join(" ");
    if !debian::available() || !debian::is_root() {
        say(&format!("Missing: {names}, {purpose}. {without}; to have it, as root: apt-get install {names}"));
        return Ok(());
    }
    debian::refresh_lists()?;
    say(&format!("Installing {names}, {purpose} (seconds, or a minute)."));
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["-qq", "install", "--yes", "--no-install-recommends"]).args(packages);
    command::capture(&mut install).map(drop)
}
