//! The keeper of a page: ends requests that take too long and drops results that were
//! kept for long enough, even while nobody asks.

use std::{
    io, mem,
    path::PathBuf,
    sync::{Arc, Weak},
};

use tokio::{select, task::spawn_blocking, time::sleep_until};

use super::Core;
use crate::page::Page;

/// Keeps a page until it is forgotten. Holds no reference to the core while it waits,
/// so that a core which is dropped ends.
pub(super) async fn keep(core: Weak<Core>, page: Arc<Page>, staging: Option<PathBuf>) {
    loop {
        let next = page.next();
        let forgotten = page.decide(|state, _| state.forgotten);
        let clears = page.decide(|state, _| (forgotten || state.is_closed()) && mem::take(&mut state.staged));
        if let Some(staging) = staging.as_ref().filter(|_| clears) {
            clear(staging.join(page.id.to_string())).await;
            page.decide(|state, _| state.transfer.shrink(u64::MAX));
        }
        if forgotten {
            return;
        }
        match next {
            Some(next) => select! {
                () = sleep_until(next) => {}
                () = page.alarm.notified() => {}
            },
            None => page.alarm.notified().await,
        }
        if let Some(core) = core.upgrade() {
            core.look(&page, |_, _| ());
        }
    }
}

/// Removes the files that a page was given.
async fn clear(directory: PathBuf) {
    let removed = spawn_blocking(|| std::fs::remove_dir_all(directory)).await;
    if let Ok(Err(error)) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "files that a page was given cannot be removed");
    }
}
