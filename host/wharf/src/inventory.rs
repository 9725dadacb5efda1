//! What plugins keep in the store of a data directory, for its operator: listed, exported,
//! imported and cleared. No call of a tool leads here.

pub use wharf_state::{
    BucketSummary, Existing, Holding, ImportError, Imported, Inventory, InventoryError, Selection, Totals,
};
