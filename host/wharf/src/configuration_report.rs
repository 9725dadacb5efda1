//! Whether what a configuration names is there and of use: sources, tokens, secrets,
//! certificates and folders are opened, as a host would open them when it starts.
//!
//! Starts nothing, grants nothing and keeps nothing, but for compiled code where hosts
//! keep it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use wharf_core::{Digest, Grants, PluginName, text::with_causes};
use wharf_engine::{Component, Engine};
use wharf_files::regular_file;

use crate::{
    added::AddedPlugins,
    bundled,
    configuration::{Configuration, PluginSettings, TokenSettings, read_header, read_secrets},
    folder::{Folder, FolderPlugin},
    inspecting,
    loading::check_selection,
    nearest::nearest,
    reserved_name, unknown_table,
};

/// What is found out of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationReport {
    /// What is wrong, as sentences: a host would not start, or not have something that
    /// was written for it.
    pub problems: Vec<String>,
    /// What the operator should know and may have meant.
    pub warnings: Vec<String>,
}

impl Configuration {
    /// Opens what the configuration names; `data` is where a host would keep its data,
    /// which need not be there, and `variable` finds a variable of the environment.
    ///
    /// Compiles components that no host has compiled, which takes seconds each. Blocks;
    /// not for an async task.
    #[must_use]
    pub fn check_named(&self, data: &Path, variable: impl Fn(&str) -> Option<String>) -> ConfigurationReport {
        match self.as_of_cluster(data) {
            Ok(whole) => whole.check_whole(data, variable),
            Err(problem) => {
                let mut checked = self.check_whole(data, variable);
                checked.problems.push(format!("what all hosts of the cluster say of plugins: {problem}"));
                checked
            }
        }
    }

    fn check_whole(&self, data: &Path, variable: impl Fn(&str) -> Option<String>) -> ConfigurationReport {
        let mut checked = ConfigurationReport::default();
        let folder = self.files_of_folder(&mut checked);
        let known = self.known(data, &folder, &mut checked);
        checked.problems.extend(unknown_table::tables(self, &known).into_iter().map(|table| {
            let name = table.name;
            format!("[plugin.{name}] {}", table.reason)
        }));
        let cache = data.join("cache");
        // Where no host has ever been, nothing is made.
        let engine = inspecting::engine(self.host_limits.clone(), cache.is_dir().then_some(cache));
        self.check_folder(&engine, &folder, data, &mut checked);
        for (name, settings) in self.plugins.iter().filter(|(_, settings)| settings.enabled) {
            self.check_source(&engine, name, settings, &mut checked);
            if settings.source.is_none()
                && let Some(digest) = self.digest_without_source(name, data, &folder)
            {
                self.check_pin(name, settings, digest, &mut checked);
            }
            if let Some(component) = self.component_without_source(name, settings, data) {
                let selected = engine.load(name.clone(), component).map_err(|error| with_causes(&error));
                checked.problems.extend(selected.and_then(|plugin| check_selection(&plugin, settings)).err());
            }
            checked.problems.extend(read_secrets(name, &settings.secrets).err().map(|error| error.to_string()));
            if let Some(grants) = &settings.grants {
                check_folders(name, grants, &mut checked);
            }
        }
        check_folders(&PluginName::host(), &self.host_grants(), &mut checked);
        let tokens = self.http.tokens.iter().filter_map(|token| token.token(&variable).err());
        checked.problems.extend(tokens.map(|error| error.to_string()));
        #[cfg(feature = "http")]
        checked.problems.extend(self.http.tls.iter().filter_map(|tls| tls.read().err()).map(|error| error.to_string()));
        checked.problems.extend(self.state.connection().err().map(|error| error.to_string()));
        #[cfg(feature = "postgres")]
        checked.problems.extend(crate::cluster::problems(self));
        let headers = self.traces.headers.iter().filter_map(|header| read_header(header).err());
        checked.problems.extend(headers.map(|error| error.to_string()));
        self.check_patterns(&known, &mut checked);
        self.check_browser(&mut checked);
        checked
    }

    /// What keeps a host from starting: a table that was probably meant for a plugin
    /// which has none. `data` is where the host would keep its data. Blocks.
    #[must_use]
    pub fn misspelt(&self, data: &Path) -> Option<String> {
        // Other problems keep no host from starting.
        let mut rest = ConfigurationReport::default();
        let folder = self.files_of_folder(&mut rest);
        let known = self.known(data, &folder, &mut rest);
        let misspelt = unknown_table::tables(self, &known).into_iter().find(|table| table.is_misspelt)?;
        Some(format!("[plugin.{}]: {}", misspelt.name, misspelt.reason))
    }

