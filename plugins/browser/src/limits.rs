//! How much of everything one call takes and answers.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks of the tools hold where a schema cannot say it, and for hosts that do
//! not look.

use std::time::Duration;

use wharf_sdk::Call;

/// Bytes of a page's words that a model is given at once, unless it says
/// otherwise, and at most.
pub(crate) const TEXT_BYTES: u32 = 20 * 1024;
pub(crate) const TEXT_BYTES_AT_MOST: u32 = 100 * 1024;
/// Bytes of a picture or a print that go into an answer: the host bounds answers
/// as a whole.
pub(crate) const PICTURE_BYTES: usize = 700 * 1024;
/// Bytes of the HTML of one element.
pub(crate) const ELEMENT_BYTES: u32 = 4 * 1024;

/// Characters of a session's id, of a frame's, and of a cursor.
pub(crate) const ID: usize = 256;
/// Characters of an address, and of a pattern of one.
pub(crate) const URL: usize = 8_192;
/// Characters of what names an element.
pub(crate) const ELEMENT: usize = 1_000;
/// Characters of a text that is typed: what the host types at once.
pub(crate) const INPUT: usize = 100_000;
/// Characters of a script.
pub(crate) const SCRIPT: usize = 200_000;
/// Characters of the name of a key, with those that are held.
pub(crate) const KEY: usize = 60;
/// Characters of a path of the workspace.
pub(crate) const PATH: usize = 4_096;
/// Fields that are filled at once, options that are chosen, files that are given.
pub(crate) const FIELDS: usize = 50;
pub(crate) const OPTIONS: usize = 100;
pub(crate) const FILES: usize = 100;
/// Entries of a log that are shown.
pub(crate) const ENTRIES: u32 = 200;
/// Width and height of what is seen.
pub(crate) const SIDE: u32 = 4_096;
/// Seconds that a call waits.
pub(crate) const WAIT_SECONDS: u64 = 120;

/// What of the time of a call is for its answer.
const RESERVE: Duration = Duration::from_millis(1_500);

/// A wait, cut to what is left of the call.
pub(crate) fn within(call: &Call, wait: Duration) -> Duration {
    wait.min(call.remaining().saturating_sub(RESERVE))
}
