//! The dialog of a page: whether it is answered at once, waits, and for how long.

use std::time::Duration;

use tokio::time::Instant;
pub use wharf_contract::webview::DialogPolicy;

use super::{
    Dialog,
    entries::{clean, dialog},
    outbox::Command,
    state::State,
};
use crate::{DialogAnswer, DialogKind, DialogOpened, Failure, FailureKind, WebViewError};

/// The longest text of a dialog, in bytes.
const MAXIMUM_TEXT: usize = 4 << 10;

/// What becomes of dialogs by this word of the contract; `report` where it is
/// empty.
///
/// # Errors
/// [`WebViewError::Invalid`], with the words that there are.
pub fn dialog_policy_named(word: &str) -> Result<DialogPolicy, WebViewError> {
    if word.is_empty() {
        return Ok(DialogPolicy::default());
    }
    DialogPolicy::find(word).ok_or_else(|| WebViewError::invalid("`dialogs` is `report`, `accept` or `dismiss`"))
}

/// A dialog that a backend has told of, and not yet that it is closed.
#[derive(Debug)]
pub(super) struct OpenDialog {
    kind: DialogKind,
    message: String,
    default_text: String,
    since: Instant,
    /// Nobody waits for it any more.
    answered: bool,
}

impl State {
    pub(super) fn dialog_opened(&mut self, now: Instant, opened: DialogOpened) {
        let DialogOpened { kind, message, default_text } = opened;
        let text = |text: &str| clean(text, MAXIMUM_TEXT);
        let accept = match (kind, self.dialogs) {
            (DialogKind::BeforeUnload, _) | (_, DialogPolicy::Accept) => Some(true),
            (_, DialogPolicy::Dismiss) => Some(false),
            (_, DialogPolicy::Report) => None,
        };
        let (message, default_text) = (text(&message), text(&default_text));
        if let Some(accept) = accept {
            let text = (accept && kind == DialogKind::Prompt).then(|| default_text.clone());
            self.outbox.push(Command::Answer(DialogAnswer { accept, text }));
        }
        self.dialog = Some(OpenDialog { kind, message, default_text, since: now, answered: accept.is_some() });
    }

    pub(super) fn dialog_closed(&mut self, accepted: bool) {
        if let Some(OpenDialog { kind, message, .. }) = self.dialog.take() {
            self.logs.console.push(dialog(kind.as_str(), &message, accepted));
        }
    }

    /// Answers the dialog that waits. Whether there was one.
    pub(crate) fn answer(&mut self, answer: DialogAnswer) -> bool {
        let Some(dialog) = self.dialog.as_mut().filter(|dialog| !dialog.answered) else { return false };
        // What comes next is behind the answer, and need not wait to hear of it.
        dialog.answered = true;
        self.outbox.push(Command::Answer(answer));
        true
    }

    /// Dismisses a dialog that has waited for long enough. Whether it has.
    pub(super) fn pass_dialog(&mut self, now: Instant) -> bool {
        self.dialog_due().is_some_and(|due| due <= now) && self.answer(DialogAnswer { accept: false, text: None })
    }

    pub(super) fn dialog_due(&self) -> Option<Instant> {
        let dialog = self.dialog.as_ref().filter(|dialog| !dialog.answered)?;
        Some(dialog.since + Duration::from_millis(self.limits.dialog_milliseconds))
    }

    /// The dialog that waits for an answer.
    pub(crate) fn dialog(&self, now: Instant) -> Option<Dialog> {
        let dialog = self.dialog.as_ref().filter(|dialog| !dialog.answered)?;
        Some(Dialog {
            kind: dialog.kind,
            message: dialog.message.clone(),
            default_text: dialog.default_text.clone(),
            open: now.saturating_duration_since(dialog.since),
        })
    }

    /// Why nothing new is begun while a dialog waits.
    pub(super) fn behind_dialog(&self) -> Option<Failure> {
        let dialog = self.dialog.as_ref().filter(|dialog| !dialog.answered)?;
        let message = format!(
            "the page shows a dialog ({}) and does nothing until it is answered; it says: {}",
            dialog.kind.as_str(),
            dialog.message
        );
        Some(Failure::new(FailureKind::DialogOpen, clean(&message, MAXIMUM_TEXT)))
    }
}
