//! Whose processes, and how many.

use std::{collections::HashSet, sync::Arc, time::Duration};

use wharf_process::{Owner, ProcessError, ProcessId, ProcessSettings, Processes, Signal, StreamName, WaitCondition};
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, owned, owner, settings, shell};

/// What is answered to all that an owner can ask of a process that is not there for it.
pub(crate) async fn refusals(processes: &Processes, owner: &Owner, id: ProcessId) -> [ProcessError; 11] {
    let until = WaitCondition { exit: true, ..WaitCondition::default() };
    let errors = [
        processes.snapshot(owner, id).await.map(drop).err(),
        processes.poll(owner, id, 1, 100).await.map(drop).err(),
        processes.statistics(owner, id).map(drop).err(),
        processes.read(owner, id, StreamName::Stdout, 0, 100).map(drop).err(),
        processes.tail(owner, id, StreamName::Stdout, 1, 100).map(drop).err(),
        processes.head(owner, id, StreamName::Stdout, 1, 100).map(drop).err(),
        processes.write(owner, id, b"x", AMPLE).await.map(drop).err(),
        processes.close_input(owner, id).await.err(),
        processes.signal(owner, id, Signal::Kill).await.err(),
        processes.wait(owner, id, &until, AMPLE).await.map(drop).err(),
        processes.stop(owner, id, Duration::ZERO).await.map(drop).err(),
    ];
    errors.map(|error| error.expect("refused"))
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there_and_nothing_about_it_changes() {
    let registry = TestRegistry::new().await;
    let processes = &registry.processes;
    let id = registry.start(wharf_process::SpawnRequest { input: true, ..shell("exec cat") }).await;
    let before = (processes.snapshot(&owner("one"), id).await.expect("its owner's"), processes.poll_totals());

    let mine = owner("one");
    let strangers = [
        (owner("two"), id),
        (owned("local", "terminal", "one"), id),
        (owned("other", "workspace", "one"), id),
        (mine, "0".repeat(32).parse::<ProcessId>().expect("an id")),
    ];
    for (stranger, id) in &strangers {
        for error in refusals(processes, stranger, *id).await {
            assert!(matches!(error, ProcessError::NotFound), "{error:?}");
        }
    }
    for (stranger, _) in &strangers[..3] {
        assert!(processes.list(stranger).await.is_empty());
    }
    let after = (processes.snapshot(&owner("one"), id).await.expect("its owner's"), processes.poll_totals());
    assert_eq!(before, after);
    registry.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_session_runs_as_many_as_it_may_and_not_one_more_however_it_asks() {
    let registry = TestRegistry::with(ProcessSettings { running_per_session: 1, ..settings() }).await;
    // Each round is a session, and four threads race for its one place.
    for round in 0..20 {
        let owner = owner(&format!("race-{round}"));
        let begin = Arc::new(tokio::sync::Barrier::new(4));
        let spawns = [(); 4].map(|()| {
            let (processes, owner, begin) = (Arc::clone(&registry.processes), owner.clone(), Arc::clone(&begin));
            tokio::spawn(async move {
                begin.wait().await;
                processes.spawn(&owner, shell("exec sleep 1000"), usize::MAX).await
            })
        });
        let mut started = HashSet::new();
        for spawn in spawns {
            match spawn.await.expect("no panic") {
                Ok(id) => assert!(started.insert(id)),
                Err(error) => {
                    assert!(matches!(error, ProcessError::TooMany { full } if full.bound.1 == 1), "{error:?}");
                }
            }
        }
        assert_eq!((started.len(), registry.processes.list(&owner).await.len()), (1, 1));
        // An end makes room.
        let id = started.into_iter().next().expect("one");
        registry.processes.stop(&owner, id, AMPLE).await.expect("a stop");
        registry.processes.spawn(&owner, shell("exec sleep 1000"), usize::MAX).await.expect("there is registry");
    }
    registry.close().await;
}

#[tokio::test]
async fn a_session_keeps_only_so_many_tombstones() {
    let registry = TestRegistry::with(ProcessSettings { ended_per_session: 3, ..settings() }).await;
    let mut ids = Vec::new();
    for _ in 0..8 {
        let id = registry.shell("true").await;
        registry.exit(id).await;
        ids.push(id);
    }
    let kept: Vec<_> = registry.processes.list(&owner("one")).await.iter().map(|snapshot| snapshot.id).collect();
    assert_eq!(kept, ids[4..]);
    registry.close().await;
}
