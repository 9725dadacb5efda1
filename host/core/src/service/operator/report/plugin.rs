//! What is told of plugins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A plugin, and what became of it: as `wharf plugin list --json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PluginReport(pub Value);

/// Where a plugin comes from, to what its grants are bound, and what its calls may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PluginLookReport {
    /// Its name.
    pub name: String,
    /// The file that the configuration or the folder has; for a plugin that was added, what it was
    /// added from. Absent where it comes with the program, or from the app.
    pub source: Option<String>,
    /// The digest of the manifest that a reference to a registry came to.
    pub manifest: Option<String>,
    /// Who signed its component, of those whom the configuration trusts.
    pub signer: Option<String>,
    /// When it was added, where it was.
    pub added: Option<String>,
    /// In which way it was added: `command` or `operator`.
    pub added_by: Option<String>,
    /// What happens to its grants when its component is another one than `confirmed`: `digest` (it has
    /// none), `signer` (it has none, unless the same signer signed it), `refuse` (it is not loaded), `none` (it keeps them). Absent where nothing binds them.
    pub pin: Option<String>,
    /// The digest or the signer that the operator confirmed.
    pub confirmed: Option<String>,
    /// The packages of the contract that it imports, each with its version; none for a component of plain
    /// functions.
    pub contract: Vec<String>,
    /// What its builder says of it: `version`, `description`, `licenses`, `homepage`, `source`,
    /// `authors`. The host does not rely on it.
    pub says: BTreeMap<String, String>,
    /// What each of its calls may use up; none where it is not served.
    pub limits: Vec<PluginLimitReport>,
}

/// A limit of a plugin's calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PluginLimitReport {
    /// Its name under `[plugin.NAME.limits]`, which ends with its unit.
    pub name: String,
    /// What holds for the plugin.
    pub value: u64,
    /// What would hold if nothing were set.
    pub default: u64,
    /// What it bounds, and what happens there.
    pub description: String,
}