    /// A name that a client over HTTP may use and that is no plugin's lets it use nothing.
    fn check_patterns(&self, known: &BTreeSet<PluginName>, checked: &mut ConfigurationReport) {
        let named = |token: &TokenSettings| format!("[[http.tokens]] {:?}", token.name);
        let tokens = self.http.tokens.iter().map(|token| (named(token), &token.rights.plugins));
        let oauth = self.http.oauth.iter().map(|oauth| ("[http.oauth]".to_owned(), &oauth.plugins));
        let own = [PluginName::host(), PluginName::app()];
        let names: Vec<_> = known.iter().chain(&own).map(PluginName::as_str).collect();
        let mut check = |table: &str, name: &str| {
            // What has a wildcard, and front ends (`app_NAME`), may be for those that come later.
            if name.contains(['*', '?']) || name.starts_with("app_") || names.contains(&name) {
                return;
            }
            let told = format!("{table} names `{name}`, which is no plugin");
            match nearest(name, &names, 1, 0.75).first() {
                Some(meant) => checked.problems.push(format!("{told} (did you mean `{meant}`?)")),
                // It may be added yet.
                None => checked.warnings.push(told),
            }
        };
        for (table, patterns) in tokens.chain(oauth) {
            patterns.iter().flatten().for_each(|name| check(&format!("{table} `plugins`"), name));
        }
        for pattern in self.approvals.patterns() {
            if let Some((plugin, _)) = pattern.split_once("__") {
                check(&format!("[approvals] `{pattern}`"), plugin);
            }
        }
    }

    /// The plugins that a host would know.
    fn known(&self, data: &Path, folder: &[FolderPlugin], checked: &mut ConfigurationReport) -> BTreeSet<PluginName> {
        let with_source = self.plugins.iter().filter(|(_, settings)| settings.source.is_some());
        let mut known: BTreeSet<_> = with_source.map(|(name, _)| name.clone()).chain(bundled::names()).collect();
        match AddedPlugins::of(data).list() {
            Ok(added) => known.extend(added.into_keys()),
            Err(error) => checked.problems.push(with_causes(&error)),
        }
        known.extend(folder.iter().map(|found| found.name.clone()));
        known
    }

    /// The plugins whose files lie in the folder of plugins, as far as it can be read and
    /// their names are legal; which of them a host would load is for [`check_named`](Self::check_named)
    /// to say. Blocks.
    #[must_use]
    pub fn folder_plugins(&self) -> Vec<(PluginName, PathBuf)> {
        let found = self.files_of_folder(&mut ConfigurationReport::default()).into_iter();
        found.filter(|found| found.problem.is_none()).map(|found| (found.name, found.file)).collect()
    }

    /// What lies in the folder of plugins.
    fn files_of_folder(&self, checked: &mut ConfigurationReport) -> Vec<FolderPlugin> {
        let Some(folder) = &self.plugin_folder else { return Vec::new() };
        match fs::read_dir(folder) {
            Ok(_) => Folder::open(folder.clone()).files(),
            Err(error) => {
                checked.problems.push(format!("[plugins] `folder` {}: {error}", folder.display()));
                Vec::new()
            }
        }
    }

    /// Whether a host would load what lies in the folder of plugins.
    fn check_folder(&self, engine: &Engine, folder: &[FolderPlugin], data: &Path, checked: &mut ConfigurationReport) {
        for found in folder.iter().filter(|found| self.settings_of(&found.name).enabled) {
            let mut wrong = |what: &str| {
                checked.problems.push(format!("[plugins] `folder` has {}: {what}", found.file.display()));
            };
            if let Some(problem) = &found.problem {
                wrong(problem);
            } else if let Some(reason) = reserved_name::reason(&found.name) {
                wrong(reason);
            } else if self.has_another(&found.name, data) {
                wrong("another plugin has its name; rename the file");
            } else if let Err(what) = self.loaded(engine, &found.name, &found.file) {
                wrong(&what);
            }
        }
    }

    /// Whether a plugin of this name comes before the one of the folder.
    fn has_another(&self, name: &PluginName, data: &Path) -> bool {
        self.plugins.get(name).is_some_and(|settings| settings.source.is_some())
            || bundled::find(name.as_str()).is_some()
            || AddedPlugins::of(data).receipt(name).is_ok_and(|receipt| receipt.is_some())
    }

