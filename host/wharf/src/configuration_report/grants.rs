//! What is granted, against what is there: files, what components can use, and what the
//! profile gives without a word.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use wharf_core::{Grants, PluginName, grant::Capability};

use super::components::PluginFacts;
use crate::{
    bundled,
    configuration::{Configuration, PluginSettings},
    configuration_report::finding::{ConfigurationPart as Part, ConfigurationReport},
};

impl Configuration {
    pub(super) fn check_grants(&self, facts: &BTreeMap<PluginName, PluginFacts>, checked: &mut ConfigurationReport) {
        for (name, settings) in self.plugins.iter().filter(|(_, settings)| settings.enabled) {
            if let Some(grants) = &settings.grants {
                check_folders(name, grants, checked);
                if let Some(facts) = facts.get(name) {
                    warn_of_useless(name, grants, facts, checked);
                }
                self.compare_with_profile(name, settings, grants, checked);
            }
        }
        check_folders(&PluginName::host(), &self.host_grants(), checked);
    }

    /// A table of grants stands in the place of all that the profile gives.
    fn compare_with_profile(
        &self,
        name: &PluginName,
        settings: &PluginSettings,
        written: &Grants,
        checked: &mut ConfigurationReport,
    ) {
        if settings.source.is_some() || bundled::find(name.as_str()).is_none() {
            return;
        }
        let given = self.profile.grants(name.as_str());
        let lost = Capability::ALL.into_iter().filter(|of| given.names(*of) && !written.names(*of));
        let lost: Vec<_> = lost.map(|capability| format!("`{capability}`")).collect();
        let profile = self.profile.as_str();
        if !lost.is_empty() {
            let says = format!(
                "[plugin.{name}.grants] stands in the place of all that the profile `{profile}` grants, so {name} has no \
                 {}",
                lost.join(" and no ")
            );
            checked.notes.push(Part::Grant.of(name, says));
        } else if without_reasons(written).is_some_and(|written| Some(written) == without_reasons(&given)) {
            let says =
                format!("[plugin.{name}.grants] says what the profile `{profile}` grants anyway; it can be taken out");
            checked.notes.push(Part::Grant.of(name, says));
        }
    }
}

/// Grants as they are compared.
fn without_reasons(grants: &Grants) -> Option<Value> {
    let mut value = serde_json::to_value(grants).ok()?;
    for granted in value.as_object_mut()?.values_mut().filter_map(Value::as_object_mut) {
        granted.remove("reason");
    }
    Some(value)
}

fn warn_of_useless(name: &PluginName, grants: &Grants, facts: &PluginFacts, checked: &mut ConfigurationReport) {
    let useless = Capability::ALL.into_iter().filter(|of| grants.names(*of) && !facts.inspection.has_use_for(*of));
    checked.warnings.extend(useless.map(|capability| {
        let says = format!(
            "[plugin.{name}.grants.{capability}] has no effect: the component has no import that leads there; take the \
             table out"
        );
        Part::Grant.of(name, says)
    }));
}

/// Whether the files and folders are there that a plugin is granted.
fn check_folders(name: &PluginName, grants: &Grants, checked: &mut ConfigurationReport) {
    let absent = |what: &str, path: &Path, error: &std::io::Error, then: &str| {
        let says = format!("[plugin.{name}.grants.{what} {}: {error}; {then}", path.display());
        Part::Grant.of(name, says)
    };
    let process =
        grants.process.iter().flat_map(|grant| &grant.children.readable).map(|path| ("process] `readable`", path));
    let terminal = grants.terminal.iter().flat_map(|grant| &grant.readable).map(|path| ("terminal] `readable`", path));
    for (what, path) in process.chain(terminal) {
        // Every process would fail to start that is to see it.
        if let Err(error) = fs::metadata(path) {
            let then = "none of its programs starts until it is there, or is taken out";
            checked.problems.push(absent(what, path, &error, then));
        }
    }
    for folder in grants.workspace.iter().flat_map(|grant| &grant.exchange) {
        // It may be on a disk that comes and goes, and keeps nothing else from working.
        if let Err(error) = fs::read_dir(&folder.path) {
            let then = "its files cannot be had until it is there";
            checked.warnings.push(absent("workspace] `exchange`", &folder.path, &error, then));
        }
    }
}
