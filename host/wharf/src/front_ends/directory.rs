//! The front ends of one host: which are connected, and who is told what of each.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    CallLimits, Code, Error, HostLimits, Quota, SchemaBudget, SchemaLimits, TenantId, ToolDefinition,
    handle::{Handle, HandleMint},
    quota::Bounds,
    service::{
        Announcements,
        front_end::{AnswerCall, ConnectFrontEnd, FrontEndDescription, FrontEndOwner},
    },
};

use super::{
    answer, connected::ConnectedFrontEnd, connection::Connection, definition, others::OtherTool, sharing::Sharing,
    table::FrontEndTable,
};
use crate::{
    app::Registered,
    checking::Checks,
    recorder::Recorder,
    tool_name::{FRONT_END_PREFIX, SEPARATOR},
};

/// All of one host.
pub(crate) struct FrontEnds {
    pub(super) limits: HostLimits,
    calls: Arc<CallLimits>,
    pub(super) announcements: Announcements,
    recorder: Arc<Recorder>,
    /// What the other hosts of a cluster have, and know of these.
    pub(super) sharing: Sharing,
    places: Arc<Quota>,
    waiting: Arc<Quota>,
    pub(super) checks: Checks,
    // A blocking lock: held to look up, or to make a list.
    table: Mutex<FrontEndTable>,
}

impl FrontEnds {
    pub(crate) fn new(
        limits: HostLimits,
        calls: Arc<CallLimits>,
        announcements: Announcements,
        recorder: Arc<Recorder>,
        checks: Checks,
        handles: HandleMint,
    ) -> Arc<Self> {
        let quota = |resource, session, tenant, host| {
            Quota::new(Bounds { resource, section: "[host.limits]", session, tenant, host })
        };
        let places = quota(
            "front ends",
            // They serve every session of their tenant.
            None,
            ("front_ends_per_tenant", limits.front_ends_per_tenant),
            ("front_ends", limits.front_ends),
        );
        let waiting = quota(
            "calls that wait for front ends",
            Some(("front_end_waiting_calls_per_session", limits.front_end_waiting_calls_per_session)),
            ("front_end_waiting_calls_per_tenant", limits.front_end_waiting_calls_per_tenant),
            ("front_end_waiting_calls", limits.front_end_waiting_calls),
        );
        let sharing = Sharing::new(&limits, handles);
        let table = Mutex::default();
        Arc::new(Self { limits, calls, announcements, recorder, sharing, places, waiting, checks, table })
    }

