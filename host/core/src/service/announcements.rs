//! Where it is told that what is offered has changed, and where that is heard.

use tokio::sync::{broadcast, watch};

use super::offer::Change;

/// Changes that are kept for a listener that is slow. One that falls behind is
/// told so, and takes everything for changed.
const KEPT_CHANGES: usize = 256;

/// Tells changes to whoever listens. Cheap to clone; nobody waits for anybody.
#[derive(Debug, Clone)]
pub struct Announcements {
    changes: broadcast::Sender<Change>,
    tools: watch::Sender<u64>,
}

impl Default for Announcements {
    fn default() -> Self {
        Self { changes: broadcast::Sender::new(KEPT_CHANGES), tools: watch::Sender::new(0) }
    }
}

impl Announcements {
    /// Tells a change of what is offered beside tools, or what a plugin says of its tools.
    pub fn tell(&self, change: Change) {
        // Without a listener there is nobody to tell.
        let _ = self.changes.send(change);
    }

    /// Tells that the list of tools has become another one.
    pub fn tools_changed(&self) {
        self.tools.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// What is told from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// How often the list of tools has changed.
    #[must_use]
    pub fn listen_to_tools(&self) -> watch::Receiver<u64> {
        self.tools.subscribe()
    }
}
