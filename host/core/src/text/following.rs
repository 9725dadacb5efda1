//! A text that comes in pieces.

use super::rule::{Preceding, cleaned};

/// What came before a piece: a line break, an emoji or a letter with its joiner may be
/// cut between two pieces. What would have to be known of the next piece counts as not
/// there.
#[derive(Debug, Clone, Default)]
pub struct Following(Preceding);

impl Following {
    /// The next piece, by the rule of [`visible`](super::visible).
    #[must_use]
    pub fn visible(&mut self, piece: String) -> String {
        cleaned(&piece, Some(&mut self.0)).unwrap_or(piece)
    }
}
