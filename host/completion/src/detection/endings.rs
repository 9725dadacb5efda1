//! How turns ended so far, for the metrics of a host.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::Decision;

/// Counts turns by reason and confidence. The words for both are fixed, so the number
/// of counters is bounded.
#[derive(Debug, Default)]
pub struct Endings(Mutex<BTreeMap<(&'static str, &'static str), u64>>);

impl Endings {
    /// A turn is over; one without a verdict was `cancelled`.
    pub fn count(&self, decision: &Decision) {
        let (reason, confidence) = words(decision);
        *self.0.lock().entry((reason, confidence)).or_default() += 1;
    }

    /// How many turns ended, by reason and confidence.
    #[must_use]
    pub fn totals(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.0.lock().clone()
    }
}

/// Why a turn is over, and how sure that is, in the words that clients see.
#[must_use]
pub fn words(decision: &Decision) -> (&'static str, &'static str) {
    match decision.verdict {
        Some(verdict) => (verdict.reason.as_str(), verdict.confidence.as_str()),
        None => ("cancelled", "none"),
    }
}
