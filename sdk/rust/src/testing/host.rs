//! [`TestHost`]: the host in memory, as one context sees it. It knows no call and no tool, so that
//! both may know it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::grants::{TestServer, TestTerminals, TestWorkspace};
use super::store::{BucketKey, Store};
use super::streams::TestStream;
use super::terminal::state::TestTerminal;
use super::webview::script::WebPageScript;
use super::webview::state::TestPage;
use crate::ToolError;
use crate::host::{Host, HostBucket};
use crate::state::{Change, Entry, ScanPage, Scope, Usage};

/// The host of a test's calls. Clones share what is stored and opened.
#[derive(Debug, Clone)]
pub(crate) struct TestHost {
    pub(super) session: String,
    pub(super) assistant: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) request_meta: String,
    pub(super) settings: String,
    pub(super) default_scope: Scope,
    pub(super) remaining: Duration,
    pub(super) state_granted: bool,
    pub(super) events_granted: bool,
    pub(super) workspace: Option<TestWorkspace>,
    pub(super) server: Option<TestServer>,
    pub(super) terminals: TestTerminals,
    pub(super) web_pages: Option<Arc<WebPageScript>>,
    pub(super) world: Arc<Mutex<World>>,
}

/// What all clones share.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) store: Store,
    pub(super) log: Vec<(String, String)>,
    pub(super) progress: Vec<ProgressReport>,
    pub(super) messages: Vec<(String, Value)>,
    pub(super) terminals: Vec<TestTerminal>,
    pub(super) pages: Vec<TestPage>,
    pub(super) streams: Vec<TestStream>,
    pub(super) changes: Vec<String>,
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

/// An open bucket of the test host.
#[derive(Debug)]
pub(crate) struct TestBucket {
    key: BucketKey,
    host: TestHost,
}

impl Default for TestHost {
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

impl TestHost {
    /// Whose terminals, pages and streams a call sees.
    pub(super) fn owner(&self) -> (String, Option<String>) {
        (self.session.clone(), self.assistant.clone())
    }

    pub(super) fn meant(&self, scope: Scope) -> Scope {
        if scope == Scope::Default { self.default_scope } else { scope }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        // A tool that panicked in another test thread left nothing half done.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn events(&self) -> Result<(), ToolError> {
        if self.events_granted { Ok(()) } else { Err(ToolError::denied("events are not granted to this plugin")) }
    }
}

impl Host for TestHost {
    type Bucket = TestBucket;

    fn session(&self) -> String {
        self.session.clone()
    }

    fn assistant(&self) -> Option<String> {
        self.assistant.clone()
    }

    fn thread(&self) -> Option<String> {
        self.thread.clone()
    }

    fn request_meta(&self) -> String {
        self.request_meta.clone()
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn remaining(&self) -> Duration {
        self.remaining
    }

    fn log(&self, level: &str, message: &str) {
        self.world().log.push((level.to_owned(), message.to_owned()));
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError> {
        self.events()?;
        let mut world = self.world();
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
        self.world().messages.push((level.to_owned(), data));
        Ok(())
    }

    fn open(&self, scope: Scope, name: &str) -> Result<TestBucket, ToolError> {
        if !self.state_granted {
            return Err(ToolError::denied("state is not granted to this plugin"));
        }
        let (assistant, thread) = (self.assistant.as_deref(), self.thread.as_deref());
        let key = BucketKey::new(self.meant(scope), &self.session, assistant, thread, name)?;
        Ok(TestBucket { key, host: self.clone() })
    }
}

impl HostBucket for TestBucket {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        self.host.world().store.get_many(&self.key, keys)
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError> {
        self.host.world().store.apply(&self.key, changes)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<ScanPage, ToolError> {
        self.host.world().store.scan(&self.key, prefix, after, limit)
    }

    fn usage(&self) -> Result<Usage, ToolError> {
        Ok(self.host.world().store.usage(&self.key))
    }

    fn expired_at(&self) -> Result<Option<String>, ToolError> {
        Ok(self.host.world().store.expired_at(&self.key))
    }
}
