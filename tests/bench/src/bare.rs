//! The yardstick: wasmtime alone, with the fastest settings that were found,
//! doing what a host must do at least: a fresh instance, one call, drop.

use std::path::Path;

use anyhow::{Result, anyhow};
use tempfile::NamedTempFile;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, bail,
    component::{Component, HasSelf, Linker, ResourceTable, ResourceType, types::ComponentItem},
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

/// Interfaces that are linked: packages of WASI 0.2 as a whole, and those of the
/// contract that every plugin has.
const LINKED: [&str; 9] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
    "wharf:plugin/types",
    "wharf:plugin/caller",
    "wharf:plugin/log",
];

/// Defines the imports that are not linked as functions that trap. An import of WASI is
/// linked under whatever patch version its toolchain wrote: wasmtime matches it by its
/// track, and another definition under the very version would have other resources.
fn trap_what_is_left(linker: &mut Linker<Guest>, component: &Component) -> wasmtime::Result<()> {
    let engine = linker.engine().clone();
    for (import, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else { continue };
        if LINKED.iter().any(|linked| import.starts_with(linked)) {
            continue;
        }
        let mut stubs = linker.instance(import)?;
        for (export, item) in instance.exports(&engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    let name = format!("{import}#{export}");
                    stubs.func_new(export, move |_, _, _, _| bail!("`{name}` is not linked"))?;
                }
                ComponentItem::Resource(_) => stubs.resource(export, ResourceType::host::<()>(), |_, _| Ok(()))?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// wasmtime with the fastest settings that were found.
fn engine() -> Result<Engine> {
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
    Engine::new(&config).map_err(failed)
}

/// wasmtime and one component.
pub(crate) struct Bare {
    engine: Engine,
    code: PluginPre<Guest>,
}

/// A result of wasmtime's as one of this crate's.
fn failed(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:?}")
}

impl Bare {
    /// Compiles a component.
    pub(crate) fn load(component: &Path) -> Result<Self> {
        let engine = engine()?;
        let component = Component::from_file(&engine, component).map_err(failed)?;
        Self::link(engine, &component)
    }

    /// A file with the code of a component, for `load_compiled` of the same build on the same machine.
    pub(crate) fn precompiled(component: &Path) -> Result<NamedTempFile> {
        let code = NamedTempFile::new()?;
        std::fs::write(code.path(), engine()?.precompile_component(&std::fs::read(component)?).map_err(failed)?)?;
        Ok(code)
    }

    /// Maps what `precompiled` made, so that no compiler is needed in this process.
    pub(crate) fn load_compiled(code: &Path) -> Result<Self> {
        let engine = engine()?;
        #[expect(unsafe_code, reason = "the benchmark wrote this file a moment ago and gave its path to this process")]
        // SAFETY: it is what `precompile_component` of the same build returned, unchanged.
        let component = unsafe { Component::deserialize_file(&engine, code) }.map_err(failed)?;
        Self::link(engine, &component)
    }

    fn link(engine: Engine, component: &Component) -> Result<Self> {
        let mut linker = Linker::<Guest>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
        wit::types::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        wit::caller::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        wit::log::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest).map_err(failed)?;
        trap_what_is_left(&mut linker, component).map_err(failed)?;
        let code = PluginPre::new(linker.instantiate_pre(component).map_err(failed)?).map_err(failed)?;
        Ok(Self { engine, code })
    }

    /// A fresh instance, one call, drop. The first part of the answer.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<Vec<u8>> {
        let guest = Guest { table: ResourceTable::new(), wasi: WasiCtx::builder().build() };
        let mut store = Store::new(&self.engine, guest);
        store.set_epoch_deadline(u64::MAX / 2);
        let instance: Plugin = self.code.instantiate_async(&mut store).await.map_err(failed)?;
        let tools = instance.wharf_plugin_tools();
        let answer = tools.call_call_tool(&mut store, tool, arguments).await.map_err(failed)?;
        let answer = answer.map_err(|error| anyhow!("{}", error.message))?;
        let first = answer.content.into_iter().next();
        Ok(first.map(|content| content.data).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component whose imports of WASI have another patch version than its toolchain
    /// wrote, and than wasmtime has.
    fn of_another_patch(mut component: Vec<u8>, digit: u8) -> Vec<u8> {
        let track = b"@0.2.";
        let places = component.windows(track.len()).enumerate().filter(|(_, bytes)| bytes == track);
        let places: Vec<_> = places.map(|(place, _)| place + track.len()).collect();
        assert!(!places.is_empty(), "it imports WASI 0.2");
        for place in places {
            // The last digit of the number: it may have several, and none begins with 0.
            let digits = component[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            component[place + digits - 1] = digit;
        }
        component
    }

    #[tokio::test]
    async fn a_component_is_called_whatever_patch_version_of_wasi_its_toolchain_wrote() {
        let echo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/plugins/components/guest-echo.wasm");
        let echo = std::fs::read(echo).expect("built by `cargo xtask plugins --guests`");
        let directory = tempfile::tempdir().expect("a directory");
        for digit in *b"0379" {
            let path = directory.path().join("echo.wasm");
            std::fs::write(&path, of_another_patch(echo.clone(), digit)).expect("written");
            let bare = Bare::load(&path)
                .unwrap_or_else(|error| panic!("a patch version that ends with {}: {error:#}", char::from(digit)));
            assert_eq!(bare.call("echo", r#"{"text": "hello"}"#).await.expect("it answers"), b"hello");
        }
    }
}
