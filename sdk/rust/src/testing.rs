//! The host, natively and in memory: what a plugin's own tests run against.
//!
//! It keeps the promises of the contract that a tool can observe: contexts are
//! apart, changes are all or nothing, revisions never return, keys and values
//! have their bounds. What it lacks on purpose is time: nothing expires unless
//! a test says so. It has no processes, its terminals and web pages play from a
//! script, and its workspace is a real directory.

mod grants;
mod host;
mod http;
mod offers;
mod process;
#[cfg(feature = "schema-checks")]
mod schemas;
mod store;
mod streams;
mod terminal;
mod webview;
mod workspace;

use std::time::Duration;

use serde_json::Value;

use crate::{Answer, Call, Plugin, Scope};
pub use host::ProgressReport;
pub(crate) use host::{TestBucket, TestHost};
#[cfg(feature = "schema-checks")]
pub use schemas::{TestAgent, accepts, check_definitions};
pub use streams::{StreamEvent, TestStream};
pub use terminal::script::{Response, Script};
pub use webview::script::{PageRequest, Reaction, WebPageScript};

/// One context of a test host, and the maker of its calls.
///
/// Clones share the host and its state, so a test of isolation clones one and
/// gives the clone another thread:
///
/// ```
/// use wharf_sdk::{Scope, testing::TestCall};
///
/// let first = TestCall::new().session("s").thread("first");
/// let second = first.clone().thread("second");
/// first.call().state(Scope::Thread, "notes")?.put("key", "value")?;
/// assert_eq!(second.call().state(Scope::Thread, "notes")?.get("key")?, None);
/// # Ok::<(), wharf_sdk::ToolError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TestCall {
    host: TestHost,
}

impl TestCall {
    /// A new host with everything granted but a workspace, which needs a
    /// directory, and terminals, web pages and HTTP requests, which need scripts; the
    /// session is `default`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same host in this session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.host.session = session.into();
        self
    }

    /// The same host with this assistant.
    #[must_use]
    pub fn assistant(mut self, assistant: impl Into<String>) -> Self {
        self.host.assistant = Some(assistant.into());
        self
    }

    /// The same host in this thread.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.host.thread = Some(thread.into());
        self
    }

    /// What comes with the request besides its arguments.
    #[must_use]
    pub fn request_meta(mut self, meta: &Value) -> Self {
        self.host.request_meta = meta.to_string();
        self
    }

    /// What the operator set for the plugin.
    #[must_use]
    pub fn settings(mut self, settings: &Value) -> Self {
        self.host.settings = settings.to_string();
        self
    }

    /// What [`Scope::Default`] means, as the operator's `default_scope`.
    ///
    /// # Panics
    /// Where it is `Default` itself.
    #[must_use]
    pub fn default_scope(mut self, scope: Scope) -> Self {
        assert_ne!(scope, Scope::Default, "the operator chooses one of the others");
        self.host.default_scope = scope;
        self
    }

    /// What the host says is left of the call's time.
    #[must_use]
    pub fn remaining(mut self, remaining: Duration) -> Self {
        self.host.remaining = remaining;
        self
    }

    /// As where the operator has not granted state.
    #[must_use]
    pub fn without_state(mut self) -> Self {
        self.host.state_granted = false;
        self
    }

    /// As where the operator has not granted events.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.host.events_granted = false;
        self
    }

    /// A call in this context.
    #[must_use]
    pub fn call(&self) -> Call {
        Call { host: self.host.clone() }
    }

    /// Runs the tool `name` of `P` as the host would: the arguments go through
    /// JSON, and errors become answers that are marked so. Arguments are not
    /// validated against the schema.
    ///
    /// # Panics
    /// Where `P` has no such tool.
    #[must_use]
    pub fn run<P: Plugin>(&self, name: &str, arguments: &Value) -> Answer {
        let Some(result) = P::run(&self.call(), name, &arguments.to_string()) else {
            panic!("this plugin has no tool `{name}`");
        };
        result.unwrap_or_else(Answer::from)
    }

    /// Removes what this context stored in buckets of `scope`, as the host does
    /// when nobody used them for long enough.
    pub fn expire(&self, scope: Scope) {
        let (assistant, thread) = (self.host.assistant.as_deref(), self.host.thread.as_deref());
        let scope = self.host.meant(scope);
        self.host.world().store.expire(scope, &self.host.session, assistant, thread);
    }

    /// Every line that was logged: level and message.
    #[must_use]
    pub fn log_lines(&self) -> Vec<(String, String)> {
        self.host.world().log.clone()
    }

    /// Every progress that was sent.
    #[must_use]
    pub fn progress(&self) -> Vec<ProgressReport> {
        self.host.world().progress.clone()
    }

    /// Every message that was sent: level and data.
    #[must_use]
    pub fn messages(&self) -> Vec<(String, Value)> {
        self.host.world().messages.clone()
    }

    /// Every stream of this session and assistant, in the order in which they
    /// were opened.
    #[must_use]
    pub fn streams(&self) -> Vec<TestStream> {
        let owner = self.host.owner();
        self.host.world().streams.iter().filter(|stream| stream.owner == owner).cloned().collect()
    }
}
