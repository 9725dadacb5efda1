//! The streams of `events`: what outlives the call.

use wharf_completion::{
    detection::{Parameters, Preset, Tuning},
    stream::{Message, OpenStream, StreamWriter, Turns},
};
use wharf_contract::events::{NOTHING_NEW, StreamOptions, StreamStatus};
use wharf_core::{Code, Error, json::members};

use crate::guest::Guest;

const MAX_TITLE_BYTES: usize = 256;
const MAX_STAGE_BYTES: usize = 256;
const MAX_TEXT_BYTES: usize = 8 << 10;

impl Guest {
    pub(super) fn open(&self, title: &str, options: Option<&str>) -> Result<String, Error> {
        let granted = self.grants.events(&self.plugin)?;
        bounded("title", title, MAX_TITLE_BYTES)?;
        let StreamOptions { preset, parameters: tuning } = match options {
            Some(options) => members(options).map_err(|error| {
                Error::new(Code::Invalid, format!("`options` is not what this host knows: {error}"))
            })?,
            None => StreamOptions::<Tuning>::default(),
        };
        let preset = match preset {
            Some(preset) => preset
                .parse::<Preset>()
                .map_err(|error| Error::new(Code::Invalid, format!("`preset` of `options`: {error}")))?,
            None => Preset::Agent,
        };
        let parameters = Parameters::from(preset).tuned(&tuning.unwrap_or_default());
        let parameters =
            parameters.map_err(|error| Error::new(Code::Invalid, format!("`parameters` of `options`: {error}")))?;
        self.budget.event()?;
        let request = OpenStream { title, turns: Turns::One(parameters), held_by: None };
        Ok(self.rooms.streams.open(granted.owner(&self.context), request)?.id().to_string())
    }

    /// Every writing is an event of this call, and is checked anew.
    fn writer(&self, stream: &str) -> Result<StreamWriter, Error> {
        let granted = self.grants.events(&self.plugin)?;
        let writer = self.rooms.streams.writer(&granted.owner(&self.context), stream.parse()?)?;
        self.budget.event()?;
        Ok(writer)
    }

    pub(super) fn set_status(&self, stream: &str, word: &str) -> Result<(), Error> {
        let writer = self.writer(stream)?;
        if word == NOTHING_NEW {
            writer.polled(true)?;
            return Ok(());
        }
        let status = StreamStatus::find(word).ok_or_else(|| {
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
