//! All hosts on one data directory as one: their lists together, and each act at the host that has
//! what it is about.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::{sync::watch, time::timeout};
use wharf_core::{
    Code, Error, SessionId, TenantId,
    audit::Requester,
    service::operator::{OperatedTerminal, OperatorList, OperatorRequest, OperatorSees, OperatorService, Pieces},
};

use super::{audited, missing::is_elsewhere, sessions};
use crate::{
    control::{ControlError, RunningHost, TerminalAttachment, TerminalFrame, running_hosts},
    host::Host,
};

/// How long another host may take to list what it has: one that is stopped holds up nobody.
const PATIENCE: Duration = Duration::from_millis(500);

/// This host, with the others on its data directory.
pub(crate) struct AllHosts {
    own: Host,
    data: PathBuf,
}

impl AllHosts {
    pub(crate) fn new(own: Host, data: PathBuf) -> Self {
        Self { own, data }
    }

    async fn others(&self) -> Vec<RunningHost> {
        let data = self.data.clone();
        let found = tokio::task::spawn_blocking(move || running_hosts(&data)).await;
        let mut others = found.ok().and_then(Result::ok).unwrap_or_default();
        let own = self.own.control_directory();
        others.retain(|other| own.as_deref() != Some(other.directory()));
        others
    }

    /// The entries of all hosts, this one's first.
    async fn gathered(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        let others = self.others().await;
        let asking = others.iter().map(async |other| timeout(PATIENCE, other.operate(request.clone(), by)).await);
        let (own, told) = tokio::join!(self.own.operate(request.clone(), by), join_all(asking));
        let mut all = own?;
        if let Value::Array(all) = &mut all {
            for (other, told) in others.iter().zip(told) {
                match told {
                    Ok(Ok(Value::Array(entries))) => all.extend(entries),
                    Ok(Err(error)) => {
                        tracing::debug!(host = %other.directory().display(), "a host does not tell: {error}")
                    }
                    Ok(Ok(_)) | Err(_) => tracing::debug!(host = %other.directory().display(), "a host does not tell"),
                }
            }
        }
        Ok(all)
    }
}

impl AllHosts {
    /// Ends what a session runs at every host: how many ended.
    async fn ended(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        let mut ended = self.own.operate(request.clone(), by).await?.as_u64().unwrap_or(0);
        for other in self.others().await {
            match other.operate(request.clone(), by).await {
                Ok(count) => ended += count.as_u64().unwrap_or(0),
                Err(error) => tracing::warn!("a host does not end what a session runs: {error}"),
            }
        }
        Ok(ended.into())
    }

    /// Calls a tool at the first host that has it, and at no other one: what the tool itself does not
    /// find is its answer.
    async fn tried(&self, tool: OperatorRequest, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        let missing = match self.own.operate(tool.clone(), by).await {
            Ok(_) => return self.own.operate(request, by).await,
            Err(missing) => missing,
        };
        for other in self.others().await {
            if other.operate(tool.clone(), by).await.is_ok() {
                return other.operate(request, by).await.map_err(|error| match error {
                    ControlError::Failed(error) => error,
                    error => {
                        Error::retryable(Code::Unavailable, format!("the host of the tool does not answer: {error}"))
                    }
                });
            }
        }
        Err(missing)
    }

    /// Switches a plugin at every host that knows it.
    async fn switched(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        let mut switched = self.own.operate(request.clone(), by).await;
        for other in self.others().await {
            match other.operate(request.clone(), by).await {
                Ok(done) => switched = Ok(done),
                Err(ControlError::Failed(error)) if is_elsewhere(&error) => {}
                Err(error) => tracing::warn!("a host does not switch a plugin: {error}"),
            }
        }
        switched
    }
}

impl AllHosts {
    async fn asked(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        match &request {
            OperatorRequest::List { of: OperatorList::Sessions } => {
                return Ok(sessions::merged(self.gathered(request, by).await?));
            }
            // All hosts of a cluster know of all, and those on one data directory share their state.
            OperatorRequest::List { of: OperatorList::Cluster | OperatorList::State } => {
                return self.own.operate(request, by).await;
            }
            OperatorRequest::List { .. } => return self.gathered(request, by).await,
            OperatorRequest::EndSession { .. } => return self.ended(request, by).await,
            OperatorRequest::SwitchPlugin { .. } => return self.switched(request, by).await,
            OperatorRequest::TryTool { tool, .. } => {
                let tool = OperatorRequest::Tool { tool: tool.clone() };
                return self.tried(tool, request, by).await;
            }
            // All hosts write their lines and their state below the data directory, and each is told of what
            // changes in its configuration and its plugins.
            OperatorRequest::SignIn { .. }
            | OperatorRequest::Audit(_)
            | OperatorRequest::Buckets(_)
            | OperatorRequest::ExportState(_)
            | OperatorRequest::ClearState(_)
            | OperatorRequest::Grants { .. }
            | OperatorRequest::Configure { .. }
            | OperatorRequest::Install { .. } => return self.own.operate(request, by).await,
            _ => {}
        }
        let missing = match self.own.operate(request.clone(), by).await {
            Err(error) if is_elsewhere(&error) => error,
            done => return done,
        };
        for other in self.others().await {
            match other.operate(request.clone(), by).await {
                Err(ControlError::Failed(error)) if is_elsewhere(&error) => {}
                Err(ControlError::Failed(error)) => return Err(error),
                Err(error) => tracing::debug!("a host does not answer: {error}"),
                Ok(done) => return Ok(done),
            }
        }
        Err(missing)
    }
}

#[async_trait]
impl OperatorService for AllHosts {
    async fn operate(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
        let (act, began) = (request.act(), Instant::now());
        let done = self.asked(request, by).await;
        if let (Some(act), Err(error)) = (&act, &done)
            && is_elsewhere(error)
        {
            audited::in_vain(&self.own, act, by, error, began.elapsed());
        }
        done
    }

    async fn attach(&self, terminal: &str) -> Result<Box<dyn OperatedTerminal>, Error> {
        let missing = match self.own.attach(terminal).await {
            Err(error) if is_elsewhere(&error) => error,
            Err(error) => return Err(error),
            Ok(attached) => return Ok(attached),
        };
        for other in self.others().await {
            if let Ok(attached) = other.attach(terminal, true).await {
                return Ok(Box::new(AttachedElsewhere(attached)));
            }
        }
        Err(missing)
    }

    async fn files(&self, tenant: &TenantId, session: &SessionId, by: &Requester) -> Result<Pieces, Error> {
        // They are below the data directory, which all hosts share.
        self.own.files(tenant, session, by).await
    }

    fn approval_changes(&self) -> watch::Receiver<()> {
        self.own.approval_changes()
    }
}

struct AttachedElsewhere(TerminalAttachment);

#[async_trait]
impl OperatedTerminal for AttachedElsewhere {
    async fn next(&mut self) -> Option<OperatorSees> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match self.0.next().await.ok()?? {
            TerminalFrame::Screen { bytes, columns, rows } => {
                Some(OperatorSees::Screen { columns, rows, text: text(bytes) })
            }
            TerminalFrame::Output(bytes) => Some(OperatorSees::Text(text(bytes))),
            TerminalFrame::Resized { columns, rows } => Some(OperatorSees::Resized { columns, rows }),
            TerminalFrame::Refused(_) | TerminalFrame::Ended(_) => None,
        }
    }
}
