//! The words of the contract for streams of events, in those of core.

use wharf_completion::{
    detection::{Parameters, Preset, Tuning},
    stream::{Message, OpenStream, StreamWriter, Turns},
};
use wharf_contract::events::{StreamOptions, StreamStatus};
use wharf_core::{Error, json::members};

use super::invalid;
use crate::call::ActiveCall;

const MAX_TITLE_BYTES: usize = 256;
const MAX_STAGE_BYTES: usize = 256;
const MAX_TEXT_BYTES: usize = 8 << 10;

impl ActiveCall {
    /// The writer of a stream. Every writing is an event of this call, and is checked anew.
    pub(super) fn stream_writer(&self, stream: &str) -> Result<StreamWriter, Error> {
        let granted = self.grants().events(&self.plugin)?;
        let writer = self.backends.streams.writer(&granted.owner(self.context()), stream.parse()?)?;
        self.budget.event()?;
        Ok(writer)
    }
}

/// The stream that is to be opened.
pub(super) fn request<'t>(title: &'t str, options: Option<&str>) -> Result<OpenStream<'t>, Error> {
    bounded("title", title, MAX_TITLE_BYTES)?;
    let StreamOptions { preset, parameters: tuning } = match options {
        Some(options) => {
            members(options).map_err(|error| invalid(format!("`options` is not what this host knows: {error}")))?
        }
        None => StreamOptions::<Tuning>::default(),
    };
    let preset = preset.map_or(Ok(Preset::Agent), |preset| preset.parse::<Preset>());
    let preset = preset.map_err(|error| invalid(format!("`preset` of `options`: {error}")))?;
    let parameters = Parameters::from(preset).tuned(&tuning.unwrap_or_default());
    let parameters = parameters.map_err(|error| invalid(format!("`parameters` of `options`: {error}")))?;
    Ok(OpenStream { title, turns: Turns::One(parameters), held_by: None })
}

pub(super) fn stream_status(word: &str) -> Result<StreamStatus, Error> {
    StreamStatus::find(word).ok_or_else(|| {
        invalid("a status is one of `processing`, `typing`, `ready`, `completed`, `error`, `nothing-new`")
    })
}

pub(super) fn message(text: &str) -> Result<Message<'_>, Error> {
    if text.is_empty() {
        return Err(invalid("`text` is empty"));
    }
    bounded("text", text, MAX_TEXT_BYTES)?;
    Ok(Message { text, cursors: None })
}

pub(super) fn stage(stage: &str) -> Result<&str, Error> {
    bounded("stage", stage, MAX_STAGE_BYTES)?;
    Ok(stage)
}

fn bounded(name: &str, text: &str, limit: usize) -> Result<(), Error> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(invalid(format!("`{name}` must be at most {limit} bytes, not {}", text.len())))
}
