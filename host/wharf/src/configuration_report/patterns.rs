//! Patterns of plugins and tools outside the tables of plugins: one that matches nothing lets
//! a client use nothing, or has no call wait.

use std::collections::{BTreeMap, BTreeSet};

use wharf_core::{PluginName, tool::ToolSelection};

use super::components::PluginFacts;
use crate::{
    configuration::{Configuration, TokenSettings},
    configuration_report::finding::{ConfigurationFinding, ConfigurationPart as Part, ConfigurationReport},
    nearest::nearest,
    tool_name::{FRONT_END_PREFIX, SEPARATOR},
};

/// How like a name has to be to be what was meant.
const ALIKE: f64 = 0.75;

impl Configuration {
    /// Whether a pattern outside the tables of plugins is one of tools.
    pub(super) fn names_tools(&self) -> bool {
        self.approvals.patterns().next().is_some()
            || self.audit.record_arguments.is_some()
            || self.http.tokens.iter().any(|token| !token.rights.tools.is_all())
    }

    /// A name that a client over HTTP may use and that is no plugin's lets it use nothing; one of
    /// `[approvals]` that is no tool's has no call wait.
    pub(super) fn check_patterns(
        &self,
        known: &BTreeSet<PluginName>,
        facts: &BTreeMap<PluginName, PluginFacts>,
        checked: &mut ConfigurationReport,
    ) {
        let own = [PluginName::host(), PluginName::app()];
        let sight = PatternSight { names: known.iter().chain(&own).map(PluginName::as_str).collect(), facts };
        let named = |token: &TokenSettings| format!("[[http.tokens]] {:?}", token.name);
        let tokens = self.http.tokens.iter().map(|token| (named(token), &token.rights.plugins));
        let oauth = self.http.oauth.iter().map(|oauth| ("[http.oauth]".to_owned(), &oauth.plugins));
        for (table, patterns) in tokens.chain(oauth) {
            for pattern in patterns.iter().flatten() {
                sight.check_plugin(&format!("{table} `plugins`"), pattern, checked);
            }
        }
        let tools = facts.values().flat_map(|facts| &facts.tools).map(String::as_str);
        for token in &self.http.tokens {
            for pattern in token.rights.tools.unmatched(tools.clone()) {
                let table = format!("{} `tools` or `skip_tools`:", named(token));
                sight.tell_unmatched(&table, &pattern, checked);
            }
        }
        for pattern in self.audit.record_arguments.iter().flat_map(|recorded| recorded.unmatched(tools.clone())) {
            sight.tell_unmatched("[audit] `record_arguments`:", &pattern, checked);
        }
        for pattern in self.approvals.unmatched(tools) {
            sight.tell_unmatched("[approvals]", &pattern, checked);
        }
    }
}

struct PatternSight<'s> {
    /// Of plugins.
    names: Vec<&'s str>,
    facts: &'s BTreeMap<PluginName, PluginFacts>,
}

impl PatternSight<'_> {
    fn check_plugin(&self, table: &str, pattern: &str, checked: &mut ConfigurationReport) {
        // Front ends (`app_NAME`) come later.
        if pattern.starts_with(FRONT_END_PREFIX) || self.names.contains(&pattern) {
            return;
        }
        if !has_wildcard(pattern) {
            return self.tell(&format!("{table} names `{pattern}`, which is no plugin"), pattern, &self.names, checked);
        }
        let selection = ToolSelection::new(Some(vec![pattern.to_owned()]), Vec::new());
        if selection.is_ok_and(|selection| !self.names.iter().any(|name| selection.selects(name))) {
            checked.warnings.push(Part::Pattern.says(format!(
                "{table} has `{pattern}`, which matches no plugin yet: it has no effect until there is one"
            )));
        }
    }

    /// Says that a pattern matches no tool, unless nobody can know.
    fn tell_unmatched(&self, table: &str, pattern: &str, checked: &mut ConfigurationReport) {
        let plugin = pattern.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        if pattern.starts_with(FRONT_END_PREFIX) || plugin == Some(PluginName::app().as_str()) {
            return;
        }
        let told = |of: &str| format!("{table} `{pattern}` matches no tool{of}");
        let all = || self.facts.values().flat_map(|facts| &facts.tools).map(String::as_str).collect::<Vec<_>>();
        match plugin.filter(|plugin| !has_wildcard(plugin)) {
            Some(plugin) if !self.names.contains(&plugin) => {
                let told = format!("{table} `{pattern}` names `{plugin}`, which is no plugin");
                self.tell(&told, plugin, &self.names, checked);
            }
            Some(plugin) => {
                // Why a plugin is not loaded is told elsewhere.
                let Some((_, facts)) = self.facts.iter().find(|(name, _)| name.as_str() == plugin) else { return };
                let mut finding = Part::Pattern.says(told(&format!(" of `{plugin}`")));
                let tools: Vec<_> = facts.tools.iter().map(String::as_str).collect();
                match nearest(pattern, &tools, 1, ALIKE).first() {
                    Some(meant) => finding.says.push_str(&format!(" (did you mean `{meant}`?)")),
                    None => finding.says.push_str("; `wharf tools` lists them by the names that count"),
                }
                checked.problems.push(finding);
            }
            None if has_wildcard(pattern) => {
                checked.warnings.push(Part::Pattern.says(told(" yet: it has no effect until there is one")))
            }
            None => self.tell(&told(""), pattern, &all(), checked),
        }
    }

    /// A problem where it was probably meant for something else that is there; otherwise it may be added yet.
    fn tell(&self, told: &str, name: &str, names: &[&str], checked: &mut ConfigurationReport) {
        let finding = |says: String| -> ConfigurationFinding { Part::Pattern.says(says) };
        match nearest(name, names, 1, ALIKE).first() {
            Some(meant) => checked.problems.push(finding(format!("{told} (did you mean `{meant}`?)"))),
            None => checked.warnings.push(finding(format!("{told}: it has no effect until there is one"))),
        }
    }
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}
