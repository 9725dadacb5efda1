//! Events of a page, as its backend reports them.

use tokio::time::Instant;

use super::{
    entries::{clean, console, network},
    outbox::BackendCommand,
    state::PageState,
};
use crate::{ConsoleEntry, ConsoleKind, Download, PageEvent};

/// The longest address of a page that is kept, in bytes.
const MAXIMUM_URL: usize = 4 << 10;
/// The longest title.
const MAXIMUM_TITLE: usize = 1 << 10;

impl PageState {
    /// Takes an event. A download that has ended is handed back: its file has to be
    /// moved.
    pub(crate) fn hear(&mut self, now: Instant, event: PageEvent) -> Option<Download> {
        if !self.is_open() {
            return match event {
                PageEvent::Closed { unasked } => {
                    self.gone(now, unasked.as_deref());
                    None
                }
                // Its file has to be removed.
                PageEvent::Download(download) => Some(download),
                _ => None,
            };
        }
        match event {
            PageEvent::Opened => self.opened(),
            PageEvent::Navigating => self.leave_document(now),
            PageEvent::Located { url, title } => {
                self.url = clean(&url, MAXIMUM_URL);
                self.title = clean(&title, MAXIMUM_TITLE);
            }
            PageEvent::Loading(loading) => self.load(loading),
            PageEvent::DialogOpened(opened) => {
                let answer = self.dialog.opened(now, opened);
                self.outbox.extend(answer.map(BackendCommand::Answer));
            }
            PageEvent::DialogClosed { accepted } => {
                if let Some(entry) = self.dialog.closed(accepted) {
                    self.logs.console.push(entry);
                }
            }
            PageEvent::Console(entry) => {
                self.popups += u64::from(entry.kind == ConsoleKind::Popup);
                self.logs.console.push(console(&entry));
            }
            PageEvent::Network(entry) => self.logs.network.push(network(&entry)),
            PageEvent::Download(download) => return Some(download),
            PageEvent::Crashed => {
                let (kind, text) = (ConsoleKind::Crash, "the page crashed".to_owned());
                let entry = ConsoleEntry { kind, text, url: None, line: None };
                self.logs.console.push(console(&entry));
                self.crash(now);
            }
            PageEvent::Closed { unasked } => self.gone(now, unasked.as_deref()),
        }
        None
    }
}
