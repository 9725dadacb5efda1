//! A terminal of Unix.

use std::{io, os::fd::AsFd as _};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Columns and rows of the terminal of standard output.
pub(crate) fn size() -> Option<(u16, u16)> {
    tcgetwinsize(io::stdout()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// The changes of its size.
pub(crate) struct Resizes(Signal);

impl Resizes {
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::window_change())?))
    }

    /// Waits for the next one. May be dropped without loss.
    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// The terminal without line editing; as it was once this is dropped.
pub(crate) struct RawTerminal(Termios);

impl RawTerminal {
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin().as_fd())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin().as_fd(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // There is nothing to be done about a terminal that is gone.
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Flush, &self.0);
    }
}
