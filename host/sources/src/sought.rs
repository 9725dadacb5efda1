//! What is looked for behind a source.

/// What is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// A component.
    Component,
    /// An index of plugins.
    Index,
}
