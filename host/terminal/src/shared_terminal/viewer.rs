//! Viewing a session, as people and recordings do.
//!
//! Never knows who looks, nor why.

use std::sync::{Arc, Weak};

use super::SharedTerminal;
use crate::{
    TooManyViewers, ViewUpdate,
    view::{NextUpdate, ViewerQueue},
};

/// A viewer of a session. Dropping it ends the viewing.
#[derive(Debug)]
pub struct Viewer {
    queue: Arc<ViewerQueue>,
    terminal: Weak<SharedTerminal>,
}

impl Viewer {
    /// Begins to look on, from the present screen; with what is typed, or
    /// without.
    pub(crate) fn open(terminal: &Arc<SharedTerminal>, typed: bool) -> Result<Self, TooManyViewers> {
        let mut output = terminal.output();
        let open_sequence = output.screen.open_sequence();
        let queue = output.viewers.add(open_sequence, typed)?;
        Ok(Self { queue, terminal: Arc::downgrade(terminal) })
    }

    /// What is shown next: the screen first. Nothing once the terminal is
    /// closed and all was shown. Cancel-safe.
    pub async fn next(&mut self) -> Option<ViewUpdate> {
        loop {
            match self.queue.next() {
                NextUpdate::Ready(shown) => return Some(shown),
                NextUpdate::ScreenDue => match self.catch_up() {
                    None if self.queue.has_ended() => return None,
                    None => {}
                    screen => return screen,
                },
                NextUpdate::Empty => {}
                NextUpdate::Ended => return None,
            }
            self.queue.changed().await;
        }
    }

    /// The whole screen; nothing where the session is gone.
    fn catch_up(&self) -> Option<ViewUpdate> {
        let terminal = self.terminal.upgrade()?;
        // Held until what comes next is put into the queue: nothing is shown
        // twice, and nothing is left out.
        let mut output = terminal.output();
        self.queue.restart();
        Some(ViewUpdate::Screen { size: output.screen.size(), text: output.redraw() })
    }
}
