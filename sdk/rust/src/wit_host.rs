//! [`Host`] by the imports of the contract. Wasm only; it converts and holds no
//! logic.

mod http;
mod process;
mod streams;
mod terminal;
mod webview;
mod workspace;

use std::time::Duration;

use crate::bindings::wharf::plugin::{caller, events, log, settings, state, types};
use crate::error::ErrorCode;
use crate::host::{Host, HostBucket};
use crate::state::{Change, Entry, ScanPage, Scope, Usage};
use crate::{Call, ToolError};

/// The host that called this component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WitHost;

/// A handle of the host.
#[derive(Debug)]
pub(crate) struct WitBucket(state::Bucket);

impl Call {
    /// The call that this instance was made for.
    pub(crate) fn from_host() -> Self {
        Self { host: WitHost }
    }
}

impl Host for WitHost {
    type Bucket = WitBucket;

    fn session(&self) -> String {
        caller::session()
    }

    fn assistant(&self) -> Option<String> {
        caller::assistant()
    }

    fn thread(&self) -> Option<String> {
        caller::thread()
    }

    fn request_meta(&self) -> String {
        caller::request_meta()
    }

    fn settings(&self) -> String {
        settings::get()
    }

    fn remaining(&self) -> Duration {
        Duration::from_millis(caller::remaining())
    }

    fn log(&self, level: &str, message: &str) {
        log::write(level, message);
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError> {
        Ok(events::progress(done, total, message)?)
    }

    fn message(&self, level: &str, data: &str) -> Result<(), ToolError> {
        Ok(events::message(level, data)?)
    }

    fn open(&self, scope: Scope, name: &str) -> Result<WitBucket, ToolError> {
        Ok(WitBucket(state::Bucket::open(scope.as_str(), name)?))
    }
}

impl HostBucket for WitBucket {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let entries = self.0.get_many(&keys)?;
        Ok(entries.into_iter().map(|entry| entry.map(Entry::from)).collect())
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError> {
        let changes: Vec<state::Change> = changes.into_iter().map(state::Change::from).collect();
        Ok(self.0.apply(&changes)?)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<ScanPage, ToolError> {
        let page = self.0.scan(prefix, after, limit)?;
        Ok(ScanPage { entries: page.entries.into_iter().map(Entry::from).collect(), next: page.next })
    }

    fn usage(&self) -> Result<Usage, ToolError> {
        let usage = self.0.usage()?;
        Ok(Usage { entries: usage.entries, bytes: usage.bytes, quota_bytes: usage.quota_bytes })
    }

    fn expired_at(&self) -> Result<Option<String>, ToolError> {
        Ok(self.0.expired_at()?)
    }
}

impl From<state::Entry> for Entry {
    fn from(entry: state::Entry) -> Self {
        Self { key: entry.key, value: entry.value, revision: entry.revision }
    }
}

impl From<Change> for state::Change {
    fn from(change: Change) -> Self {
        Self { key: change.key, value: change.value, if_revision: change.if_revision }
    }
}

impl From<types::Error> for ToolError {
    fn from(error: types::Error) -> Self {
        Self { code: ErrorCode::from_word(&error.code), message: error.message, retryable: error.retryable }
    }
}
