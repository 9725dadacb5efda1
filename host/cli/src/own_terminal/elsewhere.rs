//! Systems without terminals of Unix: the size is not known, and no key is read alone.

use std::{convert::Infallible, future, io};

/// Columns and rows, which are not known here.
pub(crate) fn size() -> Option<(u16, u16)> {
    None
}

/// The changes of the size, of which none is heard.
pub(crate) struct Resizes;

impl Resizes {
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for ever.
    pub(crate) async fn next(&mut self) {
        future::pending().await
    }
}

/// The terminal without line editing; this system has none.
pub(crate) struct RawTerminal(Infallible);

impl RawTerminal {
    /// Refuses.
    pub(crate) fn enter() -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "`wharf attach` needs a terminal of Unix"))
    }
}
