//! What the host knows of one running call: the data of its store.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wharf_core::{
    CallLimits, Claims, Context, Events, Grants, PluginName, Quota, audit::CallAudit, limit::WallTime,
    service::Progress,
};
use wharf_state::{Contender, Turns};

use crate::{
    adapter::http::Http,
    budget::Budget,
    clock::Clock,
    files::meter::Handle,
    limiter::Limiter,
    rooms::Rooms,
    stdio::{GuestLog, Stream},
};

/// The data of a store.
pub(crate) struct Guest {
    pub(crate) plugin: PluginName,
    pub(crate) context: Context,
    pub(crate) grants: Arc<Grants>,
    pub(crate) settings: Arc<str>,
    pub(crate) request_meta: Map<String, Value>,
    pub(crate) events: Events,
    pub(crate) progress: Progress,
    pub(crate) claims: Arc<Claims>,
    pub(crate) rooms: Rooms,
    pub(crate) contender: Contender,
    pub(crate) clock: Arc<Clock>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) log: Arc<GuestLog>,
    pub(crate) audit: Option<Arc<CallAudit>>,
    pub(crate) limiter: Limiter,
    pub(crate) table: ResourceTable,
    /// What the guest's handles of files and directories stand for, by their number in the
    /// table. Each that is given out has its entry.
    pub(crate) handles: HashMap<u32, Arc<Handle>>,
    /// Who holds how many handles open.
    pub(crate) open_handles: Arc<Quota>,
    /// Made when it is first needed.
    pub(crate) http: Option<Box<Http>>,
    wasi: WasiCtx,
}

/// Bytes of randomness that a guest gets in one call.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// On whose behalf, and with what, a guest runs.
pub(crate) struct Setting {
    pub(crate) plugin: PluginName,
    pub(crate) context: Context,
    pub(crate) grants: Arc<Grants>,
    /// JSON text of what the operator set.
    pub(crate) settings: Arc<str>,
    pub(crate) request_meta: Map<String, Value>,
    pub(crate) events: Events,
    pub(crate) claims: Arc<Claims>,
    pub(crate) rooms: Rooms,
    pub(crate) turns: Arc<Turns>,
    pub(crate) open_handles: Arc<Quota>,
    /// The tool's own name; empty where none is called.
    pub(crate) tool: Arc<str>,
    pub(crate) wall_time: WallTime,
    pub(crate) cancel: CancellationToken,
    /// Who hears of its host calls.
    pub(crate) audit: Option<Arc<CallAudit>>,
    /// How long the host has computed for the call already.
    pub(crate) charged: Duration,
}

impl Guest {
    pub(crate) fn new(setting: Setting, limits: &CallLimits) -> Self {
        let budget = Arc::new(Budget::new(limits));
        let log = Arc::new(GuestLog::new(setting.plugin.clone(), setting.context.session.clone(), Arc::clone(&budget)));
        // No argument, variable or address, and standard input is closed.
        // Directories come by grant (see `adapter::files`).
        let wasi = WasiCtxBuilder::new()
            .stdout(Stream::output(&log))
            .stderr(Stream::errors(&log))
            .max_random_size(MAX_RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(limits.resource_handles).unwrap_or(usize::MAX));
        Self {
            plugin: setting.plugin,
            context: setting.context,
            grants: setting.grants,
            settings: setting.settings,
            request_meta: setting.request_meta,
            events: setting.events,
            progress: Progress::default(),
            claims: setting.claims,
            rooms: setting.rooms,
            contender: Contender::new(setting.turns, setting.tool),
            clock: Arc::new(Clock::start(setting.wall_time, limits.cpu_time(), setting.charged, setting.cancel)),
            budget,
            log,
            audit: setting.audit,
            limiter: Limiter::new(limits),
            table,
            handles: HashMap::new(),
            open_handles: setting.open_handles,
            http: None,
            wasi,
        }
    }
}

/// What an adapter that waits needs of a guest, which itself cannot be shared
/// with another thread.
pub(crate) struct Reach {
    pub(crate) plugin: PluginName,
    pub(crate) context: Context,
    pub(crate) grants: Arc<Grants>,
    pub(crate) rooms: Rooms,
    pub(crate) clock: Arc<Clock>,
    pub(crate) budget: Arc<Budget>,
}

impl Guest {
    pub(crate) fn reach(&self) -> Reach {
        Reach {
            plugin: self.plugin.clone(),
            context: self.context.clone(),
            grants: Arc::clone(&self.grants),
            rooms: self.rooms.clone(),
            clock: Arc::clone(&self.clock),
            budget: Arc::clone(&self.budget),
        }
    }
}

impl WasiView for Guest {
    /// Every function of WASI passes here once, which is where it is counted.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.budget.wasi_call();
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
