//! The front ends that are connected at the other hosts of a cluster, for tenants that ask here.
//!
//! Owns a copy of what they say of their tools. Knows no call, and nothing of a tenant that
//! nobody asks for: a cell may have a million of them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;
use wharf_core::{
    HostLimits, Quota, SessionId, Share, TenantId, ToolDefinition,
    handle::Handle,
    quota::Bounds,
    service::{FrontEndsVersion, ShelvedFrontEnd, TenantFrontEnds, front_end::FrontEndDescription},
};

/// How long the copy of a tenant is kept that nobody asks for.
pub(super) const KEPT: Duration = Duration::from_secs(600);

/// A tool of a front end at another host.
#[derive(Debug, PartialEq)]
pub(crate) struct OtherTool {
    pub(crate) definition: ToolDefinition,
    /// The front end, which names its host.
    pub(crate) front_end: Handle,
}

/// The copies, by tenant.
pub(super) struct OtherFrontEnds {
    tenants: HashMap<TenantId, OfTenant>,
    bytes: Arc<Quota>,
}

/// What one tenant has at other hosts.
struct OfTenant {
    version: FrontEndsVersion,
    used: Instant,
    front_ends: Vec<OtherFrontEnd>,
    tools: BTreeMap<String, Arc<OtherTool>>,
    definitions: Arc<[ToolDefinition]>,
    _bytes: Option<Share>,
}

struct OtherFrontEnd {
    id: Handle,
    client: String,
    name: String,
    tools: Vec<String>,
}

/// A definition, as it is written on the shelf.
#[derive(Deserialize)]
struct ShelvedTool {
    name: String,
    description: String,
    input_schema: Map<String, Value>,
    output_schema: Option<Map<String, Value>>,
    #[serde(default)]
    meta: Map<String, Value>,
}

impl From<ShelvedTool> for ToolDefinition {
    fn from(tool: ShelvedTool) -> Self {
        let ShelvedTool { name, description, input_schema, output_schema, meta } = tool;
        let (input_schema, output_schema) = (input_schema.into(), output_schema.map(Into::into));
        Self { name, description, input_schema, output_schema, meta }
    }
}

impl OtherFrontEnds {
    pub(super) fn new(limits: &HostLimits) -> Self {
        let bytes = Quota::new(Bounds {
            resource: "bytes of tools of front ends at other hosts",
            section: "[host.limits]",
            session: None,
            tenant: ("front_end_copy_bytes_per_tenant", limits.front_end_copy_bytes_per_tenant),
            host: ("front_end_copy_bytes", limits.front_end_copy_bytes),
        });
        Self { tenants: HashMap::new(), bytes }
    }

    /// Which of a tenant's are known; somebody asks for them.
    pub(super) fn used(&mut self, tenant: &TenantId) -> bool {
        let known = self.tenants.get_mut(tenant);
        known.map(|of_tenant| of_tenant.used = Instant::now()).is_some()
    }

    /// What is known of these tenants, and of those whose copies are kept.
    pub(super) fn known(&self, besides: impl IntoIterator<Item = TenantId>) -> Vec<(TenantId, FrontEndsVersion)> {
        let kept = self.tenants.iter().map(|(tenant, known)| (tenant.clone(), known.version));
        let others = besides.into_iter().filter(|tenant| !self.tenants.contains_key(tenant));
        kept.chain(others.map(|tenant| (tenant, FrontEndsVersion::UNREAD))).collect()
    }

    /// Forgets the copies that nobody has asked for in a while, unless somebody listens to them.
    pub(super) fn sweep(&mut self, listening: &[TenantId]) {
        self.tenants.retain(|tenant, known| known.used.elapsed() < KEPT || listening.contains(tenant));
    }

    /// Takes over what a tenant has now, of which `is_other` says what is at other hosts. Whether
    /// the tenant sees other tools than before.
    pub(super) fn take(&mut self, read: TenantFrontEnds, is_other: impl Fn(&Handle) -> bool) -> bool {
        let TenantFrontEnds { tenant, version, front_ends } = read;
        let before = self.tenants.remove(&tenant);
        let others: Vec<_> = front_ends.into_iter().filter(|front_end| is_other(&front_end.id)).collect();
        let bytes = others.iter().map(|front_end| front_end.tools.len() as u64).sum();
        let share = match self.bytes.take(&tenant, &SessionId::default_session(), bytes) {
            Ok(share) => Some(share),
            Err(full) => {
                tracing::warn!(%tenant, %full, "tools of front ends at other hosts are not listed here");
                None
            }
        };
        // What found no room is read again with the next change.
        let (version, others) =
            if share.is_some() { (version, others) } else { (FrontEndsVersion::UNREAD, Vec::new()) };
        let used = before.as_ref().map_or_else(Instant::now, |before| before.used);
        let now = OfTenant::new(version, used, others, share);
        let is_changed = match &before {
            Some(before) => before.definitions != now.definitions,
            None => !now.definitions.is_empty(),
        };
        self.tenants.insert(tenant, now);
        is_changed
    }

    pub(super) fn find(&self, tenant: &TenantId, full_name: &str) -> Option<Arc<OtherTool>> {
        self.tenants.get(tenant)?.tools.get(full_name).cloned()
    }

    pub(super) fn definitions(&self, tenant: &TenantId) -> Option<Arc<[ToolDefinition]>> {
        let definitions = &self.tenants.get(tenant)?.definitions;
        (!definitions.is_empty()).then(|| Arc::clone(definitions))
    }

    /// Those of one client.
    pub(super) fn of_client(&self, tenant: &TenantId, client: &str, silent_ms: u64) -> Vec<FrontEndDescription> {
        let of_tenant = self.tenants.get(tenant).into_iter().flat_map(|known| &known.front_ends);
        let of_client = of_tenant.filter(|front_end| front_end.client == client);
        let describe = |front_end: &OtherFrontEnd| FrontEndDescription {
            front_end: front_end.id.to_string(),
            name: front_end.name.clone(),
            tools: front_end.tools.clone(),
            waiting_calls: None,
            silent_ms,
        };
        of_client.map(describe).collect()
    }
}

impl OfTenant {
    fn new(version: FrontEndsVersion, used: Instant, others: Vec<ShelvedFrontEnd>, share: Option<Share>) -> Self {
        let (mut front_ends, mut tools) = (Vec::with_capacity(others.len()), BTreeMap::new());
        for ShelvedFrontEnd { id, owner, name, tools: text } in others {
            let Ok(shelved) = serde_json::from_str::<Vec<ShelvedTool>>(&text) else {
                tracing::error!(
                    front_end = name,
                    "what another host says of a front end is nothing that this version knows"
                );
                continue;
            };
            let names = shelved.iter().map(|tool| tool.name.clone()).collect();
            front_ends.push(OtherFrontEnd { id, client: owner.client, name, tools: names });
            for tool in shelved {
                let definition = ToolDefinition::from(tool);
                tools.insert(definition.name.clone(), Arc::new(OtherTool { definition, front_end: id }));
            }
        }
        // The map's order is that of a listing.
        let definitions = tools.values().map(|tool| tool.definition.clone()).collect();
        Self { version, used, front_ends, tools, definitions, _bytes: share }
    }
}
