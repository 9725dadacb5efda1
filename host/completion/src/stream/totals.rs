//! Totals of streams and their turns, for the metrics of a host.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::Ended;
use crate::detection::Endings;

/// Counts of all streams of a host.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Turns whose end was detected here.
    pub(super) turns: Endings,
    ended: Mutex<BTreeMap<&'static str, u64>>,
}

impl Totals {
    pub(super) fn ended(&self, why: Ended) {
        *self.ended.lock().entry(why.as_str()).or_default() += 1;
    }

    pub(super) fn all_ended(&self) -> BTreeMap<&'static str, u64> {
        self.ended.lock().clone()
    }
}
