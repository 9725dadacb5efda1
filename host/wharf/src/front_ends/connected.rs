//! One front end that is connected: its tools, and the way to it.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use tokio::time::{Instant, sleep_until};
use wharf_core::{
    Code, Error, ToolDefinition,
    handle::Handle,
    service::front_end::{FrontEndEvent, FrontEndOwner, TellProgress},
};

use super::connection::Connection;
use crate::app::Registered;

/// One front end.
pub(super) struct ConnectedFrontEnd {
    pub(super) id: Handle,
    pub(super) owner: FrontEndOwner,
    pub(super) name: String,
    pub(super) tools: BTreeMap<String, Arc<Registered>>,
    pub(super) definitions: Vec<ToolDefinition>,
    pub(super) connection: Arc<Connection>,
    /// The change with which it has its name at all hosts of a cluster.
    pub(super) taken: OnceLock<i64>,
}

impl ConnectedFrontEnd {
    /// The tool that a call is of, where it waits.
    pub(super) fn tool_of(&self, call: u64) -> Result<Arc<Registered>, Error> {
        self.connection.touch();
        let tool = self.connection.tool_of(call)?;
        self.tools.get(&tool).cloned().ok_or_else(|| Error::new(Code::NotFound, "there is no such call"))
    }

    pub(super) fn progress(&self, call: u64, progress: &TellProgress) -> Result<(), Error> {
        self.connection.touch();
        self.connection.call(call)?.progress(progress.done, progress.total, progress.message.as_deref())
    }

    /// Waits for as many events as `most` calls are, and those between; for ever where
    /// it says no time.
    pub(super) async fn events(&self, after: u64, most: usize, until: Option<Instant>) -> Option<Vec<FrontEndEvent>> {
        let patience = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        self.connection.events(after, most, patience).await
    }
}
