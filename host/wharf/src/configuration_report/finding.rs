//! What is found out of a configuration: one finding for each thing, in words for a person.

use serde::Serialize;
use wharf_core::PluginName;

/// What is found out of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigurationReport {
    /// What is wrong: a host would not start, or not have something that was written for it.
    pub problems: Vec<ConfigurationFinding>,
    /// What the operator should know and may have meant otherwise.
    pub warnings: Vec<ConfigurationFinding>,
    /// What the operator may want to know.
    pub notes: Vec<ConfigurationFinding>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigurationFinding {
    /// What it is about.
    pub what: ConfigurationPart,
    /// The plugin that it is about, if it is about one.
    pub plugin: Option<PluginName>,
    /// A sentence: what is so, and what to do.
    pub says: String,
}

/// What a finding is about. Its words in JSON stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ConfigurationPart {
    /// A table of a plugin.
    Plugin,
    /// The component of a plugin.
    Source,
    /// The digest that the operator confirmed.
    Pin,
    /// The patterns of the tools of a plugin that are listed.
    Tools,
    /// A secret of a plugin.
    Secret,
    /// What a plugin, or the host itself, may use.
    Grant,
    /// The folder of plugins.
    Folder,
    /// The token of a client over HTTP.
    Token,
    /// The certificate and the key of HTTP.
    Tls,
    /// A pattern of plugins or tools outside the tables of plugins.
    Pattern,
    /// The database that keeps the state.
    State,
    /// What hosts of a cluster share.
    Cluster,
    /// The collector of spans.
    Traces,
    /// The key that signs the audit.
    Audit,
    /// The browser.
    Browser,
}

impl ConfigurationPart {
    /// Its word, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Source => "source",
            Self::Pin => "pin",
            Self::Tools => "tools",
            Self::Secret => "secret",
            Self::Grant => "grant",
            Self::Folder => "folder",
            Self::Token => "token",
            Self::Tls => "tls",
            Self::Pattern => "pattern",
            Self::State => "state",
            Self::Cluster => "cluster",
            Self::Traces => "traces",
            Self::Audit => "audit",
            Self::Browser => "browser",
        }
    }

    pub(super) fn says(self, says: impl Into<String>) -> ConfigurationFinding {
        ConfigurationFinding { what: self, plugin: None, says: says.into() }
    }

    pub(super) fn of(self, plugin: &PluginName, says: impl Into<String>) -> ConfigurationFinding {
        ConfigurationFinding { what: self, plugin: Some(plugin.clone()), says: says.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_in_json_and_in_text() {
        use ConfigurationPart as Part;
        for part in [
            Part::Plugin,
            Part::Source,
            Part::Pin,
            Part::Tools,
            Part::Secret,
            Part::Grant,
            Part::Folder,
            Part::Token,
            Part::Tls,
            Part::Pattern,
            Part::State,
            Part::Cluster,
            Part::Traces,
            Part::Audit,
            Part::Browser,
        ] {
            assert_eq!(serde_json::json!(part), serde_json::json!(part.as_str()));
        }
    }
}
