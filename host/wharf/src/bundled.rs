//! The first-party plugins that are part of this binary.

use wharf_core::{CallLimits, Digest, Grants, PluginName, StateGrant};
use wharf_engine::Component;

use crate::configuration::{PluginSettings, Profile};

/// One of them.
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    digest: [u8; 32],
    component: &'static [u8],
}

/// All of them, by name.
pub(crate) const PLUGINS: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

impl Bundled {
    /// Its component, whose digest was made when this binary was.
    pub(crate) fn component(&self) -> Component {
        Component::with_digest(self.component, Digest::from_bytes(self.digest))
    }

    /// What it may use where the configuration says nothing else.
    pub(crate) fn grants(&self, profile: Profile) -> Grants {
        let state = StateGrant::with_reason("first-party plugins keep their state");
        let state = match self.name {
            CONTENT_STORE => StateGrant { quota_bytes: 256 << 20, quota_entries: 500_000, ..state },
            _ => state,
        };
        profile.grants(self.name, state)
    }

    /// Gives it the limits that its work needs, except those that `is_set` names.
    pub(crate) fn raise(&self, limits: &mut CallLimits, is_set: impl Fn(&str) -> bool) {
        let needs: &[(&str, u64)] = match self.name {
            // Whole documents come in one argument and are kept in one step.
            CONTENT_STORE => &[
                ("argument_bytes", 16 << 20),
                ("memory_bytes", 512 << 20),
                ("cpu_time_milliseconds", 60_000),
                ("host_call_bytes", 64 << 20),
                ("host_call_total_bytes", 256 << 20),
            ],
            // A screenshot comes whole, and goes on whole.
            BROWSER => &[("memory_bytes", 128 << 20), ("host_call_bytes", 12 << 20), ("output_bytes", 12 << 20)],
            // Files are copied from and to exchange folders up to 256 MiB. A search looks at up to
            // 20,000 files, each of which takes some fifteen host calls.
            WORKSPACE => &[("host_call_total_bytes", 288 << 20), ("host_calls", 1_000_000)],
            _ => &[],
        };
        for (name, needed) in needs {
            let is_less = limits.values().any(|(row, value)| row.name == *name && value < *needed);
            if is_less
                && !is_set(name)
                && let Err(error) = limits.set(name, *needed)
            {
                tracing::error!(plugin = self.name, "does not get what it needs: {error}");
            }
        }
    }
}

/// The plugin that takes whole documents.
const CONTENT_STORE: &str = "content-store";
/// The plugin that answers with pictures.
const BROWSER: &str = "browser";
/// The plugin that copies files.
const WORKSPACE: &str = "workspace";

/// Whether a plugin is a bundled one that was granted nothing: it is off then,
/// instead of refusing every call.
pub(crate) fn is_useless(name: &PluginName, settings: &PluginSettings, grants: &Grants) -> bool {
    settings.source.is_none() && find(name.as_str()).is_some() && *grants == Grants::default()
}

/// The names of the plugins that are part of this binary.
pub fn names() -> impl Iterator<Item = PluginName> {
    PLUGINS.iter().filter_map(|bundled| bundled.name.parse().ok())
}

/// The bundled plugin of this name.
pub(crate) fn find(name: &str) -> Option<&'static Bundled> {
    PLUGINS.iter().find(|bundled| bundled.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_each_is_that_of_its_bytes() {
        for bundled in PLUGINS {
            assert_eq!(Digest::of(bundled.component), Digest::from_bytes(bundled.digest), "{}", bundled.name);
        }
    }
}
