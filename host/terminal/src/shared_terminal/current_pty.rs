//! The terminal that a session has now: none once its program has ended, so
//! that no descriptor is left, and another one where it is started again.
//!
//! Never knows what is read or written.

use std::{io, sync::Arc};

use parking_lot::RwLock;

use crate::{LineMode, Pty, SlaveState, TerminalSize};

/// The pair that is open now. Reading and writing is for the session's task, which
/// holds the pair itself.
#[derive(Debug)]
pub(crate) struct CurrentPty(RwLock<Option<Arc<dyn Pty>>>);

impl CurrentPty {
    pub(crate) fn new(pty: Arc<dyn Pty>) -> Self {
        Self(RwLock::new(Some(pty)))
    }

    pub(crate) fn replace(&self, pty: Option<Arc<dyn Pty>>) {
        // A holder that panicked has changed nothing.
        *self.0.write() = pty;
    }

    fn with<T>(&self, look: impl FnOnce(&dyn Pty) -> T) -> Option<T> {
        self.0.read().as_deref().map(look)
    }

    /// Changes the size of the terminal that is open, if one is.
    pub(crate) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.with(|pty| pty.resize(size)).unwrap_or(Ok(()))
    }

    pub(crate) fn line_mode(&self) -> io::Result<LineMode> {
        self.with(Pty::line_mode).unwrap_or_else(|| Err(io::ErrorKind::NotConnected.into()))
    }

    pub(crate) fn foreground(&self) -> Option<u32> {
        self.with(Pty::foreground).flatten()
    }

    pub(crate) fn has_unread_output(&self) -> bool {
        self.with(Pty::has_unread_output).unwrap_or_default()
    }

    pub(crate) fn slave_state(&self) -> Option<SlaveState> {
        self.with(Pty::slave_state).flatten()
    }
}
