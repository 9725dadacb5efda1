//! bubblewrap, which contains the programs that tools start: installed where it
//! is missing and this user may.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, say};
use crate::debian;

/// Sees to it that bubblewrap is there, or says what goes without it.
pub(crate) fn ensure() -> Result<()> {
    if command::exists("bwrap") {
        return Ok(());
    }
    if !debian::available() || !debian::is_root() {
        say(
            "bubblewrap is missing. Programs are contained by Landlock where the kernel has it, and refused otherwise; to \
             have it, as root: apt-get install bubblewrap",
        );
        return Ok(());
    }
    debian::refresh_lists()?;
    say("Installing bubblewrap, which contains the programs that tools start (a few seconds).");
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["-qq", "install", "--yes", "--no-install-recommends", "bubblewrap"]);
    command::capture(&mut install).map(drop)
}
