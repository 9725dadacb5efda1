//! The dialog of a page: whether it is answered at once, waits, and for how long.
//!
//! Knows no backend: the answers that it decides on are handed back.

use std::time::Duration;

use tokio::time::Instant;
use wharf_contract::webview::ConsoleLogEntry;
pub use wharf_contract::webview::DialogPolicy;

use super::{
    entries::{clean, dialog},
    info::Dialog,
};
use crate::{DialogAnswer, DialogKind, DialogOpened, Failure, FailureKind, WebViewError};

/// The longest text of a dialog, in bytes.
const MAXIMUM_TEXT: usize = 4 << 10;

/// How dialogs are answered, by this word of the contract; `report` where it is empty.
///
/// # Errors
/// [`WebViewError::Invalid`], with the words that exist.
pub fn dialog_policy_named(word: &str) -> Result<DialogPolicy, WebViewError> {
    if word.is_empty() {
        return Ok(DialogPolicy::default());
    }
    DialogPolicy::find(word).ok_or_else(|| WebViewError::invalid("`dialogs` is `report`, `accept` or `dismiss`"))
}

/// The dialog of one page, where one is open.
#[derive(Debug)]
pub(super) struct PageDialog {
    policy: DialogPolicy,
    /// How long a dialog waits for an answer.
    patience: Duration,
    open: Option<OpenDialog>,
}

/// A dialog of which a backend has said that it opened, and not yet that it closed.
#[derive(Debug)]
struct OpenDialog {
    kind: DialogKind,
    message: String,
    default_text: String,
    since: Instant,
    /// The answer is on its way.
    answered: bool,
}

impl PageDialog {
    pub(super) fn new(policy: DialogPolicy, patience: Duration) -> Self {
        Self { policy, patience, open: None }
    }

    /// A dialog has opened. The answer, where the policy gives one at once.
    pub(super) fn opened(&mut self, now: Instant, opened: DialogOpened) -> Option<DialogAnswer> {
        let DialogOpened { kind, message, default_text } = opened;
        let text = |text: &str| clean(text, MAXIMUM_TEXT);
        let accept = match (kind, self.policy) {
            (DialogKind::BeforeUnload, _) | (_, DialogPolicy::Accept) => Some(true),
            (_, DialogPolicy::Dismiss) => Some(false),
            (_, DialogPolicy::Report) => None,
        };
        let (message, default_text) = (text(&message), text(&default_text));
        let answer = accept.map(|accept| {
            let text = (accept && kind == DialogKind::Prompt).then(|| default_text.clone());
            DialogAnswer { accept, text }
        });
        self.open = Some(OpenDialog { kind, message, default_text, since: now, answered: accept.is_some() });
        answer
    }

    /// The dialog has closed. What the log `console` says of it.
    pub(super) fn closed(&mut self, accepted: bool) -> Option<ConsoleLogEntry> {
        let OpenDialog { kind, message, .. } = self.open.take()?;
        Some(dialog(kind, &message, accepted))
    }

    /// Forgets the dialog: its document is gone.
    pub(super) fn clear(&mut self) {
        self.open = None;
    }

    /// Notes that the dialog is answered. Whether one waited for an answer. What comes
    /// next is behind the answer, and need not wait until the dialog has closed.
    pub(super) fn answered(&mut self) -> bool {
        let waiting = self.open.as_mut().filter(|dialog| !dialog.answered);
        waiting.map(|dialog| dialog.answered = true).is_some()
    }

    fn waiting(&self) -> Option<&OpenDialog> {
        self.open.as_ref().filter(|dialog| !dialog.answered)
    }

    /// When the dialog that waits has waited for long enough.
    pub(super) fn due(&self) -> Option<Instant> {
        Some(self.waiting()?.since + self.patience)
    }

    /// The dialog that waits for an answer.
    pub(super) fn shown(&self, now: Instant) -> Option<Dialog> {
        let dialog = self.waiting()?;
        Some(Dialog {
            kind: dialog.kind,
            message: dialog.message.clone(),
            default_text: dialog.default_text.clone(),
            open: now.saturating_duration_since(dialog.since),
        })
    }

    /// Why nothing new is begun while a dialog waits.
    pub(super) fn blocks(&self) -> Option<Failure> {
        let dialog = self.waiting()?;
        let message = format!(
            "the page shows a dialog ({}) and does nothing until it is answered; it says: {}",
            dialog.kind.as_str(),
            dialog.message
        );
        Some(Failure::new(FailureKind::DialogOpen, clean(&message, MAXIMUM_TEXT)))
    }
}
