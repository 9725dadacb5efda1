//! The options with which a store on disk is opened.

use std::sync::Arc;

use crate::{Ceilings, Clock, SystemClock};

/// What a write survives once it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Every kill of the process; a power cut may lose the last moments.
    #[default]
    Process,
    /// Power cuts too: every commit waits for the disk, about 3 ms.
    Power,
}

/// How a [`SqliteStore`](crate::SqliteStore) is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// What all scopes together may hold.
    pub ceilings: Ceilings,
    /// What a returned write survives.
    pub durability: Durability,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { ceilings: Ceilings::default(), durability: Durability::default(), clock: Arc::new(SystemClock) }
    }
}
