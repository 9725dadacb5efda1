//! Tables of limits as they are written: names and numbers.

use std::collections::BTreeMap;

use serde::Deserialize;
use wharf_core::limit::InvalidLimit;

/// A table of limits.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Settings(BTreeMap<String, u64>);

impl Settings {
    /// Whether it says anything of this limit.
    pub(super) fn names(&self, limit: &str) -> bool {
        self.0.contains_key(limit)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets each; `table` names the table in an error.
    pub(super) fn apply(
        &self,
        table: &str,
        mut set: impl FnMut(&str, u64) -> Result<(), InvalidLimit>,
    ) -> Result<(), String> {
        for (name, value) in &self.0 {
            set(name, *value).map_err(|error| format!("[{table}] {error}"))?;
        }
        Ok(())
    }
}
