//! How much of everything a playbook may hold, and the refusal of more.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks here hold where a schema cannot say it, and for hosts that do not
//! look.

use wharf_sdk::ToolError;
pub(crate) use wharf_sdk::check::{length as check_length, text as check_text};

/// Characters of an id that a model hands in.
pub(crate) const ID: usize = 64;
/// Characters of a goal.
pub(crate) const GOAL: usize = 1_000;
/// Characters of an initial command.
pub(crate) const INITIAL_COMMAND: usize = 2_000;
/// Characters of a step's id, and of the name of its output.
pub(crate) const NAME: usize = 64;
/// Characters of a step's description.
pub(crate) const STEP_DESCRIPTION: usize = 2_000;
/// Characters of a tool's name.
pub(crate) const TOOL_NAME: usize = 128;
/// Characters of what a tool is used for.
pub(crate) const PURPOSE: usize = 1_000;
/// Characters of one piece of required data.
pub(crate) const REQUIRED_DATUM: usize = 500;
/// Characters of the description of success.
pub(crate) const SUCCESS_DESCRIPTION: usize = 2_000;
/// Characters of one required artifact.
pub(crate) const ARTIFACT: usize = 500;
/// Characters of a step's output.
pub(crate) const OUTPUT: usize = 4_000;

/// Steps of a workflow.
pub(crate) const STEPS: usize = 50;
/// Pieces of required data of a step.
pub(crate) const REQUIRED_DATA: usize = 20;
/// Required artifacts of a playbook.
pub(crate) const ARTIFACTS: usize = 20;
/// Places in a workflow where `{{name}}` stands.
pub(crate) const REFERENCES: usize = 100;
/// Playbooks of one owner.
pub(crate) const PLAYBOOKS: usize = 500;
/// The highest number of a page: as many as there can be playbooks.
pub(crate) const PAGE: usize = PLAYBOOKS;
/// Playbooks in a page of the list, and how many where nothing is said.
pub(crate) const PAGE_SIZE: usize = 50;
pub(crate) const DEFAULT_PAGE_SIZE: usize = 20;
/// Whole playbooks in a page of them, and how many where nothing is said.
pub(crate) const WHOLE_PAGE_SIZE: usize = 10;

/// Bytes of a playbook as JSON. A page of whole ones stays below the host's
/// 1 MiB for an answer, and the values of a listed page below its 4 MiB for a
/// read.
pub(crate) const PLAYBOOK_BYTES: usize = 64 * 1024;
/// Bytes of a thread's progress as JSON, outputs included.
pub(crate) const PROGRESS_BYTES: usize = 128 * 1024;
/// Bytes of outputs, as JSON, that are put in for `{{name}}` in one answer. An
/// output may be referred to often; this keeps the answer below 1 MiB.
pub(crate) const RESOLVED_BYTES: usize = 128 * 1024;
/// Bytes of text in an answer. The structure beside it is always complete.
pub(crate) const TEXT_BYTES: usize = 128 * 1024;

/// Refuses a list that is too long.
pub(crate) fn check_count(field: &str, count: usize, most: usize) -> Result<(), ToolError> {
    if count > most {
        return Err(ToolError::invalid(format!("`{field}` has {count} entries; at most {most} are kept")));
    }
    Ok(())
}

/// Refuses a number that is out of range.
pub(crate) fn check_range(field: &str, number: usize, highest: usize) -> Result<(), ToolError> {
    if (1..=highest).contains(&number) {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{field}` is {number}; it goes from 1 to {highest}")))
}

/// Cuts a text for its reader; the structured answer has all of it.
pub(crate) fn shorten(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    if text.len() > TEXT_BYTES {
        text.truncate(text.floor_char_boundary(TEXT_BYTES));
        text.push_str("\n… cut here; the structured answer has all of it.");
    }
    text
}
