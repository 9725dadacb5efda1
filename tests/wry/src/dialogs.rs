//! Dialogs: kept open until they are answered, while the loop goes on.

use std::rc::Rc;

use webkit2gtk::{ScriptDialog, ScriptDialogType, WebViewExt};
use wharf_webview::{DialogAnswer, DialogKind, DialogOpened, PageEvent};

use crate::page::Page;

/// Has a page tell of its dialogs instead of showing them.
pub(crate) fn follow(page: &Rc<Page>) {
    let following = Rc::downgrade(page);
    page.view.connect_script_dialog(move |_, dialog| {
        if let Some(page) = following.upgrade() {
            page.dialog_opened(dialog);
        }
        // Nothing is shown.
        true
    });
}

impl Page {
    fn dialog_opened(&self, dialog: &ScriptDialog) {
        let kind = match dialog.dialog_type() {
            ScriptDialogType::Confirm => DialogKind::Confirm,
            ScriptDialogType::Prompt => DialogKind::Prompt,
            // A question before leaving is always answered with yes.
            ScriptDialogType::BeforeUnloadConfirm => return dialog.confirm_set_confirmed(true),
            _ => DialogKind::Alert,
        };
        let text = |text: Option<gtk::glib::GString>| text.map(String::from).unwrap_or_default();
        let default_text = match kind {
            DialogKind::Prompt => text(dialog.prompt_get_default_text()),
            _ => String::new(),
        };
        // The page goes on when the last of these is closed.
        *self.dialog.borrow_mut() = Some(dialog.clone());
        let opened = DialogOpened { kind, message: text(dialog.message()), default_text };
        self.sink.tell(PageEvent::DialogOpened(opened));
    }

    pub(crate) fn answer_dialog(&self, answer: &DialogAnswer) {
        let Some(dialog) = self.dialog.take() else { return };
        match dialog.dialog_type() {
            ScriptDialogType::Confirm => dialog.confirm_set_confirmed(answer.accept),
            ScriptDialogType::Prompt if answer.accept => {
                let text = answer.text.clone().or_else(|| dialog.prompt_get_default_text().map(String::from));
                dialog.prompt_set_text(&text.unwrap_or_default());
            }
            _ => {}
        }
        dialog.close();
        self.sink.tell(PageEvent::DialogClosed { accepted: answer.accept });
    }
}
