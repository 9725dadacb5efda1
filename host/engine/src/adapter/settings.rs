//! `settings`: what the operator set for the plugin, read only.

use crate::{bindings::wharf::plugin::settings::Host, guest::Guest};

impl Host for Guest {
    fn get(&mut self) -> wasmtime::Result<String> {
        let settings = &self.call.policy.settings;
        self.call.budget.host_call(settings.len() as u64)?;
        Ok(settings.to_string())
    }
}
