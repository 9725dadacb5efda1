//! Where it is told that what is offered has changed, and where that is heard.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{broadcast, watch};

use super::offer::Change;
use crate::TenantId;

/// Changes that are kept for a listener that is slow. One that falls behind is
/// told so, and takes everything for changed.
const KEPT_CHANGES: usize = 256;

/// Passes on what plugins tell, to the other hosts of a cluster. Never waits.
pub trait ChangeRelay: Send + Sync + 'static {
    /// Passes a change on.
    fn relay(&self, change: &Change);
}

/// Tells changes to all listeners. Cheap to clone; neither side waits for the other.
#[derive(Clone)]
pub struct Announcements {
    changes: broadcast::Sender<Change>,
    relay: Arc<OnceLock<Arc<dyn ChangeRelay>>>,
    /// The listeners to the tools of each tenant.
    // A blocking lock: held for a look-up.
    tenants: Arc<Mutex<HashMap<TenantId, watch::Sender<u64>>>>,
}

impl Default for Announcements {
    fn default() -> Self {
        Self { changes: broadcast::Sender::new(KEPT_CHANGES), relay: Arc::default(), tenants: Arc::default() }
    }
}

impl std::fmt::Debug for Announcements {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Announcements")
            .field("listeners", &self.changes.receiver_count())
            .finish_non_exhaustive()
    }
}

impl Announcements {
    /// Passes on what plugins tell from now on. The first relay stays.
    pub fn relay_to(&self, relay: Arc<dyn ChangeRelay>) {
        let _ = self.relay.set(relay);
    }

    /// Tells a change that a plugin has told, here and, where the host is one of a cluster, at the
    /// other hosts.
    pub fn tell_everywhere(&self, change: Change) {
        self.relay(&change);
        self.tell(change);
    }

    /// Tells a change at the other hosts alone, where the host is one of a cluster.
    pub fn relay(&self, change: &Change) {
        if let Some(relay) = self.relay.get() {
            relay.relay(change);
        }
    }

    /// Tells a change of what is offered beside tools, or what a plugin says of its tools.
    pub fn tell(&self, change: Change) {
        // Without a listener there is nobody to tell.
        let _ = self.changes.send(change);
    }

    /// Tells all tenants that the list of tools has changed.
    pub fn tools_changed(&self) {
        self.tenants().values().for_each(tell);
    }

    /// The same for one tenant: no other one hears of it.
    pub fn tools_of_tenant_changed(&self, tenant: &TenantId) {
        if let Some(listening) = self.tenants().get(tenant) {
            tell(listening);
        }
    }

    /// What is told from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// How often the list of tools of one tenant has changed.
    #[must_use]
    pub fn listen_to_tools_of_tenant(&self, tenant: &TenantId) -> watch::Receiver<u64> {
        let mut tenants = self.tenants();
        // Tenants come and go for years, so those without a listener are not kept.
        tenants.retain(|_, listening| listening.receiver_count() > 0);
        tenants.entry(tenant.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// The tenants of which somebody listens to the tools.
    #[must_use]
    pub fn listening_tenants(&self) -> Vec<TenantId> {
        let listens = |(_, listening): &(_, &watch::Sender<u64>)| listening.receiver_count() > 0;
        self.tenants().iter().filter(listens).map(|(tenant, _)| tenant.clone()).collect()
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, watch::Sender<u64>>> {
        self.tenants.lock()
    }
}

fn tell(listening: &watch::Sender<u64>) {
    listening.send_modify(|changes| *changes = changes.wrapping_add(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_tenant_is_heard_by_that_one_alone_and_a_change_of_all_by_everybody() {
        let announcements = Announcements::default();
        let listening = |tenant: &str| announcements.listen_to_tools_of_tenant(&tenant.parse().expect("legal"));
        let (mut one, mut other) = (listening("one"), listening("other"));
        let mut heard = |what: &str| {
            let heard = [&mut one, &mut other].map(|receiver| {
                let changed = receiver.has_changed().expect("open");
                receiver.borrow_and_update();
                changed
            });
            (what.to_owned(), heard)
        };
        announcements.tools_of_tenant_changed(&"one".parse().expect("legal"));
        assert_eq!(heard("of one").1, [true, false]);
        announcements.tools_changed();
        assert_eq!(heard("of all").1, [true, true]);
        drop((one, other));
        let _kept = listening("third");
        assert_eq!(announcements.tenants().len(), 1, "who does not listen is forgotten");
    }
}
