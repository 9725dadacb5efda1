//! The permissions that other Wasm tool servers keep beside a component: a policy file of
//! the format of MCP policies 1.x, as Wassette writes it.
//!
//! Owns the form of such a file, and how it is read within bounds. What it comes to here is
//! [`translation`]'s.

pub(super) mod network;
pub(super) mod storage;
#[cfg(test)]
mod tests;
pub(super) mod translation;

use std::path::Path;

use serde::{Deserialize, de::IgnoredAny};
use wharf::sources::read_component;

/// What a policy may have; those that there are have some kilobytes.
const MOST_BYTES: u64 = 256 << 10;
/// How deep it may nest; the format has seven levels.
const MOST_DEPTH: usize = 16;
/// Values that it may have, each repetition by an alias counted.
const MOST_NODES: usize = 20_000;
/// Rules of all kinds that it may have: each is told in a line.
const MOST_RULES: usize = 1_000;
/// Bytes of a problem that are shown.
const PROBLEM_BYTES: usize = 1_000;
/// Bytes of the description that are taken over as the reason.
const DESCRIPTION_BYTES: usize = 300;

/// Why a policy cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PolicyError {
    /// The file cannot be read.
    #[error("cannot read the policy {path}")]
    File { path: String, source: std::io::Error },
    /// It is too long.
    #[error("the policy {path} has more than {MOST_BYTES} bytes")]
    TooLarge { path: String },
    /// It is no YAML, or has what the format does not.
    #[error("the policy {path} is not usable: {problem}")]
    Text { path: String, problem: String },
    /// Another version.
    #[error("the policy {path} has the version `{version}`; 1.x is known, such as version: \"1.0\"")]
    Version { path: String, version: String },
    /// A rule that says nothing.
    #[error("the policy {path}: {problem}")]
    Rule { path: String, problem: String },
}

