//! What a backend reports, from whatever thread.

use std::sync::{Arc, Weak};

use tokio::time::Instant;
use wharf_core::Share;

use super::Core;
use crate::{
    Accepted, CloseReason, Failure, FailureKind, Finished, Hears, PageEvent, PageId, Settled, Token,
    page::{Claim, Page, State, clean},
    requests::{Done, Ended, Work},
    wrapper::{Enclosed, result},
};

/// The longest reason of a failure, in bytes.
const MAXIMUM_MESSAGE: usize = 4 << 10;

/// The core, as backends reach it. A backend that outlives it reports to nobody.
pub(super) struct Ear(pub(super) Weak<Core>);

impl Hears for Ear {
    fn settle(&self, page: PageId, token: Token, settled: Settled) -> Accepted {
        self.0.upgrade().map_or(Accepted::Ignored, |core| core.settle(page, token, settled))
    }

    fn tell(&self, page: PageId, event: PageEvent) {
        if let Some(core) = self.0.upgrade() {
            core.hear(page, event);
        }
    }
}

impl Core {
    fn settle(&self, page: PageId, token: Token, settled: Settled) -> Accepted {
        let page = self.page(page);
        let claim = page.as_ref().and_then(|page| Some((page, self.look(page, |state, _| state.claim(token))?)));
        let accepted = match claim {
            Some((page, Claim::Request(id, work))) => {
                // Read without the lock: it may be long.
                let ended = self.read(page, &work, settled);
                let (ended, share) = self.fitted(page, ended);
                let done = matches!(ended, Ended::Done(_));
                let accepted = self.change(page, |state, now| state.finish(now, id, &work, (ended, share)));
                if accepted {
                    self.counters.settled(done);
                }
                accepted
            }
            Some((_, Claim::Read(reader))) => reader.send(settled).is_ok(),
            Some((_, Claim::Aside)) => true,
            None => false,
        };
        if accepted {
            return Accepted::Yes;
        }
        self.counters.ignored();
        Accepted::Ignored
    }

    /// What a report comes to, bounded and cleaned.
    fn read(&self, page: &Page, work: &Work, settled: Settled) -> Ended {
        match (work, settled) {
            (Work::Script { max_bytes, number, .. }, Settled::Envelope(envelope)) => {
                match result(&envelope, *max_bytes) {
                    Ok(Enclosed { data, bytes, kept, meta }) => Ended::Done(Done {
                        mime_type: "application/json",
                        data: data.into_bytes().into(),
                        bytes,
                        rest: kept.then_some(*number),
                        meta,
                    }),
                    Err(failure) => failed(failure),
                }
            }
            (_, Settled::Syntax { message }) => failed(Failure::new(FailureKind::Syntax, message)),
            (_, Settled::Failed(failure)) => failed(failure),
            (Work::Order(_), Settled::Done(finished)) => self.finished(page, finished),
            (Work::Script { .. }, Settled::Done(_)) | (Work::Order(_), Settled::Envelope(_)) => {
                failed(Failure::new(FailureKind::Exception, "the browser's answer is to another question; try again"))
            }
        }
    }

    /// A result with a share that has room for it, or that there is none.
    fn fitted(&self, page: &Page, ended: Ended) -> (Ended, Option<Share>) {
        let Ended::Done(done) = &ended else { return (ended, None) };
        match self.make_room_for(page, || page.shares.kept(done.data.len() as u64)) {
            Ok(share) => (ended, Some(share)),
            Err(full) => {
                let message = format!("there is no room for its result: {full}; acknowledge results, or ask for less");
                (failed(Failure::new(FailureKind::Limit, message)), None)
            }
        }
    }

    fn finished(&self, page: &Page, Finished { mime_type, data }: Finished) -> Ended {
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
        Ended::Done(Done { mime_type, data: data.into(), bytes, rest: None, meta: serde_json::Map::new() })
    }

    fn hear(self: &Arc<Self>, page: PageId, event: PageEvent) {
        let Some(page) = self.page(page) else { return };
        // What a page says as often as it likes wakes nobody.
        let chatter = matches!(event, PageEvent::Console(_) | PageEvent::Network(_) | PageEvent::Located { .. });
        let hear = |state: &mut State, now: Instant| {
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

fn failed(Failure { kind, message }: Failure) -> Ended {
    let message = clean(&message, MAXIMUM_MESSAGE);
    let message = if message.is_empty() { kind.as_str().to_owned() } else { message };
    Ended::Failed(Failure { kind, message })
}
