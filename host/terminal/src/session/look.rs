//! Looking at a session without drawing more than is asked for, and looking on
//! while it goes on.

use super::Session;
use crate::{Size, TooManyViewers, Viewer, turn::text_to_cursor};

impl Session {
    /// How large it is.
    #[must_use]
    pub fn size(&self) -> Size {
        self.shared.output().screen.size()
    }

    /// The row of the cursor, up to it.
    #[must_use]
    pub fn cursor_row(&self) -> String {
        text_to_cursor(&self.screen())
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
        let mut output = self.shared.output();
        let inside = output.screen.inside();
        output.views.open(&self.shared, inside, typed)
    }

    /// How many look on.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.shared.output().views.count()
    }

    /// Tells those who look on that nothing more will come.
    pub fn end_views(&self) {
        self.shared.output().views.end();
    }
}
