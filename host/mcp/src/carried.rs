//! What an endpoint over HTTP has read of a call, on its way past the protocol crate.
//!
//! That crate keeps a message in a form of its own before it tries it against every shape
//! that it knows, so a call would be read again and be in memory several times over. The
//! endpoint takes the arguments out before, and the call finds them beside its message.

use std::sync::Arc;

use http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::Extensions;
use serde_json::{Map, Value};
use wharf_core::service::CallableTool;

/// The parts of a call that are not read or looked up again.
#[derive(Clone)]
pub(crate) struct CarriedCall {
    /// The first reader takes them.
    arguments: Arc<Mutex<Option<Map<String, Value>>>>,
    /// Nothing where its client sees no such tool.
    pub(crate) tool: Option<Arc<dyn CallableTool>>,
}

impl CarriedCall {
    /// Absent arguments are those of a call that has none, or that were left in its message.
    pub(crate) fn new(arguments: Option<Map<String, Value>>, tool: Option<Arc<dyn CallableTool>>) -> Self {
        Self { arguments: Arc::new(Mutex::new(arguments)), tool }
    }

    /// What was read of the call that came with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Parts>()?.extensions.get::<Self>().cloned()
    }

    /// The arguments that were taken out of the call. Later readers get nothing.
    pub(crate) fn take_arguments(&self) -> Option<Map<String, Value>> {
        self.arguments.lock().take()
    }
}
