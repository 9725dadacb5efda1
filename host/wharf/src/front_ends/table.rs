//! Which front ends are connected, and which tools each tenant sees of them. Nothing of
//! one tenant is found for another one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use wharf_core::{
    Code, Error, HostLimits, Quota, SessionId, Share, TenantId, ToolDefinition, handle::Handle,
    service::front_end::FrontEndOwner,
};

use super::connected::ConnectedFrontEnd;

/// Whose front ends are connected, by handle and by tenant.
#[derive(Default)]
pub(super) struct FrontEndTable {
    /// Each with its place.
    connected: HashMap<Handle, (Arc<ConnectedFrontEnd>, Share)>,
    tenants: HashMap<TenantId, TenantFrontEnds>,
}

/// What one tenant sees.
pub(super) struct TenantFrontEnds {
    pub(super) by_name: BTreeMap<String, Arc<ConnectedFrontEnd>>,
    pub(super) definitions: Arc<[ToolDefinition]>,
}

impl FrontEndTable {
    pub(super) fn all(&self) -> Vec<Arc<ConnectedFrontEnd>> {
        self.connected.values().map(|(connected, _)| Arc::clone(connected)).collect()
    }

    pub(super) fn find(&self, id: Handle) -> Option<&Arc<ConnectedFrontEnd>> {
        self.connected.get(&id).map(|(connected, _)| connected)
    }

    pub(super) fn tenants(&self) -> Vec<TenantId> {
        self.tenants.keys().cloned().collect()
    }

    pub(super) fn of_tenant(&self, tenant: &TenantId) -> Option<&TenantFrontEnds> {
        self.tenants.get(tenant)
    }

    /// The one whose place it would take.
    pub(super) fn present(
        &self,
        connected: &ConnectedFrontEnd,
        replace: bool,
    ) -> Result<Option<&Arc<ConnectedFrontEnd>>, Error> {
        let (owner, name) = (&connected.owner, &connected.name);
        let present = self.tenants.get(&owner.tenant).and_then(|of_tenant| of_tenant.by_name.get(name));
        match present {
            Some(present) if !replace || present.owner != *owner => Err(named(name)),
            present => Ok(present),
        }
    }

    /// The one whose place it would take, where there is room for it now.
    pub(super) fn check(
        &self,
        connected: &ConnectedFrontEnd,
        replace: bool,
        limits: &HostLimits,
        places: &Arc<Quota>,
    ) -> Result<Option<Handle>, Error> {
        let present = self.present(connected, replace)?;
        if present.is_none() {
            self.place(&connected.owner, limits, places)?;
        }
        Ok(present.map(|present| present.id))
    }

    /// Adds one; the one whose place it takes, where it does.
    pub(super) fn add(
        &mut self,
        connected: &Arc<ConnectedFrontEnd>,
        replace: bool,
        limits: &HostLimits,
        places: &Arc<Quota>,
    ) -> Result<Option<Arc<ConnectedFrontEnd>>, Error> {
        let (owner, name) = (&connected.owner, &connected.name);
        let present = self.present(connected, replace)?.cloned();
        let place = match present.as_ref().and_then(|present| self.connected.remove(&present.id)) {
            Some((_, place)) => place,
            None => self.place(owner, limits, places)?,
        };
        self.connected.insert(connected.id, (Arc::clone(connected), place));
        let of_tenant = self.tenants.entry(owner.tenant.clone());
        let of_tenant =
            of_tenant.or_insert_with(|| TenantFrontEnds { by_name: BTreeMap::new(), definitions: Arc::default() });
        of_tenant.by_name.insert(name.clone(), Arc::clone(connected));
        of_tenant.list();
        Ok(present)
    }

    fn place(&self, owner: &FrontEndOwner, limits: &HostLimits, places: &Arc<Quota>) -> Result<Share, Error> {
        let of_owner = self.connected.values().filter(|(connected, _)| connected.owner == *owner).count();
        if of_owner as u64 >= limits.front_ends_per_client {
            return Err(client_full(limits.front_ends_per_client));
        }
        Ok(places.take(&owner.tenant, &SessionId::default_session(), 1)?)
    }

    pub(super) fn remove(&mut self, connected: &ConnectedFrontEnd) -> bool {
        if self.connected.remove(&connected.id).is_none() {
            return false;
        }
        if let Some(of_tenant) = self.tenants.get_mut(&connected.owner.tenant) {
            of_tenant.by_name.remove(&connected.name);
            of_tenant.list();
            if of_tenant.by_name.is_empty() {
                self.tenants.remove(&connected.owner.tenant);
            }
        }
        true
    }
}

impl TenantFrontEnds {
    fn list(&mut self) {
        let all = self.by_name.values().flat_map(|connected| connected.definitions.iter().cloned());
        let mut all: Vec<_> = all.collect();
        // `app_a-b__t` stands before `app_a__t`, other than their front ends.
        all.sort_by(|one, other| one.name.cmp(&other.name));
        self.definitions = all.into();
    }
}

pub(super) fn named(name: &str) -> Error {
    Error::new(
        Code::Conflict,
        format!(
            "a front end `{name}` is connected already; choose another name, disconnect that one, or, where the same \
             client has connected it, say `replace`"
        ),
    )
}

pub(super) fn client_full(most: u64) -> Error {
    let told =
        format!("this client has connected {most} front ends (limit `front_ends_per_client`); disconnect one of them");
    Error::retryable(Code::Limit, told)
}
