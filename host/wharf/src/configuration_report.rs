//! Whether what a configuration names is there and of use: sources, tokens, secrets,
//! certificates and folders are opened, as a host would open them when it starts.
//!
//! Starts nothing, grants nothing and keeps nothing, but for compiled code where hosts
//! keep it.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use wharf_core::{Grants, PluginName, text::with_causes};
use wharf_engine::{Component, Engine, EngineConfig, Rooms};
use wharf_files::regular_file;
use wharf_state::MemoryStore;

use crate::{
    added::AddedPlugins,
    bundled,
    configuration::{Configuration, PluginSettings, read_header, read_secrets},
    folder::Folder,
    nearest::nearest,
    unknown_table,
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
        let mut checked = ConfigurationReport::default();
        let known = self.known(data, &mut checked);
        checked.problems.extend(unknown_table::tables(self, &known).into_iter().map(|table| {
            let name = table.name;
            format!("[plugin.{name}] {}", table.reason)
        }));
        let cache = data.join("cache");
        let config = EngineConfig {
            limits: self.host_limits.clone(),
            // Where no host has ever been, nothing is made.
            cache_directory: cache.is_dir().then_some(cache),
        };
        let engine = Engine::new(config, Rooms::with_state(Arc::new(MemoryStore::default())));
        for (name, settings) in self.plugins.iter().filter(|(_, settings)| settings.enabled) {
            self.check_component(&engine, name, settings, &mut checked);
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
        // What else is wrong keeps no host from starting.
        let known = self.known(data, &mut ConfigurationReport::default());
        let misspelt = unknown_table::tables(self, &known).into_iter().find(|table| table.is_misspelt)?;
        Some(format!("[plugin.{}]: {}", misspelt.name, misspelt.reason))
    }

    /// A name that a client over HTTP may use and that is no plugin's lets it use nothing.
    fn check_patterns(&self, known: &BTreeSet<PluginName>, checked: &mut ConfigurationReport) {
        let tokens = self.http.tokens.iter().map(|token| (format!("[[http.tokens]] {:?}", token.name), &token.plugins));
        let oauth = self.http.oauth.iter().map(|oauth| ("[http.oauth]".to_owned(), &oauth.plugins));
        let own = [PluginName::host(), PluginName::app()];
        let names: Vec<_> = known.iter().chain(&own).map(PluginName::as_str).collect();
        for (table, patterns) in tokens.chain(oauth) {
            // What has a `*`, and front ends (`app_NAME`), may be for those that come later.
            let exact = patterns.iter().flatten().filter(|name| !name.contains('*') && !name.starts_with("app_"));
            for name in exact.filter(|name| !names.contains(&name.as_str())) {
                let meant = nearest(name, &names, 1, 0.75).first().copied();
                let hint = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
                checked.warnings.push(format!("{table} `plugins` names `{name}`, which is no plugin{hint}"));
            }
        }
    }

    /// The plugins that a host would know.
    fn known(&self, data: &Path, checked: &mut ConfigurationReport) -> BTreeSet<PluginName> {
        let with_source = self.plugins.iter().filter(|(_, settings)| settings.source.is_some());
        let mut known: BTreeSet<_> = with_source.map(|(name, _)| name.clone()).chain(bundled::names()).collect();
        match AddedPlugins::of(data).list() {
            Ok(added) => known.extend(added.into_keys()),
            Err(error) => checked.problems.push(with_causes(&error)),
        }
        if let Some(folder) = &self.plugin_folder {
            match fs::read_dir(folder) {
                Ok(_) => {
                    known.extend(Folder::open(folder.clone()).files().into_iter().map(|found| found.name));
                }
                Err(error) => checked.problems.push(format!("[plugins] `folder` {}: {error}", folder.display())),
            }
        }
        known
    }

    fn check_component(
        &self,
        engine: &Engine,
        name: &PluginName,
        settings: &PluginSettings,
        checked: &mut ConfigurationReport,
    ) {
        let Some(source) = &settings.source else { return };
        let mut wrong =
            |what: String| checked.problems.push(format!("[plugin.{name}] `source` {}: {what}", source.display()));
        let component = match regular_file::read(source, self.host_limits.component_bytes) {
            Ok(bytes) => Component::new(bytes),
            Err(error) => return wrong(error.to_string()),
        };
        let digest = component.digest();
        if let Err(error) = engine.load(name.clone(), component) {
            return wrong(with_causes(&error));
        }
        match self.effective_grants(name, settings, digest) {
            Ok(effective) => {
                let told = effective.warnings.into_iter().map(|warning| format!("plugin {name} {warning}"));
                checked.warnings.extend(told);
            }
            Err(unconfirmed) => wrong(unconfirmed.to_string()),
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
