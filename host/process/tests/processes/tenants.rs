//! What tenants may use beside each other: places, tombstones, output on disk.

use wharf_core::{Code, Error, ProcessLimits};
use wharf_process::{Owner, ProcessId, ProcessSettings, Processes, StreamName, WaitCondition, WaitEnd};
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, owned, settings, shell, spawner};

fn of(tenant: &str, session: &str) -> Owner {
    owned(tenant, "workspace", session)
}

fn limited(limits: ProcessLimits) -> ProcessSettings {
    ProcessSettings { limits, ..settings() }
}

async fn start(registry: &TestRegistry, owner: &Owner, command: &str) -> Result<ProcessId, Error> {
    registry.processes.spawn(owner, shell(command), usize::MAX).await.map_err(Error::from)
}

async fn ended(registry: &TestRegistry, owner: &Owner, command: &str) -> ProcessId {
    let id = start(registry, owner, command).await.expect("a process");
    let until = WaitCondition { exit: true, ..WaitCondition::default() };
    let waited = registry.processes.wait(owner, id, &until, AMPLE).await.expect("a wait");
    assert_eq!(waited.reason, WaitEnd::Exit);
    id
}

fn assert_refused(by: &str, started: Result<ProcessId, Error>) {
    let error = started.expect_err(by);
    assert_eq!((error.code, error.retryable), (Code::Limit, true), "{error}");
    assert!(error.message.contains(&format!("`{by}`")), "{error}");
}

#[tokio::test]
async fn a_tenant_runs_as_many_processes_as_it_may_however_many_sessions_it_invents() {
    let registry =
        TestRegistry::with(limited(ProcessLimits { running_per_tenant: 3, running: 4, ..ProcessLimits::default() }))
            .await;
    let mut ids = Vec::new();
    for session in ["one", "two", "three"] {
        let owner = of("a", session);
        ids.push((start(&registry, &owner, "exec sleep 1000").await.expect("a place"), owner));
    }
    assert_refused("running_per_tenant", start(&registry, &of("a", "four"), "true").await);
    start(&registry, &of("b", "one"), "exec sleep 1000").await.expect("another tenant has its places");
    assert_refused("running", start(&registry, &of("b", "two"), "true").await);
    // An end makes room for the next session that asks.
    let (id, owner) = &ids[0];
    registry.processes.stop(owner, *id, AMPLE).await.expect("a stop");
    start(&registry, &of("b", "two"), "exec sleep 1000").await.expect("a place");
    registry.close().await;
}

#[tokio::test]
async fn ended_processes_of_a_tenant_make_way_for_its_own_and_for_nobody_elses() {
    let registry =
        TestRegistry::with(limited(ProcessLimits { ended_per_tenant: 3, ended: 5, ..ProcessLimits::default() })).await;
    let other = ended(&registry, &of("b", "one"), "true").await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let owner = of("a", &format!("session-{number}"));
        ids.push((ended(&registry, &owner, "true").await, owner));
    }
    let mut kept = Vec::new();
    for (number, (_, owner)) in ids.iter().enumerate() {
        if !registry.processes.list(owner).await.is_empty() {
            kept.push(number);
        }
    }
    // One more than may be kept, until the next one starts.
    assert_eq!(kept, [2, 3, 4, 5]);
    assert_eq!(registry.processes.list(&of("b", "one")).await[0].id, other);
    // What a tenant has beyond its own limit is at nobody else's cost, so four count. A further
    // one has the oldest of its own tenant go; with none, it is refused.
    ended(&registry, &of("b", "two"), "true").await;
    ended(&registry, &of("b", "three"), "true").await;
    assert_eq!(registry.processes.list(&of("b", "one")).await[0].id, other);
    ended(&registry, &of("b", "four"), "true").await;
    assert!(registry.processes.list(&of("b", "one")).await.is_empty(), "the oldest of its tenant");
    assert_refused("ended", start(&registry, &of("c", "one"), "true").await);
    registry.close().await;
}

#[tokio::test]
async fn the_output_of_a_tenant_takes_no_more_of_the_disk_than_it_may_over_all_its_sessions_and_hosts() {
    const MIB: u64 = 1 << 20;
    let limits = ProcessLimits { output_disk_bytes_per_tenant: 4 * MIB, ..ProcessLimits::default() };
    let registry = TestRegistry::with(limited(limits.clone())).await;
    let other = ended(&registry, &of("b", "one"), "head -c 3145728 /dev/zero").await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let owner = of("a", &format!("session-{number}"));
        ids.push((ended(&registry, &owner, "head -c 1048576 /dev/zero").await, owner));
    }
    let kept = |processes: &Processes| -> Vec<u64> {
        let evicted = |(id, owner): &(ProcessId, Owner)| {
            let tail = processes.tail(owner, *id, StreamName::Stdout, 1, 1).expect("a tail");
            tail.end - tail.evicted_before
        };
        ids.iter().map(evicted).collect()
    };
    // The oldest went, so that the last could print.
    let found = kept(&registry.processes);
    assert_eq!((found[0], found[5]), (0, MIB), "{found:?}");
    assert!(found.iter().sum::<u64>() <= 4 * MIB, "{found:?}");
    let tail = registry.processes.tail(&of("b", "one"), other, StreamName::Stdout, 1, 1).expect("a tail");
    assert_eq!((tail.end, tail.evicted_before), (3 * MIB, 0), "another tenant's stays");
    // The next host counts what this one kept, and has room for half of it.
    let TestRegistry { processes, directory } = registry;
    drop(processes);
    let limits = ProcessLimits { output_disk_bytes_per_tenant: 2 * MIB, output_disk_bytes: 3 * MIB, ..limits };
    let path = directory.path().join("processes");
    let (processes, _) = Processes::open(&path, spawner(), limited(limits)).expect("opened");
    let registry = TestRegistry { processes: processes.into(), directory };
    let found = kept(&registry.processes);
    assert_eq!((found[3], found[4], found[5]), (0, MIB, MIB), "{found:?}");
    assert_eq!(registry.processes.output_disk_bytes(), 2 * MIB);
    // The host is nearly full; what a third tenant prints is its own loss.
    ended(&registry, &of("c", "one"), "head -c 2097152 /dev/zero").await;
    assert!(registry.processes.output_disk_bytes() <= 3 * MIB);
    assert_eq!(kept(&registry.processes), found);
    registry.close().await;
}
