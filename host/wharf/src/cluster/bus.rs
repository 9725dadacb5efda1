//! The bus of a cluster, where `[cluster.nats]` names one.

#[cfg(feature = "nats")]
mod nats;

use std::{io, path::PathBuf, sync::Arc};

use wharf_cell::NoticeBus;

use crate::configuration::ClusterSettings;

/// Why `[cluster.nats]` cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterBusError {
    /// A file of it cannot be used.
    #[error("[cluster.nats] {}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A server of it has no legal address.
    #[cfg(feature = "nats")]
    #[error("[cluster.nats] servers")]
    Server(#[source] wharf_nats::NatsServerError),
    /// There is no bus with it.
    #[cfg(feature = "nats")]
    #[error("[cluster.nats]")]
    Nats(#[from] wharf_nats::NatsError),
}

/// Begins to connect to the bus; nothing where the cluster has none.
pub(super) async fn open(cluster: &ClusterSettings) -> Result<Option<Arc<dyn NoticeBus>>, ClusterBusError> {
    #[cfg(feature = "nats")]
    if let Some(section) = &cluster.nats {
        return Ok(Some(Arc::new(nats::open(cluster, section).await?)));
    }
    // A build without it refuses such a configuration when it is read.
    let _ = cluster;
    Ok(None)
}

/// Whether a server of the bus answers, or why not; nothing where the cluster has none.
pub(super) async fn answers(cluster: &ClusterSettings) -> Option<Result<bool, ClusterBusError>> {
    #[cfg(feature = "nats")]
    if let Some(section) = &cluster.nats {
        return Some(match nats::open(cluster, section).await {
            Ok(bus) => Ok(bus.connects(nats::PATIENCE).await),
            Err(error) => Err(error),
        });
    }
    let _ = cluster;
    None
}

/// What keeps the bus from being used, as far as the files that the configuration names tell.
pub(super) fn problem(cluster: &ClusterSettings) -> Option<ClusterBusError> {
    #[cfg(feature = "nats")]
    return cluster.nats.as_ref().and_then(|section| nats::settings(section).err());
    #[cfg(not(feature = "nats"))]
    {
        let _ = cluster;
        None
    }
}
