//! The previous version of `wharf`, whose hosts serve with those of today's.

use std::{env::consts::EXE_SUFFIX, path::PathBuf};

use crate::artifacts::target;

/// The program of the previous version; nothing where it has not been built, which it says.
#[must_use]
#[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
pub fn previous() -> Option<PathBuf> {
    let commit = include_str!("../previous-version").trim();
    let program = target().join("previous").join(commit).join(format!("wharf{EXE_SUFFIX}"));
    if program.is_file() {
        return Some(program);
    }
    eprintln!("NOT TESTED: the previous version is not there: `cargo xtask test` builds it where the history has it");
    None
}
