//! The document that a page shows, and how others are being loaded.
//!
//! Knows nothing of what the browser is asked.

use std::collections::VecDeque;

use wharf_webview::FailureKind;

/// Loads of documents that are remembered.
const MOST_LOADS: usize = 16;

/// The document that is shown, and how others are being loaded.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// How many there have been.
    pub(crate) number: u64,
    /// How often it moved within one.
    pub(crate) moves: u64,
    /// How many loads came to no document.
    pub(crate) broken: u64,
    pub(crate) loader: String,
    pub(crate) url: String,
    pub(crate) mime_type: String,
    /// Whether it has loaded, with all that it shows.
    pub(crate) loaded: bool,
    /// Whether it stands for one that could not be had.
    pub(crate) unreachable: bool,
    /// Whether scripts of the one before have been told off already.
    left: bool,
    loads: VecDeque<DocumentLoad>,
}

/// How a document is loaded.
#[derive(Debug, Clone, Default)]
pub(crate) struct DocumentLoad {
    pub(crate) loader: String,
    pub(crate) url: String,
    pub(crate) status: Option<u16>,
    pub(crate) redirects: u64,
    pub(crate) download: bool,
    /// Why the policy, or the proxy, let it go no further.
    pub(crate) denied: Option<(FailureKind, String)>,
    /// The browser's word for why it came to nothing.
    pub(crate) failure: Option<String>,
}

impl Document {
    /// The page is about to have another document. Whether that is news.
    pub(crate) fn leave(&mut self) -> bool {
        !std::mem::replace(&mut self.left, true)
    }

    /// Another document is shown: that of this load, at this address. One that stands
    /// for a document that could not be had is `unreachable`.
    pub(crate) fn arrive(&mut self, loader: String, url: String, mime_type: String, unreachable: bool) {
        self.left = false;
        self.number += 1;
        self.loaded = false;
        (self.loader, self.url, self.mime_type, self.unreachable) = (loader, url, mime_type, unreachable);
    }

    /// What is known of a load, to be added to.
    pub(crate) fn load(&mut self, loader: &str) -> &mut DocumentLoad {
        let known = self.loads.iter().position(|load| load.loader == loader).unwrap_or_else(|| {
            if self.loads.len() == MOST_LOADS {
                self.loads.pop_front();
            }
            self.loads.push_back(DocumentLoad { loader: loader.to_owned(), ..DocumentLoad::default() });
            self.loads.len() - 1
        });
        &mut self.loads[known]
    }

    /// What is known of a load.
    pub(crate) fn known(&self, loader: &str) -> Option<&DocumentLoad> {
        self.loads.iter().find(|load| load.loader == loader)
    }

    /// The load that began last.
    pub(crate) fn last(&self) -> Option<&DocumentLoad> {
        self.loads.back()
    }
}
