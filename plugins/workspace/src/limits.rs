//! How much of everything one call takes and answers.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks of the tools hold where a schema cannot say it, and for hosts that do
//! not look.

use std::time::Duration;

use wharf_sdk::Call;
pub(crate) use wharf_sdk::check::range as check_range;

/// Bytes of text that a model is given of output or of a file.
pub(crate) const TEXT_BYTES: usize = 16 * 1024;
/// What of it is for output; the rest is for what is said about it.
pub(crate) const OUTPUT_BYTES: usize = TEXT_BYTES - 1_024;
/// Bytes of a stream that are looked at for one end of an excerpt: more than
/// are shown, since escape sequences go.
pub(crate) const WINDOW_BYTES: u32 = 64 * 1024;

/// Characters of a command.
pub(crate) const COMMAND: usize = 100_000;
/// Characters of a process's id.
pub(crate) const PROCESS_ID: usize = 256;
/// Characters of a path.
pub(crate) const PATH: usize = 4_096;
/// Characters of a regular expression or a glob.
pub(crate) const PATTERN: usize = 1_000;
/// Characters of a text for a standard input.
pub(crate) const INPUT: usize = 1_000_000;
/// Variables of a command.
pub(crate) const VARIABLES: usize = 100;
/// Seconds that a call waits.
pub(crate) const WAIT_SECONDS: u64 = 600;
/// Seconds that a process may be given.
pub(crate) const LIFETIME_SECONDS: u64 = 86_400;
/// Seconds that a process has to end by itself.
pub(crate) const GRACE_SECONDS: u64 = 60;
/// Lines of output that are asked for.
pub(crate) const LINES: u32 = 10_000;
/// Processes on a page of the list.
pub(crate) const PAGE_SIZE: usize = 50;
/// The highest number of a page.
pub(crate) const PAGE: usize = 1_000_000;

/// Characters of a file's content.
pub(crate) const CONTENT: usize = 3_000_000;
/// Bytes of a file that is read by lines.
pub(crate) const READ_BYTES: u64 = 64 << 20;
/// Bytes of a file whose lines are replaced: it is held several times.
pub(crate) const EDIT_BYTES: usize = 4 << 20;
/// Edits of one call.
pub(crate) const EDITS: usize = 1_000;
/// Entries of a listing, levels of it, and bytes of all its paths.
pub(crate) const ENTRIES: usize = 1_000;
pub(crate) const DEPTH: usize = 5;
pub(crate) const LISTING_BYTES: usize = 64 * 1024;
/// Entries of one directory that are looked at.
pub(crate) const DIRECTORY_ENTRIES: usize = 20_000;
/// Files that one search looks at, bytes of one, and bytes of all.
pub(crate) const SEARCHED_FILES: usize = 20_000;
pub(crate) const SEARCHED_FILE_BYTES: u64 = 8 << 20;
pub(crate) const SEARCHED_BYTES: u64 = 256 << 20;
/// Bytes that a search looks at between two looks at the clock.
pub(crate) const SEARCHED_BETWEEN_CLOCKS: usize = 64 << 10;
/// How long one search takes.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(6);
/// Results of a search, and how many where nothing is said.
pub(crate) const RESULTS: usize = 1_000;
pub(crate) const DEFAULT_RESULTS: usize = 100;
/// Lines around a result.
pub(crate) const CONTEXT_LINES: usize = 5;
/// Bytes of a line in a result.
pub(crate) const RESULT_LINE_BYTES: usize = 300;
/// Bytes of a file that is copied in or out.
pub(crate) const COPY_BYTES: u64 = 256 << 20;

/// What of the time of a call is for its answer.
const RESERVE: Duration = Duration::from_millis(750);

/// A wait, cut to what is left of the call.
pub(crate) fn within(call: &Call, wait: Duration) -> Duration {
    wait.min(time_left(call))
}

/// What is left of the call for anything but its answer.
pub(crate) fn time_left(call: &Call) -> Duration {
    call.remaining().saturating_sub(RESERVE)
}
