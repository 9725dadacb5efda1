//! Takes the reports of backends, from any thread.

use std::sync::{Arc, Weak};

use tokio::time::Instant;
use wharf_core::Share;

use super::Core;
use crate::{
    CloseReason, Failure, FailureKind, OrderOutput, PageEvent, PageId, Receipt, ReportReceiver, Settled, Token,
    page::{Page, PageState, TokenClaim, clean},
    requests::{RequestEnd, RequestResult, RequestWork},
    wrapper::{ScriptResult, result},
};

/// The longest reason of a failure, in bytes.
const MAXIMUM_MESSAGE: usize = 4 << 10;

/// The core, as backends reach it. The reports of a backend that outlives it are
/// ignored.
pub(super) struct CoreReceiver(pub(super) Weak<Core>);

impl ReportReceiver for CoreReceiver {
    fn settle(&self, page: PageId, token: Token, settled: Settled) -> Receipt {
        self.0.upgrade().map_or(Receipt::Ignored, |core| core.settle(page, token, settled))
    }

    fn tell(&self, page: PageId, event: PageEvent) {
        if let Some(core) = self.0.upgrade() {
            core.hear(page, event);
        }
    }
}

impl Core {
    fn settle(&self, page: PageId, token: Token, settled: Settled) -> Receipt {
        let page = self.page(page);
        let claim = page.as_ref().and_then(|page| Some((page, self.look(page, |state, _| state.claim(token))?)));
        let accepted = match claim {
            Some((page, TokenClaim::Request(id, work))) => {
                // Read without the lock: it may be long.
                let ended = self.read(page, &work, settled);
                let (ended, share) = self.fitted(page, ended);
                let done = matches!(ended, RequestEnd::Done(_));
                let accepted = self.change(page, |state, now| state.finish(now, id, &work, (ended, share)));
                if accepted {
                    self.counters.settled(done);
                }
                accepted
            }
            Some((_, TokenClaim::Read(reader))) => reader.send(settled).is_ok(),
            Some((_, TokenClaim::Aside)) => true,
            None => false,
        };
        if accepted {
            return Receipt::Accepted;
        }
        self.counters.ignored();
        Receipt::Ignored
    }

    /// The end of a request by this report, bounded and cleaned.
    fn read(&self, page: &Page, work: &RequestWork, settled: Settled) -> RequestEnd {
        match (work, settled) {
            (RequestWork::Script { max_bytes, .. }, Settled::Envelope(envelope)) => {
                match result(&envelope, *max_bytes) {
                    Ok(ScriptResult { data, bytes, kept, meta }) => RequestEnd::Done(RequestResult {
                        mime_type: "application/json",
                        data: data.into_bytes().into(),
                        bytes,
                        rest: kept,
                        meta,
                    }),
                    Err(failure) => failed(failure),
                }
            }
            (_, Settled::Syntax { message }) => failed(Failure::new(FailureKind::Syntax, message)),
            (_, Settled::Failed(failure)) => failed(failure),
            (RequestWork::Order(_), Settled::Done(finished)) => self.finished(page, finished),
            (RequestWork::Script { .. }, Settled::Done(_)) | (RequestWork::Order(_), Settled::Envelope(_)) => {
                failed(Failure::new(FailureKind::Exception, "the browser's answer is to another question; try again"))
            }
        }
    }

    /// A result with a share for it; a failure where there is none.
    fn fitted(&self, page: &Page, ended: RequestEnd) -> (RequestEnd, Option<Share>) {
        let RequestEnd::Done(done) = &ended else { return (ended, None) };
        match self.make_room_for(page, || page.shares.kept(done.data.len() as u64)) {
            Ok(share) => (ended, Some(share)),
            Err(full) => {
                let message = format!("there is no room for its result: {full}; acknowledge results, or ask for less");
                (failed(Failure::new(FailureKind::Limit, message)), None)
            }
        }
    }

    fn finished(&self, page: &Page, OrderOutput { mime_type, data }: OrderOutput) -> RequestEnd {
        let of_page = (self.limits.result_bytes_per_page, "result_bytes_per_page");
        let (limit, name) = if mime_type == "application/json" {
            of_page.min((self.limits.result_bytes, "result_bytes"))
        } else {
            of_page.min((self.limits.file_bytes, "file_bytes"))
        };
        let bytes = data.len() as u64;
        if bytes > limit {
            tracing::debug!(page = %page.id, bytes, "a result is too large");
            let message =
                format!("it has {bytes} bytes, and may have {limit} (limit `{name}`); ask for less of the page");
            return failed(Failure::new(FailureKind::Limit, message));
        }
        RequestEnd::Done(RequestResult {
            mime_type,
            data: data.into(),
            bytes,
            rest: None,
            meta: serde_json::Map::new(),
        })
    }

    fn hear(self: &Arc<Self>, page: PageId, event: PageEvent) {
        let Some(page) = self.page(page) else { return };
        // Events that a page may send without end wake nobody.
        let chatter = matches!(event, PageEvent::Console(_) | PageEvent::Network(_) | PageEvent::Located { .. });
        let hear = |state: &mut PageState, now: Instant| {
            let was_open = state.is_open();
            let download = state.hear(now, event);
            (download, was_open && state.is_closed())
        };
        let (download, gone) = if chatter { self.look(&page, hear) } else { self.change(&page, hear) };
        if gone {
            self.counters.closed(CloseReason::BackendGone);
        }
        if let Some(download) = download {
            self.take_download(&page, download);
        }
    }
}

fn failed(Failure { kind, message }: Failure) -> RequestEnd {
    let message = clean(&message, MAXIMUM_MESSAGE);
    let message = if message.is_empty() { kind.as_str().to_owned() } else { message };
    RequestEnd::Failed(Failure { kind, message })
}
