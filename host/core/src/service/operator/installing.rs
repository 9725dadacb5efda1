//! What the operator adds, replaces and removes among the plugins, by way of the program that keeps them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of what is installed. Where a digest is named, any other component is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PluginChange {
    /// Adds a plugin, as `wharf plugin add` does.
    Add {
        /// A file of the host, an `https:` address, or `oci://REGISTRY/NAME:TAG`.
        source: String,
        /// What it is called; by its source where absent.
        name: Option<String>,
        /// The component that is expected: `blake3:HEX`.
        digest: Option<String>,
        /// Whether updates, too, accept the component with that digest alone.
        #[serde(default)]
        pinned: bool,
        /// Whether each function that it exports is a tool.
        #[serde(default)]
        functions: bool,
    },
    /// Fetches one again that was added, as `wharf plugin update` does.
    Update {
        /// The plugin.
        plugin: String,
        /// Another source than it came from.
        source: Option<String>,
        /// The component that is expected: `blake3:HEX`.
        digest: Option<String>,
        /// Whether it has what is granted to the one before.
        #[serde(default)]
        confirm: bool,
    },
    /// Removes one that was added, as `wharf plugin remove` does.
    Remove {
        /// The plugin.
        plugin: String,
    },
}

/// What a change of the plugins comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PluginChangeReport {
    /// The plugin.
    pub plugin: String,
    /// The component that is there then; absent for one that is removed.
    pub component: Option<FoundComponent>,
    /// The digest of the component before, where there was one.
    pub before: Option<String>,
    /// Whether it was done.
    pub is_done: bool,
}

/// A component that was fetched, compiled and asked what it is, with nothing granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundComponent {
    /// Where it came from.
    pub source: String,
    /// Its digest.
    pub digest: String,
    /// The digest of the manifest that a reference to a registry came to.
    pub manifest: Option<String>,
    /// Who signed it, of those whom the configuration trusts.
    pub signer: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Its tools.
    pub tools: Vec<String>,
    /// What it imports.
    pub imports: Vec<String>,
    /// The capabilities that it asks for.
    pub wanted_grants: Vec<String>,
    /// Those of them that the component before did not ask for.
    pub newly_wanted: Vec<String>,
    /// The capabilities that it has.
    pub grants: Vec<String>,
}
