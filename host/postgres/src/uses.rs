//! Uses of scopes by reads, which are recorded a little later: a read then costs no write.

use std::{collections::HashMap, time::Instant};

use parking_lot::Mutex;
use wharf_state::rules::ScopeUse;

use crate::{
    connection::Connections,
    error::{Effect, storage_error},
};

/// Most uses that wait. Past it a use is left to the next read of its scope.
const MOST: usize = 10_000;

/// The uses that no database knows yet.
#[derive(Debug, Default)]
pub(crate) struct PendingUses {
    waiting: Mutex<HashMap<i64, ScopeUse>>,
    /// Held while uses are recorded: a write waits for those that were taken before it.
    recording: tokio::sync::Mutex<()>,
}

impl PendingUses {
    /// Adds a use. Returns whether the caller is to have them recorded soon.
    pub(crate) fn add(&self, used: ScopeUse) -> bool {
        let mut waiting = self.waiting.lock();
        let first = waiting.is_empty();
        if waiting.len() < MOST {
            waiting.insert(used.scope, used);
        }
        first
    }

    /// Records the uses that wait, and returns once those are recorded that another task has
    /// taken. A use that cannot be recorded is left to the next read of its scope.
    pub(crate) async fn record(&self, connections: &Connections, until: Instant) {
        let _recording = self.recording.lock().await;
        let taken = std::mem::take(&mut *self.waiting.lock());
        if taken.is_empty() {
            return;
        }
        let scopes: Vec<i64> = taken.values().map(|used| used.scope).collect();
        let seen: Vec<Option<i64>> = taken.values().map(|used| used.seen).collect();
        let later: Vec<Option<i64>> = taken.values().map(|used| used.expires).collect();
        let recorded = async {
            let client = connections.get(until).await?;
            let failed = |error| storage_error(error, Effect::Change);
            let touch = client.prepare_cached("SELECT wharf.touch_1($1, $2, $3)").await.map_err(failed)?;
            client.query(&touch, &[&scopes, &seen, &later]).await.map_err(failed)
        };
        let recorded = tokio::time::timeout_at(until.into(), recorded).await;
        if !matches!(recorded, Ok(Ok(_))) {
            tracing::debug!("uses of state were not recorded");
        }
    }
}
