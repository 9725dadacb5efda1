//! Dialogs that open and close.
//!
//! The core decides who answers them, except for the question before leaving a page,
//! which is answered with yes at once.

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{DialogKind, DialogOpened, PageEvent};

use crate::{connection::Event, page::Page};

/// How many bytes of a dialog's text are passed on.
const TEXT_BYTES: usize = 4_096;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DialogOpening {
    message: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    default_prompt: String,
}

#[derive(Debug, Deserialize)]
struct DialogClosing {
    result: bool,
}

pub(super) fn hear(page: &Page, session: &str, event: Event<'_>) {
    match event.method {
        "Page.javascriptDialogOpening" => {
            let Some(DialogOpening { message, kind, default_prompt }) = event.read() else {
                // Nothing runs until it is answered.
                return page.post(session, "Page.handleJavaScriptDialog", &json!({ "accept": false }));
            };
            let kind = match kind.as_str() {
                "confirm" => DialogKind::Confirm,
                "prompt" => DialogKind::Prompt,
                "beforeunload" => {
                    return page.post(session, "Page.handleJavaScriptDialog", &json!({ "accept": true }));
                }
                _ => DialogKind::Alert,
            };
            page.state().dialog = true;
            let cut = |text: &str| wharf_core::text::cut(text, TEXT_BYTES).to_owned();
            let opened = DialogOpened { kind, message: cut(&message), default_text: cut(&default_prompt) };
            page.sink.tell(PageEvent::DialogOpened(opened));
        }
        "Page.javascriptDialogClosed" => {
            let Some(DialogClosing { result }) = event.read() else { return };
            let was_open = std::mem::take(&mut page.state().dialog);
            page.changed();
            if was_open {
                page.sink.tell(PageEvent::DialogClosed { accepted: result });
            }
        }
        _ => {}
    }
}
