//! What the host knows of its plugins: those that can be called, and why others
//! cannot.

use std::time::Duration;

use wharf_core::{Digest, PluginName, audit::Replaced};
use wharf_trust::Signer;

use crate::{
    configuration::{granted_names, replaced_grants},
    installed::{Compiling, Installed, Off, Origin, Rejected},
    offers::clash,
};

/// A plugin that is switched off.
#[derive(Debug, Clone)]
pub(crate) struct Disabled {
    pub(crate) name: PluginName,
    pub(crate) origin: Origin,
    /// Whether `wharf.toml` switched it off, and not somebody while the host ran.
    pub(crate) by_configuration: bool,
    /// The plugin of an app, which nobody else could load again.
    pub(crate) kept: Option<Installed>,
}

impl Disabled {
    /// Who switched it off, and what switches it on.
    pub(crate) fn reason(&self) -> String {
        match self.by_configuration {
            true => format!("wharf.toml says `enabled = false` under [plugin.{}]", self.name),
            false => format!("`wharf plugin enable {}` switches it on", self.name),
        }
    }
}

/// What has happened to a plugin.
pub(crate) struct PluginChange {
    pub(crate) word: &'static str,
    pub(crate) name: PluginName,
    pub(crate) digest: Option<Digest>,
    /// Who signed its component.
    pub(crate) signer: Option<Signer>,
    /// What it may use from now on, or why it was rejected.
    pub(crate) said: Option<String>,
    /// The grants that are others now, where it had any before or has any now.
    pub(crate) replaced: Option<Replaced>,
    /// How long it took to make it ready.
    pub(crate) took: Duration,
}

/// The word for one that is gone.
pub(crate) const UNLOADED: &str = "unloaded";
/// What has happened to one that could not be loaded.
pub(crate) const REJECTED: &str = "rejected";

/// What is known of all plugins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plugins {
    pub(crate) installed: Vec<Installed>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) off: Vec<Off>,
    pub(crate) disabled: Vec<Disabled>,
    /// What will be one of the others soon.
    pub(crate) compiling: Vec<Compiling>,
    /// A table of the configuration that was probably meant for another plugin.
    pub(crate) misspelt: Option<String>,
}

impl Plugins {
    /// Adds a plugin beside those that are there; one that cannot stand beside them
    /// is rejected.
    pub(crate) fn add(&mut self, plugin: Installed) {
        match self.conflict(&plugin) {
            None => self.installed.push(plugin),
            Some(reason) => self.reject(plugin.plugin.name().clone(), reason),
        }
    }

    pub(crate) fn find(&self, name: &PluginName) -> Option<&Installed> {
        self.installed.iter().find(|installed| installed.plugin.name() == name)
    }

    /// Takes over all that was found out of one name, of which nothing is known here.
    pub(crate) fn take(&mut self, found: Self) {
        let Self { installed, rejected, off, disabled, compiling, misspelt: _ } = found;
        for plugin in installed {
            self.add(plugin);
        }
        self.rejected.extend(rejected);
        self.off.extend(off);
        self.disabled.extend(disabled);
        self.compiling.extend(compiling);
    }

    /// The plugin of this name, where it is being compiled.
    pub(crate) fn compiling(&self, name: &PluginName) -> Option<&Compiling> {
        self.compiling.iter().find(|compiling| compiling.name == *name)
    }

    /// Whether anything is known by this name.
    pub(crate) fn knows(&self, name: &PluginName) -> bool {
        self.find(name).is_some()
            || self.rejected.iter().any(|rejected| rejected.name == *name)
            || self.off.iter().any(|off| off.name == *name)
            || self.disabled.iter().any(|disabled| disabled.name == *name)
            || self.compiling(name).is_some()
    }

    /// Takes out all that is known by this name.
    pub(crate) fn forget(&mut self, name: &PluginName) {
        self.installed.retain(|installed| installed.plugin.name() != name);
        self.rejected.retain(|rejected| rejected.name != *name);
        self.off.retain(|off| off.name != *name);
        self.disabled.retain(|disabled| disabled.name != *name);
        self.compiling.retain(|compiling| compiling.name != *name);
    }

