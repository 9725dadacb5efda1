//! Removing what ended long ago.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::task::spawn_blocking;

use super::{Processes, process::Process};
use crate::KilledBy;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Processes that had ended.
    pub processes: usize,
}

impl Processes {
    /// Removes the processes, with their output, that ended longer ago than tombstones
    /// are kept, and kills their descendants. Once an hour is often enough.
    pub async fn sweep(&self, now: DateTime<Utc>) -> SweepReport {
        let expired = self.table().take_expired(now, self.settings.tombstone_lifetime);
        for process in &expired {
            process.slot.leave();
        }
        let report = SweepReport { processes: expired.len() };
        // Dropping the sweep leaves nothing half-removed.
        let removed = tokio::spawn(async move {
            for process in expired {
                process.kill_and_remove().await;
            }
        });
        if let Err(error) = removed.await {
            tracing::error!(%error, "processes that ended long ago are not removed");
        }
        report
    }
}

impl Process {
    /// Kills what is left of it and removes its files.
    pub(super) async fn kill_and_remove(self: &Arc<Self>) {
        self.stop(KilledBy::User, Duration::ZERO).await;
        // What still holds the pipes writes to nobody.
        self.close_streams();
        self.remove().await;
    }

    /// Removes its files, on a thread that may wait for the disk.
    pub(super) async fn remove(self: &Arc<Self>) {
        let process = Arc::clone(self);
        if let Err(error) = spawn_blocking(move || process.remove_files()).await {
            tracing::error!(process = %self.id, %error, "the files of a process are not removed");
        }
    }
}
