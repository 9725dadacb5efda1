//! Front ends that all hosts of a cluster know of: each is connected at one, its name is taken at
//! all, and calls of its tools go to its host.

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};
use wharf_core::{
    Code, Error, HostLimits, TenantId, ToolDefinition,
    handle::{Handle, HandleMint},
    service::{
        Audience, ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndShelf, FrontEndsVersion, RemoteHome,
        ShelvedFrontEnd,
        front_end::{FrontEndDescription, FrontEndOwner},
        offer::Change,
    },
    text::with_causes,
};

use super::{
    connected::ConnectedFrontEnd,
    directory::FrontEnds,
    others::{KEPT, OtherFrontEnds, OtherTool},
    table::{client_full, named},
};

/// When what could not be told to the database, or read of it, is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// What a host shares with the others.
pub(super) struct Sharing {
    shelf: OnceLock<Arc<dyn FrontEndShelf>>,
    pub(super) handles: HandleMint,
    // Blocking locks: held for a look-up, or to make a list.
    others: Mutex<OtherFrontEnds>,
    /// Names that are being taken.
    taking: Mutex<HashSet<(TenantId, String)>>,
    /// Front ends that have gone, until the others have heard of it.
    gone: Mutex<Vec<Handle>>,
    /// Tenants of whom another host has told that something changed.
    told: Mutex<HashSet<TenantId>>,
    work: Arc<Notify>,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    All,
    Told,
}

impl Sharing {
    pub(super) fn new(limits: &HostLimits, handles: HandleMint) -> Self {
        Self {
            shelf: OnceLock::new(),
            handles,
            others: Mutex::new(OtherFrontEnds::new(limits)),
            taking: Mutex::default(),
            gone: Mutex::default(),
            told: Mutex::default(),
            work: Arc::default(),
        }
    }

    pub(super) fn find(&self, tenant: &TenantId, full_name: &str) -> Option<Arc<OtherTool>> {
        self.others.lock().find(tenant, full_name)
    }

    pub(super) fn definitions(&self, tenant: &TenantId) -> Option<Arc<[ToolDefinition]>> {
        self.others.lock().definitions(tenant)
    }

    pub(super) fn of_owner(&self, owner: &FrontEndOwner, silent_ms: u64) -> Vec<FrontEndDescription> {
        self.others.lock().of_client(&owner.tenant, &owner.client, silent_ms)
    }

    /// One has gone here: the others hear of it as soon as the database answers.
    pub(super) fn gone(&self, id: Handle) {
        if self.shelf.get().is_some() {
            self.gone.lock().push(id);
            self.work.notify_one();
        }
    }

    /// Tells the database what has gone.
    async fn flush(&self) -> Result<(), Error> {
        let (Some(shelf), gone) = (self.shelf.get(), std::mem::take(&mut *self.gone.lock())) else { return Ok(()) };
        if gone.is_empty() {
            return Ok(());
        }
        let told = shelf.disconnect(&gone).await;
        if told.is_err() {
            self.gone.lock().extend(gone);
        }
        told
    }

    /// Takes over what was read; the tenants who see other tools now.
    fn take_over(&self, changed: ChangedFrontEnds) -> Vec<TenantId> {
        let mut others = self.others.lock();
        let mut seen = Vec::new();
        for read in changed.tenants {
            let tenant = read.tenant.clone();
            if others.take(read, |id| self.handles.is_of_another_host(id)) {
                seen.push(tenant);
            }
        }
        seen
    }
}

