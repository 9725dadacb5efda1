//! Front ends that are connected: pages and windows of an app whose own
//! functions are tools, for as long as they are.
//!
//! Owns which there are, whose they are, what their tools are called, and when
//! one counts as gone. Knows no transport: HTTP and an app with a channel of
//! its own ask the same. Nothing of one tenant is found for another one.

mod action;
mod answer;
mod connection;
mod definition;
mod following;
mod service;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use wharf_core::{
    CallLimits, Code, Error, HostLimits, Quota, SchemaBudget, SchemaLimits, SessionId, Share, TenantId, ToolDefinition,
    handle::Handle,
    quota::Bounds,
    service::{
        Announcements,
        front_end::{AnswerCall, ConnectFrontEnd, FrontEndDescription, FrontEndEvent, FrontEndOwner, TellProgress},
    },
};

use crate::{app::Registered, checking::Checks, recorder::Recorder};
use connection::Connection;
pub use following::FrontEnd;
pub(crate) use service::ServedFrontEnds;

/// Before the names of all tools of front ends. No plugin has a name like that.
pub(crate) const PREFIX: &str = "app_";
const SEPARATOR: &str = "__";

/// All of one host.
pub(crate) struct FrontEnds {
    limits: HostLimits,
    calls: Arc<CallLimits>,
    announcements: Announcements,
    recorder: Arc<Recorder>,
    places: Arc<Quota>,
    waiting: Arc<Quota>,
    checks: Checks,
    // A lock of the standard library: held to look up, or to make a list.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// Each with its place.
    connected: HashMap<Handle, (Arc<Connected>, Share)>,
    tenants: HashMap<TenantId, OfTenant>,
}

/// What one tenant sees.
struct OfTenant {
    by_name: BTreeMap<String, Arc<Connected>>,
    definitions: Arc<[ToolDefinition]>,
}

/// One front end.
struct Connected {
    id: Handle,
    owner: FrontEndOwner,
    name: String,
    tools: BTreeMap<String, Arc<Registered>>,
    definitions: Vec<ToolDefinition>,
    connection: Arc<Connection>,
}

