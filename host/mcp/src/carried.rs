//! The arguments of a large call on their way past the protocol crate.
//!
//! That crate keeps a message in a form of its own before it tries it against every shape
//! that it knows, so a call would be in memory several times over. An endpoint over HTTP
//! takes the arguments out before, and the call finds them beside its message.

use std::sync::Arc;

use http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::Extensions;
use serde_json::{Map, Value};

/// Arguments that were taken out of a call. The first reader takes them; later ones get nothing.
#[derive(Clone)]
pub(crate) struct CarriedArguments(pub(crate) Arc<Mutex<Option<Map<String, Value>>>>);

impl CarriedArguments {
    /// The arguments that were taken out of this call.
    pub(crate) fn take(extensions: &Extensions) -> Option<Map<String, Value>> {
        let carried = extensions.get::<Parts>()?.extensions.get::<Self>()?;
        carried.0.lock().take()
    }
}
