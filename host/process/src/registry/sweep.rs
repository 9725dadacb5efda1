//! Removing what ended long ago.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};

use super::{Processes, process::Process};

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
            for processes in table.values_mut() {
                expired.extend(
                    processes
                        .extract_if(|_, process| process.ended_before(now, self.settings.tombstone_lifetime))
                        .map(|(_, process)| process),
                );
            }
            table.retain(|_, processes: &mut HashMap<_, Arc<Process>>| !processes.is_empty());
        }
        let swept = Swept { processes: expired.len() };
        for process in expired {
            process.bury().await;
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
    pub(super) async fn bury(&self) {
        self.stop(Duration::ZERO).await;
        self.remove_files();
    }
}
