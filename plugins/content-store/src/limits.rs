//! How much of everything a content may have, and the refusal of more.
//!
//! The schemas name the same numbers, so that the host refuses most of it; the
//! checks here hold where a schema cannot say it, and for hosts that do not
//! look.

use wharf_sdk::ToolError;
pub(crate) use wharf_sdk::check::{length as check_length, text as check_text};

/// Characters of a content's id that a model hands in.
pub(crate) const ID: usize = 64;
/// Characters of a name.
pub(crate) const NAME: usize = 255;
/// Characters of a MIME type.
pub(crate) const MIME: usize = 127;
/// Characters of a path of the workspace.
pub(crate) const PATH: usize = 4_096;
/// Characters of a query.
pub(crate) const QUERY: usize = 10_000;

/// Bytes of a document, and of the text in it.
pub(crate) const DOCUMENT_BYTES: usize = 12 << 20;
pub(crate) const TEXT_BYTES: usize = 12 << 20;
/// Bytes of a document, before base64, and characters of a text that come in an
/// argument: with what stands around them they fit the 16 MiB that the host lets this
/// plugin's arguments have, and one line of the protocol.
pub(crate) const ARGUMENT_BYTES: usize = 12_000_000;
/// Bytes that the parts of a document unpack to.
pub(crate) const UNPACKED_BYTES: usize = 64 << 20;
/// Passages of one content: as many as one step can index and keep.
pub(crate) const PASSAGES: usize = 16_000;
/// Texts that are added at once, and their passages: with what each content keeps beside
/// them, they fit the 1,000 entries that one step changes.
pub(crate) const TEXTS: usize = 100;
pub(crate) const PASSAGES_AT_ONCE: usize = 2_000;
/// Bytes of a passage of an ordinary document, and of its largest.
pub(crate) const PASSAGE_BYTES: usize = 1_000;
pub(crate) const LARGEST_PASSAGE_BYTES: usize = 2_000;

/// Bytes of one step that adds or deletes a content: its passages, and their words in
/// the index, of which text that repeats none has as many again. The host lets this
/// plugin move 64 MiB in one call.
pub(crate) const STEP_BYTES: usize = 56 << 20;

/// Contents in a page of the list, and how many where nothing is said.
pub(crate) const PAGE_SIZE: usize = 1_000;
pub(crate) const DEFAULT_PAGE_SIZE: usize = 50;
/// Bytes of the entries of one listed page: its answer stays below the host's
/// 1 MiB, though names are escaped in JSON and said twice.
pub(crate) const PAGE_BYTES: usize = 300 * 1024;
/// Lines that one call reads where nothing is said.
pub(crate) const DEFAULT_LINES: u32 = 1_000;
/// Bytes of text that one call reads. Every byte may take six in JSON, and the
/// text is in the answer twice.
pub(crate) const READ_BYTES: usize = 128 * 1024;
/// Hits of a search, and how many where nothing is said.
pub(crate) const HITS: usize = 100;
pub(crate) const DEFAULT_HITS: usize = 10;
/// Contents and MIME types that a search may be narrowed to.
pub(crate) const FILTERS: usize = 50;
/// Characters of a snippet, and how many where nothing is said.
pub(crate) const SNIPPET: usize = 1_000;
pub(crate) const DEFAULT_SNIPPET: usize = 300;
/// Characters of all snippets of an answer, which shortens each where there are
/// many: they are in the answer twice, and an emoji of several parts counts as
/// one character.
pub(crate) const SNIPPETS: usize = 40_000;

/// Refuses a number that is out of range.
pub(crate) fn check_range(field: &str, number: usize, highest: usize) -> Result<(), ToolError> {
    if (1..=highest).contains(&number) {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{field}` is {number}; it goes from 1 to {highest}")))
}

/// Refuses a list that is too long.
pub(crate) fn check_count(field: &str, count: usize, most: usize) -> Result<(), ToolError> {
    if count <= most {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{field}` has {count} entries; there may be {most}")))
}
