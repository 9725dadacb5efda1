//! Entries of a page's logs: cut, and without characters that could change how a log is
//! shown.

use wharf_contract::webview::{
    ConsoleKind, ConsoleLogEntry, DialogKind, DialogOutcome, DownloadLogEntry, DownloadState, NetworkLogEntry,
};
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

fn clean_some(text: Option<&str>, bytes: usize) -> Option<String> {
    text.map(|text| clean(text, bytes))
}

pub(super) fn console(entry: &ConsoleEntry) -> ConsoleLogEntry {
    let ConsoleEntry { kind, text, url, line } = entry;
    ConsoleLogEntry {
        kind: (*kind).into(),
        text: clean(text, MAXIMUM_TEXT),
        url: clean_some(url.as_deref(), MAXIMUM_URL),
        line: *line,
        dialog: None,
        answer: None,
    }
}

/// An entry of the log `console` about a dialog.
pub(super) fn dialog(kind: DialogKind, message: &str, accepted: bool) -> ConsoleLogEntry {
    let answer = if accepted { DialogOutcome::Accepted } else { DialogOutcome::Dismissed };
    ConsoleLogEntry {
        kind: ConsoleKind::Dialog.into(),
        text: clean(message, MAXIMUM_TEXT),
        url: None,
        line: None,
        dialog: Some(kind.into()),
        answer: Some(answer.into()),
    }
}

pub(super) fn network(entry: &NetworkEntry) -> NetworkLogEntry {
    let NetworkEntry { method, url, kind, status, mime_type, bytes, milliseconds, failure, denied } = entry;
    NetworkLogEntry {
        method: clean(method, MAXIMUM_WORD),
        url: clean(url, MAXIMUM_URL),
        kind: clean(kind, MAXIMUM_WORD),
        status: *status,
        mime_type: clean_some(mime_type.as_deref(), MAXIMUM_WORD),
        bytes: *bytes,
        milliseconds: *milliseconds,
        failure: clean_some(failure.as_deref(), MAXIMUM_URL),
        denied: *denied,
    }
}

/// An entry of the log `downloads`: the `path` in the workspace, or why it failed.
pub(crate) fn download(entry: &Download, path: Result<&str, &str>) -> DownloadLogEntry {
    let state = if path.is_ok() { DownloadState::Done } else { DownloadState::Failed };
    DownloadLogEntry {
        url: clean(&entry.url, MAXIMUM_URL),
        name: clean(&entry.name, MAXIMUM_WORD),
        path: clean_some(path.ok(), MAXIMUM_WORD),
        bytes: entry.bytes,
        state: state.into(),
        failure: clean_some(path.err(), MAXIMUM_URL),
    }
}
