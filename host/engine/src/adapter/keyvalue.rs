//! `wasi:keyvalue`, a draft of WASI, over the state of the plugin.
//!
//! Two versions of the draft are in use. They differ in the cursor of `list-keys`, in what
//! `get-many` returns, in the sign of a number, and the first has no compare-and-swap. The rest is
//! linked for both by the same lines, which bindings that a tool writes for each could not be.

mod atomics;
mod batch;
mod open;
mod store;

pub(crate) use open::VERSIONS;

use crate::{guest::Guest, watch};

/// Links every version.
pub(crate) fn link(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    store::link(linker)?;
    atomics::link(linker)?;
    batch::link(linker)
}
