//! A thousand processes one after the other and two hundred at once leave
//! nothing behind. Alone in its binary: what others hold would be counted, too.

#![cfg(target_os = "linux")]

#[path = "processes/support.rs"]
mod support;

use std::{fs, sync::Arc, time::Duration};

use support::{TestRegistry, files_below, owner, shell};
use wharf_core::ProcessLimits;
use wharf_process::{Exit, ProcessSettings, SpawnRequest, StreamName, WaitCondition};
use wharf_test_support::{
    AMPLE,
    processes::{children_of, parent},
    until,
};

const SESSIONS: usize = 20;
const WORKERS: usize = 2;

/// Descriptors and threads of this process, and children of the root of the
/// supervisors, those that have ended and wait to be asked for it included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    descriptors: usize,
    threads: usize,
    supervisors: usize,
}

impl Held {
    fn now(root: u32) -> Self {
        Self {
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            supervisors: children_of(root),
        }
    }

    fn is_within(self, other: Self) -> bool {
        self.descriptors <= other.descriptors && self.threads <= other.threads && self.supervisors <= other.supervisors
    }

    async fn becomes(root: u32, wanted: Self) {
        until(format_args!("no more is left than was there before: {wanted:?}"), || {
            let left = Self::now(root);
            if left.is_within(wanted) { Ok(()) } else { Err(left) }
        })
        .await;
    }
}

fn entries(path: &str) -> usize {
    fs::read_dir(path).expect("a listing").count()
}

#[test]
fn a_thousand_one_after_the_other_and_two_hundred_at_once_leave_nothing_behind() {
    let threads = entries("/proc/self/task");
    // Threads that block end soon, so that those that are left can be told
    // from those that rest.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_keep_alive(Duration::from_millis(20))
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(leave_nothing_behind(threads + WORKERS));
}

async fn leave_nothing_behind(threads: usize) {
    let limits = ProcessLimits { running_per_tenant: 300, running: 300, ..ProcessLimits::default() };
    let registry = TestRegistry::with(ProcessSettings { ended_per_session: 100, limits, ..support::settings() }).await;
    let first = registry.shell("exec sleep 1000").await;
    let pid = registry.processes.snapshot(&owner("one"), first).await.expect("a process").pid.expect("it runs");
    let root = parent(parent(pid));
    // Once all descriptors that stay are there.
    let once =
        registry.start(SpawnRequest { program: "/bin/true".into(), arguments: Vec::new(), ..shell("true") }).await;
    registry.exit(once).await;
    registry.processes.stop(&owner("one"), once, AMPLE).await.expect("nothing is left to stop");
    registry.until(once, |snapshot| !snapshot.stdout.open && !snapshot.stderr.open).await;
    // One supervisor is that of the first.
    let before = Held { threads, supervisors: 1, ..Held::now(root) };

    for _ in 0..1_000 {
        let request = SpawnRequest { program: "/bin/true".into(), arguments: Vec::new(), ..shell("true") };
        let id = registry.start(request).await;
        assert_eq!(registry.exit(id).await.exit, Some(Exit::Exited { code: 0 }));
    }
    Held::becomes(root, before).await;
    let kept = registry.processes.list(&owner("one")).await.len();
    assert!(kept <= 102, "{kept} are kept");

    let mut running = tokio::task::JoinSet::new();
    for number in 0..200_usize {
        let processes = Arc::clone(&registry.processes);
        running.spawn(async move {
            let owner = owner(&format!("session-{}", number % SESSIONS));
            let command = format!("echo {number}; exit {}", number % 100);
            let id = processes.spawn(&owner, shell(&command), 20).await.expect("a process");
            let all = WaitCondition::default();
            let ended = processes.wait(&owner, id, &all, AMPLE).await.expect("a wait").process;
            let code = i32::try_from(number % 100).expect("a code");
            assert_eq!(ended.exit, Some(Exit::Exited { code }));
            let printed = processes.tail(&owner, id, StreamName::Stdout, 1, 100).expect("a tail").text();
            assert_eq!(printed, format!("{number}\n"));
        });
    }
    while let Some(done) = running.join_next().await {
        done.expect("a process");
    }
    Held::becomes(root, before).await;
    assert_eq!(registry.processes.counts().ended, kept - 1 + 200);

    let swept = registry.processes.sweep(chrono::Utc::now() + chrono::TimeDelta::days(2)).await;
    assert_eq!(swept.processes, kept - 1 + 200);
    registry.processes.stop(&owner("one"), first, Duration::ZERO).await.expect("a stop");
    registry.processes.sweep(chrono::Utc::now() + chrono::TimeDelta::days(2)).await;
    assert_eq!(files_below(&registry.directory.path().join("processes")), 2, "the locks");
    registry.close().await;
}
