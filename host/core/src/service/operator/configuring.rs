//! What the operator changes of the configuration of hosts, by way of the program that has its file
//! and their plugins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalRule, PluginChange, PluginChangeReport};
use crate::{Error, PluginName};

/// Reads and changes the configuration file of hosts and what is installed, as the commands of their
/// operator do: what is written there stays as it is, and hosts take what has changed. Its functions
/// block.
pub trait ConfigurationService: Send + Sync + 'static {
    /// What a plugin may use, asks for and could do with it.
    ///
    /// # Errors
    /// `not-found` where there is no such plugin; `invalid` where the configuration is not usable.
    fn grants(&self, plugin: &PluginName) -> Result<GrantsReport, Error>;

    /// Makes a change, or only says what it would come to.
    ///
    /// # Errors
    /// `invalid` with what is wrong with it, and then nothing has changed.
    fn change(&self, change: &ConfigurationChange, is_trial: bool) -> Result<ChangeReport, Error>;

    /// Changes what is installed, or only fetches and compiles what a change would bring.
    ///
    /// # Errors
    /// `invalid` with what is wrong with it, and then nothing has changed; `unavailable`, which may be
    /// tried again, while another plugin is fetched.
    fn install(&self, change: &PluginChange, is_trial: bool) -> Result<PluginChangeReport, Error>;
}

/// A change of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ConfigurationChange {
    /// Grants what `wharf grant` does with these flags.
    Grant {
        /// The plugin.
        plugin: String,
        /// What `--allow` takes, such as `process=git,make` or `process.network`.
        allow: Vec<String>,
        /// Why, for later readers of the configuration.
        reason: String,
        /// Until when, as `--expires` takes it; for ever where absent.
        expires: Option<String>,
    },
    /// Takes a capability back, or `all`.
    Revoke {
        /// The plugin.
        plugin: String,
        /// Which.
        capability: String,
    },
    /// Lets the component as it is now have what is granted to the one before.
    Confirm {
        /// The plugin.
        plugin: String,
    },
    /// Has calls of a tool wait for nobody: adds it to `always` under `[approvals]`.
    AlwaysAllow {
        /// Its full name.
        tool: String,
    },
    /// Has this very command or origin wait for nobody: adds it to `always_commands` or
    /// `always_origins` under `[approvals]`.
    AlwaysAllowAct(ApprovalRule),
}

/// What a change comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeReport {
    /// The file, or that it is the tables of all hosts of a cluster.
    pub place: String,
    /// The lines that change, as a unified difference; empty where nothing does.
    pub difference: String,
    /// Whether it was written.
    pub is_written: bool,
}

/// What a plugin may use.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GrantsReport {
    /// The plugin.
    pub plugin: String,
    /// Its component.
    pub digest: String,
    /// Why it has none of the grants that are written for it, where that is so.
    pub withheld: Option<String>,
    /// Every capability that there is.
    pub capabilities: Vec<CapabilityReport>,
}

/// A capability, as a plugin has it or asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CapabilityReport {
    /// Its name.
    pub capability: String,
    /// What a plugin that has it can do, in plain words.
    pub can: String,
    /// How much harm that may do.
    pub risk: String,
    /// Whether the component asks for it.
    pub is_wanted: bool,
    /// Why, in the words of the component.
    pub wanted_because: Option<String>,
    /// What is granted, as `wharf.toml` has it; absent where nothing is.
    pub granted: Option<Value>,
    /// How often the plugin has asked for it and was denied, since the host was opened.
    pub denials: u64,
}
