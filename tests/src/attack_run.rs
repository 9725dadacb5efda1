//! Whether this run attacks a binary that somebody names, as `cargo xtask attack` has it.

use std::{env, fs::OpenOptions, io::Write as _, path::PathBuf};

/// The directory in which tests say what they did to the binary, where it is attacked.
const ATTACKED: &str = "WHARF_ATTACKED";
/// What a test says that shows nothing of a binary.
pub(crate) const NOT_OF_A_BINARY: &str = "NOT OF A BINARY";

fn directory() -> Option<PathBuf> {
    env::var_os(ATTACKED).map(PathBuf::from)
}

/// Whether this run attacks a named binary.
pub(crate) fn is_attack() -> bool {
    directory().is_some()
}

/// Notes that this test has started the binary.
pub(crate) fn started() {
    let (Some(directory), Some(test)) = (directory(), std::thread::current().name().map(str::to_owned)) else { return };
    let opened = OpenOptions::new().create(true).append(true).open(directory.join("started"));
    let _ = opened.and_then(|mut file| writeln!(file, "{test}"));
}

/// Ends a test that attacks a named binary: what it is about to do reaches its own process alone.
///
/// # Panics
/// In such a run.
pub fn of_the_library_alone(what: &str) {
    assert!(!is_attack(), "{NOT_OF_A_BINARY}: {what}");
}
