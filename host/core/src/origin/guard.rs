//! Origins that a page reaches only once a person has let it go there.

use std::{collections::HashSet, fmt::Debug, sync::Arc};

use parking_lot::Mutex;

use super::{Origin, OriginPattern};

/// Which origins a person has to allow, by the rules that hold at this moment.
pub trait OriginRules: Debug + Send + Sync {
    /// The patterns that have a person allow this origin; none where nobody has to be asked.
    fn asking(&self, origin: &Origin) -> Vec<OriginPattern>;
}

/// What one page may reach of the origins that a person has to allow: those of the patterns under which
/// a person has let it open an address.
#[derive(Debug)]
pub(super) struct OriginGuard {
    rules: Arc<dyn OriginRules>,
    /// At most as many as the rules have. Held for a look-up.
    opened: Mutex<HashSet<OriginPattern>>,
}

impl OriginGuard {
    /// One that has let nothing through yet.
    pub(super) fn new(rules: Arc<dyn OriginRules>) -> Self {
        Self { rules, opened: Mutex::default() }
    }

    pub(super) fn open(&self, origin: &Origin) {
        let asking = self.rules.asking(origin);
        self.opened.lock().extend(asking);
    }

    pub(super) fn lets(&self, origin: &Origin) -> bool {
        let asking = self.rules.asking(origin);
        let opened = self.opened.lock();
        asking.iter().all(|pattern| opened.contains(pattern))
    }
}
