//! Requests of the test host: a test answers them.

use std::sync::Arc;

use super::TestCall;
use super::grants::TestServer;
use super::host::TestHost;
use crate::ToolError;
use crate::host::HostHttp;
use crate::http::{Request, Response};

impl TestCall {
    /// Grants HTTP requests, and answers each so.
    #[must_use]
    pub fn http(mut self, answer: impl Fn(&Request) -> Result<Response, ToolError> + Send + Sync + 'static) -> Self {
        self.host.server = Some(TestServer(Arc::new(answer)));
        self
    }
}

impl HostHttp for TestHost {
    fn send(&self, request: &Request) -> Result<Response, ToolError> {
        match &self.server {
            Some(server) => (server.0)(request),
            None => Err(ToolError::denied(
                "no HTTP request is granted to this plugin: the operator grants them with [plugin.NAME.grants.http]",
            )),
        }
    }
}