    /// The digest of a plugin that is bundled, added or in the folder; nothing where it
    /// cannot be read, which is told elsewhere.
    fn digest_without_source(&self, name: &PluginName, data: &Path, folder: &[FolderPlugin]) -> Option<Digest> {
        if let Some(component) = bundled::component(name) {
            return Some(component.digest());
        }
        if let Some(receipt) = AddedPlugins::of(data).receipt(name).ok()? {
            return Some(receipt.digest);
        }
        let found = folder.iter().find(|found| found.name == *name && found.problem.is_none())?;
        let bytes = regular_file::read(&found.file, self.host_limits.component_bytes).ok()?;
        Some(Component::new(bytes).digest())
    }

    /// A plugin that is bundled or added, where something is said of its tools.
    fn component_without_source(&self, name: &PluginName, settings: &PluginSettings, data: &Path) -> Option<Component> {
        if settings.source.is_some() || settings.tools.is_all() {
            return None;
        }
        bundled::component(name).or_else(|| {
            let added = AddedPlugins::of(data).component_of(name, self.host_limits.component_bytes);
            Some(added.ok()??.with_functions(settings.functions))
        })
    }

    /// Loads a component as a host would, and says which one it is.
    fn loaded(&self, engine: &Engine, name: &PluginName, file: &Path) -> Result<Digest, String> {
        let bytes = regular_file::read(file, self.host_limits.component_bytes).map_err(|error| error.to_string())?;
        let settings = self.settings_of(name);
        let component = Component::new(bytes).with_functions(settings.functions);
        let digest = component.digest();
        let plugin = engine.load(name.clone(), component).map_err(|error| with_causes(&error))?;
        check_selection(&plugin, &settings)?;
        Ok(digest)
    }

    fn check_source(
        &self,
        engine: &Engine,
        name: &PluginName,
        settings: &PluginSettings,
        checked: &mut ConfigurationReport,
    ) {
        let Some(source) = &settings.source else { return };
        match self.loaded(engine, name, source) {
            Ok(digest) => self.check_pin(name, settings, digest, checked),
            Err(what) => {
                checked.problems.push(format!("[plugin.{name}] `source` {}: {what}", source.display()));
            }
        }
    }

    /// Whether a component is the one that the operator confirmed.
    fn check_pin(
        &self,
        name: &PluginName,
        settings: &PluginSettings,
        digest: Digest,
        checked: &mut ConfigurationReport,
    ) {
        match self.effective_grants(name, settings, digest) {
            Ok(effective) => {
                let told = effective.warnings.into_iter().map(|warning| format!("plugin {name} {warning}"));
                checked.warnings.extend(told);
            }
            Err(unconfirmed) => checked.problems.push(format!("[plugin.{name}] {unconfirmed}")),
        }
    }

    fn check_browser(&self, checked: &mut ConfigurationReport) {
        let named = |path: &Path| path.components().count() > 1;
        if let Some(program) = self.webview.program.as_deref().filter(|program| named(program))
            && !program.is_file()
        {
            checked.problems.push(format!("[webview] `program` {} is no file", program.display()));
        }
        if let Some(temporary) = self.webview.temporary.as_deref().filter(|temporary| !temporary.is_dir()) {
            checked.problems.push(format!("[webview] `temporary` {} is no directory", temporary.display()));
        }
    }
}

/// Whether the files and folders are there that a plugin is granted.
fn check_folders(name: &PluginName, grants: &Grants, checked: &mut ConfigurationReport) {
    let absent = |what: &str, path: &Path, error: &std::io::Error| {
        format!("[plugin.{name}.grants.{what} {}: {error}", path.display())
    };
    let process =
        grants.process.iter().flat_map(|grant| &grant.children.readable).map(|path| ("process] `readable`", path));
    let terminal = grants.terminal.iter().flat_map(|grant| &grant.readable).map(|path| ("terminal] `readable`", path));
    for (what, path) in process.chain(terminal) {
        // Every process would fail to start that is to see it.
        if let Err(error) = fs::metadata(path) {
            checked.problems.push(absent(what, path, &error));
        }
    }
    for folder in grants.workspace.iter().flat_map(|grant| &grant.exchange) {
        // It may be on a disk that comes and goes, and keeps nothing else from working.
        if let Err(error) = fs::read_dir(&folder.path) {
            checked.warnings.push(absent("workspace] `exchange`", &folder.path, &error));
        }
    }
}