    fn table(&self) -> MutexGuard<'_, FrontEndTable> {
        self.table.lock()
    }

    /// One that may connect. Compiles its schemas, which takes up to milliseconds for each.
    pub(super) fn check(
        &self,
        owner: &FrontEndOwner,
        wanted: ConnectFrontEnd,
    ) -> Result<Arc<ConnectedFrontEnd>, Error> {
        definition::check_size(&wanted, &self.limits)?;
        let id = self.sharing.handles.handle();
        let id =
            id.map_err(|error| Error::new(Code::Internal, format!("there is no randomness to name it: {error}")))?;
        Ok(Arc::new(self.checked(id, owner, wanted)?))
    }

    /// The one whose place one would take that connects, where there is room.
    pub(super) fn check_place(&self, connected: &ConnectedFrontEnd, replace: bool) -> Result<Option<Handle>, Error> {
        self.table().check(connected, replace, &self.limits, &self.places)
    }

    /// Connects one here.
    pub(super) fn add(&self, connected: &Arc<ConnectedFrontEnd>, replace: bool) -> Result<(), Error> {
        let owner = &connected.owner;
        let replaced = self.table().add(connected, replace, &self.limits, &self.places)?;
        let changed = replaced.as_ref().is_none_or(|replaced| replaced.definitions != connected.definitions);
        if let Some(replaced) = replaced {
            replaced.connection.close();
            self.recorder.front_end("disconnected", owner, &replaced.name);
        }
        self.recorder.front_end("connected", owner, &connected.name);
        if changed {
            self.tell(&owner.tenant);
        }
        Ok(())
    }

    fn checked(&self, id: Handle, owner: &FrontEndOwner, wanted: ConnectFrontEnd) -> Result<ConnectedFrontEnd, Error> {
        let connection = Connection::new(&wanted.name, self.limits.front_end_calls, Arc::clone(&self.waiting));
        let connection = Arc::new(connection);
        let mut tools = BTreeMap::new();
        let mut budget = SchemaBudget::new(SchemaLimits::of_front_end(&self.limits));
        let mut definitions = Vec::with_capacity(wanted.tools.len());
        for tool in wanted.tools {
            let registered = definition::check(tool, &connection, &mut budget)?;
            let own = &registered.tool.definition;
            let name = format!("{FRONT_END_PREFIX}{}{SEPARATOR}{}", wanted.name, own.name);
            definitions.push(ToolDefinition { name, ..own.clone() });
            let name = own.name.clone();
            if tools.insert(name.clone(), Arc::new(registered)).is_some() {
                return Err(Error::new(Code::Invalid, format!("two tools have the name `{name}`")));
            }
        }
        definitions.sort_by(|one, other| one.name.cmp(&other.name));
        let (owner, name, taken) = (owner.clone(), wanted.name, OnceLock::new());
        Ok(ConnectedFrontEnd { id, owner, name, tools, definitions, connection, taken })
    }

    /// Ends one that says nothing for too long.
    pub(super) fn keep(self: &Arc<Self>, connected: &Arc<ConnectedFrontEnd>) {
        let silent = Duration::from_millis(self.limits.front_end_silent_milliseconds);
        let (front_ends, connected) = (Arc::downgrade(self), Arc::clone(connected));
        tokio::spawn(async move {
            connected.connection.silent_for(silent).await;
            let Some(front_ends) = Weak::upgrade(&front_ends) else { return };
            if front_ends.end(&connected) {
                tracing::debug!(front_end = connected.name, "a front end is gone: nobody follows its calls");
            }
        });
    }

    /// Takes one away; false where it is gone already.
    pub(super) fn end(&self, connected: &ConnectedFrontEnd) -> bool {
        if !self.table().remove(connected) {
            return false;
        }
        connected.connection.close();
        self.recorder.front_end("disconnected", &connected.owner, &connected.name);
        self.sharing.gone(connected.id);
        self.tell(&connected.owner.tenant);
        true
    }

    pub(super) fn ids(&self) -> Vec<Handle> {
        self.table().all().iter().map(|connected| connected.id).collect()
    }

    /// Ends all of them: the host ends.
    pub(crate) fn end_all(&self) {
        let all: Vec<_> = self.table().all();
        for connected in all {
            self.end(&connected);
        }
    }

    /// The tool of this full name, where the tenant has it.
    pub(crate) fn find(&self, tenant: &TenantId, name: &str) -> Option<Arc<Registered>> {
        let (front_end, tool) = name.strip_prefix(FRONT_END_PREFIX)?.split_once(SEPARATOR)?;
        self.table().of_tenant(tenant)?.by_name.get(front_end)?.tools.get(tool).cloned()
    }

    /// The same of a front end at another host.
    pub(crate) fn find_elsewhere(&self, tenant: &TenantId, name: &str) -> Option<Arc<OtherTool>> {
        name.starts_with(FRONT_END_PREFIX).then(|| self.sharing.find(tenant, name))?
    }

    /// The tools that this tenant sees, by name, at whichever host of a cluster.
    pub(crate) fn definitions(&self, tenant: &TenantId) -> Option<Arc<[ToolDefinition]>> {
        let here = self.table().of_tenant(tenant).map(|of_tenant| Arc::clone(&of_tenant.definitions));
        match (here, self.sharing.definitions(tenant)) {
            (here, None) => here,
            (None, elsewhere) => elsewhere,
            (Some(here), Some(elsewhere)) => {
                let mut all: Vec<_> = here.iter().chain(elsewhere.iter()).cloned().collect();
                all.sort_by(|one, other| one.name.cmp(&other.name));
                // One that has moved is listed by both for a moment: the one here stands first.
                all.dedup_by(|later, first| later.name == first.name);
                Some(all.into())
            }
        }
    }

    pub(super) fn found(&self, owner: &FrontEndOwner, id: &str) -> Result<Arc<ConnectedFrontEnd>, Error> {
        let unknown = || Error::new(Code::NotFound, "there is no such front end; it may be gone: connect it again");
        let id = id.parse().map_err(|_| unknown())?;
        let table = self.table();
        table.find(id).filter(|found| found.owner == *owner).cloned().ok_or_else(unknown)
    }

    /// The tenants that have some here.
    pub(super) fn tenants(&self) -> Vec<TenantId> {
        self.table().tenants()
    }

    /// Those of one tenant, here.
    pub(super) fn of_tenant(&self, tenant: &TenantId) -> Vec<Arc<ConnectedFrontEnd>> {
        let table = self.table();
        table.of_tenant(tenant).into_iter().flat_map(|of_tenant| of_tenant.by_name.values()).cloned().collect()
    }

    pub(super) fn of_owner(&self, owner: &FrontEndOwner) -> Vec<Arc<ConnectedFrontEnd>> {
        self.of_tenant(&owner.tenant).into_iter().filter(|connected| connected.owner == *owner).collect()
    }

    pub(super) fn description(&self, connected: &ConnectedFrontEnd) -> FrontEndDescription {
        FrontEndDescription {
            front_end: connected.id.to_string(),
            name: connected.name.clone(),
            tools: connected.definitions.iter().map(|definition| definition.name.clone()).collect(),
            waiting_calls: Some(connected.connection.waiting()),
            silent_ms: self.limits.front_end_silent_milliseconds,
        }
    }

    /// Answers a call, on the thread that asks.
    pub(super) fn answer_here(
        &self,
        connected: &ConnectedFrontEnd,
        call: u64,
        answer: AnswerCall,
    ) -> Result<(), Error> {
        let tool = connected.tool_of(call)?;
        connected.connection.answer(call, answer::checked_here(answer, &tool.tool, &self.calls)?)
    }

    /// Answers a call, with a check that holds up nobody else.
    pub(super) async fn answer(
        &self,
        connected: &ConnectedFrontEnd,
        call: u64,
        answer: AnswerCall,
    ) -> Result<(), Error> {
        let (tool, asked) = (connected.tool_of(call)?, connected.connection.call(call)?);
        let time = self.calls.wall_time(tool.tool.wall_time).start(&self.calls);
        let answer = answer::checked(answer, &tool.tool, &self.calls, &self.checks, &asked, time).await?;
        connected.connection.answer(call, answer)
    }
}
