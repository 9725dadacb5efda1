//! What plugins keep in the store of a data directory, for its operator: listed, exported,
//! imported and cleared. No call of a tool leads here.

pub use wharf_core::{BucketName, ScopeKind};
pub use wharf_state::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, ImportError, ImportMode, ImportReport, Inventory,
    InventoryError,
};
