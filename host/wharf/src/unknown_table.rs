//! Tables of `wharf.toml` that are about a plugin which is nowhere: a slip in a name
//! would leave a plugin as it is by default, on and with its grants.

use std::collections::BTreeSet;

use wharf_core::PluginName;

use crate::{configuration::Configuration, nearest::nearest};

/// How like a name has to be to be what was meant.
const ALIKE: f64 = 0.75;

/// A table that is about no plugin.
pub(crate) struct UnknownTable {
    pub(crate) name: PluginName,
    /// What is wrong, and what to do.
    pub(crate) reason: String,
    /// Whether it was probably meant for a plugin that has no table, which then goes on
    /// as if nothing were said of it.
    pub(crate) is_misspelt: bool,
}

/// The tables that are about none of these plugins.
pub(crate) fn tables(configuration: &Configuration, known: &BTreeSet<PluginName>) -> Vec<UnknownTable> {
    let written = &configuration.plugins;
    let unknown = written.iter().filter(|(name, _)| !known.contains(*name));
    unknown
        .map(|(name, settings)| {
            let names: Vec<_> = known.iter().map(PluginName::as_str).collect();
            let meant = nearest(name.as_str(), &names, 1, ALIKE).first().copied().or_else(|| whole_of(name, &names));
            let hint = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
            let says = if settings.enabled { "says what it may use" } else { "switches it off" };
            let reason = format!(
                "wharf.toml {says}, and there is no such plugin{hint}: name its file with `source` under [plugin.{name}], \
                 add it with `wharf plugin add SOURCE --name {name}`, or take the table out"
            );
            let has_table = |meant: &str| written.keys().any(|written| written.as_str() == meant);
            // What was to be off stays on, whatever else is said of it.
            let is_misspelt = meant.is_some_and(|meant| !settings.enabled || !has_table(meant));
            UnknownTable { name: name.clone(), reason, is_misspelt }
        })
        .collect()
}

/// The one plugin whose name begins with this one and goes on behind a hyphen, as
/// `content-store` does with `content`.
fn whole_of<'n>(name: &PluginName, names: &[&'n str]) -> Option<&'n str> {
    let mut whole =
        names.iter().filter(|known| known.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-')));
    whole.next().copied().filter(|_| whole.next().is_none())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn unknown(text: &str) -> Vec<(String, bool)> {
        let known = ["browser", "content-store", "planning"].iter().filter_map(|name| name.parse().ok()).collect();
        let configuration = Configuration::parse(text, Path::new("/")).expect("parses");
        tables(&configuration, &known).into_iter().map(|table| (table.reason, table.is_misspelt)).collect()
    }

    #[test]
    fn a_table_for_nobody_is_told_with_the_nearest_name() {
        for lines in ["enabled = false", "limits = {host_calls = 1}", "grants = {}"] {
            let told = unknown(&format!("[plugin.brwser]\n{lines}"));
            assert!(told.len() == 1 && told[0].0.contains("`browser`") && told[0].1, "{lines}: {told:?}");
        }
        let told = unknown("[plugin.content]\nenabled = false");
        assert!(told[0].0.contains("`content-store`") && told[0].1, "{told:?}");
        let told = unknown("[plugin.brwser]\nenabled = false\n[plugin.browser]");
        assert!(told[0].1, "what was to be off stays on: {told:?}");
        let told = unknown("[plugin.brwser]\ngrants = {}\n[plugin.browser]\n[plugin.greeter]");
        assert!(told.len() == 2 && told.iter().all(|(_, is_misspelt)| !is_misspelt), "{told:?}");
        assert!(told[1].0.contains("plugin add SOURCE --name greeter") && !told[1].0.contains("did you mean"));
        assert!(unknown("[plugin.browser]\nenabled = false").is_empty());
    }
}
