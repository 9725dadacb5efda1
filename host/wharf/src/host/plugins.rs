//! Plugins come, change and go while the host serves.
//!
//! The next registry is made out of the present one and takes its place as a whole:
//! calls in flight finish on what they began with. Compiling happens before, outside
//! every lock that a call takes.

mod ending;
mod spec;
mod status;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::spawn_blocking;
use wharf_core::{Code, Grants, PluginName, audit::AuditOutcome, text::with_causes, tool::ToolSelection};
use wharf_engine::{Component, LoadError, Plugin, PluginPolicy};

use super::Host;
use crate::{
    configuration::Configuration,
    installed::{Installed, Origin},
    loading::Uncompiled,
    registry::{Disabled, PluginChange, Plugins, REJECTED, UNLOADED},
    reserved_name,
};

pub use spec::PluginSpec;
pub use status::{PluginState, PluginStatus};

/// Why a plugin is not loaded, changed or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The name stands for something else.
    #[error("{0}")]
    Reserved(&'static str),
    /// A plugin of this name is there.
    #[error("there is a plugin {name} already; replace it, or choose another name")]
    Taken {
        /// The name.
        name: PluginName,
    },
    /// No plugin of this name is there.
    #[error("there is no plugin {name}")]
    Unknown {
        /// The name.
        name: PluginName,
    },
    /// The component is no plugin, or breaks the contract.
    #[error("the plugin {name} cannot be loaded")]
    Load {
        /// The name.
        name: PluginName,
        /// Why.
        #[source]
        source: LoadError,
    },
    /// It cannot stand beside another one.
    #[error("the plugin {name} cannot be loaded: {reason}")]
    Conflict {
        /// The name.
        name: PluginName,
        /// Why.
        reason: String,
    },
    /// `wharf.toml` has switched it off.
    #[error("wharf.toml says `enabled = false` under [plugin.{name}]; change that instead")]
    Configured {
        /// The name.
        name: PluginName,
    },
    /// What was added cannot be read.
    #[error("the plugins that were added cannot be read")]
    Added(#[from] crate::added::AddedError),
    /// What all hosts of the cluster have cannot be changed.
    #[cfg(feature = "postgres")]
    #[error("the plugins of the cluster cannot be changed")]
    Cluster(#[from] crate::cluster::ClusterPluginsError),
    /// What all hosts of the cluster have is not usable with the new configuration of this one.
    #[error(
        "the tables of plugins that all hosts of the cluster have are not usable with this configuration, so the one before holds"
    )]
    Unusable(#[source] crate::InvalidConfiguration),
    /// A thread ended without an answer.
    #[error("loading was interrupted")]
    Interrupted,
}

impl Host {
    /// All plugins that the host knows of, by name, with what became of each.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginStatus> {
        status::of_all(self.registry().plugins())
    }

    /// Loads a plugin of the app's own while the host serves. Its tools are listed at
    /// once, and clients are told so. It is gone with the host; an app that wants it
    /// again loads it again.
    ///
    /// Compiles the component where no host with the same data directory has, which
    /// takes from tens of milliseconds to seconds, on a thread of its own.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use wharf::{Grants, PluginSpec, StateGrant, TenantId, ToolService, Viewer};
    /// # let off: String = wharf::bundled_names().map(|name| format!("[plugin.{name}]\nenabled = false\n")).collect();
    /// # let host = wharf::Host::builder(wharf::Configuration::parse(&off, ".".as_ref())?).open().await?;
    /// # // Here `cargo xtask plugins` leaves it.
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/plugins/components/planning.wasm");
    /// # let component = std::fs::read(file)?;
    ///
    /// let grants = Grants { state: Some(StateGrant::with_reason("keeps plans")), ..Grants::default() };
    /// let plans = host.load_plugin(PluginSpec::new("plans".parse()?, component.clone()).with_grants(grants)).await?;
    /// let tenant = TenantId::local();
    /// assert_eq!(host.tools(Viewer::of_tenant(&tenant)).len(), plans.plugin.tools().len());
    ///
    /// let next = PluginSpec::new("plans".parse()?, component); // Nothing is granted to this one.
    /// host.replace_plugin(next).await?; // Calls in flight finish on the first one.
    /// host.unload_plugin(&"plans".parse()?)?;
    /// assert!(host.tools(Viewer::of_tenant(&tenant)).is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PluginError::Taken`] where a plugin of this name is known, whether it can be
    /// called or not; where the component cannot be loaded, or a tool of it would have
    /// the name of another one. Nothing is changed then.
    pub async fn load_plugin(&self, spec: PluginSpec) -> Result<Installed, PluginError> {
        let plugin = self.prepared(spec, None).await?;
        let name = plugin.plugin.name();
        self.change_plugins(|plugins| match plugins.knows(name) {
            true => Err(PluginError::Taken { name: name.clone() }),
            false => put(plugins, plugin.clone()),
        })?;
        Ok(plugin)
    }

    /// Puts a component of the app's own in the place of a plugin, whatever that one
    /// came from; with it its grants, limits and settings are replaced. Calls in flight
    /// finish on the one before, new ones take this one.
    ///
    /// # Errors
    /// [`PluginError::Unknown`] where no plugin of this name is known; otherwise as
    /// [`Host::load_plugin`].
    pub async fn replace_plugin(&self, spec: PluginSpec) -> Result<Installed, PluginError> {
        let present = self.registry().plugins().find(&spec.name).map(|present| present.plugin.clone());
        let plugin = self.prepared(spec, present).await?;
        let name = plugin.plugin.name();
        self.change_plugins(|plugins| match plugins.knows(name) {
            true => {
                plugins.forget(name);
                put(plugins, plugin.clone())
            }
            false => Err(PluginError::Unknown { name: name.clone() }),
        })?;
        Ok(plugin)
    }

    /// Takes a plugin away, whatever it came from. Calls in flight finish; its processes,
    /// terminals, web pages and streams end, in all sessions. One of
    /// `wharf.toml`, one that was added or one of the folder comes back with the next
    /// [`Host::reload_plugins`], and with the next host.
    ///
    /// # Errors
    /// [`PluginError::Unknown`].
    pub fn unload_plugin(&self, name: &PluginName) -> Result<(), PluginError> {
        self.change_plugins(|plugins| match plugins.knows(name) {
            true => {
                plugins.forget(name);
                Ok(())
            }
            false => Err(PluginError::Unknown { name: name.clone() }),
        })
    }

    /// Switches a plugin off until it is switched on: its tools are not listed, and calls
    /// in flight finish. False where it was off already. Where the host keeps data, that
    /// is remembered for plugins that the app has not loaded itself.
    ///
    /// # Errors
    /// [`PluginError::Unknown`], or [`PluginError::Added`] where it cannot be remembered.
    pub async fn disable_plugin(&self, name: &PluginName) -> Result<bool, PluginError> {
        let registry = self.registry();
        if !registry.plugins().knows(name) {
            return Err(PluginError::Unknown { name: name.clone() });
        }
        if registry.plugins().disabled.iter().any(|disabled| disabled.name == *name) {
            return Ok(false);
        }
        let is_of_app = registry.plugins().find(name).is_some_and(|present| present.origin == Origin::App);
        if !is_of_app && self.shared.sources.remembers() {
            return self.switch(name, false).await;
        }
        let mut changed = false;
        self.change_plugins(|plugins| {
            let kept = plugins.find(name).cloned();
            let origin = kept.as_ref().map(|present| &present.origin);
            let origin = origin.or_else(|| plugins.compiling(name).map(|compiling| &compiling.origin)).cloned();
            let Some(origin) = origin else { return Ok(()) };
            plugins.forget(name);
            let disabled = Disabled { name: name.clone(), origin, by_configuration: false, kept };
            plugins.disabled.push(disabled);
            changed = true;
            Ok::<_, PluginError>(())
        })?;
        Ok(changed)
    }

    /// Switches a plugin on again. False where it was on already.
    ///
    /// # Errors
    /// [`PluginError::Unknown`], [`PluginError::Configured`] where `wharf.toml` has
    /// switched it off, or [`PluginError::Conflict`] where another one has taken the
    /// name of a tool meanwhile.
    pub async fn enable_plugin(&self, name: &PluginName) -> Result<bool, PluginError> {
        let registry = self.registry();
        if !registry.plugins().knows(name) {
            return Err(PluginError::Unknown { name: name.clone() });
        }
        let Some(disabled) = registry.plugins().disabled.iter().find(|disabled| disabled.name == *name) else {
            return Ok(false);
        };
        if disabled.by_configuration {
            return Err(PluginError::Configured { name: name.clone() });
        }
        let Some(kept) = disabled.kept.clone() else { return self.switch(name, true).await };
        self.change_plugins(|plugins| {
            plugins.forget(name);
            // It is as it was: nothing took any time now.
            put(plugins, Installed { took: Duration::ZERO, ..kept })
        })?;
        Ok(true)
    }

    async fn switch(&self, name: &PluginName, on: bool) -> Result<bool, PluginError> {
        let switched = self.remember_switch(name, on).await?;
        self.reload_plugins().await?;
        Ok(switched)
    }

    /// On the data directory, or for all hosts of the cluster.
    async fn remember_switch(&self, name: &PluginName, on: bool) -> Result<bool, PluginError> {
        #[cfg(feature = "postgres")]
        if let Some(plugins) = self.shared.clustered.plugins() {
            return Ok(plugins.apply(crate::added::InstalledChange::Switch { name, on }).await?);
        }
        let (shared, switched) = (Arc::clone(&self.shared), name.clone());
        let switching = spawn_blocking(move || shared.sources.switch(&switched, on));
        Ok(switching.await.map_err(|_| PluginError::Interrupted)??)
    }

    /// Looks again at everything that plugins come from but the app: the files that the
    /// configuration names, what was added by command, the folder. What has changed is
    /// loaded, and takes its place in one step; clients are told once. True where
    /// something has changed.
    ///
    /// # Errors
    /// Where what was added cannot be read. A plugin that cannot be loaded is no error;
    /// it is listed with its reason.
    pub async fn reload_plugins(&self) -> Result<bool, PluginError> {
        let reloading = self.shared.sources.reloading.lock().await;
        let shared = Arc::clone(&self.shared);
        let loading = spawn_blocking(move || {
            let present = Self { shared: Arc::clone(&shared) }.registry();
            shared.sources.load(&shared.engine, Some(present.plugins()), Uncompiled::Compile)
        });
        let loaded = loading.await.map_err(|_| PluginError::Interrupted)??;
        let mut changed = false;
        self.change_plugins(|plugins| {
            let next = loaded.beside_those_of_the_app(plugins);
            changed = !next.are_like(plugins);
            *plugins = next;
            Ok::<_, PluginError>(())
        })?;
        drop(reloading);
        Ok(changed)
    }

    /// Loads what was added by command since the start, if anything was.
    pub(crate) async fn look_at_added(&self) {
        let shared = Arc::clone(&self.shared);
        let has_news = spawn_blocking(move || shared.sources.has_news()).await.unwrap_or(Ok(false));
        let looked = match has_news {
            Ok(false) => return,
            Ok(true) => self.reload_plugins().await.map(|_| ()),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = looked {
            tracing::warn!("plugins are those of the start: {}", with_causes(&error));
        }
    }

    /// The tokens that the configuration names, and all hosts of a cluster have, whenever they are
    /// others: see [`HttpClients::renew`](crate::http::HttpClients::renew).
    #[cfg(feature = "http")]
    #[must_use]
    pub fn token_settings(&self) -> tokio::sync::watch::Receiver<Vec<crate::configuration::TokenSettings>> {
        self.shared.sources.tokens()
    }

    /// Takes what this configuration says of plugins: their files, grants, limits,
    /// settings, and the profile. What it says of the host itself and of its backends
    /// holds from the next start; so does a capability that nothing was granted before.
    ///
    /// # Errors
    /// [`PluginError::Unusable`] where the host is one of a cluster whose tables this configuration
    /// does not allow: the one before holds. Else as [`Host::reload_plugins`].
    pub async fn reconfigure_plugins(&self, configuration: Configuration) -> Result<bool, PluginError> {
        for (table, replaced) in self.shared.sources.configure(configuration).map_err(PluginError::Unusable)? {
            self.shared.recorder.reconfigured(&table, replaced);
        }
        self.reconsider_approvals();
        self.reload_plugins().await
    }

    /// Loads a component and makes it ready for its first call. One that is there
    /// already is taken as it is.
    async fn prepared(&self, spec: PluginSpec, present: Option<Plugin>) -> Result<Installed, PluginError> {
        if let Some(reason) = reserved_name::reason(&spec.name) {
            return Err(PluginError::Reserved(reason));
        }
        let shared = Arc::clone(&self.shared);
        let loading = spawn_blocking(move || {
            let began = Instant::now();
            let component = Component::new(spec.component).with_functions(spec.functions);
            let failed = |source| PluginError::Load { name: spec.name.clone(), source };
            let plugin = match present.filter(|plugin| plugin.is_of(&component)) {
                Some(plugin) => plugin,
                None => shared.engine.load(spec.name.clone(), component).map_err(failed)?,
            };
            plugin.prepare().map_err(failed)?;
            let grants = Grants { standing: shared.sources.configuration().standing(), ..spec.grants };
            Ok(Installed {
                plugin,
                origin: Origin::App,
                policy: Arc::new(PluginPolicy {
                    grants: Arc::new(grants),
                    limits: spec.limits.map_or_else(|| Arc::clone(&shared.app_limits), Arc::new),
                    settings: spec.settings.to_string().into(),
                    clock_resolution: spec.clock_resolution,
                }),
                withheld: None,
                evidence: None,
                prefix: spec.prefix,
                tools: ToolSelection::default(),
                took: began.elapsed(),
            })
        });
        loading.await.map_err(|_| PluginError::Interrupted)?
    }

    pub(super) fn change_plugins<E>(&self, change: impl FnOnce(&mut Plugins) -> Result<(), E>) -> Result<(), E> {
        let mut happened = Vec::new();
        self.change(|present| {
            let mut plugins = Plugins::clone(present.plugins());
            change(&mut plugins)?;
            happened = plugins.changes_since(present.plugins());
            Ok(present.with_plugins(plugins))
        })?;
        self.end_what_is_left(
            happened.iter().filter(|change| change.word == UNLOADED).map(|change| change.name.clone()),
        );
        for PluginChange { word, name, digest, signer, said, replaced, took } in happened {
            let failed = AuditOutcome::Failed(Code::Invalid);
            let outcome = if word == REJECTED { failed } else { AuditOutcome::Ok };
            self.shared.recorder.change(word, (name, digest, signer.as_ref()), (said, replaced), outcome, took);
        }
        Ok(())
    }
}

/// Adds a plugin, unless it cannot stand beside the others.
fn put(plugins: &mut Plugins, plugin: Installed) -> Result<(), PluginError> {
    if let Some(reason) = plugins.conflict(&plugin) {
        return Err(PluginError::Conflict { name: plugin.plugin.name().clone(), reason });
    }
    plugins.installed.push(plugin);
    Ok(())
}
