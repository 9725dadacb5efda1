//! [`Call`]: what a tool knows of the call that it answers.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
pub use wharf_contract::log::Level;

use crate::ToolError;
use crate::host::{ActiveHost, Host};
use crate::state::{Bucket, Scope};

/// One call of a tool: on whose behalf it runs, and what it may ask for.
///
/// There is nothing to choose in it: the host derives the context, and a tool
/// sees it. Natively, [`crate::testing::TestCall`] makes one.
#[derive(Debug)]
pub struct Call {
    pub(crate) host: ActiveHost,
}

impl Call {
    /// One conversation or one run of an agent.
    #[must_use]
    pub fn session(&self) -> String {
        self.host.session()
    }

    /// The assistant, where the client names one.
    #[must_use]
    pub fn assistant(&self) -> Option<String> {
        self.host.assistant()
    }

    /// The thread within the session, where the client names one.
    #[must_use]
    pub fn thread(&self) -> Option<String> {
        self.host.thread()
    }

    /// What came with the request besides its arguments.
    #[must_use]
    pub fn request_meta(&self) -> Map<String, Value> {
        // The host promises an object; a tool that only looks for a member is
        // served best by none.
        serde_json::from_str(&self.host.request_meta()).unwrap_or_default()
    }

    /// What the operator set for this plugin, in `[plugin.NAME.settings]`. It
    /// should refuse members that it does not know
    /// (`#[serde(deny_unknown_fields)]`): a misspelt setting must not pass
    /// silently.
    ///
    /// # Errors
    /// `unavailable` where it is not a `T`, with what is wrong, for the
    /// operator.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(&self.host.settings()).map_err(|error| ToolError {
            retryable: false,
            ..ToolError::unavailable(format!("the operator's settings of this plugin are not usable: {error}"))
        })
    }

    /// Wall-clock time until the host ends this call.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.host.remaining()
    }

    /// Writes one line to the operator's log. The caller never sees it.
    pub fn log(&self, level: Level, message: &str) {
        self.host.log(level.as_str(), message);
    }

    /// Tells the caller how far the call has come. `done` grows from one to the
    /// next; `message` is one line of at most 1,024 bytes.
    ///
    /// # Errors
    /// `denied` where events are not granted; `invalid` where `done` did not
    /// grow, or a number is negative or not finite; `limit` after too many.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError> {
        self.host.progress(done, total, message)
    }

    /// Sends the caller a message: a string, or anything that serializes into
    /// at most 8,192 bytes of JSON.
    ///
    /// # Errors
    /// `denied` where events are not granted; `invalid` where it is too long;
    /// `limit` after too many.
    pub fn message<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), ToolError> {
        self.host.message(level.as_str(), &serde_json::to_string(data)?)
    }

    /// Opens the bucket `name` of this plugin in `scope`. Nothing is created
    /// until something is written.
    ///
    /// # Errors
    /// `denied` where state is not granted; `invalid` for a name that is not 1
    /// to 64 bytes of `[A-Za-z0-9._-]`, and for [`Scope::Assistant`] where the
    /// call has no assistant; `limit` after too many.
    pub fn state(&self, scope: Scope, name: &str) -> Result<Bucket<'_>, ToolError> {
        Ok(Bucket { call: self, host: self.host.open(scope, name)?, room: None })
    }
}
