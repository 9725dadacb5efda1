//! What holds for all pages of a host.

use std::path::PathBuf;

use wharf_core::{WebViewLimits, polls::PollRules};

/// What holds for all pages of a host.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How many there are, how long, and what is kept of them.
    pub limits: WebViewLimits,
    /// How polls are judged.
    pub polls: PollRules,
    /// A directory of this host alone, in which files wait that pages are given.
    /// Whoever names it removes it in the end. Without it pages are given none.
    pub staging: Option<PathBuf>,
}