impl ConnectedFrontEnd {
    /// Takes its name at all hosts; the change that this was.
    async fn take_name(&self, shelf: &dyn FrontEndShelf, terms: ConnectTerms) -> Result<i64, Error> {
        let (owner, name) = (self.owner.clone(), self.name.clone());
        let tools = serde_json::to_string(&self.definitions)
            .map_err(|error| Error::new(Code::Internal, format!("the tools have no form in JSON: {error}")))?;
        let front_end = ShelvedFrontEnd { id: self.id, owner, name, tools };
        match shelf.connect(&front_end, terms).await? {
            FrontEndPlace::Taken(change) => Ok(change),
            FrontEndPlace::Named => Err(named(&self.name)),
            FrontEndPlace::ClientFull => Err(client_full(terms.per_client)),
            FrontEndPlace::TenantFull => {
                let told = format!(
                    "this tenant has connected {} front ends, and that is the limit (`front_ends_per_tenant` of \
                     [host.limits]); disconnect one of them",
                    terms.per_tenant
                );
                Err(Error::retryable(Code::Limit, told))
            }
            FrontEndPlace::HostDead => {
                Err(Error::retryable(Code::Unavailable, "this host joins its cluster anew; try again in a moment"))
            }
        }
    }
}

/// A name that is being taken; free again when it is dropped.
struct Taking<'s>(&'s Sharing, (TenantId, String));

impl<'s> Taking<'s> {
    fn begin(sharing: &'s Sharing, connected: &ConnectedFrontEnd) -> Result<Self, Error> {
        let name = (connected.owner.tenant.clone(), connected.name.clone());
        if !sharing.taking.lock().insert(name.clone()) {
            let told = format!("a front end `{}` is being connected at this moment; try again", connected.name);
            return Err(Error::retryable(Code::Conflict, told));
        }
        Ok(Self(sharing, name))
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.taking.lock().remove(&self.1);
    }
}

impl FrontEnds {
    /// Shares them with the hosts of a cluster from now on, until the host ends.
    pub(crate) fn share(self: &Arc<Self>, shelf: Arc<dyn FrontEndShelf>) {
        let (changes, work) = (shelf.changes(), Arc::clone(&self.sharing.work));
        if self.sharing.shelf.set(shelf).is_ok() {
            tokio::spawn(follow(Arc::downgrade(self), changes, work));
        }
    }

    /// Connects one, at all hosts.
    pub(super) async fn enter(
        self: &Arc<Self>,
        connected: &Arc<ConnectedFrontEnd>,
        replace: bool,
    ) -> Result<(), Error> {
        let sharing = &self.sharing;
        let Some(shelf) = sharing.shelf.get() else { return self.add(connected, replace) };
        let _taking = Taking::begin(sharing, connected)?;
        let terms = ConnectTerms {
            replaces: replace,
            present: self.check_place(connected, replace)?,
            per_client: self.limits.front_ends_per_client,
            per_tenant: self.limits.front_ends_per_tenant,
        };
        let change = connected.take_name(&**shelf, terms).await?;
        let _ = connected.taken.set(change);
        // Its place may have been taken meanwhile.
        let added = self.add(connected, replace);
        if added.is_err() {
            sharing.gone(connected.id);
        }
        added
    }

    /// Frees the names of front ends that are about to end, at all hosts.
    pub(super) async fn forget(&self, ids: &[Handle]) {
        let Some(shelf) = self.sharing.shelf.get().filter(|_| !ids.is_empty()) else { return };
        if let Err(error) = shelf.disconnect(ids).await {
            tracing::debug!(%error, "front ends go, and the other hosts hear of it later");
        }
    }

    /// Ends all of them: the host ends, and they connect to other ones.
    pub(crate) async fn leave(&self) {
        // Within bounds: with the host, the database forgets them anyway.
        let _ = timeout(AGAIN, self.forget(&self.ids())).await;
        self.end_all();
    }

    /// What a list of this tenant's tools has to wait for.
    pub(crate) fn preparing(self: &Arc<Self>, tenant: &TenantId) -> Option<impl Future<Output = ()> + Send + use<>> {
        let shelf = self.sharing.shelf.get()?;
        if self.sharing.others.lock().used(tenant) || *shelf.changes().borrow() == 0 {
            return None;
        }
        let (front_ends, tenant) = (Arc::clone(self), tenant.clone());
        Some(async move {
            let Some(shelf) = front_ends.sharing.shelf.get() else { return };
            match shelf.changed(&[(tenant, FrontEndsVersion::UNREAD)]).await {
                Ok(changed) => {
                    let is_late = *shelf.changes().borrow() > changed.change;
                    front_ends.sharing.take_over(changed);
                    if is_late {
                        // Others were looked at in between, and this tenant was not among them.
                        front_ends.sharing.work.notify_one();
                    }
                }
                Err(error) => tracing::debug!(%error, "front ends at other hosts are not listed"),
            }
        })
    }

