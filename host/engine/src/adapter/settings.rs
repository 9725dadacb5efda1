//! `settings`: what the operator set for the plugin, read only.

use crate::{bindings::wharf::plugin::settings::Host, guest::Guest};

impl Host for Guest {
    fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.call.request.policy.settings.to_string())
    }
}
