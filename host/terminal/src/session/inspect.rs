//! Looking at a session without drawing more than is asked for, and looking on
//! while it goes on.
//!
//! Changes nothing of what the program sees.

use super::TerminalSession;
use crate::{HistorySlice, TerminalSize, TooManyViewers, Viewer, shared_terminal::ResizeHistory};

impl TerminalSession {
    /// How large it is.
    #[must_use]
    pub fn size(&self) -> TerminalSize {
        self.shared.output().screen.size()
    }

    /// The row of the cursor, up to it.
    #[must_use]
    pub fn cursor_row(&self) -> String {
        self.screen().text_to_cursor()
    }

    /// Before which cursors nothing is kept: of bytes, and of text.
    #[must_use]
    pub fn evicted_before(&self) -> (u64, u64) {
        let output = self.shared.output();
        (output.raw.bytes(0, 0).evicted_before, output.text.bytes(0, 0).evicted_before)
    }

    /// Begins to look on, from the present screen; with what is typed, or
    /// without.
    ///
    /// # Errors
    /// [`TooManyViewers`].
    pub fn view(&self, typed: bool) -> Result<Viewer, TooManyViewers> {
        Viewer::open(&self.shared, typed)
    }

    /// What draws the present screen on a terminal of its size that has just been
    /// reset, the cursor of the first byte behind it, and how often the size has
    /// changed by now.
    pub(crate) fn redraw(&self) -> (TerminalSize, String, u64, u64) {
        let mut output = self.shared.output();
        let text = output.redraw();
        (output.screen.size(), text, output.raw.end(), output.resizes().count)
    }

    /// How the size has changed so far.
    pub(crate) fn resizes(&self) -> ResizeHistory {
        self.shared.output().resizes()
    }

    /// Bytes as they came, and the size that they come to: both of one moment.
    pub(crate) fn raw_and_size(
        &self,
        from: u64,
        maximum_bytes: usize,
    ) -> (HistorySlice<Vec<u8>>, TerminalSize, ResizeHistory) {
        let output = self.shared.output();
        (output.raw.bytes(from, maximum_bytes), output.screen.size(), output.resizes())
    }

    /// Whether the last bytes that came are a part of a control sequence.
    #[must_use]
    pub fn is_inside_sequence(&self) -> bool {
        self.shared.output().screen.open_sequence().is_some()
    }

    /// How many look on.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.shared.output().viewers.count()
    }

    /// Tells the viewers that nothing more will come.
    pub fn end_views(&self) {
        self.shared.output().viewers.end();
    }
}
