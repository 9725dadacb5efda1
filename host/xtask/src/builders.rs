//! The programs of the system that build what cargo compiles beside Rust.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::{command, debian};

/// Sees to what builds OpenSSL's library, with which SQLCipher encrypts state: make, and a whole Perl. Debian has a
/// smaller one in every system.
pub(crate) fn see_to() -> Result<()> {
    let modules = ["-MFindBin", "-MIPC::Cmd", "-MTime::Piece", "-e", "1"];
    let mut missing = Vec::new();
    if !command::exists("make") {
        missing.push("make");
    }
    if !Command::new("perl").args(modules).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        missing.push("perl");
    }
    if missing.is_empty() || debian::install(&missing, "with which the library is built that encrypts state")? {
        return Ok(());
    }
    bail!("install {}, with which the library is built that encrypts state", missing.join(" and "))
}
