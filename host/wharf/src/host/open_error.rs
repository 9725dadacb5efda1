//! Why a host cannot be opened.

use crate::{
    configuration::SecretUnavailable, encryption::EncryptionError, missing_feature::MissingFeature, paths::NoDirectory,
};

/// Why a host cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store of state cannot be opened.
    #[error("the state of plugins cannot be opened")]
    State(#[from] wharf_state::OpenError),
    /// Encryption at rest is not as the configuration says.
    #[error("the data directory cannot be used")]
    Encryption(#[from] EncryptionError),
    /// The file that says how to connect to the state's database cannot be read.
    #[error("the state of plugins cannot be opened")]
    Connection(#[from] crate::configuration::ConnectionUnreadable),
    /// The state's database cannot be used.
    #[cfg(feature = "postgres")]
    #[error("the state of plugins cannot be opened")]
    Database(#[from] wharf_postgres::DatabaseOpenError),
    /// The host cannot be one of its cluster.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// What all hosts of the cluster say of plugins is not usable here.
    #[error("the tables of plugins that all hosts of the cluster have are not usable here: {0}")]
    Tables(#[source] crate::configuration::InvalidConfiguration),
    /// The configuration has a table for a plugin that is nowhere, and whose name looks
    /// like that of one which would go on as if nothing were said of it.
    #[error("the configuration is not usable: {0}")]
    Misspelt(String),
    /// The data directory has no name that holds everywhere.
    #[error("the data directory cannot be found")]
    Data(#[from] NoDirectory),
    /// The processes of earlier hosts cannot be taken over.
    #[error("the processes of sessions cannot be kept")]
    Processes(#[from] wharf_process::OpenError),
    /// Terminals cannot be had as they are configured.
    #[error("terminals cannot be had as they are configured")]
    Terminals(#[from] wharf_terminal::InvalidProfile),
    /// Spans cannot be sent as they are configured.
    #[error("traces cannot be had as they are configured")]
    Traces(#[from] TracesError),
    /// The audit cannot be signed as it is configured.
    #[error(transparent)]
    AuditKey(#[from] crate::configuration::AuditKeyUnusable),
    /// The audit cannot go to its log server as it is configured.
    #[error(transparent)]
    AuditSyslog(#[from] crate::configuration::SyslogUnusable),
    /// A thread ended without an answer.
    #[error("opening the host was interrupted")]
    Interrupted,
}

impl OpenError {
    /// Whether the database server of the state is what keeps the host from opening, or the
    /// file that says how to connect to it.
    #[must_use]
    pub fn is_of_database(&self) -> bool {
        match self {
            Self::Connection(_) => true,
            #[cfg(feature = "postgres")]
            Self::Database(_) | Self::Cluster(_) => true,
            _ => false,
        }
    }
}

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracesError {
    /// A secret of the collector is not there.
    #[error(transparent)]
    Secret(#[from] SecretUnavailable),
    /// The sender cannot be made.
    #[error("spans cannot be sent")]
    Sender(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// This build sends no spans.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}
