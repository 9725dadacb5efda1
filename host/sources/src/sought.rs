//! What is looked for behind a source.

use std::fmt;

/// What is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// A component.
    Component,
    /// A list as JSON.
    List(ListKind),
}

/// What a list lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// An index of plugins.
    Index,
    /// What must not run.
    DenyList,
}

impl ListKind {
    /// Its own type in registries; any JSON is taken, too.
    #[cfg(feature = "oci")]
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Index => "application/vnd.wharf.plugin-index.v1+json",
            Self::DenyList => "application/vnd.wharf.deny-list.v1+json",
        }
    }
}

impl fmt::Display for ListKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Index => "an index of plugins",
            Self::DenyList => "a list of what must not run",
        })
    }
}
