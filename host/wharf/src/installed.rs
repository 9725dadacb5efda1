//! A plugin with what the operator decided about it, and what became of plugins that are
//! not served.
//!
//! Knows no other plugin and no caller.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use wharf_core::{Digest, PluginName, Tool, audit::MAX_CHANGE_BYTES, service::Viewer, tool::ToolSelection};
use wharf_engine::{Plugin, PluginPolicy};
use wharf_trust::Evidence;

use crate::{
    configuration::Unconfirmed,
    tool_name::{SEPARATOR, full_name},
};

/// Where a plugin comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It is part of this binary.
    Bundled,
    /// `wharf.toml` names its file.
    Configuration {
        /// The file.
        file: PathBuf,
    },
    /// It was added by command and is kept in the data directory.
    Added,
    /// It lies in the folder of plugins.
    Folder {
        /// The file.
        file: PathBuf,
    },
    /// The embedding app loaded it.
    App,
}

impl Origin {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Configuration { .. } => "configuration",
            Self::Added => "added",
            Self::Folder { .. } => "folder",
            Self::App => "app",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled => formatter.write_str("the plugin that is part of this binary"),
            Self::Configuration { file } | Self::Folder { file } => write!(formatter, "{}", file.display()),
            Self::Added => formatter.write_str("the plugin that was added"),
            Self::App => formatter.write_str("the plugin that the app loaded"),
        }
    }
}

/// A plugin with what the operator decided about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Installed {
    /// The plugin itself.
    pub plugin: Plugin,
    /// Where it comes from.
    pub origin: Origin,
    /// What the operator gives it: what it may use, what its calls may use up, its settings.
    pub policy: Arc<PluginPolicy>,
    /// Why that is nothing although the configuration grants something: the component
    /// is not the one that the operator confirmed.
    pub withheld: Option<Unconfirmed>,
    /// Who signed its component, of those whom `[plugins] trust` names.
    pub evidence: Option<Evidence>,
    /// Whether its tools are listed as `plugin__tool`, or under their own names.
    pub prefix: bool,
    /// Which of its tools are listed and can be called, by their own names.
    pub tools: ToolSelection,
    /// How long it took to read, compile and prepare it; nothing where it was there
    /// already.
    pub took: Duration,
}

impl Installed {
    /// The name under which a client sees one of its tools or prompts.
    #[must_use]
    pub fn listed_name(&self, tool: &str) -> String {
        if self.prefix { full_name(self.plugin.name(), tool) } else { tool.to_owned() }
    }

    /// Its tools that are listed and can be called, each with its place among all of them.
    pub(crate) fn selected(&self) -> impl Iterator<Item = (usize, &Tool)> {
        self.plugin.tools().iter().enumerate().filter(|(_, tool)| self.tools.selects(&tool.definition.name))
    }

    /// Whether the viewer may use it.
    pub(crate) fn is_seen_by(&self, viewer: Viewer<'_>) -> bool {
        viewer.allows(self.plugin.name().as_str())
    }

    /// Names its component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.plugin.digest()
    }

    /// Whether calls of it are the same as those of another one.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.plugin.name() == other.plugin.name()
            && self.digest() == other.digest()
            && self.origin == other.origin
            && self.withheld == other.withheld
            && self.evidence == other.evidence
            && self.policy == other.policy
            && self.prefix == other.prefix
            && self.tools == other.tools
    }

    /// Why it cannot stand beside another one. Names with a prefix are those of one
    /// plugin alone.
    pub(crate) fn conflict(&self, other: &Self) -> Option<String> {
        if self.prefix || other.prefix {
            return None;
        }
        let taken = |name: &&str| other.selected().any(|(_, tool)| tool.definition.name == *name);
        let asked = |name: &&str| other.plugin.prompts().iter().any(|prompt| prompt.name == *name);
        let mut tools = self.selected().map(|(_, tool)| tool.definition.name.as_str());
        let mut prompts = self.plugin.prompts().iter().map(|prompt| prompt.name.as_str());
        let tool = tools.find(taken).map(|name| ("tool", name));
        let (what, name) = tool.or_else(|| prompts.find(asked).map(|name| ("prompt", name)))?;
        let (own, other) = (self.plugin.name(), other.plugin.name());
        Some(format!(
            "its {what} `{name}` is listed without a prefix, and so is that of the plugin {other}; take \
             `prefix = false` out of [plugin.{own}] or of [plugin.{other}]"
        ))
    }
}

/// A plugin whose component is compiled while the host serves, or waits for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiling {
    pub(crate) name: PluginName,
    pub(crate) origin: Origin,
    /// Names the component that was there when the host was opened.
    pub(crate) digest: Digest,
    /// As [`Installed::prefix`].
    pub(crate) prefix: bool,
    /// How long a call of it may take, and so how long one waits for it.
    pub(crate) patience: Duration,
}

impl Compiling {
    /// Whether a tool may be listed under this name once it is compiled, for this viewer.
    pub(crate) fn may_have(&self, viewer: Viewer<'_>, listed: &str) -> bool {
        self.may_offer(viewer, listed) && viewer.allows_tool(listed)
    }

    /// The same of a prompt.
    pub(crate) fn may_offer(&self, viewer: Viewer<'_>, listed: &str) -> bool {
        let of_plugin = listed.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        // Names without a prefix have no separator.
        let named = if self.prefix { of_plugin == Some(self.name.as_str()) } else { of_plugin.is_none() };
        named && viewer.allows(self.name.as_str())
    }
}

/// A plugin that could not be loaded. The others are served all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its name in the configuration.
    pub name: PluginName,
    /// Why, for the operator.
    pub reason: String,
}

impl Rejected {
    /// Why, as one line of the audit.
    pub(crate) fn shown(&self) -> String {
        wharf_core::text::line(&self.reason, MAX_CHANGE_BYTES)
    }
}

/// A bundled plugin that is granted nothing and so can do nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Off {
    /// Its name.
    pub name: PluginName,
    /// Whether the profile `developer` would grant it something.
    pub developer: bool,
}
