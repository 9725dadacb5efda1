//! A tool of a front end, as the host calls it: the call is handed over, and
//! waits.

use std::sync::Arc;

use wharf_core::{Answer, Error};

use super::connection::Connection;
use crate::app::{AppCall, ToolAction};

/// See the module.
pub(super) struct FrontEndAction {
    pub(super) connection: Arc<Connection>,
    pub(super) tool: String,
}

#[async_trait::async_trait]
impl ToolAction for FrontEndAction {
    async fn call(&self, call: AppCall) -> Result<Answer, Error> {
        self.connection.ask(&self.tool, call)?.answered().await
    }
}
