//! What a test grants to its calls beside state and events.
//!
//! Owns the grants alone: what calls do with them is in the modules of the capabilities.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::terminal::script::Script;
use crate::ToolError;
use crate::http::message::{Request, Response};
use crate::workspace::directory::Directory;

/// Answers one request.
type Answering = dyn Fn(&Request) -> Result<Response, ToolError> + Send + Sync;

/// What answers requests.
#[derive(Clone)]
pub(super) struct TestServer(pub(super) Arc<Answering>);

impl fmt::Debug for TestServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TestServer")
    }
}

/// What is granted of terminals.
#[derive(Debug, Clone, Default)]
pub(super) struct TestTerminals {
    pub(super) shell: Option<Arc<Script>>,
    pub(super) programs: BTreeMap<String, Arc<Script>>,
    pub(super) maximum: Option<usize>,
}

/// The directories of a context.
#[derive(Debug, Clone)]
pub(super) struct TestWorkspace {
    pub(super) directory: Directory,
    pub(super) exchange: Vec<(String, Directory)>,
}
