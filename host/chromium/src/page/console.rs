//! Entries of the log `console` that are the host's own words.

use wharf_webview::{ConsoleEntry, ConsoleKind};

/// Bytes of the text of one entry; the core cuts further.
pub(crate) const MOST_ENTRY_BYTES: usize = 8_192;

/// An entry that comes from nowhere in particular.
pub(crate) fn plain_entry(kind: ConsoleKind, text: &str) -> ConsoleEntry {
    ConsoleEntry { kind, text: wharf_core::text::cut(text, MOST_ENTRY_BYTES).to_owned(), url: None, line: None }
}
