//! How much of everything a thread may hold, and the refusal of more.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks here hold where a schema cannot say it, and for hosts that do not
//! look.

use wharf_sdk::ToolError;
pub(crate) use wharf_sdk::check::{length as check_length, text as check_text};

/// Characters of a goal.
pub(crate) const GOAL: usize = 1_000;
/// Characters of a todo's name.
pub(crate) const TODO_NAME: usize = 500;
/// Characters of a todo's summary.
pub(crate) const TODO_SUMMARY: usize = 1_000;
/// Characters of a memo.
pub(crate) const MEMO: usize = 2_000;
/// Characters of a thought.
pub(crate) const THOUGHT: usize = 8_000;
/// Characters of a branch's id.
pub(crate) const BRANCH_ID: usize = 100;

/// Goals in the list; older ones are forgotten.
pub(crate) const GOALS: usize = 50;
/// Todos, of whatever status.
pub(crate) const TODOS: usize = 500;
/// Memos; older ones are forgotten.
pub(crate) const MEMOS: usize = 10;
/// Thoughts whose text is kept; older ones are only counted.
pub(crate) const THOUGHTS: u64 = 100;
/// Branches that are remembered; older ones are forgotten.
pub(crate) const BRANCHES: usize = 50;
/// The highest number that a thought may have.
pub(crate) const THOUGHT_NUMBER: u32 = 100_000;
/// Thoughts that one overview shows.
pub(crate) const RECENT_THOUGHTS: u32 = 10;

/// Bytes of text in an overview. The structure beside it is always complete,
/// and both together stay below the host's 1 MiB for an answer.
pub(crate) const OVERVIEW_TEXT_BYTES: usize = 128 * 1024;

/// The next id of a kind. Ids are never given twice.
pub(crate) fn next_id(last: &mut u32) -> Result<u32, ToolError> {
    *last = last.checked_add(1).ok_or_else(|| ToolError::limit("this thread has used up all ids"))?;
    Ok(*last)
}

/// Ids for a message: what would have been valid.
pub(crate) fn list_ids(ids: impl Iterator<Item = u32>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}