    /// The same with those that the app has loaded into `present`, which come first:
    /// nobody but the app takes them away.
    pub(crate) fn beside_those_of_the_app(self, present: &Self) -> Self {
        let of_app = |installed: &&Installed| installed.origin == Origin::App;
        let mut plugins = Self {
            installed: present.installed.iter().filter(of_app).cloned().collect(),
            disabled: present.disabled.iter().filter(|disabled| disabled.kept.is_some()).cloned().collect(),
            ..Self::default()
        };
        let is_taken = |name: &PluginName| {
            present.disabled.iter().any(|disabled| disabled.kept.is_some() && disabled.name == *name)
                || present.installed.iter().filter(of_app).any(|installed| installed.plugin.name() == name)
        };
        let Self { installed, rejected, off, disabled, compiling, misspelt: _ } = self;
        for plugin in installed {
            match is_taken(plugin.plugin.name()) {
                false => plugins.add(plugin),
                true => plugins.reject(plugin.plugin.name().clone(), "the app has loaded a plugin of this name".into()),
            }
        }
        plugins.rejected.extend(rejected);
        plugins.off.extend(off.into_iter().filter(|off| !is_taken(&off.name)));
        plugins.disabled.extend(disabled.into_iter().filter(|disabled| !is_taken(&disabled.name)));
        plugins.compiling.extend(compiling.into_iter().filter(|compiling| !is_taken(&compiling.name)));
        plugins.sorted()
    }

    /// By name, whatever came first.
    pub(super) fn sorted(mut self) -> Self {
        self.installed.sort_by(|one, other| one.plugin.name().cmp(other.plugin.name()));
        self.rejected.sort_by(|one, other| one.name.cmp(&other.name));
        self.off.sort_by(|one, other| one.name.cmp(&other.name));
        self.disabled.sort_by(|one, other| one.name.cmp(&other.name));
        self.compiling.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }

    /// What has happened since `before`, for the audit.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<PluginChange> {
        let mut happened = Vec::new();
        let mut note = |word, name: &PluginName, digest, said, replaced, took| {
            let signer = self.find(name).and_then(|now| Some(now.evidence.as_ref()?.signer.clone()));
            happened.push(PluginChange { word, name: name.clone(), digest, signer, said, replaced, took });
        };
        for now in &self.installed {
            let (name, digest) = (now.plugin.name(), now.digest());
            let old = before.find(name);
            let word = match old {
                None => "loaded",
                Some(old) if old.digest() != digest => "replaced",
                Some(old) if old.policy.grants != now.policy.grants => "granted",
                Some(_) => continue,
            };
            let granted = granted_names(&now.policy.grants);
            let may_use = if granted.is_empty() { "nothing".to_owned() } else { granted.join(", ") };
            let replaced = replaced_grants(old.map(|old| &*old.policy.grants), Some(&now.policy.grants));
            note(word, name, Some(digest), Some(may_use), replaced, now.took);
        }
        for old in before.installed.iter().filter(|old| self.find(old.plugin.name()).is_none()) {
            let replaced = replaced_grants(Some(&old.policy.grants), None);
            note(UNLOADED, old.plugin.name(), Some(old.digest()), None, replaced, Duration::ZERO);
        }
        for rejected in self.rejected.iter().filter(|rejected| !before.rejected.contains(rejected)) {
            note(REJECTED, &rejected.name, None, Some(rejected.shown()), None, Duration::ZERO);
        }
        happened
    }

    /// Whether all is the same, for clients and for the operator.
    pub(crate) fn are_like(&self, other: &Self) -> bool {
        let names = |plugins: &Self| -> Vec<_> {
            let disabled = plugins.disabled.iter().map(|disabled| (disabled.name.clone(), disabled.by_configuration));
            disabled.collect()
        };
        self.installed.len() == other.installed.len()
            && self.installed.iter().zip(&other.installed).all(|(one, other)| one.is_like(other))
            && self.rejected == other.rejected
            && self.off == other.off
            && names(self) == names(other)
            && self.compiling == other.compiling
    }

    pub(crate) fn reject(&mut self, name: PluginName, reason: String) {
        let reason = wharf_core::text::visible(reason);
        tracing::error!(target: REFUSED, plugin = %name, "cannot be loaded: {reason}");
        self.rejected.push(Rejected { name, reason });
    }

    /// Why a plugin cannot stand beside those of other names.
    pub(crate) fn conflict(&self, plugin: &Installed) -> Option<String> {
        let others = self.installed.iter().filter(|other| other.plugin.name() != plugin.plugin.name());
        others.filter_map(|other| plugin.conflict(other)).next().or_else(|| clash(&plugin.plugin, &self.installed))
    }
}

/// What the log says of plugins that are not served, or may use nothing, has this target.
pub(crate) const REFUSED: &str = "wharf::refused";