/// A policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    /// Editors look there.
    #[serde(rename = "$schema", default)]
    _schema: IgnoredAny,
    version: String,
    description: Option<String>,
    permissions: Option<Permissions>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Permissions {
    pub(super) storage: Option<Rules<StorageRule>>,
    pub(super) network: Option<Rules<NetworkRule>>,
    pub(super) environment: Option<EnvironmentRules>,
    pub(super) runtime: Option<RuntimeSettings>,
    pub(super) resources: Option<ResourceLimits>,
    pub(super) ipc: Option<Rules<IpcRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules<T> {
    #[serde(default = "none")]
    allow: Option<Vec<T>>,
    #[serde(default = "none")]
    deny: Option<Vec<T>>,
}

fn none<T>() -> Option<T> {
    None
}

impl<T> Rules<T> {
    pub(super) fn allow(&self) -> &[T] {
        self.allow.as_deref().unwrap_or_default()
    }

    pub(super) fn deny(&self) -> &[T] {
        self.deny.as_deref().unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.allow().len() + self.deny().len()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageRule {
    pub(super) uri: String,
    pub(super) access: Vec<AccessKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AccessKind {
    Read,
    Write,
}

/// One of the three is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkRule {
    pub(super) host: Option<String>,
    pub(super) cidr: Option<String>,
    /// A list of hosts that is kept with the format.
    pub(super) defaults: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentRules {
    allow: Option<Vec<EnvironmentRule>>,
}

impl EnvironmentRules {
    pub(super) fn allow(&self) -> &[EnvironmentRule] {
        self.allow.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentRule {
    pub(super) key: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IpcRule {
    pub(super) uri: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeSettings {
    pub(super) docker: Option<DockerSettings>,
    pub(super) wasm: Option<WasmSettings>,
    /// The format leaves open what is in it.
    pub(super) hyperlight: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DockerSettings {
    pub(super) security: Option<DockerSecurity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DockerSecurity {
    pub(super) privileged: Option<bool>,
    #[serde(rename = "no_new_privileges")]
    _no_new_privileges: Option<bool>,
    pub(super) capabilities: Option<DockerCapabilities>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DockerCapabilities {
    #[serde(rename = "drop")]
    _drop: Option<Vec<String>>,
    pub(super) add: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WasmSettings {
    #[serde(rename = "engine")]
    _engine: String,
    #[serde(rename = "module")]
    _module: Option<String>,
    pub(super) wasi: Option<WasiSettings>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WasiSettings {
    pub(super) inherit_env: Option<bool>,
    pub(super) args: Option<Vec<String>>,
    pub(super) preopens: Option<Vec<WasiPreopen>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WasiPreopen {
    pub(super) host_path: String,
    pub(super) guest_path: String,
    #[serde(rename = "access")]
    _access: Vec<AccessKind>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceLimits {
    pub(super) cpu: Option<Amount>,
    /// Megabytes, where it is a number.
    pub(super) memory: Option<Amount>,
    pub(super) io: Option<Amount>,
    /// The same in the words of Kubernetes; it decides.
    pub(super) limits: Option<QuantityLimits>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuantityLimits {
    pub(super) cpu: Option<Amount>,
    pub(super) memory: Option<Amount>,
}

/// A number, or a text such as `512Mi`; as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Amount(pub(super) String);

impl Policy {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, PolicyError> {
        let shown = path.display().to_string();
        let failed = |source| PolicyError::File { path: shown.clone(), source };
        let bytes = read_component(path, MOST_BYTES).map_err(failed)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(PolicyError::TooLarge { path: shown });
        }
        Self::parse(&bytes, &shown)
    }

    fn parse(bytes: &[u8], shown: &str) -> Result<Self, PolicyError> {
        let budget = serde_saphyr::budget! {
            max_depth: MOST_DEPTH,
            max_nodes: MOST_NODES,
            max_events: 4 * MOST_NODES,
            max_documents: 1,
            // The format needs neither; what repeats itself is written out.
            max_aliases: 100,
            max_anchors: 100,
            max_recorded_anchor_bytes: usize::try_from(MOST_BYTES).unwrap_or(usize::MAX),
        };
        let options = serde_saphyr::options! {
            budget: budget,
            merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MOST_NODES, max_replay_stack_depth: 8 },
            with_snippet: false,
        };
        let policy: Self = serde_saphyr::from_slice_with_options(bytes, options).map_err(|error| {
            // One line, and nothing of the file that a terminal would obey.
            let problem = wharf::text::line(&error.to_string().replace('\n', " "), PROBLEM_BYTES);
            PolicyError::Text { path: shown.to_owned(), problem }
        })?;
        policy.check(shown)?;
        Ok(policy)
    }

    /// Checks what the types do not say.
    fn check(&self, shown: &str) -> Result<(), PolicyError> {
        let path = || shown.to_owned();
        let minor = self.version.strip_prefix("1.");
        if !minor.is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(PolicyError::Version { path: path(), version: wharf::text::line(&self.version, 40) });
        }
        let refused = |problem: String| Err(PolicyError::Rule { path: path(), problem });
        let Some(permissions) = &self.permissions else { return Ok(()) };
        let Permissions { storage, network, environment, runtime, ipc, resources: _ } = permissions;
        let preopens = runtime.as_ref().and_then(|runtime| runtime.wasm.as_ref()?.wasi.as_ref()?.preopens.as_ref());
        let rules = storage.as_ref().map_or(0, Rules::count)
            + network.as_ref().map_or(0, Rules::count)
            + ipc.as_ref().map_or(0, Rules::count)
            + environment.as_ref().map_or(0, |rules| rules.allow().len())
            + preopens.map_or(0, Vec::len);
        if rules > MOST_RULES {
            return refused(format!("it has {rules} rules, more than {MOST_RULES}"));
        }
        for rule in storage.iter().flat_map(|rules| rules.allow().iter().chain(rules.deny())) {
            if rule.uri.is_empty() || rule.access.is_empty() {
                return refused("a rule of `storage` needs a `uri`, and `read` or `write` in `access`".to_owned());
            }
        }
        for NetworkRule { host, cidr, defaults } in
            network.iter().flat_map(|rules| rules.allow().iter().chain(rules.deny()))
        {
            let said = usize::from(host.is_some()) + usize::from(cidr.is_some()) + usize::from(defaults.is_some());
            let empty = [host, cidr].into_iter().flatten().any(String::is_empty);
            if said != 1 || empty || *defaults == Some(false) {
                return refused("a rule of `network` has one of `host`, `cidr` and `defaults: true`".to_owned());
            }
        }
        if environment
            .iter()
            .flat_map(EnvironmentRules::allow)
            .any(|rule| rule.key.is_empty() || rule.key.contains('*'))
        {
            return refused("a `key` of `environment` is the name of one variable, without wildcards".to_owned());
        }
        Ok(())
    }

    /// Its version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// What it says of itself, as one line; nothing where it says nothing.
    pub(super) fn description(&self) -> Option<String> {
        let line = wharf::text::line(self.description.as_deref()?.trim(), DESCRIPTION_BYTES);
        Some(line).filter(|line| !line.trim().is_empty())
    }

    /// What it allows and denies.
    pub(super) fn permissions(&self) -> Option<&Permissions> {
        self.permissions.as_ref()
    }
}
