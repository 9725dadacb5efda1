//! The event streams of [`WitHost`]. Wasm only; it converts and holds no logic.

use super::WitHost;
use crate::ToolError;
use crate::bindings::wharf::plugin::events;
use crate::host::{HostChanges, HostStreams};

impl HostStreams for WitHost {
    fn open_stream(&self, title: &str, options: Option<&str>) -> Result<String, ToolError> {
        Ok(events::open_stream(title, options)?)
    }

    fn stream_status(&self, stream: &str, word: &str) -> Result<(), ToolError> {
        Ok(events::status(stream, word)?)
    }

    fn say(&self, stream: &str, text: &str) -> Result<(), ToolError> {
        Ok(events::say(stream, text)?)
    }

    fn advance(&self, stream: &str, stage: &str, percent: Option<f64>) -> Result<(), ToolError> {
        Ok(events::advance(stream, stage, percent)?)
    }

    fn complete(&self, stream: &str) -> Result<(), ToolError> {
        Ok(events::complete(stream)?)
    }
}

impl HostChanges for WitHost {
    fn changed(&self, list: &str) -> Result<(), ToolError> {
        Ok(events::changed(list)?)
    }

    fn updated(&self, uri: &str) -> Result<(), ToolError> {
        Ok(events::updated(uri)?)
    }
}
