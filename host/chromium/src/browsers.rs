//! The browsers of a host: one for all tenants, or one for each.

use std::{
    collections::{HashMap, HashSet},
    fs,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use wharf_core::TenantId;
use wharf_spawn::Spawner;
use wharf_webview::staging_of;

use crate::{
    browser::Browser,
    error::ChromiumError,
    keeper::{BrowserKeeper, BrowserLease, StartsEnclosed},
    settings::ChromiumSettings,
};

/// The keepers of all browsers.
#[derive(Debug)]
pub(crate) struct Browsers {
    spawner: Spawner,
    settings: Arc<ChromiumSettings>,
    program: PathBuf,
    /// Places for browsers that run; closed once no other one may start.
    places: Arc<Semaphore>,
    enclosed: Arc<StartsEnclosed>,
    /// By tenant; by none, where all share one. Held for a look or an insertion.
    keepers: Mutex<HashMap<Option<TenantId>, Arc<BrowserKeeper>>>,
}

impl Browsers {
    pub(crate) fn new(spawner: Spawner, settings: ChromiumSettings, program: PathBuf) -> Self {
        let places = usize::try_from(settings.limits.browsers).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self {
            spawner,
            settings: Arc::new(settings),
            program,
            places: Arc::new(Semaphore::new(places)),
            enclosed: Arc::default(),
            keepers: Mutex::default(),
        }
    }

    /// Keeps the browser of a tenant running for a page, once it runs.
    pub(crate) fn lease(&self, tenant: &TenantId) -> BrowserLease {
        let key = (!self.settings.shared).then(|| tenant.clone());
        let mut keepers = self.keepers.lock();
        if let Some(keeper) = keepers.get(&key) {
            return keeper.lease();
        }
        keepers.retain(|_, keeper| !keeper.is_done());
        let keeper = self.keeper(tenant, &keepers);
        let lease = keeper.lease();
        keepers.insert(key, keeper);
        lease
    }

    /// One for a tenant, as a user that no other one has.
    fn keeper(&self, tenant: &TenantId, others: &HashMap<Option<TenantId>, Arc<BrowserKeeper>>) -> Arc<BrowserKeeper> {
        let staging = self.settings.staging.as_deref();
        let (user, staging) = if self.settings.shared {
            (self.settings.user, staging.map(Path::to_owned))
        } else {
            let taken: HashSet<_> = others.values().filter_map(|other| other.user()).collect();
            let user = self.settings.user.and_then(|first| (first..).find(|user| !taken.contains(user)));
            (user, staging.map(|staging| of_tenant(staging, tenant)))
        };
        let (spawner, settings) = (self.spawner.clone(), Arc::clone(&self.settings));
        let shared = (Arc::clone(&self.places), Arc::clone(&self.enclosed));
        BrowserKeeper::new(spawner, settings, self.program.clone(), (user, staging), shared)
    }

    /// The browser for a page, started where there is none. A browser without a page makes room for it.
    pub(crate) async fn browser(&self, lease: &BrowserLease) -> Result<Arc<Browser>, ChromiumError> {
        let keeper = lease.keeper();
        loop {
            match keeper.browser().await {
                Err(ChromiumError::Full { .. }) if self.stop_one_idle().await => keeper.place_is_free().await,
                found => return found,
            }
        }
    }

    /// Stops the browser that has had no page for longest; false where all have pages.
    async fn stop_one_idle(&self) -> bool {
        let mut idle: Vec<_> = {
            let keepers = self.keepers.lock();
            keepers.values().filter_map(|keeper| Some((keeper.rested()?, Arc::clone(keeper)))).collect()
        };
        idle.sort_by_key(|(rested, _)| std::cmp::Reverse(*rested));
        for (_, keeper) in idle {
            if keeper.stop_idle().await {
                return true;
            }
        }
        false
    }

    /// Starts one and ends it: what it says of itself, and whether files of the host are out of its reach.
    pub(crate) async fn probe(&self) -> Result<(String, bool), ChromiumError> {
        let lease = self.lease(&TenantId::local());
        let browser = self.browser(&lease).await?;
        let found = (browser.version().product.clone(), browser.closes_files());
        self.shut_down().await;
        Ok(found)
    }

    /// The processes of those that run.
    pub(crate) async fn processes(&self) -> Vec<u32> {
        let mut processes = Vec::new();
        for keeper in self.all() {
            processes.extend(keeper.process().await);
        }
        processes
    }

    /// Ends all browsers, and has no other one started.
    pub(crate) async fn shut_down(&self) {
        self.places.close();
        let ending: Vec<_> =
            self.all().into_iter().map(|keeper| tokio::spawn(async move { keeper.shut_down().await })).collect();
        for ended in ending {
            let _ = ended.await;
        }
    }

    fn all(&self) -> Vec<Arc<BrowserKeeper>> {
        self.keepers.lock().values().cloned().collect()
    }
}

/// Where files wait for the pages of a tenant; made, since its browser is shown what is there when it starts.
fn of_tenant(staging: &Path, tenant: &TenantId) -> PathBuf {
    let place = staging_of(staging, tenant);
    if let Err(error) = fs::DirBuilder::new().mode(0o711).recursive(true).create(&place) {
        tracing::warn!(%error, "pages of a tenant are given no files");
    }
    place
}
