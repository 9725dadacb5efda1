//! Between the words of the contract and those of the backend of web pages.

use serde_json::{Map, Value};
use wharf_core::text;
use wharf_webview::{Dialog, LogPage, Outcome, OutcomeState, PageInfo, ResultPiece};

use crate::{
    adapter::text::{milliseconds, time},
    bindings::wharf::plugin::webview as wit,
};

fn meta(meta: Map<String, Value>) -> Option<String> {
    (!meta.is_empty()).then(|| Value::Object(meta).to_string())
}

/// The outcome of a request, with at most `most` bytes of its result.
pub(super) fn outcome(outcome: Outcome, most: usize) -> wit::Outcome {
    let Outcome { state, elapsed, failure, mime_type, data, bytes, truncated, dialog, advice, meta: fields } = outcome;
    let (kind, message) =
        failure.map(|failure| (failure.kind.as_str().to_owned(), failure.message)).unwrap_or_default();
    let sent = match std::str::from_utf8(&data) {
        // Bytes may be cut anywhere, a text between characters.
        Ok(whole) => text::cut(whole, most).len(),
        Err(_) => data.len().min(most),
    };
    wit::Outcome {
        state: state.as_str().to_owned(),
        elapsed_milliseconds: milliseconds(elapsed),
        kind,
        message,
        mime_type: mime_type.to_owned(),
        truncated: truncated || sent < data.len(),
        data: data[..sent].to_vec(),
        bytes,
        dialog: dialog.map(Into::into),
        advice,
        meta: meta(fields),
    }
}

/// The outcome of a request whose id is malformed.
pub(super) fn unknown() -> wit::Outcome {
    wit::Outcome {
        state: OutcomeState::Unknown.as_str().to_owned(),
        elapsed_milliseconds: 0,
        kind: String::new(),
        message: String::new(),
        mime_type: String::new(),
        data: Vec::new(),
        bytes: 0,
        truncated: false,
        dialog: None,
        advice: None,
        meta: None,
    }
}

impl From<Dialog> for wit::Dialog {
    fn from(dialog: Dialog) -> Self {
        let Dialog { kind, message, default_text, open } = dialog;
        Self { kind: kind.as_str().to_owned(), message, default_text, open_milliseconds: milliseconds(open) }
    }
}

impl From<PageInfo> for wit::PageInfo {
    fn from(info: PageInfo) -> Self {
        Self {
            id: info.id.to_string(),
            status: info.status.as_str().to_owned(),
            url: info.url,
            title: info.title,
            width: info.width,
            height: info.height,
            dialog: info.dialog.map(Into::into),
            pending: u32::try_from(info.pending).unwrap_or(u32::MAX),
            opened: time(info.opened),
            last_used: time(info.last_used),
            closed_because: info.closed_because.map(|why| why.as_str().to_owned()),
            meta: meta(info.meta),
        }
    }
}

impl From<ResultPiece> for wit::ResultPiece {
    fn from(piece: ResultPiece) -> Self {
        let ResultPiece { start, next, bytes, data, is_text: _ } = piece;
        Self { start, next, bytes, data }
    }
}

impl From<LogPage> for wit::LogPage {
    fn from(page: LogPage) -> Self {
        let LogPage { entries, next, lost } = page;
        Self { entries, next, lost }
    }
}
