//! Whether a host is one of a cluster, and what follows from that for its calls.

#[cfg(feature = "postgres")]
use std::sync::Arc;
use std::{path::Path, time::Duration};

use async_trait::async_trait;
#[cfg(feature = "postgres")]
use wharf_core::service::{Announcements, HomeHost};
use wharf_core::{
    Code, Error, SessionId, TenantId,
    handle::HandleMint,
    service::{Place, SessionRouter, operator::ClusterHostReport},
};
#[cfg(feature = "postgres")]
use zeroize::Zeroizing;

#[cfg(feature = "postgres")]
use crate::cluster::{ClusterPlugins, ServeAdded};
use crate::{configuration::Configuration, host::open_error::OpenError};

/// Whether a host is one of a cluster.
pub(crate) enum Clustered {
    /// It stands alone.
    No,
    /// Its configuration names a cluster, and it has not joined: a command of the operator's.
    NotJoined,
    #[cfg(feature = "postgres")]
    Member {
        cell: wharf_cell::Cell,
        /// The texts of `[cluster] secret_files`.
        secrets: Vec<Zeroizing<String>>,
        /// What all hosts have.
        plugins: Arc<ClusterPlugins>,
    },
}

impl Clustered {
    /// A member to be, where the configuration says so.
    pub(crate) async fn open(
        configuration: &Configuration,
        data: Option<&Path>,
        joins: bool,
    ) -> Result<Self, OpenError> {
        if configuration.cluster.is_none() {
            return Ok(Self::No);
        }
        #[cfg(feature = "postgres")]
        if joins {
            let secrets = crate::cluster::secrets(configuration)?;
            let (cell, plugins) = crate::cluster::open(configuration, data).await?;
            return Ok(Self::Member { cell, secrets, plugins });
        }
        // A build without clusters refuses such a configuration when it is read.
        let _ = (data, joins);
        Ok(Self::NotJoined)
    }

    /// What makes the handles of the host.
    pub(crate) fn handles(&self) -> HandleMint {
        match self {
            Self::No | Self::NotJoined => HandleMint::default(),
            #[cfg(feature = "postgres")]
            Self::Member { cell, .. } => cell.handles(),
        }
    }

    /// The keys that all hosts of the cluster have for what clients carry from one host to
    /// another; none where the host stands alone, or where its operator has written none.
    pub(crate) fn state_keys(&self) -> Option<wharf_mcp::StateKeys> {
        match self {
            Self::No | Self::NotJoined => None,
            #[cfg(feature = "postgres")]
            Self::Member { secrets, .. } => {
                let secrets: Vec<_> = secrets.iter().map(|secret| secret.as_str()).collect();
                wharf_mcp::StateKeys::of_secrets(&secrets)
            }
        }
    }

    /// Where sessions of the protocol are written down; nothing where the host stands alone.
    #[cfg(feature = "http")]
    pub(crate) fn session_shelf(&self) -> Option<std::sync::Arc<dyn wharf_core::service::SessionShelf>> {
        match self {
            Self::No | Self::NotJoined => None,
            #[cfg(feature = "postgres")]
            Self::Member { cell, .. } => Some(Arc::new(cell.clone())),
        }
    }

    /// Where the front ends of all hosts are written down; nothing where the host stands alone.
    #[cfg(feature = "postgres")]
    pub(crate) fn front_end_shelf(&self) -> Option<Arc<dyn wharf_core::service::FrontEndShelf>> {
        match self {
            Self::No | Self::NotJoined => None,
            Self::Member { cell, .. } => Some(Arc::new(cell.clone())),
        }
    }

    /// What finds the homes of sessions; nothing where the host stands alone.
    pub(crate) fn router(&self) -> Option<&dyn SessionRouter> {
        match self {
            Self::No => None,
            Self::NotJoined => Some(&NotJoined),
            #[cfg(feature = "postgres")]
            Self::Member { cell, .. } => Some(cell),
        }
    }

