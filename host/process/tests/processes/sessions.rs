//! What holds for all processes of a session, or of the host.

use std::{sync::Arc, time::Duration};

use wharf_core::WorkspaceStay;
use wharf_process::{Exit, KilledBy, ProcessError, SpawnRequest, Status};
use wharf_test_support::{AMPLE, in_time, processes::lives, until};

use crate::support::{TestRegistry, owned, owner, shell};
use crate::waiting::pattern;

#[tokio::test]
async fn a_process_stays_in_its_workspace_until_nothing_of_it_is_left() {
    let registry = TestRegistry::new().await;
    let presence = Arc::new(());
    let staying = |command: &str| {
        let stay = Some(WorkspaceStay::new(Arc::clone(&presence)));
        SpawnRequest { stay, ..shell(command) }
    };
    let is_held = || Arc::strong_count(&presence) > 1;
    let runs = registry.start(staying("exec sleep 1000")).await;
    assert!(is_held(), "it runs");
    registry.processes.stop(&owner("one"), runs, Duration::ZERO).await.expect("a process");
    assert!(!is_held(), "nothing of it runs");
    let behind = registry.start(staying("setsid sleep 1000 & exit 0")).await;
    registry.exit(behind).await;
    assert!(is_held(), "what it left behind runs");
    registry.processes.stop(&owner("one"), behind, Duration::ZERO).await.expect("a process");
    until("it is let go", || !is_held()).await;
    let missing = SpawnRequest { program: "/bin/no-such-program".into(), ..staying("") };
    registry.processes.spawn(&owner("one"), missing, 1).await.expect_err("it does not start");
    assert!(!is_held(), "it never ran");
    registry.close().await;
}

#[tokio::test]
async fn the_end_of_a_session_kills_all_it_runs_and_nothing_of_another() {
    let registry = TestRegistry::new().await;
    let processes = &registry.processes;
    let terminal = owned("local", "terminal", "one");
    let other = registry.processes.spawn(&owner("two"), shell("exec sleep 1000"), 1).await.expect("a process");
    let first = registry.shell("trap '' TERM; exec sleep 1000").await;
    let second = processes.spawn(&terminal, shell("exec sleep 1000"), 1).await.expect("a process");
    let behind = registry.shell("setsid sleep 1000 & echo $!").await;
    registry.exit(behind).await;
    let left: u32 = registry.tail(behind).trim().parse().expect("a process id");
    let over = registry.shell("exit 3").await;
    registry.exit(over).await;
    let mut sessions: Vec<_> = processes.running_sessions().iter().map(|(_, session)| session.to_string()).collect();
    sessions.sort();
    assert_eq!(sessions, ["one", "two"]);
    let counts = processes.counts();
    assert_eq!((counts.running, counts.left_behind, counts.ended), (3, 1, 1));

    let (tenant, session) = (owner("one").tenant, owner("one").session);
    assert_eq!(processes.end_session(&tenant, &session, KilledBy::Quota).await, 2);
    for (whose, id) in [(&owner("one"), first), (&terminal, second)] {
        let ended = processes.snapshot(whose, id).await.expect("a process");
        assert_eq!((ended.exit, ended.status), (Some(Exit::Killed { by: KilledBy::Quota }), Status::Killed));
        assert_eq!(ended.reason.as_deref(), Some("its session used up more than it may"));
        assert!(!lives(ended.pid.expect("it ran")));
    }
    assert!(!lives(left));
    let exits = [(behind, 0), (over, 3)];
    for (id, code) in exits {
        let ended = processes.snapshot(&owner("one"), id).await.expect("a process");
        assert_eq!(ended.exit, Some(Exit::Exited { code }), "who had ended stays what it was");
    }
    let spared = processes.snapshot(&owner("two"), other).await.expect("a process");
    assert_eq!(spared.status, Status::Running);
    assert_eq!(processes.running_sessions(), [(owner("two").tenant, owner("two").session)]);
    assert_eq!(processes.end_session(&tenant, &session, KilledBy::Quota).await, 0);
    registry.close().await;
}

#[tokio::test]
async fn what_was_left_in_the_background_takes_a_place_until_it_ends() {
    let registry = TestRegistry::new().await;
    let spawn = async |command: &str| registry.processes.spawn(&owner("one"), shell(command), 1).await;
    for _ in 0..20 {
        // One after the other, each gets the only place as soon as the end of
        // the one before is told.
        let id = spawn("true").await.expect("a place");
        registry.exit(id).await;
    }
    let id = spawn("sleep 1000 & exit 0").await.expect("a place");
    registry.exit(id).await;
    let refused = spawn("true").await.expect_err("no place");
    assert!(matches!(refused, ProcessError::TooManyGranted { limit: 1 }), "{refused:?}");
    registry.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    spawn("true").await.expect("a place");
    registry.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_owner_runs_as_many_as_were_granted_and_not_one_more_however_it_asks() {
    let registry = TestRegistry::new().await;
    let begin = Arc::new(tokio::sync::Barrier::new(8));
    let spawns: Vec<_> = (0..8)
        .map(|number| {
            let (processes, begin) = (Arc::clone(&registry.processes), Arc::clone(&begin));
            // Two plugins of one session, of which each may have three.
            let plugin = if number % 2 == 0 { "workspace" } else { "terminal" };
            let owner = owned("local", plugin, "one");
            tokio::spawn(async move {
                begin.wait().await;
                processes.spawn(&owner, shell("exec sleep 1000"), 3).await
            })
        })
        .collect();
    let (mut started, mut refused) = (0, 0);
    for spawn in spawns {
        match spawn.await.expect("no panic") {
            Ok(_) => started += 1,
            Err(ProcessError::TooManyGranted { limit: 3 }) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((started, refused), (6, 2));
    registry.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_can_be_stopped_while_it_starts() {
    let registry = TestRegistry::new().await;
    for _ in 0..20 {
        let processes = Arc::clone(&registry.processes);
        let starting = tokio::spawn(async move { processes.spawn(&owner("one"), shell("exec sleep 1000"), 1).await });
        let listed = async {
            loop {
                let running =
                    registry.processes.list(&owner("one")).await.into_iter().find(|one| !one.status.has_ended());
                if let Some(running) = running {
                    return running.id;
                }
                // It is to be found as early as can be.
                tokio::task::yield_now().await;
            }
        };
        let id = in_time("it is listed", listed).await;
        let stopped = registry.processes.stop(&owner("one"), id, Duration::ZERO).await.expect("a stop");
        assert_eq!(stopped.exit, Some(Exit::Killed { by: KilledBy::User }));
        // Before it ran, or after.
        match starting.await.expect("no panic") {
            Ok(started) => assert_eq!(started, id),
            Err(error) => assert!(matches!(error, ProcessError::Ended), "{error:?}"),
        }
        let pid = registry.processes.snapshot(&owner("one"), id).await.expect("a process").pid;
        assert!(!pid.is_some_and(lives));
    }
    registry.close().await;
}

#[tokio::test]
async fn a_host_that_shuts_down_starts_nothing_more() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done").await;
    assert!(pattern(&registry, id, "up").await);
    registry.processes.shut_down(AMPLE).await;
    assert_eq!(registry.exit(id).await.exit, Some(Exit::Killed { by: KilledBy::HostLost }));
    assert_eq!(registry.tail(id), "up\nasked\n");
    let refused = registry.processes.spawn(&owner("one"), shell("true"), 1).await.expect_err("closed");
    assert!(matches!(refused, ProcessError::ShuttingDown), "{refused:?}");
}
