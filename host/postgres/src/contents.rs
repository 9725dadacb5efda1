//! The numbers of contents that were read before: a read by number spares the server the look-up
//! of seven names.
//!
//! A number names one content of one scope for ever. Where the content has ended since, no living
//! scope has the number any more, and a read by it finds nothing.

use std::collections::HashMap;

use parking_lot::Mutex;
use wharf_core::ScopeKey;

/// Most numbers that are kept. Past it all are forgotten, and learnt anew by the next reads.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct KnownContents(Mutex<HashMap<ScopeKey, i64>>);

impl KnownContents {
    pub(crate) fn get(&self, scope: &ScopeKey) -> Option<i64> {
        self.0.lock().get(scope).copied()
    }

    pub(crate) fn learn(&self, scope: &ScopeKey, content: i64) {
        let mut known = self.0.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(scope.clone(), content);
    }

    pub(crate) fn forget(&self, scope: &ScopeKey) {
        self.0.lock().remove(scope);
    }
}
