//! One thin adapter for each WIT interface: checks the grant, asks the backend, converts.
//! What calls it has counted it (see `watch`).

pub(crate) mod caller;
pub(crate) mod clocks;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod http;
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

use crate::{bindings::wharf::plugin as wit, guest::Guest, watch};

/// Links everything that any plugin may import; what a plugin is not granted
/// answers `denied` when it is used.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    clocks::link(linker)?;
    files::link(linker)?;
    http::link(linker)?;
    watch::watched(linker, Guest::view, link_own)
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
