//! Changes that wait for the next batch, with a share for each tenant.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use tokio::sync::Notify;
use wharf_core::{TenantId, service::offer::Change};

use super::wire::{LARGEST_BATCH, WireNotice};

/// What one tenant may have in a batch. Where it tells more, all of it counts as changed.
const TENANT_NOTICES: usize = 64;
const TENANT_BYTES: usize = 32 << 10;
/// What all tenants together may have, and how many of them have a share. Where that is not
/// enough, everything counts as changed.
const ALL_BYTES: usize = LARGEST_BATCH / 2;
const TENANTS: usize = 1_024;

/// Changes that wait to be told.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    // A blocking lock: held for a look-up.
    waiting: Mutex<Waiting>,
    some: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    tenants: HashMap<TenantId, OfTenant>,
    bytes: usize,
    all: bool,
}

#[derive(Debug)]
enum OfTenant {
    These { notices: HashSet<WireNotice>, bytes: usize },
    All,
}

impl Gathered {
    /// Takes a change up. One that waits already is told once.
    pub(crate) fn add(&self, change: &Change) {
        let Some((tenant, notice)) = WireNotice::of(change) else { return };
        self.waiting.lock().add(tenant, notice);
        self.some.notify_one();
    }

    /// Waits until there is something to tell, and takes it.
    pub(crate) async fn take(&self) -> Vec<WireNotice> {
        loop {
            let taken = std::mem::take(&mut *self.waiting.lock());
            if let Some(notices) = taken.into_notices() {
                return notices;
            }
            self.some.notified().await;
        }
    }
}

impl Waiting {
    fn add(&mut self, tenant: TenantId, notice: WireNotice) {
        if self.all {
            return;
        }
        if self.tenants.len() >= TENANTS && !self.tenants.contains_key(&tenant) {
            *self = Self { all: true, ..Self::default() };
            return;
        }
        let bytes = notice.bytes();
        let of_tenant = self.tenants.entry(tenant);
        let of_tenant = of_tenant.or_insert_with(|| OfTenant::These { notices: HashSet::new(), bytes: 0 });
        let OfTenant::These { notices, bytes: of_these } = of_tenant else { return };
        if notices.contains(&notice) {
            return;
        }
        let fits = notices.len() < TENANT_NOTICES
            && of_these.saturating_add(bytes) <= TENANT_BYTES
            && self.bytes.saturating_add(bytes) <= ALL_BYTES;
        if fits {
            notices.insert(notice);
            *of_these += bytes;
            self.bytes += bytes;
        } else {
            self.bytes -= *of_these;
            *of_tenant = OfTenant::All;
        }
    }

    /// Nothing where nothing waits.
    fn into_notices(self) -> Option<Vec<WireNotice>> {
        if self.all {
            return Some(vec![WireNotice::missed(None)]);
        }
        let of_tenant = |(tenant, waiting)| match waiting {
            OfTenant::These { notices, .. } => notices.into_iter().collect(),
            OfTenant::All => vec![WireNotice::missed(Some(tenant))],
        };
        let notices: Vec<_> = self.tenants.into_iter().flat_map(of_tenant).collect();
        (!notices.is_empty()).then_some(notices)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use wharf_core::{Context, service::Audience};

    use super::*;
    use crate::notices::Batch;

    fn updated(tenant: &str, uri: &str) -> Change {
        let context = Context::new(tenant.parse().expect("legal"), "s".parse().expect("legal"));
        Change::Resource { context, uri: uri.to_owned(), plugin: "plans".parse().expect("legal") }
    }

    fn taken(gathered: &Gathered) -> Vec<Change> {
        let taken = gathered.take().now_or_never().unwrap_or_default();
        taken.into_iter().map(WireNotice::into_change).collect()
    }

    fn all_of(tenant: Option<&str>) -> Change {
        let tenant = tenant.map(|tenant| tenant.parse().expect("legal"));
        Change::Missed(Audience { tenant, plugins: None })
    }

    #[test]
    fn what_is_told_twice_goes_out_once_and_nothing_goes_out_twice() {
        let gathered = Gathered::default();
        for _ in 0..3 {
            gathered.add(&updated("acme", "plan://one"));
        }
        assert_eq!(taken(&gathered), [updated("acme", "plan://one")]);
        assert_eq!(taken(&gathered), []);
        // Of a registry, which every host has: it is no news elsewhere.
        gathered.add(&Change::Prompts(Audience::default()));
        assert_eq!(taken(&gathered), []);
    }

    #[test]
    fn a_tenant_that_tells_too_much_loses_its_own_places_alone() {
        let gathered = Gathered::default();
        gathered.add(&updated("other", "plan://one"));
        for number in 0..1_000 {
            gathered.add(&updated("acme", &format!("plan://{number}")));
        }
        gathered.add(&updated("long", &"\u{1}".repeat(wharf_core::offer::MAX_URI_BYTES)));
        gathered.add(&updated("longer", &"x".repeat(TENANT_BYTES)));
        let taken = taken(&gathered);
        assert_eq!(taken.len(), 4, "{taken:?}");
        assert!(taken.contains(&all_of(Some("acme"))) && taken.contains(&updated("other", "plan://one")));
        assert!(taken.contains(&all_of(Some("longer"))));
    }

    #[test]
    fn a_batch_stays_as_small_as_the_bus_wants_it_however_much_is_told() {
        let gathered = Gathered::default();
        let long = |number| format!("plan://{number}{}", "\u{1}".repeat(1_000));
        for tenant in 0..TENANTS {
            for number in 0..8 {
                gathered.add(&updated(&format!("tenant-{tenant}"), &long(number)));
            }
        }
        let notices = gathered.take().now_or_never().expect("there are some");
        let from = crate::Incarnation::from_i64(1).expect("a number");
        let body = Batch { from, number: u64::MAX, notices }.body();
        assert!(body.len() < LARGEST_BATCH && Batch::read(&body).is_some(), "{} bytes", body.len());
        for tenant in 0..=TENANTS {
            gathered.add(&updated(&format!("tenant-{tenant}"), "plan://one"));
        }
        assert_eq!(taken(&gathered), [all_of(None)]);
    }
}
