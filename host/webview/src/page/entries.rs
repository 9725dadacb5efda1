//! Entries of a page's logs: cut, and without characters that could change how a log is
//! shown.

use serde_json::{Map, Value};
use wharf_core::text::{cut, visible};

use crate::{ConsoleEntry, Download, NetworkEntry};

/// The longest text of an entry.
const MAXIMUM_TEXT: usize = 8 << 10;
/// The longest address of an entry, and the longest reason.
const MAXIMUM_URL: usize = 2 << 10;
/// The longest name of a file, a type or a method.
const MAXIMUM_WORD: usize = 256;

/// Text of a page, of at most so many bytes. Of all control characters only line breaks
/// and tabs stay.
pub(crate) fn clean(text: &str, bytes: usize) -> String {
    visible(cut(text, bytes).to_owned())
}

/// Collects what an entry has.
struct Fields(Map<String, Value>);

impl Fields {
    fn new() -> Self {
        Self(Map::new())
    }

    fn text(mut self, name: &str, text: &str, bytes: usize) -> Self {
        self.0.insert(name.into(), clean(text, bytes).into());
        self
    }

    fn some_text(self, name: &str, text: Option<&str>, bytes: usize) -> Self {
        match text {
            Some(text) => self.text(name, text, bytes),
            None => self,
        }
    }

    fn some(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.into(), value.into());
        }
        self
    }
}

pub(super) fn console(entry: &ConsoleEntry) -> Map<String, Value> {
    let ConsoleEntry { kind, text, url, line } = entry;
    let fields = Fields::new().text("kind", kind, MAXIMUM_WORD).text("text", text, MAXIMUM_TEXT);
    fields.some_text("url", url.as_deref(), MAXIMUM_URL).some("line", *line).0
}

/// An entry of the log `console` about a dialog.
pub(super) fn dialog(kind: &str, message: &str, accepted: bool) -> Map<String, Value> {
    let answer = if accepted { "accepted" } else { "dismissed" };
    let fields = Fields::new().text("kind", "dialog", MAXIMUM_WORD).text("text", message, MAXIMUM_TEXT);
    fields.text("dialog", kind, MAXIMUM_WORD).text("answer", answer, MAXIMUM_WORD).0
}

pub(super) fn network(entry: &NetworkEntry) -> Map<String, Value> {
    let NetworkEntry { method, url, kind, status, mime_type, bytes, milliseconds, failure, denied } = entry;
    Fields::new()
        .text("method", method, MAXIMUM_WORD)
        .text("url", url, MAXIMUM_URL)
        .text("kind", kind, MAXIMUM_WORD)
        .some("status", *status)
        .some_text("mime_type", mime_type.as_deref(), MAXIMUM_WORD)
        .some("bytes", *bytes)
        .some("milliseconds", *milliseconds)
        .some_text("failure", failure.as_deref(), MAXIMUM_URL)
        .some("denied", denied.then_some(true))
        .0
}

/// An entry of the log `downloads`: the `path` in the workspace, or why it failed.
pub(crate) fn download(entry: &Download, path: Result<&str, &str>) -> Map<String, Value> {
    let fields = Fields::new().text("url", &entry.url, MAXIMUM_URL).text("name", &entry.name, MAXIMUM_WORD);
    let fields = fields.some("bytes", Some(entry.bytes));
    match path {
        Ok(path) => fields.text("path", path, MAXIMUM_WORD).text("state", "done", MAXIMUM_WORD),
        Err(failure) => fields.text("state", "failed", MAXIMUM_WORD).text("failure", failure, MAXIMUM_URL),
    }
    .0
}
