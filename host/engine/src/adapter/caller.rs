//! `caller`: the context of the call, read only.

use crate::{bindings::wharf::plugin::caller::Host, guest::Guest};

impl Host for Guest {
    fn session(&mut self) -> wasmtime::Result<String> {
        self.budget.host_call(0)?;
        Ok(self.context.session.to_string())
    }

    fn assistant(&mut self) -> wasmtime::Result<Option<String>> {
        self.budget.host_call(0)?;
        Ok(self.context.assistant.as_ref().map(ToString::to_string))
    }

    fn thread(&mut self) -> wasmtime::Result<Option<String>> {
        self.budget.host_call(0)?;
        Ok(self.context.thread.as_ref().map(ToString::to_string))
    }

    fn request_meta(&mut self) -> wasmtime::Result<String> {
        let text = serde_json::to_string(&self.request_meta)?;
        self.budget.host_call(text.len() as u64)?;
        Ok(text)
    }

    fn remaining(&mut self) -> wasmtime::Result<u64> {
        self.budget.host_call(0)?;
        Ok(u64::try_from(self.clock.remaining().as_millis()).unwrap_or(u64::MAX))
    }
}
