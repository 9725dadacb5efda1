//! `[plugins.deny]`: the list of what must not run, where it comes from and what holds without it.

use std::{path::Path, time::Duration};

use serde::Deserialize;
use wharf_sources::PluginSource;
use wharf_trust::TrustPolicy;

use super::trust::{WrittenTrustRule, policy};

/// What holds where no list can be had that is young enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DenyFailure {
    /// The last list that was had, however old; nothing is denied where there never was one.
    #[default]
    Open,
    /// No plugin runs but those that are part of the binary.
    Closed,
}

/// `[plugins.deny]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenDeny {
    /// Where the list is: a file, an `https:` address, or an `oci:` reference.
    source: String,
    /// Who may sign it, as in `trust` of `[plugins]`. A list from elsewhere than a file needs it.
    #[serde(default)]
    trust: Vec<WrittenTrustRule>,
    /// How often it is fetched again, from 60 to 86400 seconds; 3600 where absent.
    refresh_seconds: Option<u64>,
    /// How old the last list may be where no newer one can be had, from 60 to 31536000 seconds; 86400 where absent.
    maximum_age_seconds: Option<u64>,
    /// What holds beyond that: `open`, the last list; `closed`, no plugin runs but the bundled ones. `open` where absent.
    #[serde(default)]
    fails: DenyFailure,
}

/// `[plugins.deny]`, checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DenySettings {
    /// Where the list is.
    pub source: PluginSource,
    /// Whose signatures of it count; a file may go without.
    pub policy: TrustPolicy,
    /// How often it is fetched again.
    pub refresh: Duration,
    /// How old it may be.
    pub maximum_age: Duration,
    /// What holds beyond that.
    pub fails: DenyFailure,
}

impl WrittenDeny {
    pub(super) fn trust(&self) -> &[WrittenTrustRule] {
        &self.trust
    }

    pub(super) fn check(&self, root: Option<&str>, base: &Path) -> Result<DenySettings, String> {
        let source = match self.source.parse() {
            Ok(PluginSource::File(path)) => PluginSource::File(base.join(path)),
            Ok(other) => other,
            Err(error) => return Err(format!("[plugins.deny] `source`: {error}")),
        };
        let policy = policy("[plugins.deny] `trust`", &self.trust, root, base)?;
        if policy.trusts_nobody() && !matches!(source, PluginSource::File(_)) {
            return Err(
                "[plugins.deny] `source` is on another machine, so the list needs `trust`: who may sign it".to_owned()
            );
        }
        let seconds = |name: &str, value: Option<u64>, usual: u64, most: u64| match value.unwrap_or(usual) {
            value @ 60.. if value <= most => Ok(Duration::from_secs(value)),
            value => Err(format!("[plugins.deny] `{name}` must be from 60 to {most}, not {value}")),
        };
        Ok(DenySettings {
            source,
            policy,
            refresh: seconds("refresh_seconds", self.refresh_seconds, 3_600, 86_400)?,
            maximum_age: seconds("maximum_age_seconds", self.maximum_age_seconds, 86_400, 31_536_000)?,
            fails: self.fails,
        })
    }
}
