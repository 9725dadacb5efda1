//! `events`: progress and messages to the caller, streams that outlive the call, and changes
//! of what the plugin offers.

mod streams;

use wharf_contract::events::{List, NOTHING_NEW};
use wharf_core::{
    Code, Error,
    offer::MAX_URI_BYTES,
    service::{
        Audience,
        offer::Change,
        progress::{self, MAX_DATA_BYTES, Progress},
    },
};

use crate::{bindings::wharf::plugin::events::Host, failure::Failure, guest::Guest};

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::Invalid, message)
}

impl Host for Guest {
    fn progress(&mut self, done: f64, total: Option<f64>, message: Option<String>) -> Result<(), Failure> {
        let call = &*self.call;
        let _granted = call.grants().events(&call.plugin)?;
        Progress::check_numbers(done, total)?;
        self.progress.check_growth(done)?;
        call.budget.event()?;
        self.progress.set(done);
        progress::tell_progress(&call.request.caller.events, done, total, message.as_deref());
        Ok(())
    }

    fn message(&mut self, level: String, data: String) -> Result<(), Failure> {
        let call = &*self.call;
        let _granted = call.grants().events(&call.plugin)?;
        if data.len() > MAX_DATA_BYTES {
            return Err(invalid(format!("`data` must be at most {MAX_DATA_BYTES} bytes")).into());
        }
        let data = serde_json::from_str(&data).map_err(|error| invalid(format!("`data` is not JSON: {error}")))?;
        call.budget.event()?;
        progress::tell_message(&call.request.caller.events, &level, data);
        Ok(())
    }

    fn open_stream(&mut self, title: String, options: Option<String>) -> Result<String, Failure> {
        let call = &*self.call;
        let granted = call.grants().events(&call.plugin)?;
        let request = streams::request(&title, options.as_deref())?;
        call.budget.event()?;
        Ok(call.backends.streams.open(granted.owner(call.context()), request)?.id().to_string())
    }

    fn status(&mut self, stream: String, word: String) -> Result<(), Failure> {
        let call = &*self.call;
        let writer = call.stream_writer(&stream)?;
        if word == NOTHING_NEW {
            writer.polled(true)?;
        } else {
            writer.status(streams::stream_status(&word)?)?;
        }
        Ok(())
    }

    fn say(&mut self, stream: String, text: String) -> Result<(), Failure> {
        let call = &*self.call;
        let writer = call.stream_writer(&stream)?;
        writer.message(streams::message(&text)?)?;
        Ok(())
    }

    fn advance(&mut self, stream: String, stage: String, percent: Option<f64>) -> Result<(), Failure> {
        let call = &*self.call;
        let writer = call.stream_writer(&stream)?;
        writer.progress(streams::stage(&stage)?, percent)?;
        Ok(())
    }

    fn complete(&mut self, stream: String) -> Result<(), Failure> {
        let call = &*self.call;
        match call.stream_writer(&stream)?.complete().map_err(Error::from) {
            // It had ended already.
            Err(Error { code: Code::Gone, .. }) => Ok(()),
            completed => Ok(completed?),
        }
    }

    fn changed(&mut self, list: String) -> Result<(), Failure> {
        let call = &*self.call;
        let _granted = call.grants().events(&call.plugin)?;
        let kind = match List::find(&list) {
            Some(List::Prompts) => Change::Prompts,
            Some(List::Resources) => Change::Resources,
            Some(List::Tools) => Change::Tools,
            None => return Err(invalid("a list is one of `prompts`, `resources`, `tools`").into()),
        };
        call.budget.event()?;
        call.backends.announcements.tell_everywhere(kind(Audience::of_call(call.context(), &call.plugin)));
        Ok(())
    }

    fn updated(&mut self, uri: String) -> Result<(), Failure> {
        let call = &*self.call;
        let _granted = call.grants().events(&call.plugin)?;
        if !call.claims.cover(&uri) {
            let told = format!("`uri` must start with what this plugin claims, and have at most {MAX_URI_BYTES} bytes");
            return Err(invalid(told).into());
        }
        call.budget.event()?;
        let (context, plugin) = (call.context().clone(), call.plugin.clone());
        call.backends.announcements.tell_everywhere(Change::Resource { context, uri, plugin });
        Ok(())
    }
}
