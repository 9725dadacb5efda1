//! The downloads of a page that are under way.

use std::collections::HashMap;

use wharf_core::Share;

/// The downloads of a page that are under way, by the browser's name for each.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    pub(crate) begun: u64,
    pub(crate) known: HashMap<String, RunningDownload>,
}

#[derive(Debug)]
pub(crate) struct RunningDownload {
    pub(crate) url: String,
    pub(crate) name: String,
    /// Why it is being cancelled.
    pub(crate) refused: Option<String>,
    /// As many bytes as have come.
    pub(crate) share: Share,
}