    /// The host that a front end is connected at.
    pub(crate) async fn host_of(&self, id: &Handle) -> Result<Arc<dyn RemoteHome>, Error> {
        let alone = || Error::new(Code::Internal, "this host is none of a cluster");
        self.sharing.shelf.get().ok_or_else(alone)?.host_of(id).await
    }

    /// Another host has told that the tools of a tenant are others; those of any tenant where it
    /// names none. Whether it is found out here what has changed.
    pub(crate) fn heard(&self, tenant: Option<&TenantId>) -> bool {
        let sharing = &self.sharing;
        if sharing.shelf.get().is_none() {
            return false;
        }
        match tenant {
            Some(tenant) => _ = sharing.told.lock().insert(tenant.clone()),
            None => sharing.told.lock().extend(sharing.others.lock().known([]).into_iter().map(|(tenant, _)| tenant)),
        }
        sharing.work.notify_one();
        true
    }

    /// Tells the others that the tools of a tenant have changed here.
    pub(super) fn tell(&self, tenant: &TenantId) {
        self.announcements.tools_of_tenant_changed(tenant);
        self.announcements.relay(&Change::Tools(Audience { tenant: Some(tenant.clone()), plugins: None }));
    }

    /// Looks what has changed at the other hosts.
    async fn look(&self, shelf: &dyn FrontEndShelf, look: Look) -> Result<(), Error> {
        let listening = self.announcements.listening_tenants();
        let told = std::mem::take(&mut *self.sharing.told.lock());
        let mut known = {
            let mut others = self.sharing.others.lock();
            others.sweep(&listening);
            // Of those that have front ends here, too: another host may take their names.
            others.known(listening.into_iter().chain(self.tenants()))
        };
        if look == Look::Told {
            known.retain(|(tenant, _)| told.contains(tenant));
        }
        if known.is_empty() {
            return Ok(());
        }
        match shelf.changed(&known).await {
            Ok(changed) => {
                self.end_replaced(&changed);
                for tenant in self.sharing.take_over(changed) {
                    self.announcements.tools_of_tenant_changed(&tenant);
                }
                Ok(())
            }
            Err(error) => {
                self.sharing.told.lock().extend(told);
                Err(error)
            }
        }
    }

    /// Ends those that have lost their names to others.
    fn end_replaced(&self, changed: &ChangedFrontEnds) {
        for read in &changed.tenants {
            let kept: HashSet<_> = read.front_ends.iter().map(|front_end| front_end.id).collect();
            let is_lost = |connected: &ConnectedFrontEnd| {
                let is_read = connected.taken.get().is_some_and(|taken| *taken <= changed.change);
                is_read && !kept.contains(&connected.id)
            };
            for connected in self.of_tenant(&read.tenant).into_iter().filter(|connected| is_lost(connected)) {
                self.end(&connected);
            }
        }
    }
}

/// Follows what changes at the other hosts, and tells them what has gone here.
async fn follow(front_ends: Weak<FrontEnds>, mut changes: watch::Receiver<i64>, work: Arc<Notify>) {
    let (mut again, mut look) = (KEPT, Look::All);
    loop {
        tokio::select! {
            changed = changes.changed() => match changed {
                Ok(()) => look = Look::All,
                Err(_) => return,
            },
            () = work.notified() => {}
            () = sleep(again) => {}
        }
        let Some(front_ends) = front_ends.upgrade() else { return };
        let Some(shelf) = front_ends.sharing.shelf.get() else { return };
        let told = front_ends.sharing.flush().await;
        match told.and(front_ends.look(&**shelf, look).await) {
            Ok(()) => (again, look) = (KEPT, Look::Told),
            Err(error) => {
                tracing::debug!(error = with_causes(&error), "front ends are not in step with the other hosts");
                again = AGAIN;
            }
        }
    }
}
