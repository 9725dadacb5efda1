//! The C library that a program needs, by the versions that its symbols name.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

use crate::command;

/// The newest that packages may need: what the book says that they run on has it.
pub(super) const PROMISED: GlibcVersion = GlibcVersion(2, 34);

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GlibcVersion(u32, u32);

impl FromStr for GlibcVersion {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        // Some symbols have a third number, which no system tells apart.
        let mut numbers = text.split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Self(major, minor)),
            _ => bail!("{text:?} is no version of glibc"),
        }
    }
}

impl fmt::Display for GlibcVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// The oldest that has everything which a program asks of it.
///
/// # Errors
/// Where that is newer than what packages promise.
pub(super) fn needed(binary: &Path) -> Result<GlibcVersion> {
    let symbols = command::capture(Command::new("objdump").arg("-T").arg(binary))?;
    let needed = latest(&symbols).context("the program names no version of the C library")?;
    if needed > PROMISED {
        bail!(
            "the program needs glibc {needed}, and packages are for {PROMISED} and later: build it on an older system, or \
             change the promise in distribution/c_library.rs and in docs/src/operating/packages.md. It uses {}",
            newer(&symbols, PROMISED).join(", ")
        );
    }
    Ok(needed)
}

fn named(line: &str) -> Option<GlibcVersion> {
    let rest = line.split_once("GLIBC_")?.1;
    let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn latest(symbols: &str) -> Option<GlibcVersion> {
    symbols.lines().filter_map(named).max()
}

/// The symbols that a version does not have.
fn newer(symbols: &str, than: GlibcVersion) -> Vec<&str> {
    let newer = symbols.lines().filter(|line| named(line).is_some_and(|version| version > than));
    newer.filter_map(|line| line.split_whitespace().last()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.9) pipe2
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) memcpy
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.34) openpty
0000000000000000  w   DF *UND*\t0000000000000000  GLIBC_2.30  gettid
0000000000000000      DF *UND*\t0000000000000000 (GCC_3.0)   _Unwind_Resume
";

    #[test]
    fn the_newest_version_counts_by_numbers() {
        assert_eq!(latest(SYMBOLS).map(|version| version.to_string()).as_deref(), Some("2.34"));
        assert_eq!(latest("0 w D *UND* 0 (GCC_3.0) _Unwind_Resume\n"), None);
    }

    #[test]
    fn what_needs_a_newer_one_is_named() {
        assert_eq!(newer(SYMBOLS, GlibcVersion(2, 29)), ["openpty", "gettid"]);
        assert!(newer(SYMBOLS, PROMISED).is_empty());
    }
}
