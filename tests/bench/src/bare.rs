//! The yardstick: wasmtime alone, with the fastest settings that were found,
//! doing what a host must do at least: a fresh instance, one call, drop.

use std::path::Path;

use anyhow::{Result, anyhow};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    component::{Component, HasSelf, Linker, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "plugin",
        exports: { default: async },
    });
}

use bindings::{Plugin, PluginPre, wharf::plugin as wit};

struct Guest {
    table: ResourceTable,
    wasi: WasiCtx,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl wit::types::Host for Guest {}

impl wit::caller::Host for Guest {
    fn session(&mut self) -> String {
        "default".to_owned()
    }
    fn assistant(&mut self) -> Option<String> {
        None
    }
    fn thread(&mut self) -> Option<String> {
        None
    }
    fn request_meta(&mut self) -> String {
        "{}".to_owned()
    }
    fn remaining(&mut self) -> u64 {
        1_000
    }
}

impl wit::log::Host for Guest {
    fn write(&mut self, _level: String, _message: String) {}
}

/// wasmtime and one component.
pub(crate) struct Bare {
    engine: Engine,
    code: PluginPre<Guest>,
}

impl Bare {
    pub(crate) fn load(component: &Path) -> Result<Self> {
        let failed = |error: wasmtime::Error| anyhow!("{error:?}");
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(64)
            .total_core_instances(1_024)
            .total_memories(256)
            .total_tables(1_024)
            .table_keep_resident(64 << 10)
            .linear_memory_keep_resident(4 << 20)
            .pagemap_scan(Enabled::Auto);
        let mut config = Config::new();
        config
            .concurrency_support(false)
            .memory_init_cow(true)
            // The same settings as the host's, as the comparison demands.
            .epoch_interruption(true)
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).map_err(failed)?;
        let component = Component::from_file(&engine, component).map_err(failed)?;
        let mut linker = Linker::<Guest>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
        wit::types::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        wit::caller::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        wit::log::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        linker.define_unknown_imports_as_traps(&component).map_err(failed)?;
        let code = PluginPre::new(linker.instantiate_pre(&component).map_err(failed)?).map_err(failed)?;
        Ok(Self { engine, code })
    }

    /// A fresh instance, one call, drop.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<usize> {
        let failed = |error: wasmtime::Error| anyhow!("{error:?}");
        let guest = Guest { table: ResourceTable::new(), wasi: WasiCtx::builder().build() };
        let mut store = Store::new(&self.engine, guest);
        store.set_epoch_deadline(u64::MAX / 2);
        let instance: Plugin = self.code.instantiate_async(&mut store).await.map_err(failed)?;
        let tools = instance.wharf_plugin_tools();
        let answer = tools.call_call_tool(&mut store, tool, arguments).await.map_err(failed)?;
        let answer = answer.map_err(|error| anyhow!("{}", error.message))?;
        Ok(answer.content.len())
    }
}
