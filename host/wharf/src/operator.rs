//! Hosts as their operator sees them over HTTP, and acts on them: of all tenants and plugins, and of
//! all hosts on one data directory.
//!
//! Knows no route and no token. Each answer is a copy of this moment.

mod acts;
mod all_hosts;
mod audit;
mod audited;
mod blocking;
mod configuring;
mod files;
mod missing;
mod pages;
mod plugins;
mod processes;
mod recording;
mod report;
mod sessions;
mod state;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;
use wharf_core::{
    Error, SessionId, TenantId,
    audit::Requester,
    service::operator::{OperatedTerminal, OperatorRequest, OperatorSees, OperatorService, Pieces},
};
use wharf_terminal::{AttachedTerminal, ViewUpdate};

use crate::host::Host;

use all_hosts::AllHosts;
use missing::none;

struct Attached(AttachedTerminal);

#[async_trait]
impl OperatedTerminal for Attached {
    async fn next(&mut self) -> Option<OperatorSees> {
        loop {
            return Some(match self.0.next().await? {
                ViewUpdate::Screen { size, text } => {
                    OperatorSees::Screen { columns: size.columns(), rows: size.rows(), text }
                }
                ViewUpdate::Text(text) => OperatorSees::Text(text),
                ViewUpdate::Resized(size) => OperatorSees::Resized { columns: size.columns(), rows: size.rows() },
                // This viewer has asked for none.
                ViewUpdate::Typed(_) => continue,
            });
        }
    }
}

#[async_trait]
impl OperatorService for Host {
    async fn operate(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        audited::operate(self, request, by).await
    }

    async fn attach(&self, terminal: &str) -> Result<Box<dyn OperatedTerminal>, Error> {
        let terminals = self.terminals().ok_or_else(|| none("terminal"))?;
        Ok(Box::new(Attached(terminals.attach(terminal.parse().map_err(|_| none("terminal"))?)?)))
    }

    async fn files(&self, tenant: &TenantId, session: &SessionId, by: &Requester) -> Result<Pieces, Error> {
        audited::files(self, tenant, session, by).await
    }

    fn approval_changes(&self) -> watch::Receiver<()> {
        self.approvals().changes()
    }
}

impl Host {
    /// This host with all others on its data directory, for its operator.
    #[must_use]
    pub fn all_hosts(&self, data: impl Into<std::path::PathBuf>) -> Arc<dyn OperatorService> {
        Arc::new(AllHosts::new(self.clone(), data.into()))
    }
}
