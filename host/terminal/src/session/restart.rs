//! Starting a program again in the terminal of one that has ended.
//!
//! Owns that nothing of the old program is left by then. Never decides whether.

use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::oneshot;
use wharf_spawn::Spawner;

use super::{TerminalSession, run, task::SessionOrder};
use crate::{TerminalError, TerminalRequest};

impl TerminalSession {
    /// Starts a program where nothing is left of the one before: what that
    /// printed stays, all cursors go on, the size is what it was, and `note`
    /// stands between the two. It runs when this returns.
    ///
    /// # Errors
    /// [`TerminalError::Runs`] where the one before has not ended with all that
    /// it left behind; [`TerminalError::Start`]. Then nothing has changed.
    pub async fn restart(&self, spawner: &Spawner, request: TerminalRequest, note: &str) -> Result<(), TerminalError> {
        if !self.progress.borrow().finished {
            return Err(TerminalError::Runs);
        }
        let (running, nonce) = run(spawner, TerminalRequest { size: self.size(), ..request }).await?;
        let pid = running.child.pid();
        let (done, begun) = oneshot::channel();
        let order = SessionOrder::Begin { running, note: note.to_owned(), done };
        self.orders.send(order).await.map_err(|_| TerminalError::Closed)?;
        begun.await.map_err(|_| TerminalError::Runs)?;
        self.typed_bytes.store(0, Relaxed);
        self.pid.store(pid, Relaxed);
        self.turns.begin_again(pid, nonce);
        Ok(())
    }
}