    /// What knows of requests that are about what other hosts have.
    #[cfg(feature = "http")]
    pub(crate) fn elsewhere(&self) -> Option<std::sync::Arc<dyn wharf_http::Elsewhere>> {
        match self {
            Self::No | Self::NotJoined => None,
            #[cfg(feature = "postgres")]
            Self::Member { cell, .. } => Some(Arc::new(crate::elsewhere::ClusterElsewhere(cell.clone()))),
        }
    }

    /// Joins, once the host can take calls of the others, and has it serve the plugins of all and
    /// hear of what changes at the others.
    #[cfg(feature = "postgres")]
    pub(crate) async fn join(
        &self,
        host: impl HomeHost,
        serve: ServeAdded,
        announcements: &Announcements,
    ) -> Result<(), OpenError> {
        if let Self::Member { cell, plugins, .. } = self {
            announcements.relay_to(Arc::new(cell.clone()));
            let following = crate::cluster::follow(Arc::clone(plugins), cell.plugin_revisions(), serve);
            cell.join(Arc::new(host)).await.map_err(crate::cluster::ClusterError::from)?;
            tokio::spawn(following);
        }
        Ok(())
    }

    /// The plugins that all hosts have; nothing where the host stands alone.
    #[cfg(feature = "postgres")]
    pub(crate) fn plugins(&self) -> Option<&Arc<ClusterPlugins>> {
        match self {
            Self::No | Self::NotJoined => None,
            Self::Member { plugins, .. } => Some(plugins),
        }
    }

    /// Takes no further session, and waits until those that are here have nothing that runs.
    pub(crate) async fn drain(&self, patience: Duration) {
        let _ = patience;
        #[cfg(feature = "postgres")]
        if let Self::Member { cell, .. } = self {
            cell.drain(patience).await;
        }
    }

    /// Takes no call any more that needs a home.
    pub(crate) fn stop(&self) {
        #[cfg(feature = "postgres")]
        if let Self::Member { cell, .. } = self {
            cell.stop();
        }
    }

    /// Leaves, once nothing of any session is here.
    pub(crate) async fn leave(&self) {
        #[cfg(feature = "postgres")]
        if let Self::Member { cell, .. } = self {
            cell.leave().await;
        }
    }

    /// The hosts of the cluster; none where it is in none.
    pub(crate) async fn hosts(&self) -> Result<Vec<ClusterHostReport>, Error> {
        #[cfg(feature = "postgres")]
        if let Self::Member { cell, .. } = self {
            let report = |host: wharf_cell::HostRecord| ClusterHostReport {
                state: host.state().to_owned(),
                silent_milliseconds: host.silent_milliseconds.max(0).cast_unsigned(),
                name: host.host,
                address: host.address,
                version: host.version,
                sessions: host.report.sessions,
                calls: host.report.calls,
            };
            return Ok(cell.hosts().await.map_err(|error| unavailable(&error))?.into_iter().map(report).collect());
        }
        Ok(Vec::new())
    }

    /// Has a host of the cluster take no further session, or take some again. Whether it lives.
    pub(crate) async fn drain_host(&self, host: &str, is_draining: bool) -> Result<bool, Error> {
        let _ = (host, is_draining);
        #[cfg(feature = "postgres")]
        if let Self::Member { cell, .. } = self {
            return cell.drain_host(host, is_draining).await.map_err(|error| unavailable(&error));
        }
        Ok(false)
    }

    /// Whether a balancer should send requests here.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::No | Self::NotJoined => true,
            #[cfg(feature = "postgres")]
            Self::Member { cell, .. } => cell.is_ready(),
        }
    }
}

#[cfg(feature = "postgres")]
fn unavailable(error: &wharf_cell::StoreUnavailable) -> Error {
    Error::retryable(Code::Unavailable, wharf_core::text::with_causes(error))
}

/// Finds no home.
struct NotJoined;

#[async_trait]
impl SessionRouter for NotJoined {
    async fn place(&self, _: &TenantId, _: &SessionId, _: bool) -> Result<Place, Error> {
        Err(Error::new(
            Code::Unavailable,
            "this tool keeps something on the host of its session, and this command is no host of the cluster that \
             [cluster] names: call the tool over HTTP at one of its hosts",
        ))
    }
}
