//! The host, natively and in memory: what a plugin's own tests run against.
//!
//! It keeps the promises of the contract that a tool can observe: contexts are
//! apart, changes are all or nothing, revisions never return, keys and values
//! have their bounds. What it lacks on purpose is time: nothing expires unless
//! a test says so. It has no processes, its terminals and web pages play from a
//! script, and its workspace is a real directory.

mod grants;
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

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::host::{Host, HostBucket};
use crate::state::{Change, Entry, ScanPage, Scope, Usage};
use crate::{Answer, Call, Plugin, ToolError};
use grants::{TestServer, TestTerminals, TestWorkspace};
#[cfg(feature = "schema-checks")]
pub use schemas::{TestAgent, accepts, check_definitions};
use store::{BucketKey, Store};
pub use streams::{StreamEvent, TestStream};
pub use terminal::script::{Response, Script};
use terminal::state::TestTerminal;
pub use webview::script::{PageRequest, Reaction, WebPageScript};
use webview::state::TestPage;

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
#[derive(Debug, Clone)]
pub struct TestCall {
    session: String,
    assistant: Option<String>,
    thread: Option<String>,
    request_meta: String,
    settings: String,
    default_scope: Scope,
    remaining: Duration,
    state_granted: bool,
    events_granted: bool,
    workspace: Option<TestWorkspace>,
    server: Option<TestServer>,
    terminals: TestTerminals,
    web_pages: Option<Arc<WebPageScript>>,
    world: Arc<Mutex<World>>,
}

/// What all clones share.
#[derive(Debug, Default)]
struct World {
    store: Store,
    log: Vec<(String, String)>,
    progress: Vec<ProgressReport>,
    messages: Vec<(String, Value)>,
    terminals: Vec<TestTerminal>,
    pages: Vec<TestPage>,
    streams: Vec<TestStream>,
    changes: Vec<String>,
}

/// One progress that a tool sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressReport {
    /// How far it has come.
    pub done: f64,
    /// How far it will come.
    pub total: Option<f64>,
    /// For a person.
    pub message: Option<String>,
}

