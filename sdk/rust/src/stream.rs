//! [`EventStream`]: how one piece of work goes, told to clients that follow it over
//! HTTP, beyond the call that began it.

pub use wharf_contract::events::StreamStatus;
use wharf_contract::events::{NOTHING_NEW, StreamOptions};

use crate::host::{ActiveHost, HostStreams};
use crate::terminal::Preset;
use crate::{Call, ToolError};

/// A stream of events of this plugin, session and assistant. Clients of the same
/// tenant, session and assistant read it over HTTP; nobody makes a writer wait.
///
/// It outlives the call: [`Call::stream`] writes on by its id. Its end is
/// decided as that of a terminal's turn: at once by [`EventStream::complete`],
/// after a moment by [`StreamStatus::Ready`] or [`StreamStatus::Completed`] once
/// there was a message, by silence at last.
///
/// ```
/// use wharf_sdk::{StreamStatus, testing::TestCall};
///
/// let host = TestCall::new();
/// let call = host.call();
/// let stream = call.open_stream("Indexing the manual", None)?;
/// stream.status(StreamStatus::Processing)?;
/// stream.advance("reading", Some(40.0))?;
/// stream.say("Found 12 chapters.")?;
/// stream.complete()?;
/// assert_eq!(host.streams()[0].messages(), ["Found 12 chapters."]);
/// assert!(host.streams()[0].is_complete);
/// # Ok::<(), wharf_sdk::ToolError>(())
/// ```
///
/// Every function may fail with `denied` where events are not granted, with
/// `not-found` where there is no such stream of this owner, and with `limit`
/// where the call has sent as many events as it may; all but
/// [`EventStream::complete`] with `gone` where the stream has ended.
#[derive(Debug)]
pub struct EventStream<'call> {
    host: &'call ActiveHost,
    id: String,
}

impl Call {
    /// Opens a stream; `title` is one line of at most 256 bytes. The preset says
    /// how long silence lasts before it is an end; without one,
    /// [`Preset::Agent`].
    ///
    /// # Errors
    /// `denied` where events are not granted; `limit` where as many streams are
    /// open as may be; `invalid` where the title is too long or the host knows no
    /// such preset.
    pub fn open_stream(&self, title: &str, preset: Option<Preset>) -> Result<EventStream<'_>, ToolError> {
        self.open_stream_with(title, preset, &serde_json::Map::new())
    }

    /// The same with other numbers than those of the preset, each by its name in
    /// the contract, such as `inactivity_timeout_milliseconds`, `max_attempts` or
    /// `adaptive`.
    ///
    /// # Errors
    /// As for [`Call::open_stream`]; `invalid` for a name that the host does not
    /// know and for numbers that contradict themselves.
    pub fn open_stream_with(
        &self,
        title: &str,
        preset: Option<Preset>,
        parameters: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<EventStream<'_>, ToolError> {
        let options = StreamOptions {
            parameters: (!parameters.is_empty()).then_some(parameters),
            preset: preset.map(String::from),
        };
        let named = options.parameters.is_some() || options.preset.is_some();
        let options = if named { Some(serde_json::to_string(&options)?) } else { None };
        let id = self.host.open_stream(title, options.as_deref())?;
        Ok(EventStream { host: &self.host, id })
    }

    /// A stream that an earlier call of the same plugin, session and assistant
    /// opened.
    #[must_use]
    pub fn stream(&self, id: impl Into<String>) -> EventStream<'_> {
        EventStream { host: &self.host, id: id.into() }
    }
}

impl EventStream<'_> {
    /// Its id: an unguessable string.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Says how the work stands.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn status(&self, status: StreamStatus) -> Result<(), ToolError> {
        self.host.stream_status(&self.id, status.as_str())
    }

    /// Says that the source was polled, for as long as `wait_for_data` is, and had
    /// nothing new. Several in a row count towards the end of the stream, once
    /// there was a message. Readers see nothing of it.
    ///
    /// # Errors
    /// `invalid` where the host does not know it yet, which can be passed over.
    pub fn nothing_new(&self) -> Result<(), ToolError> {
        self.host.stream_status(&self.id, NOTHING_NEW)
    }

    /// Says something: a message of 1 to 8,192 bytes.
    ///
    /// # Errors
    /// `invalid` where it is empty or too long.
    pub fn say(&self, text: &str) -> Result<(), ToolError> {
        self.host.say(&self.id, text)
    }

    /// Says at which stage the work is, in at most 256 bytes, and how much of
    /// it is done, from 0 to 100.
    ///
    /// # Errors
    /// `invalid` where the stage is too long or the number is out of range.
    pub fn advance(&self, stage: &str, percent: Option<f64>) -> Result<(), ToolError> {
        self.host.advance(&self.id, stage, percent)
    }

    /// Says that the work is complete, which ends the stream at once.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn complete(&self) -> Result<(), ToolError> {
        self.host.complete(&self.id)
    }
}
