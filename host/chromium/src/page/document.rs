//! The document that a page shows, and how others are being loaded.
//!
//! Knows nothing of what the browser is asked.

use std::collections::VecDeque;

use wharf_webview::FailureKind;

/// How many loads of documents are remembered.
const MOST_LOADS: usize = 16;

/// The document that is shown, and how others are being loaded.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// How many documents there have been.
    pub(crate) number: u64,
    /// How often it moved within one.
    pub(crate) moves: u64,
    /// How many loads ended without a document.
    pub(crate) broken: u64,
    pub(crate) loader: String,
    pub(crate) url: String,
    pub(crate) mime_type: String,
    /// Whether it has loaded, with all that it shows.
    pub(crate) loaded: bool,
    /// Whether it is the browser's own page in place of a document that could not be
    /// loaded.
    pub(crate) unreachable: bool,
    /// Whether the page is on its way to the next document.
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
    /// Why the policy or the proxy refused it.
    pub(crate) denied: Option<(FailureKind, String)>,
    /// The browser's word for why it failed.
    pub(crate) failure: Option<String>,
}

impl Document {
    /// The page is about to leave its document. Whether that was not known yet.
    pub(crate) fn leave(&mut self) -> bool {
        !std::mem::replace(&mut self.left, true)
    }

    /// Another document is shown: the one of this load. `unreachable` says that the
    /// browser shows a page of its own in place of it.
    pub(crate) fn arrive(&mut self, loader: String, url: String, mime_type: String, unreachable: bool) {
        self.left = false;
        self.number += 1;
        self.loaded = false;
        (self.loader, self.url, self.mime_type, self.unreachable) = (loader, url, mime_type, unreachable);
    }

    /// A load, remembered from now on.
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

    /// A load, where it is remembered.
    pub(crate) fn known(&self, loader: &str) -> Option<&DocumentLoad> {
        self.loads.iter().find(|load| load.loader == loader)
    }

    /// The load that began last.
    pub(crate) fn last(&self) -> Option<&DocumentLoad> {
        self.loads.back()
    }
}
