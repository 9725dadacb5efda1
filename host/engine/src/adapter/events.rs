//! `events`: progress and messages to whoever waits for the call, and streams
//! that outlive it, and what has changed.

mod changes;
mod streams;

use wharf_core::{
    Code, Error,
    service::progress::{self, MAX_DATA_BYTES, Progress},
};

use crate::{
    bindings::wharf::plugin::{events::Host, types},
    guest::Guest,
};

impl Guest {
    fn send_progress(&mut self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), Error> {
        let _granted = self.call.grants().events(&self.call.plugin)?;
        Progress::check_numbers(done, total)?;
        self.progress.check_growth(done)?;
        self.call.budget.event()?;
        self.progress.set(done);
        progress::tell_progress(&self.call.caller.events, done, total, message);
        Ok(())
    }

    fn send_message(&self, level: &str, data: &str) -> Result<(), Error> {
        let _granted = self.call.grants().events(&self.call.plugin)?;
        if data.len() > MAX_DATA_BYTES {
            return Err(Error::new(Code::Invalid, format!("`data` must be at most {MAX_DATA_BYTES} bytes")));
        }
        let data = serde_json::from_str(data)
            .map_err(|error| Error::new(Code::Invalid, format!("`data` is not JSON: {error}")))?;
        self.call.budget.event()?;
        progress::tell_message(&self.call.caller.events, level, data);
        Ok(())
    }
}

impl Host for Guest {
    fn progress(
        &mut self,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call(message.as_ref().map_or(0, String::len) as u64)?;
        Ok(self.send_progress(done, total, message.as_deref()).map_err(types::Error::from))
    }

    fn message(&mut self, level: String, data: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call((level.len() + data.len()) as u64)?;
        Ok(self.send_message(&level, &data).map_err(types::Error::from))
    }

    fn open_stream(
        &mut self,
        title: String,
        options: Option<String>,
    ) -> wasmtime::Result<Result<String, types::Error>> {
        self.call.budget.host_call((title.len() + options.as_ref().map_or(0, String::len)) as u64)?;
        Ok(self.open(&title, options.as_deref()).map_err(types::Error::from))
    }

    fn status(&mut self, stream: String, word: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call((stream.len() + word.len()) as u64)?;
        Ok(self.set_status(&stream, &word).map_err(types::Error::from))
    }

    fn say(&mut self, stream: String, text: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call((stream.len() + text.len()) as u64)?;
        Ok(self.say_on(&stream, &text).map_err(types::Error::from))
    }

    fn advance(
        &mut self,
        stream: String,
        stage: String,
        percent: Option<f64>,
    ) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call((stream.len() + stage.len()) as u64)?;
        Ok(self.advance_on(&stream, &stage, percent).map_err(types::Error::from))
    }

    fn complete(&mut self, stream: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call(stream.len() as u64)?;
        Ok(self.complete_stream(&stream).map_err(types::Error::from))
    }

    fn changed(&mut self, list: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call(list.len() as u64)?;
        Ok(self.list_changed(&list).map_err(types::Error::from))
    }

    fn updated(&mut self, uri: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call(uri.len() as u64)?;
        Ok(self.resource_updated(uri).map_err(types::Error::from))
    }
}
