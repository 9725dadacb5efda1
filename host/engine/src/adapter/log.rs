//! `log`: lines for the operator.

use crate::{bindings::wharf::plugin::log::Host, guest::Guest};

impl Host for Guest {
    fn write(&mut self, level: String, message: String) -> wasmtime::Result<()> {
        self.call.log(&level, &message);
        Ok(())
    }
}
