//! `settings`: what the operator set for the plugin, read only.

use crate::{bindings::wharf::plugin::settings::Host, guest::Guest};

impl Host for Guest {
    fn get(&mut self) -> wasmtime::Result<String> {
        self.budget.host_call(self.settings.len() as u64)?;
        Ok(self.settings.to_string())
    }
}
