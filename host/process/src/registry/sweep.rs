//! Removing what ended long ago.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::task::spawn_blocking;

use super::{Processes, process::Process};
use crate::KilledBy;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Processes that had ended.
    pub processes: usize,
}

impl Processes {
    /// Removes the processes, with their output, whose end is as long ago as
    /// tombstones are kept. What descends from them is killed. Once an hour is
    /// often enough.
    pub async fn sweep(&self, now: DateTime<Utc>) -> Swept {
        let mut expired = Vec::new();
        {
            let mut table = self.table();
            for processes in table.sessions.values_mut() {
                expired.extend(
                    processes
                        .extract_if(|_, process| process.ended_before(now, self.settings.tombstone_lifetime))
                        .map(|(_, process)| process),
                );
            }
            table.sessions.retain(|_, processes: &mut HashMap<_, Arc<Process>>| !processes.is_empty());
        }
        for process in &expired {
            process.seat.leave();
        }
        let swept = Swept { processes: expired.len() };
        // Dropping the sweep leaves nothing half-removed.
        let buried = tokio::spawn(async move {
            for process in expired {
                process.bury().await;
            }
        });
        if let Err(error) = buried.await {
            tracing::error!(%error, "processes that ended long ago are not removed");
        }
        swept
    }
}

impl Process {
    fn ended_before(&self, now: DateTime<Utc>, lifetime: Duration) -> bool {
        let finished = self.state.borrow().finished;
        finished.is_some_and(|finished| (now - finished).to_std().is_ok_and(|past| past >= lifetime))
    }

    /// Kills what is left of it and removes its files.
    pub(super) async fn bury(self: &Arc<Self>) {
        self.stop(KilledBy::User, Duration::ZERO).await;
        // Who else may hold the pipes writes to nobody.
        self.close_streams();
        self.discard().await;
    }

    /// Removes its files, on a thread that may wait for the disk.
    pub(super) async fn discard(self: &Arc<Self>) {
        let process = Arc::clone(self);
        if let Err(error) = spawn_blocking(move || process.remove_files()).await {
            tracing::error!(process = %self.id, %error, "the files of a process are not removed");
        }
    }
}
