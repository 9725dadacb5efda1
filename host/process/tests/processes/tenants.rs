//! What tenants may use beside each other: places, tombstones, output on disk.

use wharf_core::{Code, Error, ProcessLimits};
use wharf_process::{Owner, ProcessId, ProcessSettings, Processes, StreamName, WaitCondition, WaitEnd};
use wharf_test_support::AMPLE;

use crate::support::{Room, owned, settings, shell, spawner};

fn of(tenant: &str, session: &str) -> Owner {
    owned(tenant, "workspace", session)
}

fn limited(limits: ProcessLimits) -> ProcessSettings {
    ProcessSettings { limits, ..settings() }
}

async fn start(room: &Room, owner: &Owner, command: &str) -> Result<ProcessId, Error> {
    room.processes.spawn(owner, shell(command), usize::MAX).await.map_err(Error::from)
}

async fn ended(room: &Room, owner: &Owner, command: &str) -> ProcessId {
    let id = start(room, owner, command).await.expect("a process");
    let until = WaitCondition { exit: true, ..WaitCondition::default() };
    let waited = room.processes.wait(owner, id, &until, AMPLE).await.expect("a wait");
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
    let room =
        Room::with(limited(ProcessLimits { running_per_tenant: 3, running: 4, ..ProcessLimits::default() })).await;
    let mut ids = Vec::new();
    for session in ["one", "two", "three"] {
        let owner = of("a", session);
        ids.push((start(&room, &owner, "exec sleep 1000").await.expect("a place"), owner));
    }
    assert_refused("running_per_tenant", start(&room, &of("a", "four"), "true").await);
    start(&room, &of("b", "one"), "exec sleep 1000").await.expect("another tenant has its places");
    assert_refused("running", start(&room, &of("b", "two"), "true").await);
    // An end makes room for the next session that asks.
    let (id, owner) = &ids[0];
    room.processes.stop(owner, *id, AMPLE).await.expect("a stop");
    start(&room, &of("b", "two"), "exec sleep 1000").await.expect("a place");
    room.close().await;
}

#[tokio::test]
async fn ended_processes_of_a_tenant_make_way_for_its_own_and_for_nobody_elses() {
    let room = Room::with(limited(ProcessLimits { ended_per_tenant: 3, ended: 5, ..ProcessLimits::default() })).await;
    let other = ended(&room, &of("b", "one"), "true").await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let owner = of("a", &format!("session-{number}"));
        ids.push((ended(&room, &owner, "true").await, owner));
    }
    let mut kept = Vec::new();
    for (number, (_, owner)) in ids.iter().enumerate() {
        if !room.processes.list(owner).await.is_empty() {
            kept.push(number);
        }
    }
    // One more than may be kept, until the next one starts.
    assert_eq!(kept, [2, 3, 4, 5]);
    assert_eq!(room.processes.list(&of("b", "one")).await[0].id, other);
    // What a tenant has beyond its own limit is at nobody else's cost, so four count. A further
    // one has the oldest of its own tenant go; with none, it is refused.
    ended(&room, &of("b", "two"), "true").await;
    ended(&room, &of("b", "three"), "true").await;
    assert_eq!(room.processes.list(&of("b", "one")).await[0].id, other);
    ended(&room, &of("b", "four"), "true").await;
    assert!(room.processes.list(&of("b", "one")).await.is_empty(), "the oldest of its tenant");
    assert_refused("ended", start(&room, &of("c", "one"), "true").await);
    room.close().await;
}

#[tokio::test]
async fn the_output_of_a_tenant_takes_no_more_of_the_disk_than_it_may_over_all_its_sessions_and_hosts() {
    const MIB: u64 = 1 << 20;
    let limits = ProcessLimits { output_disk_bytes_per_tenant: 4 * MIB, ..ProcessLimits::default() };
    let room = Room::with(limited(limits.clone())).await;
    let other = ended(&room, &of("b", "one"), "head -c 3145728 /dev/zero").await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let owner = of("a", &format!("session-{number}"));
        ids.push((ended(&room, &owner, "head -c 1048576 /dev/zero").await, owner));
    }
    let kept = |processes: &Processes| -> Vec<u64> {
        let evicted = |(id, owner): &(ProcessId, Owner)| {
            let tail = processes.tail(owner, *id, StreamName::Stdout, 1, 1).expect("a tail");
            tail.end - tail.evicted_before
        };
        ids.iter().map(evicted).collect()
    };
    // The oldest went, so that the last could print.
    let found = kept(&room.processes);
    assert_eq!((found[0], found[5]), (0, MIB), "{found:?}");
    assert!(found.iter().sum::<u64>() <= 4 * MIB, "{found:?}");
    let tail = room.processes.tail(&of("b", "one"), other, StreamName::Stdout, 1, 1).expect("a tail");
    assert_eq!((tail.end, tail.evicted_before), (3 * MIB, 0), "another tenant's stays");
    // The next host counts what this one kept, and has room for half of it.
    let Room { processes, directory } = room;
    drop(processes);
    let limits = ProcessLimits { output_disk_bytes_per_tenant: 2 * MIB, output_disk_bytes: 3 * MIB, ..limits };
    let path = directory.path().join("processes");
    let (processes, _) = Processes::open(&path, spawner(), limited(limits)).expect("a room");
    let room = Room { processes: processes.into(), directory };
    let found = kept(&room.processes);
    assert_eq!((found[3], found[4], found[5]), (0, MIB, MIB), "{found:?}");
    assert_eq!(room.processes.output_disk_bytes(), 2 * MIB);
    // The host is nearly full; what a third tenant prints is its own loss.
    ended(&room, &of("c", "one"), "head -c 2097152 /dev/zero").await;
    assert!(room.processes.output_disk_bytes() <= 3 * MIB);
    assert_eq!(kept(&room.processes), found);
    room.close().await;
}
