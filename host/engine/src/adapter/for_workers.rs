//! Functions of the host that no guest can name: a worker needs them for what the runtime does
//! itself in a host, such as streams of files, requests and lines for the log.

mod requests;
mod streams;

use std::sync::Arc;

use wasmtime::StoreContextMut;

use crate::{forwarded::OWN_FUNCTIONS, guest::Guest, watch::linked::LinkedFunctions};

/// Links them.
pub(super) fn keep(functions: &mut LinkedFunctions<Guest>) {
    if functions.skip_in_host(OWN_FUNCTIONS) {
        return;
    }
    functions.keep_at_once(&Arc::new(|store: StoreContextMut<'_, Guest>, (level, message): (String, String)| {
        store.data().call.log(&level, &message);
        Ok(())
    }));
    streams::keep(functions);
    requests::keep(functions);
}
