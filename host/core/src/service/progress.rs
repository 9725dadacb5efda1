//! What a running call may tell its client, for tools of plugins and of the app. How
//! often it does so is counted elsewhere.

use serde_json::Value;
use wharf_contract::log::Level;

use super::Events;
use crate::{Code, Error, text};

/// Bytes of one message, as JSON.
pub const MAX_DATA_BYTES: usize = 8 << 10;

const MAX_PROGRESS_MESSAGE_BYTES: usize = 1 << 10;

/// How far a call has come: what is told grows.
#[derive(Debug, Default)]
pub struct Progress {
    last: Option<f64>,
}

impl Progress {
    /// Checks numbers that are to be told.
    ///
    /// # Errors
    /// `invalid` where one is negative or not finite.
    pub fn check_numbers(done: f64, total: Option<f64>) -> Result<(), Error> {
        let countable = |number: f64| number.is_finite() && number >= 0.0;
        if countable(done) && total.is_none_or(countable) {
            return Ok(());
        }
        Err(Error::new(Code::Invalid, "`done` and `total` must be finite and not negative"))
    }

    /// Checks that it is more than what was told.
    ///
    /// # Errors
    /// `invalid` where it is not.
    pub fn check_growth(&self, done: f64) -> Result<(), Error> {
        if self.last.is_some_and(|last| done <= last) {
            return Err(Error::new(Code::Invalid, "`done` must grow from one progress to the next"));
        }
        Ok(())
    }

    /// Remembers what is told.
    pub fn set(&mut self, done: f64) {
        self.last = Some(done);
    }
}

/// Tells the client, where one listens, with a message on one line of at most 1 KiB.
pub fn tell_progress(events: &Events, done: f64, total: Option<f64>, message: Option<&str>) {
    if let Some(events) = events {
        let message = message.map(|message| text::line(message, MAX_PROGRESS_MESSAGE_BYTES));
        events.progress(done, total, message.as_deref());
    }
}

/// Sends the client a message, where one listens, made visible as an answer's structure
/// is. An unknown level becomes `info`.
pub fn tell_message(events: &Events, level: &str, mut data: Value) {
    if let Some(events) = events {
        text::visible_value(&mut data);
        events.message(Level::from_word(level), data);
    }
}
