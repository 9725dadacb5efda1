//! What plugins keep in the store of a host, for its operator: listed, exported, imported and
//! cleared. No call of a tool leads here.

use std::path::Path;

pub use wharf_core::{BucketName, ScopeKind};
pub use wharf_state::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, ImportError, ImportMode, ImportReport, Inventory,
    InventoryError, STATE_LAYOUT, SqliteInventory,
};

use wharf_state::OpenError;

use crate::{Configuration, encryption};

/// What [`open`] does where the data directory has no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingStore {
    /// Refuses with [`InventoryError::Absent`].
    Refuse,
    /// Makes an empty one.
    Make,
}

/// Opens the inventory of the store that a host of this configuration has: on the database
/// server that `[state]` names, or in `data`. Its calls block; call them from no
/// asynchronous task.
///
/// # Errors
/// `Absent`, `Open` or `Server` where it cannot be opened.
pub fn open(
    configuration: &Configuration,
    data: &Path,
    missing: MissingStore,
) -> Result<Box<dyn Inventory>, InventoryError> {
    #[cfg(feature = "postgres")]
    if let Some(inventory) = crate::database::open_inventory(configuration)? {
        return Ok(Box::new(inventory));
    }
    let opened = match missing {
        MissingStore::Refuse => {
            SqliteInventory::open(encryption::look(configuration, data).map_err(OpenError::from)?.state)?
        }
        MissingStore::Make => {
            SqliteInventory::open_or_make(encryption::open(configuration, data).map_err(OpenError::from)?.state)?
        }
    };
    Ok(Box::new(opened))
}
