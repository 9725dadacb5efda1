//! [`Excerpt`]: what a model is shown of long output, its beginning and its end, with the place
//! where to read on between them.
//!
//! Owns the shape of an excerpt and how it reads as one text. The plugin decides where to cut
//! ([`crate::text`] knows good places), and words the call that shows the rest.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ToolError;
use crate::process::Piece;

/// Output that can be read from a cursor on: a stream of a process, the text of a terminal.
pub trait OutputSource {
    /// At most `max_bytes` from `cursor` on, or from the first byte behind it that is still kept.
    ///
    /// # Errors
    /// Those of the host that keeps the output.
    fn read(&self, cursor: u64, max_bytes: u32) -> Result<Piece, ToolError>;
}

/// What is left out of the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Omitted {
    /// Where it begins.
    pub cursor: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A part of some output, as text.
///
/// ```
/// use wharf_sdk::excerpt::{Excerpt, Omitted};
///
/// let omitted = Some(Omitted { cursor: 4, bytes: 90 });
/// let excerpt = Excerpt { head: "one\n".into(), tail: "last\n".into(), next: 99, omitted, ..Excerpt::default() };
/// assert_eq!(excerpt.text(|left| format!("[... {} bytes ...]", left.bytes)), "one\n[... 90 bytes ...]\nlast\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Before what is left out; all of it where nothing is.
    pub head: String,
    /// Behind what is left out.
    pub tail: String,
    /// The cursor of its beginning.
    pub start: u64,
    /// The cursor to read on from.
    pub next: u64,
    /// What is left out between `head` and `tail`.
    pub omitted: Option<Omitted>,
    /// Whether all of it was UTF-8; what was not is shown as U+FFFD.
    pub is_utf8: bool,
}

impl Default for Excerpt {
    fn default() -> Self {
        Self { head: String::new(), tail: String::new(), start: 0, next: 0, omitted: None, is_utf8: true }
    }
}

impl Excerpt {
    /// Bytes of text that it shows, without a marker.
    #[must_use]
    pub fn shown_bytes(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// All of it, with `marker` on a line of its own in place of what is left out.
    #[must_use]
    pub fn text(&self, marker: impl FnOnce(Omitted) -> String) -> String {
        let Some(omitted) = self.omitted else { return format!("{}{}", self.head, self.tail) };
        let line_break = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        format!("{}{line_break}{}\n{}", self.head, marker(omitted), self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(head: &str, omitted: Option<Omitted>) -> String {
        Excerpt { head: head.into(), tail: "end".into(), omitted, ..Excerpt::default() }.text(|_| "[...]".into())
    }

    #[test]
    fn a_marker_has_a_line_of_its_own_and_stands_only_where_something_is_left_out() {
        let omitted = Some(Omitted { cursor: 3, bytes: 9 });
        assert_eq!(text("one\n", omitted), "one\n[...]\nend");
        assert_eq!(text("one", omitted), "one\n[...]\nend");
        assert_eq!(text("", omitted), "[...]\nend");
        assert_eq!(text("one ", None), "one end");
    }
}
