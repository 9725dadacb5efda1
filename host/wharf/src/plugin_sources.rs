//! Where plugins come from, but for those that the app loads itself.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::watch;
use wharf_core::{PluginName, audit::Replaced};
use wharf_engine::{Component, Engine};

use crate::{
    added::{AddedError, AddedPlugins, InstalledChange, InstalledSet},
    configuration::{Configuration, InvalidConfiguration, TokenSettings},
    denied::{DenyKeeper, DenyList},
    folder::Folder,
    loading::{CompiledPlugin, PluginLoader, Uncompiled},
    recorder::configured,
    registry::Plugins,
};

/// How often what was added may change while it is loaded, before it is taken as it is.
const ROUNDS: usize = 3;

/// The configuration as it is now, what was added on the data directory, the folder.
#[derive(Debug)]
pub(crate) struct PluginSources {
    // Read and replaced for a pointer copy.
    configuration: Mutex<SourcedConfiguration>,
    added: Option<AddedPlugins>,
    /// What must not run.
    denied: DenyKeeper,
    /// The data directory.
    data: PathBuf,
    // What was added when it was loaded last.
    loaded: Mutex<InstalledSet>,
    pub(crate) folder: Option<Folder>,
    /// The tokens that the configuration names by now.
    tokens: watch::Sender<Vec<TokenSettings>>,
    /// Held while plugins are loaded anew, so that what was read later counts.
    pub(crate) reloading: tokio::sync::Mutex<()>,
}

/// What the configuration says, and what it amounts to with the tables of a cluster.
#[derive(Debug)]
struct SourcedConfiguration {
    own: Arc<Configuration>,
    tables: String,
    whole: Arc<Configuration>,
}

impl SourcedConfiguration {
    fn of(own: Configuration) -> Self {
        let own = Arc::new(own);
        Self { whole: Arc::clone(&own), tables: String::new(), own }
    }

    /// Takes the tables of a cluster, where the host is of one.
    fn take(&mut self, tables: &str, data: &Path) -> Result<(), InvalidConfiguration> {
        if self.own.cluster.is_none() || self.tables == tables {
            return Ok(());
        }
        self.whole = Arc::new(self.own.with_tables_of_cluster(tables, data)?);
        tables.clone_into(&mut self.tables);
        Ok(())
    }
}

impl PluginSources {
    pub(crate) fn new(configuration: Configuration, data: Option<&Path>) -> Self {
        Self {
            folder: configuration.plugin_folder.clone().map(Folder::open),
            tokens: watch::Sender::new(configuration.http.tokens.clone()),
            configuration: Mutex::new(SourcedConfiguration::of(configuration)),
            added: data.map(AddedPlugins::of),
            denied: DenyKeeper::of(data),
            data: data.map(Path::to_owned).unwrap_or_default(),
            loaded: Mutex::default(),
            reloading: tokio::sync::Mutex::default(),
        }
    }

    /// Takes the tables of the cluster, where the host is of one. Blocks.
    ///
    /// # Errors
    /// Where they are not usable here.
    pub(crate) fn take_cluster(&self) -> Result<(), InvalidConfiguration> {
        let mut present = self.configuration.lock();
        if present.own.cluster.is_some() {
            present.take(&self.set_or_last().tables, &self.data)?;
            self.tell_tokens(&present);
        }
        Ok(())
    }

    /// Why the host could not use these tables of a cluster, beside its own configuration.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "hosts of a cluster ask for it"))]
    pub(crate) fn refuses(&self, tables: &str) -> Option<String> {
        let own = Arc::clone(&self.configuration.lock().own);
        own.with_tables_of_cluster(tables, &self.data).err().map(|problem| problem.to_string())
    }

    /// The tokens that clients over HTTP may show by now.
    pub(crate) fn tokens(&self) -> watch::Receiver<Vec<TokenSettings>> {
        self.tokens.subscribe()
    }

    fn tell_tokens(&self, present: &SourcedConfiguration) {
        let now = &present.whole.http.tokens;
        self.tokens.send_if_modified(|before| {
            let is_changed = before != now;
            before.clone_from(now);
            is_changed
        });
    }

    /// What was denied so far goes on being counted, by the same clock. Returns what differs, for the audit.
    ///
    /// # Errors
    /// Where the tables of the cluster are not usable with it, which then changes nothing: without
    /// them, plugins may have what the cluster took from them.
    pub(crate) fn configure(
        &self,
        configuration: Configuration,
    ) -> Result<Vec<(String, Replaced)>, InvalidConfiguration> {
        let mut present = self.configuration.lock();
        let mut next = SourcedConfiguration::of(configuration.in_place_of(&present.own));
        next.take(&present.tables, &self.data)?;
        let changed = configured::changed(present.own.table(), next.own.table());
        *present = next;
        self.tell_tokens(&present);
        Ok(changed)
    }

    /// What the configuration says, with the tables of the cluster.
    pub(crate) fn configuration(&self) -> Arc<Configuration> {
        Arc::clone(&self.configuration.lock().whole)
    }

    /// Whether a rule names any command or origin to ask a person about: looked at for each call.
    pub(crate) fn asks_about_acts(&self) -> bool {
        !self.configuration.lock().whole.approvals.acts.is_off()
    }

    /// Tables that are not usable here change nothing: what they would take away is not known.
    fn take_tables(&self, present: &mut SourcedConfiguration, tables: &str) {
        if let Err(problem) = present.take(tables, &self.data) {
            tracing::error!("what all hosts of the cluster are configured with is not usable here: {problem}");
        }
        self.tell_tokens(present);
    }

