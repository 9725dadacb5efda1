//! What a tool may ask of the host, as a trait: the wall behind [`crate::Call`]
//! and [`crate::Bucket`].
//!
//! Two things implement it: `wit_host` on Wasm, and `testing` natively. Which
//! one is chosen when compiling, never through a table of functions: a table
//! would keep every import alive, and a plugin would ask the operator for
//! grants that it never uses.

use std::time::Duration;

use crate::ToolError;
use crate::state::{Change, Entry, Page, Scope, Usage};

/// The host of a running call.
pub(crate) trait Host {
    type Bucket: HostBucket;

    fn session(&self) -> String;
    fn assistant(&self) -> Option<String>;
    fn thread(&self) -> Option<String>;
    fn request_meta(&self) -> String;
    fn settings(&self) -> String;
    fn remaining(&self) -> Duration;
    fn log(&self, level: &str, message: &str);
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError>;
    fn message(&self, level: &str, data: &str) -> Result<(), ToolError>;
    fn open(&self, scope: Scope, name: &str) -> Result<Self::Bucket, ToolError>;
}

/// An open bucket of state.
pub(crate) trait HostBucket {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError>;
    fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError>;
    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, ToolError>;
    fn usage(&self) -> Result<Usage, ToolError>;
    fn expired_at(&self) -> Result<Option<String>, ToolError>;
}

#[cfg(target_family = "wasm")]
pub(crate) use crate::wit_host::{WitBucket as ActiveBucket, WitHost as ActiveHost};

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::{TestBucket as ActiveBucket, TestHost as ActiveHost};
