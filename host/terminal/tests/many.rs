//! A hundred terminals at once leave nothing behind, and what one takes. Alone
//! in its binary: what others hold would be counted, too.

#![cfg(target_os = "linux")]

#[path = "pool/support.rs"]
mod support;

use std::fs;
use wharf_test_support::{in_time, processes::lives, until};

use support::{TestPool, somebody};
use wharf_terminal::{Status, TerminalId};

/// What opens the terminals of this test.
const PTY: wharf_terminal::PtyBackend = wharf_terminal::PtyBackend::Direct;
const TERMINALS: usize = 100;
/// What a terminal may take beside what it keeps of its output.
const MOST_BYTES: usize = 1 << 20;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("descriptors").count()
}

/// Bytes of memory that this process has.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    let kibibytes: usize = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kibibytes << 10
}

async fn open(pool: &TestPool) -> Vec<TerminalId> {
    let mut ids = Vec::new();
    for number in 0..TERMINALS {
        let who = somebody(&format!("session-{number}"));
        let id = pool.shell_with(&who, |_| {}).await.expect("a terminal").id;
        pool.prompted(&who, id).await;
        ids.push(id);
    }
    ids
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for the person who runs the tests")]
fn a_hundred_terminals_at_once_leave_nothing_behind_and_are_small() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let pool = TestPool::with(|settings| {
            let most = TERMINALS as u64;
            (settings.limits.open, settings.limits.open_per_tenant) = (most, most);
        });
        // What all need is made once.
        let first = somebody("first");
        let id = pool.shell(&first).await;
        pool.close(&first, id).await;
        let (descriptors_before, memory_before) = (descriptors(), memory());
        let ids = open(&pool).await;
        assert_eq!(pool.terminals.metrics().open, TERMINALS as u64);
        let each = memory().saturating_sub(memory_before) / TERMINALS;
        println!("a terminal takes {} KiB", each >> 10);
        assert!(each < MOST_BYTES, "{each} bytes");

        // The same with all that is kept of the output of each.
        for (number, id) in ids.iter().enumerate() {
            let who = somebody(&format!("session-{number}"));
            pool.submit(&who, *id, "seq -f %079.0f 1 8000").await.expect("a turn");
        }
        for (number, id) in ids.iter().enumerate() {
            let who = somebody(&format!("session-{number}"));
            pool.until(&who, *id, |info| info.status == Status::Ready && info.raw_bytes > 600_000).await;
        }
        let full = memory().saturating_sub(memory_before) / TERMINALS;
        // Bytes, text, and lines of some 2 KiB.
        let history = (256 << 10) + (256 << 10) + (200 + 24) * (2 << 10);
        println!(
            "a terminal with all its history takes {} KiB, of which {} KiB are history",
            full >> 10,
            history >> 10
        );
        assert!(full < MOST_BYTES + history, "{full} bytes");

        let pids: Vec<_> = pool.terminals.all().into_iter().filter_map(|(_, info)| info.pid).collect();
        assert_eq!(pids.len(), TERMINALS);
        in_time("they close", pool.terminals.close_all()).await;
        assert!(!pids.iter().any(|pid| lives(*pid)));
        assert!(pool.terminals.all().iter().all(|(_, info)| info.status == Status::Closed));
        until("no descriptor is left", || descriptors() <= descriptors_before).await;
    });
}
