//! The words of the contract for streams of events, in those of core.

use wharf_completion::{
    detection::{AgentStatus, Preset, Tuning},
    stream::{Message, OpenStream, StreamWriter, Turns},
};
use wharf_core::{Error, json::members};

use super::invalid;
use crate::call::ActiveCall;

const MAX_TITLE_BYTES: usize = 256;
const MAX_STAGE_BYTES: usize = 256;
const MAX_TEXT_BYTES: usize = 8 << 10;

/// `options` of `open-stream`.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StreamOptions {
    preset: Option<String>,
    parameters: Tuning,
}

impl ActiveCall {
    /// The writer of a stream. Every writing is an event of this call, and is checked anew.
    pub(super) fn stream_writer(&self, stream: &str) -> Result<StreamWriter, Error> {
        let granted = self.grants().events(&self.plugin)?;
        let writer = self.rooms.streams.writer(&granted.owner(self.context()), stream.parse()?)?;
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
        None => StreamOptions::default(),
    };
    let preset = preset.map_or(Ok(Preset::Agent), |preset| preset.parse::<Preset>());
    let preset = preset.map_err(|error| invalid(format!("`preset` of `options`: {error}")))?;
    let parameters = preset.parameters().tuned(&tuning);
    let parameters = parameters.map_err(|error| invalid(format!("`parameters` of `options`: {error}")))?;
    Ok(OpenStream { title, turns: Turns::One(parameters), held_by: None })
}

pub(super) fn agent_status(word: &str) -> Result<AgentStatus, Error> {
    AgentStatus::from_word(word).ok_or_else(|| {
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
