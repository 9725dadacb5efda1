//! One thin adapter for each WIT interface: checks the grant, asks the backend, converts.
//! What calls it has counted it (see `watch`).

pub(crate) mod caller;
pub(crate) mod clocks;
pub(crate) mod config;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod for_workers;
pub(crate) mod http;
pub(crate) mod keyvalue;
pub(crate) mod log;
pub(crate) mod process;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod terminal;
mod text;
pub(crate) mod types;
pub(crate) mod webview;
pub(crate) mod workspace;

use wasmtime::component::{HasSelf, Linker};

use crate::{
    bindings::wharf::plugin as wit,
    guest::Guest,
    watch::{self, linked::LinkedFunctions},
};

/// Links everything that any plugin may import; what a plugin is not granted
/// answers `denied` when it is used. In a worker, `functions` has most of it call the host.
pub(crate) fn link(linker: &mut Linker<Guest>, functions: &mut LinkedFunctions<Guest>) -> wasmtime::Result<()> {
    for_workers::keep(functions);
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    clocks::link(linker)?;
    files::link(linker, functions)?;
    http::link(linker)?;
    watch::watched(linker, functions, Guest::view, |linker| {
        link_own(linker)?;
        keyvalue::link(linker)?;
        config::link(linker)
    })
}

/// Drafts of WASI that are linked: each interface in its versions. A component that was built
/// against another one is told of these.
const DRAFTS: [(&str, &[&str]); 4] = [
    ("wasi:config/store", config::VERSIONS),
    ("wasi:keyvalue/store", keyvalue::VERSIONS),
    ("wasi:keyvalue/atomics", keyvalue::VERSIONS),
    ("wasi:keyvalue/batch", keyvalue::VERSIONS),
];

/// What this host offers of the package of a draft that a component imports, where it does not
/// offer `import` itself.
pub(crate) fn offered_instead(import: &str) -> Option<Vec<String>> {
    let package = import.split('/').next()?;
    let of_package = || DRAFTS.iter().filter(|(interface, _)| interface.split('/').next() == Some(package));
    let offered: Vec<_> = of_package()
        .flat_map(|(interface, versions)| versions.iter().map(move |version| format!("{interface}@{version}")))
        .collect();
    (!offered.is_empty() && !offered.iter().any(|offered| offered == import)).then_some(offered)
}

/// Links the interfaces of the contract.
fn link_own(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    wit::caller::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::log::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::settings::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::types::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::state::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::events::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::process::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::terminal::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::webview::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::workspace::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    Ok(())
}
