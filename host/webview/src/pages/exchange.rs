//! Copies files between pages and the workspace of their session, in the background: a
//! copy delays neither a backend nor a caller.

use std::{path::PathBuf, sync::Arc};

use wharf_core::Share;

use super::Core;
use crate::{
    Download, Failure, FailureKind, Operation, Order, WebViewError, files,
    page::{BackendCommand, Page, clean, download},
    requests::NewRequest,
};

impl Core {
    /// Takes a download that has ended: moves its file, and writes the entry of its
    /// log.
    pub(super) fn take_download(self: &Arc<Self>, page: &Arc<Page>, ended: Download) {
        let limit = self.limits.downloads;
        let (refused, stay) = self.look(page, |state, _| {
            state.downloads += 1;
            let refused = if !page.downloads {
                Some(
                    "downloads are not granted; to allow them, set `downloads = true` beside the granted origins"
                        .into(),
                )
            } else if state.downloads > limit {
                Some(format!("the page has had {limit} downloads, as many as it may (limit `downloads`)"))
            } else {
                (!state.is_open()).then(|| "its page is closed".to_owned())
            };
            (refused, state.stay.clone())
        });
        // It is on the disk already, and counts until it was moved.
        let mut share = page.shares.transfer();
        share.record(if ended.staged.is_ok() { ended.bytes } else { 0 });
        let user = self.backend.user(page.id);
        let (core, page) = (Arc::clone(self), Arc::clone(page));
        let runtime = page.runtime.clone();
        runtime.spawn_blocking(move || {
            core.move_download(&page, &ended, user, refused, share);
            // The page may have been closed since.
            drop(stay);
        });
    }

    fn move_download(&self, page: &Page, ended: &Download, user: Option<u32>, refused: Option<String>, share: Share) {
        let moved = match (&ended.staged, refused, &page.workspace) {
            (Err(failed), _, _) => Err(failed.to_string()),
            (Ok(_), Some(refused), _) => Err(refused),
            (Ok(_), None, None) => Err("this session has no workspace".to_owned()),
            (Ok(staged), None, Some(workspace)) => {
                files::keep(workspace, staged, &ended.name, self.limits.download_bytes, user)
            }
        };
        if let Ok(staged) = &ended.staged {
            files::discard(staged);
        }
        drop(share);
        if moved.is_ok() {
            self.counters.downloaded();
        }
        let entry = download(ended, moved.as_deref().map_err(String::as_str));
        self.change(page, |state, _| state.logs.downloads.push(entry));
    }

    /// Begins to give a page files of the workspace.
    pub(super) fn upload(
        self: &Arc<Self>,
        page: &Arc<Page>,
        request: NewRequest,
        order: Order,
        paths: &[PathBuf],
    ) -> Result<(), WebViewError> {
        let unavailable = |problem: &str| WebViewError::Unavailable { problem: problem.to_owned(), retryable: false };
        let workspace =
            page.workspace.as_ref().ok_or_else(|| unavailable("this session has no workspace to take files from"))?;
        let staging = self.settings.staging.as_deref().map(|staging| files::staging_of(staging, &page.owner.tenant));
        let staging = staging.ok_or_else(|| unavailable("this host has nowhere to put files for pages"))?;
        let staged = files::open(workspace, paths)?;
        let limit = self.limits.download_bytes;
        let id = request.id;
        let number = self.change(page, |state, now| {
            // Until the page is closed: its browser may read them at any time.
            if state.staged_bytes.saturating_add(staged.bytes) > limit {
                return Err(WebViewError::invalid(format!(
                    "the files that a page is given may have {limit} bytes together (limit `download_bytes`)"
                )));
            }
            state.transfer.grow(staged.bytes).map_err(|full| WebViewError::TooMuch { full })?;
            if let Err(error) = state.begin(now, request, None) {
                state.transfer.shrink(staged.bytes);
                return Err(error);
            }
            state.staged_bytes += staged.bytes;
            state.staged = true;
            Ok(state.number())
        })?;
        let (core, page) = (Arc::clone(self), Arc::clone(page));
        let runtime = page.runtime.clone();
        runtime.spawn_blocking(move || {
            let name = page.id.to_string();
            let copied = files::stage(&staging, &name, number, core.backend.user(page.id), staged);
            core.change(&page, |state, now| match (copied, order.operation) {
                (Ok(files), Operation::SetFiles { element, .. }) => {
                    let operation = Operation::SetFiles { element, files };
                    // The request may have ended meanwhile.
                    if state.requests.awaits(order.token) {
                        state.hand(BackendCommand::Perform(Order { operation, ..order }));
                    }
                }
                (copied, _) => {
                    let reason = copied.err().map(|error| error.to_string()).unwrap_or_default();
                    let message = format!("the files cannot be copied to where the browser can read them: {reason}");
                    state.fail(now, id, Failure::new(FailureKind::Invalid, clean(&message, 4 << 10)));
                }
            });
        });
        Ok(())
    }
}
