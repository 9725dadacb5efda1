//! Telling clients that the list of tools has changed: those of the older era
//! unasked, those of the newer where they have subscribed.
//!
//! Owns which list the client was shown last. Knows no tool.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData, RoleServer,
    service::{Peer, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Subscriptions at once: a client needs one.
const MAX_SUBSCRIPTIONS: usize = 16;

/// The changes that one connection hears of.
pub(crate) struct Changes {
    /// What was listed last counts as seen; nothing where lists never change.
    // A lock of the standard library: held for a copy or a comparison.
    seen: Option<Mutex<watch::Receiver<u64>>>,
    announces: AtomicBool,
    subscriptions: AtomicUsize,
    over: CancellationToken,
}

impl Changes {
    /// `over` fires when the connection ends.
    pub(crate) fn new(changes: Option<watch::Receiver<u64>>, over: CancellationToken) -> Self {
        let seen = changes.map(Mutex::new);
        Self { seen, announces: AtomicBool::new(false), subscriptions: AtomicUsize::new(0), over }
    }

    /// Whether the list ever changes.
    pub(crate) fn happen(&self) -> bool {
        self.seen.is_some()
    }

    /// The list is about to be read for the client.
    pub(crate) fn listing(&self) {
        if let Some(seen) = &self.seen {
            seen.lock().unwrap_or_else(PoisonError::into_inner).borrow_and_update();
        }
    }

    /// The changes after what the client was shown last.
    fn unseen(&self) -> Option<watch::Receiver<u64>> {
        Some(self.seen.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Tells a client of the older era of every change, until the connection
    /// ends. Does so once, however often it is asked to.
    pub(crate) async fn announce(&self, peer: &Peer<RoleServer>) {
        let Some(mut changes) = self.unseen() else { return };
        if self.announces.swap(true, Ordering::Relaxed) {
            return;
        }
        let announcing = async {
            while changes.changed().await.is_ok() {
                if let Err(error) = peer.notify_tool_list_changed().await {
                    tracing::debug!(%error, "a change of the tools could not be told");
                    return;
                }
            }
        };
        tokio::select! {
            () = announcing => {}
            () = self.over.cancelled() => {}
        }
    }

    /// Serves one subscription until its client cancels it or the connection
    /// ends.
    pub(crate) async fn serve(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let _place = Place::take(&self.subscriptions)?;
        let telling = async {
            let wanted = subscription.accepted().tools_list_changed == Some(true);
            let Some(mut changes) = self.unseen().filter(|_| wanted) else { return std::future::pending().await };
            while changes.changed().await.is_ok() {
                if let Err(error) = subscription.sink().notify_tool_list_changed().await {
                    tracing::debug!(%error, "a change of the tools could not be told");
                    return;
                }
            }
        };
        tokio::select! {
            () = telling => {}
            () = subscription.cancelled() => {}
            () = self.over.cancelled() => {}
        }
        Ok(())
    }
}

/// One of the subscriptions that a connection may have.
struct Place<'p>(&'p AtomicUsize);

impl<'p> Place<'p> {
    fn take(taken: &'p AtomicUsize) -> Result<Self, ErrorData> {
        let place = Self(taken);
        if taken.fetch_add(1, Ordering::Relaxed) < MAX_SUBSCRIPTIONS {
            return Ok(place);
        }
        let told = format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions; cancel one of them first");
        Err(ErrorData::invalid_request(told, None))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
