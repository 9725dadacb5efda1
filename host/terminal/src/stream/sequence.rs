//! The control sequence in the middle of which a stream stands.
//!
//! Never knows what it will mean.

/// A sequence that has begun and not ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OpenSequence {
    /// ESC and what follows.
    Escape,
    /// A control sequence.
    Sequence,
}
