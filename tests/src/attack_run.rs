//! Whether this run attacks a binary that somebody names, as `cargo xtask attack` has it.

use std::{
    env,
    fs::{self, OpenOptions},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    path::PathBuf,
};

/// The directory in which tests say what they did to the binary, where it is attacked.
const ATTACKED: &str = "WHARF_ATTACKED";
/// The characters of a report that are noted: what happened, and where.
const MOST_OF_A_REPORT: usize = 4_000;
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

/// Notes what AddressSanitizer reports of the binary: a test may hold though a process of it ended so.
///
/// # Panics
/// Where it cannot be noted.
pub(crate) fn look_for_reports(said: &str) {
    let Some(directory) = directory() else { return };
    let Some(at) = said.find("AddressSanitizer:") else { return };
    let report: String = said[at..].chars().take(MOST_OF_A_REPORT).collect();
    // Its first line has addresses that no other one has. More of it may follow.
    let mut hasher = DefaultHasher::new();
    report.lines().next().hash(&mut hasher);
    let file = directory.join(format!("sanitizer-{:016x}", hasher.finish()));
    fs::write(file, report).expect("the report is noted");
}

/// Says that a test ends here, since this machine lacks what it needs. In an attack it must not pass for one that held.
///
/// # Panics
/// In such a run.
#[expect(clippy::print_stderr, reason = "the runner shows what a test says")]
pub fn not_on_this_machine(lacks: &str) {
    assert!(!is_attack(), "{NOT_OF_A_BINARY}: this machine has no {lacks}");
    eprintln!("NOT TESTED: this machine has no {lacks}");
}

/// Ends a test of a limit of memory that attacks a binary with AddressSanitizer, which reserves more than any
/// limit: such a build sets none.
///
/// # Panics
/// In such a run.
pub fn of_a_limit_of_memory() {
    let is_sanitized = env::var_os("WHARF_ATTACKED_SANITIZED").is_some();
    assert!(!is_sanitized, "{NOT_OF_A_BINARY}: a build with AddressSanitizer limits no memory of programs");
}

/// Ends a test that attacks a named binary: what it is about to do reaches its own process alone.
///
/// # Panics
/// In such a run.
pub fn of_the_library_alone(what: &str) {
    assert!(!is_attack(), "{NOT_OF_A_BINARY}: {what}");
}
