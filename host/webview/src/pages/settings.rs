//! What holds for all pages of a host.

use std::path::PathBuf;

use wharf_completion::polls::PollRules;
use wharf_core::{WebViewLimits, handle::HandleMint};

/// What holds for all pages of a host.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How many there are, how long, and what is kept of them.
    pub limits: WebViewLimits,
    /// When a caller polls too often.
    pub polls: PollRules,
    /// A directory of this host alone, for files on their way into pages. Its owner
    /// removes it in the end. Without it, pages are given no files.
    pub staging: Option<PathBuf>,
    /// What makes the ids of pages and requests: a host that stands alone unless set.
    pub handles: HandleMint,
}
