//! How much of everything one call takes and answers.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks of the tools hold where a schema cannot say it, and for hosts that do
//! not look.

use std::time::Duration;

use wharf_sdk::Call;

/// Bytes of text that a model is given of output.
pub(crate) const TEXT_BYTES: usize = 16 * 1024;
/// What of it is for output; the rest is for what is said about it.
pub(crate) const OUTPUT_BYTES: usize = TEXT_BYTES - 1_024;

/// Characters of a terminal's id.
pub(crate) const TERMINAL_ID: usize = 256;
/// Characters of a program's name or path, and of a path.
pub(crate) const PATH: usize = 4_096;
/// Arguments of a program, and characters of one.
pub(crate) const ARGUMENTS: usize = 1_000;
pub(crate) const ARGUMENT: usize = 100_000;
/// Variables of a program.
pub(crate) const VARIABLES: usize = 100;
/// Characters of a text that is typed: the most that any host types at once.
/// Each has a limit of its own, 10,000 where the operator says nothing.
pub(crate) const INPUT: usize = 100_000;
/// Keys that are pressed at once, and characters of the name of one.
pub(crate) const KEYS: usize = 100;
pub(crate) const KEY: usize = 40;
/// Characters of the name of a profile.
pub(crate) const PROFILE: usize = 64;
/// Characters of a regular expression.
pub(crate) const PATTERN: usize = 1_000;
/// Seconds that a call waits.
pub(crate) const WAIT_SECONDS: u64 = 600;
/// Seconds that a start waits for what the program says first.
pub(crate) const GREETING_SECONDS: u64 = 60;
/// Seconds that silence may have to last, or a turn may last.
pub(crate) const TURN_SECONDS: u64 = 86_400;
/// Seconds that a program has to end by itself.
pub(crate) const GRACE_SECONDS: u64 = 60;
/// Columns and rows of a terminal.
pub(crate) const COLUMNS: u16 = 500;
pub(crate) const ROWS: u16 = 200;
/// Lines above the screen that are shown.
pub(crate) const HISTORY_LINES: u32 = 1_000;

/// What of the time of a call is for its answer.
const RESERVE: Duration = Duration::from_millis(750);

/// A wait, cut to what is left of the call.
pub(crate) fn within(call: &Call, wait: Duration) -> Duration {
    wait.min(call.remaining().saturating_sub(RESERVE))
}
