//! The state of plugins on PostgreSQL, shared by all hosts that are given the same database.
//!
//! [`PostgresStore`] keeps the contract of [`wharf_state::StateStore`], and [`PostgresInventory`]
//! is the operator's view. A write is one call of one SQL function, which commits by itself: a
//! host that stops in the middle holds no lock. This crate alone knows PostgreSQL; it never
//! knows callers, grants or configuration.

mod cell;
mod connection;
mod contents;
mod error;
mod front_ends;
mod inventory;
mod layout;
mod names;
mod read;
mod sessions;
mod shelf;
mod store;
mod sweep;
mod uses;
mod write;

pub use cell::{DatabaseMeasure, PostgresCell};
pub use connection::{ConnectionOptions, DatabaseAddress};
pub use error::DatabaseOpenError;
pub use inventory::PostgresInventory;
pub use store::{PostgresOptions, PostgresStore};
