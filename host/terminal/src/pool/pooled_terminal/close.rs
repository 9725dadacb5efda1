//! Ordering the end of a terminal, and waiting for it.
//!
//! Owns the rule that the first order says why. Never knows who gives it.

use std::time::Duration;

use super::{CloseOrder, PooledTerminal, TerminalLife};
use crate::CloseReason;

impl PooledTerminal {
    /// Has its keeper close it; what was asked for first says why.
    pub(crate) fn order_close(&self, why: CloseReason, because: String, grace: Duration) {
        self.closing.send_modify(|asked| match asked {
            Some(asked) => asked.grace = grace,
            None => *asked = Some(CloseOrder { why, because, grace }),
        });
    }

    /// The same, and waits until it is over. The close happens even if the future is dropped.
    pub(crate) async fn close(&self, why: CloseReason, because: String, grace: Duration) {
        if self.is_over() {
            return;
        }
        self.order_close(why, because, grace);
        self.over().await;
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) {
        let mut life = self.life.subscribe();
        // The keeper holds the sender as long as it is not over.
        drop(life.wait_for(|life| *life == TerminalLife::Ended).await);
    }

    /// Why its end was ordered, if it was.
    pub(crate) fn close_cause(&self) -> Option<(CloseReason, String)> {
        self.closing.borrow().as_ref().map(|order| (order.why, order.because.clone()))
    }
}
