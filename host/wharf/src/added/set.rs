//! What is installed, and how it changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wharf_core::{Digest, PluginName};

use super::{AddedError, MAX_PLUGINS, Receipt};

/// Sets of another shape are not read.
const FORMAT: u32 = 1;

/// What is installed, and what is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledSet {
    pub(super) format: u32,
    /// The component of each plugin that was added.
    pub(crate) plugins: BTreeMap<PluginName, Digest>,
    /// Plugins of whatever origin that the operator has switched off.
    pub(crate) disabled: BTreeSet<PluginName>,
    /// Plugins each exported function of which is a tool.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) functions: BTreeSet<PluginName>,
    /// `[plugin.NAME]` tables that all hosts of a cluster have, as TOML.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) tables: String,
    /// The revision of a cluster's set that this is a copy of; nothing where it was written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copy_of: Option<i64>,
}

impl Default for InstalledSet {
    fn default() -> Self {
        Self {
            format: FORMAT,
            plugins: BTreeMap::new(),
            disabled: BTreeSet::new(),
            functions: BTreeSet::new(),
            tables: String::new(),
            copy_of: None,
        }
    }
}

/// A change of what is installed.
#[derive(Debug, Clone, Copy)]
pub enum InstalledChange<'c> {
    /// A plugin is added whose name none has.
    Add {
        /// What is written down of it.
        receipt: &'c Receipt,
        /// Its component.
        component: &'c [u8],
    },
    /// A component comes in the place of the present one.
    Replace {
        /// What is written down of it.
        receipt: &'c Receipt,
        /// Its component.
        component: &'c [u8],
    },
    /// A plugin that was added is forgotten.
    Remove(&'c PluginName),
    /// A plugin of whatever origin is switched on or off.
    Switch {
        /// Which one.
        name: &'c PluginName,
        /// Whether it is on from now on.
        on: bool,
    },
}

impl<'c> InstalledChange<'c> {
    /// What is kept for it.
    pub(crate) fn kept(&self) -> Option<(&'c Receipt, &'c [u8])> {
        match *self {
            Self::Add { receipt, component } | Self::Replace { receipt, component } => Some((receipt, component)),
            Self::Remove(_) | Self::Switch { .. } => None,
        }
    }
}

impl InstalledSet {
    /// Changes the set; whether it is another one now.
    pub(crate) fn apply(&mut self, change: InstalledChange<'_>) -> Result<bool, AddedError> {
        match change {
            InstalledChange::Add { receipt, .. } if self.plugins.contains_key(&receipt.name) => {
                return Err(AddedError::Taken { name: receipt.name.clone() });
            }
            InstalledChange::Add { .. } if self.plugins.len() >= MAX_PLUGINS => return Err(AddedError::TooMany),
            InstalledChange::Replace { receipt, .. } if !self.plugins.contains_key(&receipt.name) => {
                return Err(AddedError::Unknown { name: receipt.name.clone() });
            }
            InstalledChange::Add { receipt, .. } | InstalledChange::Replace { receipt, .. } => {
                self.plugins.insert(receipt.name.clone(), receipt.digest);
                match receipt.functions {
                    true => self.functions.insert(receipt.name.clone()),
                    false => self.functions.remove(&receipt.name),
                };
            }
            InstalledChange::Remove(name) => {
                if self.plugins.remove(name).is_none() {
                    return Err(AddedError::Unknown { name: name.clone() });
                }
                self.disabled.remove(name);
                self.functions.remove(name);
            }
            InstalledChange::Switch { name, on: true } => return Ok(self.disabled.remove(name)),
            InstalledChange::Switch { name, on: false } => return Ok(self.disabled.insert(name.clone())),
        }
        Ok(true)
    }

    /// The set, where it has the form that is read; else what is wrong with it.
    pub(super) fn checked(self) -> Result<Self, String> {
        match self.format {
            FORMAT => Ok(self),
            other => Err(format!("its format is {other}, and {FORMAT} is what is read")),
        }
    }

    /// Whether nothing was said of any plugin.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "hosts of a cluster ask for it"))]
    pub(super) fn is_empty(&self) -> bool {
        self.plugins.is_empty() && self.disabled.is_empty()
    }
}
