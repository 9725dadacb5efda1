//! The durable state of plugins: small entries under string keys, kept apart
//! by tenant, plugin and scope.
//!
//! [`StateStore`] is the contract. [`SqliteStore`] keeps it on disk and for
//! several hosts at once, [`MemoryStore`] in memory. This crate never knows
//! callers or grants: each call hands it a [`wharf_core::ScopeKey`] and
//! a [`ScopePolicy`]. It knows nothing of Wasm, of MCP or of configuration.

mod clock;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod failure_log;
mod host_time;
mod inventory;
mod key_values;
mod memory;
pub mod rules;
pub mod scan_range;
mod sqlite;
mod store;
pub mod transfer;
mod turns;

pub use clock::{Clock, ManualClock, SystemClock, Uptime, duration_milliseconds, from_milliseconds, to_milliseconds};
pub use error::{OpenError, StateError};
pub use failure_log::FailureLog;
pub use host_time::{ClockDoubt, HostTime, MOST_PAUSE};
pub use inventory::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, ImportError, ImportMode, ImportReport, Inventory,
    InventoryError,
};
pub use key_values::{CountError, KeyValues};
pub use memory::MemoryStore;
pub use rules::{
    Ceilings, MAX_CHANGES, MAX_KEY_BYTES, MAX_KEYS, MAX_PAGE_ENTRIES, MAX_VALUE_BYTES, TOMBSTONE_LIFETIME,
};
pub use sqlite::{
    SqliteStore,
    inventory::SqliteInventory,
    options::{Durability, SqliteOptions},
    place::{StateKey, StatePlace, StoredState},
    reencrypt::reencrypt,
    schema::{FILE_NAME as STATE_FILE, STATE_LAYOUT},
    snapshot::{snapshot, take_over_snapshot},
};
pub use store::{EntryPage, KeyPage, ScopePolicy, ScopeUsage, StateChange, StateEntry, StateStore, SweepTotals};
pub use turns::{Contender, WriteTurns};
