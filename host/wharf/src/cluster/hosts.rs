//! The hosts of a cluster, for its operator.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use wharf_cell::{
    CertificateUnfit, HostRecord, InvalidPeerAddress, Members as _, Opinion, PluginShelf as _, Question,
    StoreUnavailable, Survey, opinions, survey,
};
use wharf_core::{Digest, service::ProposedPlugin};
use wharf_postgres::{DatabaseMeasure, PostgresCell};

use super::{ClusterBusError, ClusterError, ClusterPlugins, bus, read, secrets_of};
use crate::{
    Configuration,
    added::{AddedPlugins, SharedSet},
    configuration::{ClusterSettings, has_settings, settings_of},
    database::connection_options,
};

/// The hosts of a cluster, for its operator.
#[derive(Debug)]
pub struct ClusterHosts {
    cell: Arc<PostgresCell>,
    settings: ClusterSettings,
    /// Of the state of each host, as far as this one is configured.
    connections: usize,
}

/// Why the other hosts do not accept the certificate of this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateProblem {
    /// Its files cannot be read, or make no certificate.
    #[error("the certificate of this host cannot be used")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address of this host is none.
    #[error(transparent)]
    Address(#[from] InvalidPeerAddress),
    /// It is for another name, is over, or is not of the authority.
    #[error(transparent)]
    Unfit(#[from] CertificateUnfit),
}

/// What is found out of a cluster from the machine of one of its hosts.
#[derive(Debug)]
#[non_exhaustive]
pub struct ClusterCheck {
    /// How the database is.
    pub database: DatabaseMeasure,
    /// Connections that one host takes at most.
    pub connections_of_a_host: usize,
    /// For how long the other hosts accept the certificate of this one, or why not.
    pub certificate: Result<Duration, CertificateProblem>,
    /// How many files of `secret_files` can be read, or why one cannot.
    pub secrets: Result<usize, ClusterError>,
    /// Whether a server of `[cluster.nats]` answers, or why not; nothing where there is none.
    pub nats: Option<Result<bool, ClusterBusError>>,
    /// The hosts that live, and those that died within the last hour.
    pub hosts: Vec<HostRecord>,
    /// Names the settings that all hosts have by now; nothing where they cannot be read.
    pub configured: Option<Digest>,
    /// Who reaches whom; nothing where the certificate of this host cannot be read.
    pub survey: Survey,
}

/// Why the hosts of a cluster cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterHostsError {
    /// The configuration does not lead to the cluster's database.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The file that says how to connect to the database cannot be read.
    #[error(transparent)]
    Connection(#[from] crate::configuration::ConnectionUnreadable),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] wharf_postgres::DatabaseOpenError),
    /// The database does not answer.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

impl ClusterHosts {
    /// Connects to the database of the cluster that the configuration names.
    ///
    /// # Errors
    /// Where it names none, or its database cannot be used.
    pub async fn open(configuration: &Configuration) -> Result<Self, ClusterHostsError> {
        let settings = configuration.cluster.clone().ok_or(ClusterError::NoCluster)?;
        let connection = configuration.state.connection()?.ok_or(ClusterError::NoDatabase)?;
        let options = connection_options(&configuration.state);
        let cell = Arc::new(PostgresCell::open(&connection, &options).await?);
        Ok(Self { cell, settings, connections: options.connections })
    }

    /// The settings of the host whose configuration this is.
    #[must_use]
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// Finds out, as the host of this configuration would, how the cluster is: the database, the
    /// certificate, and who reaches whom. It takes a few seconds where hosts do not answer.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn check(&self) -> Result<ClusterCheck, ClusterHostsError> {
        let database = self.cell.measure().await?;
        let hosts = self.cell.list().await?;
        let mut survey_of_hosts = Survey::default();
        let certificate = match read(&self.settings.tls) {
            Ok(tls) => {
                survey_of_hosts = survey(&tls, &hosts).await;
                let address = self.settings.address.parse().map_err(CertificateProblem::from);
                address.and_then(|address| Ok(tls.valid_for(&address, SystemTime::now())?))
            }
            Err(error) => Err(CertificateProblem::Unreadable(error)),
        };
        let connections_of_a_host = DatabaseMeasure::connections_of_a_host(self.connections);
        let secrets = secrets_of(&self.settings).map(|secrets| secrets.len());
        let nats = bus::answers(&self.settings).await;
        let survey = survey_of_hosts;
        let installed = SharedSet::read(&self.cell.installed().await?.text).ok();
        let configured = installed.and_then(|installed| settings_of(installed.tables()).ok());
        Ok(ClusterCheck { database, connections_of_a_host, certificate, secrets, nats, hosts, configured, survey })
    }

    /// Why hosts that live could not use these tables, each with its name. A host that is not reached
    /// with the certificate of this one is not asked: it finds out by itself.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn refusals(&self, tables: &str) -> Result<Vec<(String, String)>, ClusterHostsError> {
        let unasked = "its version knows no settings of all hosts: upgrade it first";
        self.asked(Question::Tables(tables), has_settings(tables).then_some(unasked)).await
    }

    /// Why hosts that live could not serve a plugin, each with its name. Each host that could has
    /// compiled it then, for which it may take `compiling`. A host that is not reached, or is of a
    /// version that is not asked, finds out by itself.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn plugin_refusals(
        &self,
        plugin: &ProposedPlugin,
        compiling: Duration,
    ) -> Result<Vec<(String, String)>, ClusterHostsError> {
        self.asked(Question::Plugin(plugin, compiling), None).await
    }

    /// Asks the hosts that live, and has the refusals of those that can be asked; `unasked` is that of
    /// the others, where they have one.
    async fn asked(
        &self,
        question: Question<'_>,
        unasked: Option<&str>,
    ) -> Result<Vec<(String, String)>, ClusterHostsError> {
        let hosts = self.cell.list().await?;
        let Ok(tls) = read(&self.settings.tls) else { return Ok(Vec::new()) };
        let told = opinions(&tls, &hosts, question).await.into_iter();
        let refused = told.filter_map(|(host, opinion)| match opinion {
            Opinion::Refused(problem) => Some((host, problem)),
            Opinion::Unasked => unasked.map(|problem| (host, problem.to_owned())),
            Opinion::Usable => None,
        });
        Ok(refused.collect())
    }

    /// The plugins that all hosts have, of which `data` has a copy. A component of more bytes than
    /// `component_bytes` is left out of that.
    ///
    /// # Errors
    /// Where `[cluster.nats]` cannot be used. A server of it that does not answer is none: the
    /// hosts then hear of a change with their next beat.
    pub async fn plugins(&self, data: &Path, component_bytes: u64) -> Result<ClusterPlugins, ClusterHostsError> {
        let bus = bus::open(&self.settings).await.map_err(ClusterError::from)?;
        Ok(ClusterPlugins::new(Arc::clone(&self.cell) as _, AddedPlugins::of(data), component_bytes, bus))
    }

    /// The hosts that live, and those that died within the last hour.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn list(&self) -> Result<Vec<HostRecord>, ClusterHostsError> {
        Ok(self.cell.list().await?)
    }

    /// Has the hosts of this name take no further session, or take some again. Whether one of
    /// them lives. They hear of it within a second.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn drain(&self, host: &str, is_draining: bool) -> Result<bool, ClusterHostsError> {
        Ok(self.cell.drain(host, is_draining).await?)
    }
}
