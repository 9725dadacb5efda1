//! What the host keeps for one running guest: the data of its store.

use std::collections::HashMap;
use std::sync::Arc;

use wasmtime::component::{Resource, ResourceTable, ResourceTableError};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView, filesystem::WasiFilesystemCtxView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};
use wharf_core::{Code, Error, service::Progress};
use wharf_state::{Contender, WriteTurns};

use crate::files::meter::OpenDescriptor;
use crate::{
    adapter::{config::ConfigTexts, http::HttpState},
    call::ActiveCall,
    failure::Failure,
    limiter::StoreLimiter,
    stdio::StandardStream,
    watch::StoreView,
};

/// The data of a store: the call, and what only the thread that drives it may touch.
pub(crate) struct Guest {
    pub(crate) call: Arc<ActiveCall>,
    pub(crate) progress: Progress,
    pub(crate) contender: Contender,
    pub(crate) limiter: StoreLimiter,
    pub(crate) table: ResourceTable,
    /// The files and directories that the guest has open, by the number of their handle in
    /// the table.
    pub(crate) handles: HashMap<u32, Arc<OpenDescriptor>>,
    /// Made when it is first needed.
    http: Option<Box<HttpState>>,
    /// Read when `wasi:config` first asks.
    config: Option<Box<ConfigTexts>>,
    /// Whether the component was made for another host, and knows no contract.
    pub(crate) is_foreign: bool,
    wasi: WasiCtx,
}

/// Bytes of randomness that a guest gets in one call.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

impl Guest {
    /// `function` names the call among those that contend for the same state. `is_foreign` says
    /// that the component knows no settings: it finds them as variables of its environment.
    pub(crate) fn new(call: Arc<ActiveCall>, turns: &Arc<WriteTurns>, function: &str, is_foreign: bool) -> Self {
        // No argument or address, and standard input is closed.
        // Directories come by grant (see `adapter::files`).
        let mut wasi = WasiCtxBuilder::new();
        if is_foreign {
            wasi.envs(&ConfigTexts::of_scalars(&call.request.policy.settings));
        }
        let wasi = wasi
            .stdout(StandardStream::output(&call))
            .stderr(StandardStream::errors(&call))
            .max_random_size(MAX_RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        if let Some(coarse) = call.coarse {
            wasi.wall_clock(coarse).monotonic_clock(coarse);
        }
        let wasi = wasi.build();
        let limits = call.limits();
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(limits.resource_handles).unwrap_or(usize::MAX));
        Self {
            progress: Progress::default(),
            contender: Contender::new(Arc::clone(turns), function.into()),
            limiter: StoreLimiter::new(limits, call.audit(), call.host.as_ref()),
            table,
            handles: HashMap::new(),
            http: None,
            config: None,
            is_foreign,
            wasi,
            call,
        }
    }
}

impl Guest {
    /// What the linker of the host's own functions sees.
    pub(crate) fn view(&self) -> StoreView<'_> {
        StoreView { call: &self.call, table: &self.table }
    }

    /// A handle for the guest, as far as its call may have another one.
    pub(crate) fn handle_of<T: Send + 'static>(&mut self, what: T) -> Result<Resource<T>, Failure> {
        self.table.push(what).map_err(|error| match error {
            ResourceTableError::Full => Failure::Refused(Error::new(
                Code::Limit,
                "this call has as many open handles as it may (limit `resource_handles`); drop some",
            )),
            other => Failure::Refused(Error::new(Code::Internal, other.to_string())),
        })
    }

    /// The settings as `wasi:config` has them.
    pub(crate) fn config(&mut self) -> &ConfigTexts {
        let settings = &self.call.request.policy.settings;
        self.config.get_or_insert_with(|| Box::new(ConfigTexts::of(settings)))
    }

    /// The file system of WASI, for a function that was counted when it was called.
    pub(crate) fn filesystem_of_counted_call(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: self.wasi.filesystem(), table: &mut self.table }
    }
}

impl WasiView for Guest {
    /// Every function of WASI that is not ours passes here once, which is where it is counted.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.call.budget.wasi_call();
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Guest {
    /// Every function of `wasi:http` passes here once, which is where it is counted.
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.call.budget.wasi_call();
        let http = self.http.get_or_insert_with(|| Box::new(HttpState::new(&self.call)));
        WasiHttpCtxView { hooks: &mut http.hooks, table: &mut self.table, ctx: &mut http.wasi }
    }
}
