//! Event streams of the test host: what was written to them.

use super::host::TestHost;
use crate::host::HostStreams;
use crate::{StreamStatus, ToolError};

/// Bytes of a title, and of a stage.
const LINE_BYTES: usize = 256;
const MESSAGE_BYTES: usize = 8_192;

/// What was written to a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// How the work stands.
    Status(String),
    /// What was said.
    Message(String),
    /// How far it has come.
    Progress {
        /// At which stage.
        stage: String,
        /// How much of it, in percent.
        percent: Option<f64>,
    },
}

/// A stream that a tool opened. It ends when it is completed: no time passes
/// here, so silence ends nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct TestStream {
    pub(super) owner: (String, Option<String>),
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The options, as JSON text.
    pub options: Option<String>,
    /// What was written to it.
    pub events: Vec<StreamEvent>,
    /// Whether it was completed.
    pub is_complete: bool,
}

impl TestStream {
    /// Every message, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<&str> {
        let messages = self.events.iter().filter_map(|event| match event {
            StreamEvent::Message(text) => Some(text.as_str()),
            StreamEvent::Status(_) | StreamEvent::Progress { .. } => None,
        });
        messages.collect()
    }
}

impl TestHost {
    fn with_stream<T>(
        &self,
        id: &str,
        act: impl FnOnce(&mut TestStream) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.events()?;
        let mut world = self.world();
        let owner = self.owner();
        let mine = |stream: &&mut TestStream| stream.id == id && stream.owner == owner;
        let stream = world.streams.iter_mut().find(mine);
        act(stream.ok_or_else(|| ToolError::not_found("there is no such stream"))?)
    }

    fn write(&self, id: &str, event: StreamEvent) -> Result<(), ToolError> {
        self.with_stream(id, |stream| {
            if stream.is_complete {
                return Err(ToolError::gone("this stream has ended"));
            }
            stream.events.push(event);
            Ok(())
        })
    }
}

impl HostStreams for TestHost {
    fn open_stream(&self, title: &str, options: Option<&str>) -> Result<String, ToolError> {
        self.events()?;
        bounded("title", title, LINE_BYTES)?;
        let mut world = self.world();
        let id = format!("stream-{}", world.streams.len() + 1);
        world.streams.push(TestStream {
            owner: self.owner(),
            id: id.clone(),
            title: title.to_owned(),
            options: options.map(str::to_owned),
            events: Vec::new(),
            is_complete: false,
        });
        Ok(id)
    }

    fn stream_status(&self, stream: &str, word: &str) -> Result<(), ToolError> {
        word.parse::<StreamStatus>().map_err(|error| ToolError::invalid(error.to_string()))?;
        self.write(stream, StreamEvent::Status(word.to_owned()))
    }

    fn say(&self, stream: &str, text: &str) -> Result<(), ToolError> {
        if text.is_empty() {
            return Err(ToolError::invalid("`text` is empty"));
        }
        bounded("text", text, MESSAGE_BYTES)?;
        self.write(stream, StreamEvent::Message(text.to_owned()))
    }

    fn advance(&self, stream: &str, stage: &str, percent: Option<f64>) -> Result<(), ToolError> {
        bounded("stage", stage, LINE_BYTES)?;
        if percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            return Err(ToolError::invalid("percent go from 0 to 100"));
        }
        self.write(stream, StreamEvent::Progress { stage: stage.to_owned(), percent })
    }

    fn complete(&self, stream: &str) -> Result<(), ToolError> {
        self.with_stream(stream, |stream| {
            stream.is_complete = true;
            Ok(())
        })
    }
}

fn bounded(name: &str, text: &str, limit: usize) -> Result<(), ToolError> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{name}` must be at most {limit} bytes, not {}", text.len())))
}