    /// The data directory, where there is one.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.added.is_some().then_some(self.data.as_path())
    }

    /// Whether what is switched off is remembered.
    pub(crate) fn remembers(&self) -> bool {
        self.added.is_some()
    }

    /// Blocks.
    pub(crate) fn switch(&self, name: &PluginName, on: bool) -> Result<bool, AddedError> {
        self.added.as_ref().map_or(Ok(false), |added| added.apply(InstalledChange::Switch { name, on }))
    }

    /// Whether commands have changed what was added since it was loaded.
    pub(crate) fn has_news(&self) -> Result<bool, AddedError> {
        Ok(self.set()? != *self.loaded.lock())
    }

    fn set(&self) -> Result<InstalledSet, AddedError> {
        self.added.as_ref().map_or_else(|| Ok(InstalledSet::default()), AddedPlugins::set)
    }

    /// Loads everything. Blocks. Commands may change what was added meanwhile, and
    /// remove files that are just being read; then it is looked at again.
    pub(crate) fn load(
        &self,
        engine: &Engine,
        present: Option<&Plugins>,
        uncompiled: Uncompiled,
    ) -> Result<Plugins, AddedError> {
        let mut set = self.set()?;
        let mut rounds = ROUNDS;
        loop {
            self.take_tables(&mut self.configuration.lock(), &set.tables);
            let configuration = self.configuration();
            let denied = self.denied.take(&configuration.trust);
            let loader = self.loader(engine, &configuration, set.clone(), denied);
            let plugins = PluginLoader { present, uncompiled, ..loader }.all();
            rounds -= 1;
            let now = self.set()?;
            if now == set || rounds == 0 {
                *self.loaded.lock() = set;
                return Ok(plugins);
            }
            set = now;
        }
    }

    /// Loads everything for a host that starts. What was added and cannot be read does
    /// not keep the others from being served.
    pub(crate) fn load_at_start(&self, engine: &Engine, uncompiled: Uncompiled) -> Plugins {
        match self.load(engine, None, uncompiled) {
            Ok(plugins) => plugins,
            Err(error) => {
                tracing::error!("plugins that were added are not served: {}", wharf_core::text::with_causes(&error));
                let configuration = self.configuration();
                let denied = self.denied.take(&configuration.trust);
                let loader = self.loader(engine, &configuration, InstalledSet::default(), denied);
                PluginLoader { added: None, uncompiled, ..loader }.all()
            }
        }
    }

    /// Fetches the list of what must not run where it is due: whether it is another one now. Blocks.
    pub(crate) fn look_at_denied(&self) -> bool {
        let configuration = self.configuration();
        configuration.trust.deny.as_ref().is_some_and(|settings| self.denied.look(settings))
    }

    /// The component of a plugin that is to be compiled. Blocks.
    pub(crate) fn component(&self, engine: &Engine, name: &PluginName) -> Option<Component> {
        let configuration = self.configuration();
        let denied = self.denied.current(configuration.trust.deny.as_ref());
        self.loader(engine, &configuration, self.set_or_last(), denied).component(name)
    }

    /// What a plugin that was being compiled has become, by all that decides about it now.
    /// Blocks.
    pub(crate) fn load_compiled(
        &self,
        engine: &Engine,
        present: &Plugins,
        name: &PluginName,
        compiled: Option<&CompiledPlugin>,
    ) -> Plugins {
        let configuration = self.configuration();
        let denied = self.denied.current(configuration.trust.deny.as_ref());
        let loader = self.loader(engine, &configuration, self.set_or_last(), denied);
        PluginLoader { present: Some(present), compiled, uncompiled: Uncompiled::List, ..loader }.only(name)
    }

    /// What was added; what was loaded of that last where it cannot be read.
    fn set_or_last(&self) -> InstalledSet {
        self.set().unwrap_or_else(|_| self.loaded.lock().clone())
    }

    fn loader<'l>(
        &'l self,
        engine: &'l Engine,
        configuration: &'l Configuration,
        set: InstalledSet,
        denied: DenyList,
    ) -> PluginLoader<'l> {
        PluginLoader {
            engine,
            configuration,
            set,
            added: self.added.as_ref(),
            denied,
            found: self.folder.as_ref().map(Folder::files).unwrap_or_default(),
            present: None,
            uncompiled: Uncompiled::Compile,
            compiled: None,
        }
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_does_not_allow_the_tables_of_the_cluster_changes_nothing() {
        const CLUSTER: &str = "[state]\ndatabase_file = \"database\"\n[cluster]\nname = \"test\"\naddress = \"localhost:7443\"\n\
                               [cluster.tls]\ncertificate = \"c\"\nkey = \"k\"\nauthority = \"a\"\n";
        const TABLES: &str =
            "[plugin.planning]\nenabled = false\n[plugin.planning.limits]\nwall_time_milliseconds = 60000\n";
        let parsed = |text: &str| Configuration::parse(&format!("{text}{CLUSTER}"), Path::new(".")).expect("usable");
        let sources = PluginSources::new(parsed(""), None);
        sources.configuration.lock().take(TABLES, Path::new("/data")).expect("usable");
        let planning = "planning".parse().expect("legal");
        let is_on = || sources.configuration().settings_of(&planning).enabled;
        assert!(!is_on());
        let lower = parsed("[ceilings]\nwall_time_milliseconds = 50000\n");
        let refused = sources.configure(lower).expect_err("the tables are above the ceiling");
        assert!(refused.to_string().contains("wall_time_milliseconds"), "{refused}");
        assert!(!is_on(), "what the cluster has switched off stays so");
        sources.configure(parsed("[ceilings]\nwall_time_milliseconds = 70000\n")).expect("usable");
        assert!(!is_on());
        assert_eq!(sources.configuration().call_ceilings.wall_time_milliseconds, 70_000);
    }
}
