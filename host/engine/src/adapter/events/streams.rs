//! The streams of `events`: what outlives the call.

use wharf_completion::{
    detection::{AgentStatus, Preset, Tuning},
    stream::{Message, OpenStream, StreamWriter, Turns},
};
use wharf_core::{Code, Error, json::members};

use crate::guest::Guest;

const MAX_TITLE_BYTES: usize = 256;
const MAX_STAGE_BYTES: usize = 256;
const MAX_TEXT_BYTES: usize = 8 << 10;
/// The word of a poll that found nothing.
const NOTHING_NEW: &str = "nothing-new";

/// `options` of `open-stream`.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    preset: Option<String>,
    parameters: Tuning,
}

impl Guest {
    pub(super) fn open(&self, title: &str, options: Option<&str>) -> Result<String, Error> {
        let granted = self.call.grants().events(&self.call.plugin)?;
        bounded("title", title, MAX_TITLE_BYTES)?;
        let Options { preset, parameters: tuning } = match options {
            Some(options) => members(options).map_err(|error| {
                Error::new(Code::Invalid, format!("`options` is not what this host knows: {error}"))
            })?,
            None => Options::default(),
        };
        let preset = match preset {
            Some(preset) => preset
                .parse::<Preset>()
                .map_err(|error| Error::new(Code::Invalid, format!("`preset` of `options`: {error}")))?,
            None => Preset::Agent,
        };
        let parameters = preset.parameters().tuned(&tuning);
        let parameters =
            parameters.map_err(|error| Error::new(Code::Invalid, format!("`parameters` of `options`: {error}")))?;
        self.call.budget.event()?;
        let request = OpenStream { title, turns: Turns::One(parameters), held_by: None };
        Ok(self.call.rooms.streams.open(granted.owner(self.call.context()), request)?.id().to_string())
    }

    /// Every writing is an event of this call, and is checked anew.
    fn writer(&self, stream: &str) -> Result<StreamWriter, Error> {
        let granted = self.call.grants().events(&self.call.plugin)?;
        let writer = self.call.rooms.streams.writer(&granted.owner(self.call.context()), stream.parse()?)?;
        self.call.budget.event()?;
        Ok(writer)
    }

    pub(super) fn set_status(&self, stream: &str, word: &str) -> Result<(), Error> {
        let writer = self.writer(stream)?;
        if word == NOTHING_NEW {
            writer.polled(true)?;
            return Ok(());
        }
        let status = AgentStatus::from_word(word).ok_or_else(|| {
            Error::new(
                Code::Invalid,
                "a status is one of `processing`, `typing`, `ready`, `completed`, `error`, `nothing-new`",
            )
        })?;
        writer.status(status)?;
        Ok(())
    }

    pub(super) fn say_on(&self, stream: &str, text: &str) -> Result<(), Error> {
        let writer = self.writer(stream)?;
        if text.is_empty() {
            return Err(Error::new(Code::Invalid, "`text` is empty"));
        }
        bounded("text", text, MAX_TEXT_BYTES)?;
        writer.message(Message { text, cursors: None })?;
        Ok(())
    }

    pub(super) fn advance_on(&self, stream: &str, stage: &str, percent: Option<f64>) -> Result<(), Error> {
        let writer = self.writer(stream)?;
        bounded("stage", stage, MAX_STAGE_BYTES)?;
        writer.progress(stage, percent)?;
        Ok(())
    }

    pub(super) fn complete_stream(&self, stream: &str) -> Result<(), Error> {
        match self.writer(stream)?.complete().map_err(Error::from) {
            // It had ended, which is what is wanted.
            Err(Error { code: Code::Gone, .. }) => Ok(()),
            completed => completed,
        }
    }
}

fn bounded(name: &str, text: &str, limit: usize) -> Result<(), Error> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(Error::new(Code::Invalid, format!("`{name}` must be at most {limit} bytes, not {}", text.len())))
}
