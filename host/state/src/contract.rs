//! The suite that every store passes: each promise of [`StateStore`], tested
//! through its calls. It knows nothing of how a store keeps its data.

mod concurrency;
mod entries;
mod expiry;
mod isolation;
mod quotas;
mod repetition;
mod scans;
mod store_under_test;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use self::store_under_test::{StoreUnderTest, generous};
use crate::{Ceilings, Clock, ManualClock, StateStore};

/// Checks every promise of the stores that `open` makes. Each call of `open` returns
/// an empty store with these ceilings and this clock.
///
/// # Panics
/// Where a store breaks a promise.
pub async fn check(open: impl Fn(Ceilings, Arc<dyn Clock>) -> Arc<dyn StateStore>) {
    let fresh = |ceilings: Ceilings| {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let clock = Arc::new(ManualClock::starting_at(start));
        let store = open(ceilings, Arc::clone(&clock) as Arc<dyn Clock>);
        StoreUnderTest { store, clock, policy: generous() }
    };
    isolation::check(&fresh(Ceilings::default())).await;
    entries::check(&fresh(Ceilings::default())).await;
    repetition::check(&fresh(Ceilings::default())).await;
    scans::check(&fresh(Ceilings::default())).await;
    expiry::check(&fresh).await;
    quotas::check(&fresh).await;
    concurrency::check(&fresh(Ceilings::default())).await;
}
