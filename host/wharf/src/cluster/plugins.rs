//! The plugins of a cluster: one set in its database, of which each host has a copy below its
//! data directory, where it reads plugins as a host that stands alone does.

use std::{collections::HashSet, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Duration, sleep},
};
use wharf_cell::{NoticeBus, PluginShelf, StoreUnavailable, installed_notice};
use wharf_core::{Digest, service::ProposedPlugin, text::with_causes};

use crate::added::{AddedError, AddedPlugins, InstalledChange, LaterCopy, Receipt, SharedSet};

/// How often a change is tried again where others change the set at the same time.
const TRIES: usize = 8;
/// How often components that are missing are fetched, while others remove them.
const ROUNDS: usize = 3;
/// When a host that could not take a change tries it again.
const AGAIN: Duration = Duration::from_secs(1);

/// Why the plugins of a cluster cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterPluginsError {
    /// The change is not possible, or the copy on the data directory cannot be used.
    #[error(transparent)]
    Added(#[from] AddedError),
    /// The database of the cluster does not answer.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
    /// Another version has written what is installed.
    #[error(
        "what is installed at the hosts of the cluster is not what this version of wharf writes: {problem}; use the \
         version that wrote it"
    )]
    Unreadable {
        /// What is wrong.
        problem: String,
    },
    /// Receipts and tables of all plugins together are too long.
    #[error(
        "what is written down of the plugins of the cluster is too long; remove one with `wharf plugin remove NAME`"
    )]
    TooLong,
    /// Somebody else has changed the tables in the meantime.
    #[error("what all hosts of the cluster say of plugins has changed meanwhile, and was not written; try again")]
    Changed,
    /// Others change the set all the time.
    #[error("others are changing the plugins of the cluster at the same time; try again")]
    Contended,
    /// A component is missing in the database, has other bytes there, or has more bytes than this host takes.
    #[error(
        "its component is not in the database of the cluster as it was added, or has more than {component_bytes} bytes \
         (limit `component_bytes` under [host.limits])"
    )]
    NoComponent {
        /// The limit.
        component_bytes: u64,
    },
    /// A thread ended without an answer.
    #[error("the plugins were not written to the data directory")]
    Interrupted,
}

/// The plugins that all hosts of a cluster have.
pub struct ClusterPlugins {
    shelf: Arc<dyn PluginShelf>,
    copy: AddedPlugins,
    /// Bytes of a component that this host reads at most.
    component_bytes: u64,
    /// Where the hosts hear at once of a change, if there is a bus.
    bus: Option<Arc<dyn NoticeBus>>,
}

impl std::fmt::Debug for ClusterPlugins {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClusterPlugins").field("copy", &self.copy).finish_non_exhaustive()
    }
}

impl ClusterPlugins {
    pub(crate) fn new(
        shelf: Arc<dyn PluginShelf>,
        copy: AddedPlugins,
        component_bytes: u64,
        bus: Option<Arc<dyn NoticeBus>>,
    ) -> Self {
        Self { shelf, copy, component_bytes, bus }
    }

    /// The copy on the data directory, as it is after the last [`ClusterPlugins::catch_up`].
    #[must_use]
    pub fn copy(&self) -> &AddedPlugins {
        &self.copy
    }

    /// Changes what all hosts of the cluster have, and the copy here. The others follow within
    /// seconds. Whether it is another set now.
    ///
    /// # Errors
    /// See [`ClusterPluginsError`]. After `Unavailable`, nobody knows whether it was changed.
    pub async fn apply(&self, change: InstalledChange<'_>) -> Result<bool, ClusterPluginsError> {
        self.change(change.kept(), |shared| Ok(shared.apply(change)?)).await
    }

    /// Keeps the component of a change where all hosts can read it: what they are asked about before
    /// they have it. Nothing where the change brings no other component.
    ///
    /// # Errors
    /// See [`ClusterPluginsError`].
    pub async fn propose(&self, change: InstalledChange<'_>) -> Result<Option<ProposedPlugin>, ClusterPluginsError> {
        let Some((receipt, component)) = change.kept() else { return Ok(None) };
        if self.copy.list()?.get(&receipt.name) == Some(&receipt.digest) {
            return Ok(None);
        }
        self.shelf.keep_component(&receipt.digest, component).await?;
        let (name, digest, functions) = (receipt.name.clone(), receipt.digest, receipt.functions);
        Ok(Some(ProposedPlugin { name, digest, functions }))
    }

    /// The bytes of a component that all hosts have, or would have.
    pub(crate) async fn component(&self, digest: &Digest) -> Result<Vec<u8>, ClusterPluginsError> {
        let component_bytes = self.component_bytes;
        let component = self.shelf.component(digest, component_bytes).await?;
        let component = component.filter(|component| Digest::of(component) == *digest);
        component.ok_or(ClusterPluginsError::NoComponent { component_bytes })
    }

