//! Makes a host one of a cluster, where `[cluster]` says so.

mod bus;
mod hosts;
mod plugins;

use std::{
    error, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use wharf_cell::{Cell, CellSettings, CellStores, CellTimes, PeerTls, PeerTlsError};
use wharf_core::text::with_causes;
use wharf_files::{private_files, regular_file};
use wharf_postgres::PostgresCell;
use zeroize::Zeroizing;

use crate::{
    Configuration, OpenError,
    added::AddedPlugins,
    configuration::{ClusterSettings, ClusterTls, ClusterWorkspaces},
    database::connection_options,
    secret,
};

/// What is read of a certificate, with those above it, and of a key at most.
const MAX_PEM_BYTES: u64 = 1 << 20;
/// Names the files of a data directory.
const FILES_NAME: &str = "files-name";
/// The name of files that all hosts share.
const SHARED: &str = "shared";
/// What an answer takes on its way beside its own bytes, at most: JSON and Base64.
const WIRE_FACTOR: u64 = 3;
/// What a call may take beside its time: waiting for a place, starting, and the way there.
const SLACK: Duration = Duration::from_secs(30);

pub use bus::ClusterBusError;
pub use hosts::{CertificateProblem, ClusterCheck, ClusterHosts, ClusterHostsError};
pub use plugins::{ClusterPlugins, ClusterPluginsError};
pub(crate) use plugins::{ServeAdded, follow};
pub use wharf_cell::{CellError, Found, HostLook, HostRecord, HostReport, Incarnation, Passage, Survey};
pub use wharf_postgres::DatabaseMeasure;

/// Why a host is not one of its cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The configuration has no `[cluster]`.
    #[error("the configuration names no cluster: it has no [cluster]")]
    NoCluster,
    /// `[state]` names no database.
    #[error("the hosts of a cluster share a database: name it with `database_file` under [state]")]
    NoDatabase,
    /// Plugins come from a folder.
    #[error(
        "[plugins] `folder` is for one host, and a cluster needs the same plugins at all: name them under [plugin.NAME]"
    )]
    Folder,
    /// The host has no data directory.
    #[error("a host of a cluster needs a data directory")]
    NoDirectory,
    /// The data directory has no name for its files.
    #[error("the files of the data directory have no name")]
    Files(#[source] io::Error),
    /// A file of `secret_files` cannot be used.
    #[error("[cluster] secret_files: {}", path.display())]
    Secret {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `[cluster.nats]` cannot be used.
    #[error(transparent)]
    Bus(#[from] ClusterBusError),
    /// The machine has no name.
    #[error("this machine has no name: write `host` under [cluster]")]
    NoName,
    /// What is installed at all hosts is not to be had here.
    #[error("this host cannot have the plugins of its cluster")]
    Plugins(#[from] ClusterPluginsError),
    /// The cluster does not take this host.
    #[error("this host cannot join its cluster")]
    Join(#[from] wharf_cell::CellError),
}

/// A member to be of the cluster that the configuration names, and the plugins of all its hosts,
/// which the data directory has from now on.
pub(crate) async fn open(
    configuration: &Configuration,
    data: Option<&Path>,
) -> Result<(Cell, Arc<ClusterPlugins>), OpenError> {
    let cluster = configuration.cluster.as_ref().ok_or(ClusterError::NoCluster)?;
    if configuration.plugin_folder.is_some() {
        return Err(ClusterError::Folder.into());
    }
    let connection = configuration.state.connection()?.ok_or(ClusterError::NoDatabase)?;
    let data = data.ok_or(ClusterError::NoDirectory)?;
    let store = Arc::new(PostgresCell::open(&connection, &connection_options(&configuration.state)).await?);
    store.prepare().await.map_err(wharf_cell::CellError::from).map_err(ClusterError::from)?;
    let bus = bus::open(cluster).await.map_err(ClusterError::from)?;
    let settings = CellSettings { bus: bus.clone(), ..settings(cluster, configuration, data)? };
    let cell = Cell::new(settings, CellStores::of(&store)).map_err(ClusterError::from)?;
    let plugins = ClusterPlugins::new(store, AddedPlugins::of(data), configuration.host_limits.component_bytes, bus);
    plugins.begin().await.map_err(ClusterError::from)?;
    Ok((cell, Arc::new(plugins)))
}

/// The secrets that all hosts of the cluster share, the one for what is sealed now first.
pub(crate) fn secrets(configuration: &Configuration) -> Result<Vec<Zeroizing<String>>, ClusterError> {
    configuration.cluster.as_ref().map_or(Ok(Vec::new()), secrets_of)
}

fn secrets_of(cluster: &ClusterSettings) -> Result<Vec<Zeroizing<String>>, ClusterError> {
    let read = |path: &PathBuf| {
        let read = secret::read_allowed(path, cluster.secrets_allow_unprotected);
        read.map_err(|source| ClusterError::Secret { path: path.clone(), source })
    };
    cluster.secret_files.iter().map(read).collect()
}

/// What keeps a host from being one of its cluster, as far as its configuration and the files
/// that it names tell.
pub(crate) fn problems(configuration: &Configuration) -> Vec<String> {
    let Some(cluster) = &configuration.cluster else { return Vec::new() };
    let mut problems = Vec::new();
    if configuration.plugin_folder.is_some() {
        problems.push(ClusterError::Folder.to_string());
    }
    if configuration.state.database_file.is_none() {
        problems.push(ClusterError::NoDatabase.to_string());
    }
    problems.extend(read(&cluster.tls).err().map(|error| with_causes(&*error)));
    problems.extend(secrets_of(cluster).err().map(|error| with_causes(&error)));
    problems.extend(bus::problem(cluster).map(|error| with_causes(&error)));
    problems
}

fn settings(
    cluster: &ClusterSettings,
    configuration: &Configuration,
    data: &Path,
) -> Result<CellSettings, ClusterError> {
    let files = match cluster.workspaces {
        ClusterWorkspaces::Shared => SHARED.to_owned(),
        ClusterWorkspaces::Local => {
            let made = private_files::make_directory(data).and_then(|()| secret::read_or_make(&data.join(FILES_NAME)));
            made.map_err(ClusterError::Files)?.to_string()
        }
    };
    let host = match &cluster.host {
        Some(host) => host.clone(),
        None => machine_name().ok_or(ClusterError::NoName)?,
    };
    let address = cluster.address.parse().map_err(|error| PeerTlsError::Unreadable(Box::new(error)));
    let ceilings = &configuration.call_ceilings;
    let waiting = configuration.host_limits.wait() + configuration.approvals.wait;
    let longest = Duration::from_millis(ceilings.wall_time_milliseconds) + waiting + SLACK;
    let bytes = ceilings.output_bytes.max(ceilings.argument_bytes).saturating_mul(WIRE_FACTOR);
    let tls = cluster.tls.clone();
    Ok(CellSettings {
        cell: cluster.name.clone(),
        host,
        address: address.map_err(wharf_cell::CellError::from)?,
        listen: cluster.listen,
        certificates: Arc::new(move || read(&tls)),
        files,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        configured: configuration.settings_of_cluster,
        message_bytes: usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(1 << 20),
        longest_call: longest,
        bus: None,
        times: CellTimes::default(),
    })
}

fn machine_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok())?;
    let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    let name: String = name.trim().chars().filter(|character| legal(*character)).take(63).collect();
    (!name.is_empty()).then_some(name)
}

/// Reads the files of `[cluster.tls]`.
fn read(tls: &ClusterTls) -> Result<PeerTls, Box<dyn error::Error + Send + Sync>> {
    let of = |path: &Path, error: io::Error| format!("[cluster.tls] {}: {error}", path.display());
    let read = |path: &Path| regular_file::read(path, MAX_PEM_BYTES).map_err(|error| of(path, error));
    let (certificate, authority) = (read(&tls.certificate)?, read(&tls.authority)?);
    let key = secret::read_bytes(&tls.key, tls.allow_unprotected, MAX_PEM_BYTES);
    let key = key.map_err(|error| of(&tls.key, error))?;
    PeerTls::new(&certificate, &key, &authority)
        .map_err(|error| format!("[cluster.tls] {}", with_causes(&error)).into())
}
