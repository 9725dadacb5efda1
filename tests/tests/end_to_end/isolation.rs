//! Plugins in processes of their own: what they can do, what they cannot, and what the end of one
//! of them costs.

mod faults;
mod same;

use std::fs;

use tokio::sync::{Mutex, MutexGuard};
use wharf_test_support::processes::below;
use wharf_tests::Setup;

/// Held by a test that looks which processes there are.
static ALONE: Mutex<()> = Mutex::const_new(());

pub(crate) async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

/// The guests, in processes that are started when they are needed.
pub(crate) fn isolated(more: &str) -> Setup {
    Setup::new().with_tables(&format!("[isolation]\nlevel = \"process\"\nahead = 0\n{more}"))
}

/// The processes of this host that run plugins.
pub(crate) fn workers() -> Vec<u32> {
    let is_worker = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).nth(1) == Some(b"wharf-engine:worker".as_slice())
    };
    let mut workers: Vec<u32> = below(std::process::id()).into_iter().filter(is_worker).collect();
    workers.sort_unstable();
    workers
}