impl FrontEnds {
    pub(crate) fn new(
        limits: HostLimits,
        calls: Arc<CallLimits>,
        announcements: Announcements,
        recorder: Arc<Recorder>,
        checks: Checks,
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
        Arc::new(Self { limits, calls, announcements, recorder, places, waiting, checks, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects one. Compiles its schemas, which takes up to milliseconds for each.
    fn connect(self: &Arc<Self>, owner: &FrontEndOwner, wanted: ConnectFrontEnd) -> Result<Arc<Connected>, Error> {
        definition::check_size(&wanted, &self.limits)?;
        let replace = wanted.replace;
        let id = Handle::random()
            .map_err(|error| Error::new(Code::Internal, format!("there is no randomness to name it: {error}")))?;
        let connected = Arc::new(self.checked(id, owner, wanted)?);
        let replaced = self.table().add(&connected, replace, &self.limits, &self.places)?;
        let changed = replaced.as_ref().is_none_or(|replaced| replaced.definitions != connected.definitions);
        if let Some(replaced) = replaced {
            replaced.connection.close();
            self.recorder.front_end("disconnected", owner, &replaced.name);
        }
        self.recorder.front_end("connected", owner, &connected.name);
        if changed {
            self.announcements.tools_of_tenant_changed(&owner.tenant);
        }
        Ok(connected)
    }

    fn checked(&self, id: Handle, owner: &FrontEndOwner, wanted: ConnectFrontEnd) -> Result<Connected, Error> {
        let connection = Connection::new(&wanted.name, self.limits.front_end_calls, Arc::clone(&self.waiting));
        let connection = Arc::new(connection);
        let mut tools = BTreeMap::new();
        let mut budget = SchemaBudget::new(SchemaLimits::of_front_end(&self.limits));
        let mut definitions = Vec::with_capacity(wanted.tools.len());
        for tool in wanted.tools {
            let registered = definition::check(tool, &connection, &self.calls, &mut budget)?;
            let own = &registered.tool.definition;
            let name = format!("{PREFIX}{}{SEPARATOR}{}", wanted.name, own.name);
            definitions.push(ToolDefinition { name, ..own.clone() });
            let name = own.name.clone();
            if tools.insert(name.clone(), Arc::new(registered)).is_some() {
                return Err(Error::new(Code::Invalid, format!("two tools have the name `{name}`")));
            }
        }
        definitions.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Connected { id, owner: owner.clone(), name: wanted.name, tools, definitions, connection })
    }

    /// Ends one that says nothing for too long.
    fn keep(self: &Arc<Self>, connected: &Arc<Connected>) {
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
    fn end(&self, connected: &Connected) -> bool {
        if !self.table().remove(connected) {
            return false;
        }
        connected.connection.close();
        self.recorder.front_end("disconnected", &connected.owner, &connected.name);
        self.announcements.tools_of_tenant_changed(&connected.owner.tenant);
        true
    }

    /// Ends all of them: the host ends.
    pub(crate) fn end_all(&self) {
        let all: Vec<_> = self.table().connected.values().map(|(connected, _)| Arc::clone(connected)).collect();
        for connected in all {
            self.end(&connected);
        }
    }

    /// The tool of this full name, where the tenant has it.
    pub(crate) fn find(&self, tenant: &TenantId, name: &str) -> Option<Arc<Registered>> {
        let (front_end, tool) = name.strip_prefix(PREFIX)?.split_once(SEPARATOR)?;
        let table = self.table();
        table.tenants.get(tenant)?.by_name.get(front_end)?.tools.get(tool).cloned()
    }

    /// The tools that this tenant sees, by name.
    pub(crate) fn definitions(&self, tenant: &TenantId) -> Option<Arc<[ToolDefinition]>> {
        self.table().tenants.get(tenant).map(|of_tenant| Arc::clone(&of_tenant.definitions))
    }

    fn found(&self, owner: &FrontEndOwner, id: &str) -> Result<Arc<Connected>, Error> {
        let unknown = || Error::new(Code::NotFound, "there is no such front end; it may be gone: connect it again");
        let id = id.parse().map_err(|_| unknown())?;
        let table = self.table();
        let found = table.connected.get(&id).map(|(connected, _)| connected).filter(|found| found.owner == *owner);
        found.cloned().ok_or_else(unknown)
    }

    fn of_owner(&self, owner: &FrontEndOwner) -> Vec<Arc<Connected>> {
        let table = self.table();
        let by_name = table.tenants.get(&owner.tenant).map(|of_tenant| of_tenant.by_name.values());
        by_name.into_iter().flatten().filter(|connected| connected.owner == *owner).cloned().collect()
    }

    fn description(&self, connected: &Connected) -> FrontEndDescription {
        FrontEndDescription {
            front_end: connected.id.to_string(),
            name: connected.name.clone(),
            tools: connected.definitions.iter().map(|definition| definition.name.clone()).collect(),
            waiting_calls: connected.connection.waiting(),
            silent_ms: self.limits.front_end_silent_milliseconds,
        }
    }

    /// Answers a call, on the thread that asks.
    fn answer_here(&self, connected: &Connected, call: u64, answer: AnswerCall) -> Result<(), Error> {
        let tool = connected.tool_of(call)?;
        connected.connection.answer(call, answer::checked_here(answer, &tool.tool, &self.calls)?)
    }

    /// Answers a call, with a check that holds up nobody else.
    async fn answer(&self, connected: &Connected, call: u64, answer: AnswerCall) -> Result<(), Error> {
        let (tool, asked) = (connected.tool_of(call)?, connected.connection.call(call)?);
        let time = self.calls.wall_time(tool.tool.wall_time).start(&self.calls);
        let answer = answer::checked(answer, &tool.tool, &self.calls, &self.checks, &asked, time).await?;
        connected.connection.answer(call, answer)
    }
}

impl Connected {
    /// The tool that a call is of, where it waits.
    fn tool_of(&self, call: u64) -> Result<Arc<Registered>, Error> {
        self.connection.touch();
        let tool = self.connection.tool_of(call)?;
        self.tools.get(&tool).cloned().ok_or_else(|| Error::new(Code::NotFound, "there is no such call"))
    }

    fn progress(&self, call: u64, progress: &TellProgress) -> Result<(), Error> {
        self.connection.touch();
        self.connection.call(call)?.progress(progress.done, progress.total, progress.message.as_deref())
    }

    /// Waits for as many events as `most` calls are, and those between; for ever where
    /// it says no time.
    async fn events(&self, after: u64, most: usize, until: Option<Instant>) -> Option<Vec<FrontEndEvent>> {
        let patience = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        self.connection.events(after, most, patience).await
    }
}

impl Table {
    /// Adds one; the one whose place it takes, where it does.
    fn add(
        &mut self,
        connected: &Arc<Connected>,
        replace: bool,
        limits: &HostLimits,
        places: &Arc<Quota>,
    ) -> Result<Option<Arc<Connected>>, Error> {
        let (owner, name) = (&connected.owner, &connected.name);
        let present = self.tenants.get(&owner.tenant).and_then(|of_tenant| of_tenant.by_name.get(name)).cloned();
        if let Some(present) = &present
            && (!replace || present.owner != *owner)
        {
            return Err(Error::new(
                Code::Conflict,
                format!(
                    "a front end `{name}` is connected already; choose another name, disconnect that one, or, \
                         where the same client has connected it, say `replace`"
                ),
            ));
        }
        let place = match present.as_ref().and_then(|present| self.connected.remove(&present.id)) {
            Some((_, place)) => place,
            None => self.place(owner, limits, places)?,
        };
        self.connected.insert(connected.id, (Arc::clone(connected), place));
        let of_tenant = self.tenants.entry(owner.tenant.clone());
        let of_tenant = of_tenant.or_insert_with(|| OfTenant { by_name: BTreeMap::new(), definitions: Arc::default() });
        of_tenant.by_name.insert(name.clone(), Arc::clone(connected));
        of_tenant.list();
        Ok(present)
    }

    fn place(&self, owner: &FrontEndOwner, limits: &HostLimits, places: &Arc<Quota>) -> Result<Share, Error> {
        let of_owner = self.connected.values().filter(|(connected, _)| connected.owner == *owner).count();
        if of_owner as u64 >= limits.front_ends_per_client {
            let told = format!(
                "this client has connected {} front ends (limit `front_ends_per_client`); disconnect one of them",
                limits.front_ends_per_client
            );
            return Err(Error::retryable(Code::Limit, told));
        }
        Ok(places.take(&owner.tenant, &SessionId::default_session(), 1)?)
    }

    fn remove(&mut self, connected: &Connected) -> bool {
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

impl OfTenant {
    fn list(&mut self) {
        let all = self.by_name.values().flat_map(|connected| connected.definitions.iter().cloned());
        let mut all: Vec<_> = all.collect();
        // `app_a-b__t` stands before `app_a__t`, other than their front ends.
        all.sort_by(|one, other| one.name.cmp(&other.name));
        self.definitions = all.into();
    }
}
