//! What the code of an app's tool is handed for one call.

use std::{sync::Arc, time::Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    CallLimits, Code, Error, InputGiven,
    service::{
        Caller,
        progress::{self, MAX_DATA_BYTES, Progress},
    },
};

/// One call of an app's tool.
#[non_exhaustive]
pub struct AppCall {
    /// Who calls: the context is given by the transport, never chosen by a model; `meta` and
    /// `capabilities` are the client's words.
    pub caller: Arc<Caller>,
    /// What was asked: conforms to the schema of the tool.
    pub arguments: Map<String, Value>,
    /// What was given to the round of input before, where a call of this tool has
    /// answered [`Answer::input_required`](wharf_core::Answer::input_required):
    /// the tool is then called anew. Nothing of it was checked.
    pub input: InputGiven,
    /// When the time of the call is over, and it ends.
    pub deadline: Instant,
    /// Fires when the call ends, however it does: for what the tool has started
    /// elsewhere. The tool itself is simply dropped.
    pub ended: CancellationToken,
    said: Mutex<SentEvents>,
    max_events: u64,
}

/// What the call has sent to its client.
#[derive(Debug, Default)]
struct SentEvents {
    events: u64,
    progress: Progress,
}

impl std::fmt::Debug for AppCall {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments may hold secrets; a log never shows them.
        formatter.debug_struct("AppCall").field("context", &self.caller.context).finish_non_exhaustive()
    }
}

impl AppCall {
    pub(super) fn new(
        caller: &Arc<Caller>,
        arguments: Map<String, Value>,
        input: InputGiven,
        deadline: Instant,
        limits: &CallLimits,
    ) -> Self {
        Self {
            caller: Arc::clone(caller),
            arguments,
            input,
            deadline,
            ended: caller.cancel.child_token(),
            said: Mutex::default(),
            max_events: limits.events,
        }
    }

    /// Tells the client how far the call has come. Where nobody listens it does
    /// nothing more.
    ///
    /// # Errors
    /// `invalid` where a number is negative or not finite, or `done` has not
    /// grown; `limit` where the call has sent as much as it may.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), Error> {
        Progress::check_numbers(done, total)?;
        self.count(|said| {
            said.progress.check_growth(done)?;
            said.progress.set(done);
            Ok(())
        })?;
        progress::tell_progress(&self.caller.events, done, total, message);
        Ok(())
    }

    /// Sends the client a message of this level: `debug`, `info`, `warn` or
    /// `error`.
    ///
    /// # Errors
    /// `invalid` where the message has more than 8 KiB as JSON; `limit` where
    /// the call has sent as much as it may.
    pub fn message(&self, level: &str, data: Value) -> Result<(), Error> {
        if wharf_core::tool::json_bytes(&data) > MAX_DATA_BYTES as u64 {
            return Err(Error::new(Code::Invalid, format!("`data` must be at most {MAX_DATA_BYTES} bytes of JSON")));
        }
        self.count(|_| Ok(()))?;
        progress::tell_message(&self.caller.events, level, data);
        Ok(())
    }

    /// Counts an event that `check` accepts.
    fn count(&self, check: impl FnOnce(&mut SentEvents) -> Result<(), Error>) -> Result<(), Error> {
        // A blocking lock: held for a comparison.
        let mut said = self.said.lock();
        if said.events >= self.max_events {
            let told = format!("this call has sent its {} events (limit `events`)", self.max_events);
            return Err(Error::new(Code::Limit, told));
        }
        check(&mut said)?;
        said.events += 1;
        Ok(())
    }
}