    /// Writes the `[plugin.NAME]` tables that all hosts have, where they still are as `before`
    /// says. Whether they are other ones now.
    ///
    /// # Errors
    /// [`ClusterPluginsError::Changed`] where they are others; as [`ClusterPlugins::apply`].
    pub async fn write_tables(&self, before: &str, tables: &str) -> Result<bool, ClusterPluginsError> {
        let write = |shared: &mut SharedSet| {
            if shared.tables() != before {
                return Err(ClusterPluginsError::Changed);
            }
            shared.set_tables(tables);
            Ok(before != tables)
        };
        self.change(None, write).await
    }

    async fn change(
        &self,
        kept: Option<(&Receipt, &[u8])>,
        change: impl Fn(&mut SharedSet) -> Result<bool, ClusterPluginsError>,
    ) -> Result<bool, ClusterPluginsError> {
        for _ in 0..TRIES {
            let (mut shared, revision) = self.installed().await?;
            if !change(&mut shared)? {
                return Ok(false);
            }
            let text = shared.text().ok_or(ClusterPluginsError::TooLong)?;
            let named: Vec<_> = shared.components().into_iter().collect();
            if self.shelf.install(revision, &text, &named).await? {
                if let Some(bus) = &self.bus
                    && bus.publish(installed_notice(revision + 1)).await
                {
                    bus.flush().await;
                }
                self.catch_up().await?;
                return Ok(true);
            }
            // One that was proposed is there: a component is not sent twice.
            if let Some((receipt, component)) = kept {
                self.shelf.keep_component(&receipt.digest, component).await?;
            }
        }
        Err(ClusterPluginsError::Contended)
    }

    /// Takes what the cluster has now.
    ///
    /// # Errors
    /// See [`ClusterPluginsError`].
    pub async fn catch_up(&self) -> Result<(), ClusterPluginsError> {
        self.take(LaterCopy::Stays).await
    }

    /// Takes what the cluster has, whatever cluster the copy is of.
    pub(crate) async fn begin(&self) -> Result<(), ClusterPluginsError> {
        self.take(LaterCopy::Goes).await
    }

    async fn take(&self, later: LaterCopy) -> Result<(), ClusterPluginsError> {
        let (shared, revision) = self.installed().await?;
        let shared = Arc::new(shared);
        let mut absent = HashSet::new();
        for _ in 0..ROUNDS {
            let (set, without) = (Arc::clone(&shared), absent.clone());
            let missing = self.on_disk(move |copy| copy.copy(&set, revision, &without, later)).await?;
            if missing.is_empty() {
                return Ok(());
            }
            for digest in missing {
                match self.component(&digest).await {
                    Ok(component) => {
                        self.on_disk(move |copy| copy.keep_component(&digest, &component)).await?;
                    }
                    Err(ClusterPluginsError::NoComponent { component_bytes }) => {
                        tracing::error!(
                            target: "wharf::cell",
                            %digest,
                            component_bytes,
                            "a component of the cluster is not in its database as it was added, or is too large here",
                        );
                        absent.insert(digest);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Err(ClusterPluginsError::Contended)
    }

    async fn installed(&self) -> Result<(SharedSet, i64), ClusterPluginsError> {
        let installed = self.shelf.installed().await?;
        let shared = SharedSet::read(&installed.text);
        let shared = shared.map_err(|problem| ClusterPluginsError::Unreadable { problem })?;
        Ok((shared, installed.revision))
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AddedPlugins) -> Result<T, AddedError> + Send + 'static,
    ) -> Result<T, ClusterPluginsError> {
        let copy = self.copy.clone();
        let worked = spawn_blocking(move || work(&copy)).await;
        Ok(worked.map_err(|_| ClusterPluginsError::Interrupted)??)
    }
}

/// Has a host serve what its data directory has by now.
pub(crate) type ServeAdded = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Has a host serve what the cluster has, as `revisions` tells that it changes, until it is gone.
pub(crate) async fn follow(plugins: Arc<ClusterPlugins>, mut revisions: watch::Receiver<i64>, serve: ServeAdded) {
    while revisions.changed().await.is_ok() {
        let mut is_told = false;
        while let Err(error) = plugins.catch_up().await {
            if !is_told {
                is_told = true;
                let error = with_causes(&error);
                tracing::warn!(target: "wharf::cell", error, "the plugins are not those of the cluster; trying again");
            }
            sleep(AGAIN).await;
            if revisions.has_changed().is_err() {
                return;
            }
        }
        serve().await;
    }
}

#[cfg(test)]
mod tests;