impl Default for TestCall {
    fn default() -> Self {
        Self {
            session: "default".to_owned(),
            assistant: None,
            thread: None,
            request_meta: "{}".to_owned(),
            settings: "{}".to_owned(),
            default_scope: Scope::Session,
            remaining: Duration::from_secs(30),
            state_granted: true,
            events_granted: true,
            workspace: None,
            server: None,
            terminals: TestTerminals::default(),
            web_pages: None,
            world: Arc::default(),
        }
    }
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
        self.session = session.into();
        self
    }

    /// The same host with this assistant.
    #[must_use]
    pub fn assistant(mut self, assistant: impl Into<String>) -> Self {
        self.assistant = Some(assistant.into());
        self
    }

    /// The same host in this thread.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }

    /// What comes with the request besides its arguments.
    #[must_use]
    pub fn request_meta(mut self, meta: &Value) -> Self {
        self.request_meta = meta.to_string();
        self
    }

    /// What the operator set for the plugin.
    #[must_use]
    pub fn settings(mut self, settings: &Value) -> Self {
        self.settings = settings.to_string();
        self
    }

    /// What [`Scope::Default`] means, as the operator's `default_scope`.
    ///
    /// # Panics
    /// Where it is `Default` itself.
    #[must_use]
    pub fn default_scope(mut self, scope: Scope) -> Self {
        assert_ne!(scope, Scope::Default, "the operator chooses one of the others");
        self.default_scope = scope;
        self
    }

    /// What the host says is left of the call's time.
    #[must_use]
    pub fn remaining(mut self, remaining: Duration) -> Self {
        self.remaining = remaining;
        self
    }

    /// As where the operator has not granted state.
    #[must_use]
    pub fn without_state(mut self) -> Self {
        self.state_granted = false;
        self
    }

    /// As where the operator has not granted events.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.events_granted = false;
        self
    }

    /// A call in this context.
    #[must_use]
    pub fn call(&self) -> Call {
        Call { host: TestHost { test: self.clone() } }
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
        let (assistant, thread) = (self.assistant.as_deref(), self.thread.as_deref());
        let scope = self.meant(scope);
        self.world().store.expire(scope, &self.session, assistant, thread);
    }

    /// Every line that was logged: level and message.
    #[must_use]
    pub fn log_lines(&self) -> Vec<(String, String)> {
        self.world().log.clone()
    }

    /// Every progress that was sent.
    #[must_use]
    pub fn progress(&self) -> Vec<ProgressReport> {
        self.world().progress.clone()
    }

    /// Every message that was sent: level and data.
    #[must_use]
    pub fn messages(&self) -> Vec<(String, Value)> {
        self.world().messages.clone()
    }

    /// Whose terminals, pages and streams a call sees.
    fn owner(&self) -> (String, Option<String>) {
        (self.session.clone(), self.assistant.clone())
    }

    fn meant(&self, scope: Scope) -> Scope {
        if scope == Scope::Default { self.default_scope } else { scope }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // A tool that panicked in another test thread left nothing half done.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host of a test's call.
#[derive(Debug)]
pub(crate) struct TestHost {
    test: TestCall,
}

/// An open bucket of the test host.
#[derive(Debug)]
pub(crate) struct TestBucket {
    key: BucketKey,
    test: TestCall,
}

impl Host for TestHost {
    type Bucket = TestBucket;

    fn session(&self) -> String {
        self.test.session.clone()
    }

    fn assistant(&self) -> Option<String> {
        self.test.assistant.clone()
    }

    fn thread(&self) -> Option<String> {
        self.test.thread.clone()
    }

    fn request_meta(&self) -> String {
        self.test.request_meta.clone()
    }

    fn settings(&self) -> String {
        self.test.settings.clone()
    }

    fn remaining(&self) -> Duration {
        self.test.remaining
    }

    fn log(&self, level: &str, message: &str) {
        self.test.world().log.push((level.to_owned(), message.to_owned()));
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError> {
        self.events()?;
        let mut world = self.test.world();
        let before = world.progress.last().map_or(-1.0, |progress| progress.done);
        if !done.is_finite() || done < 0.0 || total.is_some_and(|total| !total.is_finite() || total < 0.0) {
            return Err(ToolError::invalid("progress is counted in finite numbers that are not negative"));
        }
        if done <= before {
            return Err(ToolError::invalid(format!("progress must grow: {done} after {before}")));
        }
        world.progress.push(ProgressReport { done, total, message: message.map(str::to_owned) });
        Ok(())
    }

    fn message(&self, level: &str, data: &str) -> Result<(), ToolError> {
        self.events()?;
        let data = match serde_json::from_str(data) {
            Ok(value) if data.len() <= 8_192 => value,
            _ => return Err(ToolError::invalid("a message is JSON of at most 8,192 bytes")),
        };
        self.test.world().messages.push((level.to_owned(), data));
        Ok(())
    }

    fn open(&self, scope: Scope, name: &str) -> Result<TestBucket, ToolError> {
        if !self.test.state_granted {
            return Err(ToolError::denied("state is not granted to this plugin"));
        }
        let (assistant, thread) = (self.test.assistant.as_deref(), self.test.thread.as_deref());
        let key = BucketKey::new(self.test.meant(scope), &self.test.session, assistant, thread, name)?;
        Ok(TestBucket { key, test: self.test.clone() })
    }
}

impl TestHost {
    fn events(&self) -> Result<(), ToolError> {
        if self.test.events_granted { Ok(()) } else { Err(ToolError::denied("events are not granted to this plugin")) }
    }
}

impl HostBucket for TestBucket {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        self.test.world().store.get_many(&self.key, keys)
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError> {
        self.test.world().store.apply(&self.key, changes)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<ScanPage, ToolError> {
        self.test.world().store.scan(&self.key, prefix, after, limit)
    }

    fn usage(&self) -> Result<Usage, ToolError> {
        Ok(self.test.world().store.usage(&self.key))
    }

    fn expired_at(&self) -> Result<Option<String>, ToolError> {
        Ok(self.test.world().store.expired_at(&self.key))
    }
}
