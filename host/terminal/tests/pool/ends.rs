//! How terminals end, and what ends with them.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_core::{Code, Error, Quota, WorkspaceStay, quota::Bounds};
use wharf_terminal::{CloseReason, Restart, Status, TerminalError};
use wharf_test_support::{processes::lives, until};

use crate::support::{Somebody, TestPool, runs, somebody};

#[tokio::test]
async fn every_end_has_its_cause_in_words() {
    let pool = TestPool::with(|settings| {
        let limits = &mut settings.limits;
        (limits.open_per_tenant, limits.evictable_after_seconds) = (3, 0);
        settings.first_backoff = Duration::from_millis(1);
        limits.restarts = 1;
    });
    let owner = somebody("one");
    let told = async |id, because: &str| {
        let info = pool.closed(&owner, id).await;
        let said = info.because.expect("a cause");
        assert!(said.contains(because), "{said}");
        for error in [
            pool.submit(&owner, id, "x").await.expect_err("closed"),
            pool.terminals.press(&owner.owner(), id, &["x"]).await.expect_err("closed"),
            pool.terminals.resize(&owner.owner(), id, wharf_terminal::TerminalSize::default()).expect_err("closed"),
        ] {
            let error = Error::from(error);
            assert_eq!(error.code, Code::Gone);
            assert!(error.message.contains(because), "{error}");
        }
    };
    let id = pool.script(&owner, "kill -SEGV $$").await.expect("a terminal").id;
    told(id, "it was ended by signal 11 (SIGSEGV)").await;
    let id = pool.script(&owner, "exit 3").await.expect("a terminal").id;
    told(id, "it ended with code 3").await;
    let id = pool.script_with(&owner, "exit 7", Some(Restart::OnCrash)).await.expect("a terminal").id;
    told(id, "its program crashed more than 1 times within 600 s, the last time since it ended with code 7").await;
    let lifetime = Some(Duration::from_millis(50));
    let id = pool.shell_with(&owner, |wanted| wanted.lifetime = lifetime).await.expect("a terminal").id;
    told(id, "s, as long as it was allowed to be open").await;
    let id = pool.shell(&owner).await;
    let next = pool.shell(&owner).await;
    told(
        id,
        &format!(
            "it was closed to make room for terminal {next} of the same owner, which may have 1 (`open_per_owner`)"
        ),
    )
    .await;
    pool.terminals.sweep_as_of(Instant::now() + Duration::from_secs(901)).await;
    told(next, "it was closed, since nobody used it for 901 s (limit `idle_seconds`)").await;
    let id = pool.shell(&owner).await;
    for session in ["two", "three", "four"] {
        pool.shell(&somebody(session)).await;
    }
    // The id is for its own session to know.
    told(
        id,
        "s without use, to make room for another terminal of its tenant, of another session (limit `open_per_tenant`)",
    )
    .await;
    let id = pool.shell(&owner).await;
    pool.close(&owner, id).await;
    told(id, "its owner closed it").await;
    let id = pool.shell(&owner).await;
    pool.terminals.close_for_operator(id, Duration::ZERO).await;
    told(id, "the operator ended it").await;
}

#[tokio::test]
async fn a_terminal_that_made_room_says_for_which_one_of_its_session() {
    let pool = TestPool::with(|settings| {
        (settings.limits.open_per_session, settings.limits.evictable_after_seconds) = (1, 0);
    });
    let owner = somebody("one");
    let id = pool.shell(&owner).await;
    let next = pool.shell(&Somebody::of("local", "other", "one", None)).await;
    let because = pool.closed(&owner, id).await.because.expect("a cause");
    let said =
        format!("s without use, to make room for terminal {next} of the same session (limit `open_per_session`)");
    assert!(because.ends_with(&said), "{because}");
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it_and_with_its_terminal() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    // In a session of its own and deaf to the end of its terminal.
    let daemon = |seconds: u32| format!("(trap '' HUP TERM; exec setsid sleep {seconds}) & ");
    let id = pool.script(&owner, &format!("{}echo ready; exec sleep 1000", daemon(771))).await.expect("a terminal").id;
    pool.printed(&owner, id, "ready").await;
    until("it runs", || runs("771")).await;
    assert_eq!(pool.close(&owner, id).await.status, Status::Closed);
    assert!(!runs("771"));
    let script = format!("{}until [ -e {} ]; do sleep 0.01; done", daemon(772), "gone");
    let id = pool.script(&owner, &script).await.expect("a terminal").id;
    until("it runs", || runs("772")).await;
    std::fs::write(pool.place().files.join("gone"), "").expect("a file");
    let info = pool.closed(&owner, id).await;
    assert_eq!((info.why, info.exit), (None, Some(wharf_terminal::ProgramExit::Exited { code: 0 })));
    assert!(!runs("772"));
}

#[tokio::test]
async fn a_pool_that_shuts_down_leaves_nothing_and_starts_nothing() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let other = somebody("two");
    let waiting = pool.script_with(&other, "exit 3", Some(Restart::OnCrash)).await.expect("a terminal").id;
    pool.until(&other, waiting, |info| info.status == Status::Restarting || info.restarts > 0).await;
    let pid = pool.info(&owner, id).pid.expect("it runs");
    pool.terminals.close_all().await;
    assert!(!lives(pid));
    for (_, info) in pool.terminals.all() {
        assert_eq!((info.status, info.why), (Status::Closed, Some(CloseReason::ShuttingDown)));
    }
    let error = pool.shell_with(&owner, |_| {}).await.expect_err("no more");
    assert!(matches!(error, TerminalError::ShuttingDown));
}

#[tokio::test]
async fn a_terminal_stays_in_its_workspace_until_it_is_over() {
    let presence = Arc::new(());
    let mut pool = TestPool::with(|settings| settings.first_backoff = Duration::from_millis(1));
    pool.stay = Some(WorkspaceStay::new(Arc::clone(&presence)));
    let owner = somebody("one");
    let id = pool.script_with(&owner, "exit 7", Some(Restart::OnCrash)).await.expect("a terminal").id;
    let other = pool.script_with(&somebody("two"), "exec cat", Some(Restart::OnCrash)).await.expect("a terminal").id;
    pool.stay = None;
    pool.closed(&owner, id).await;
    // One of a program that crashed too often is over; that of the other is held.
    until("the first is let go", || Arc::strong_count(&presence) == 2).await;
    pool.terminals.close(&somebody("two").owner(), other, Duration::ZERO).await.expect("a terminal");
    assert_eq!(Arc::strong_count(&presence), 1, "also of one that is remembered");
}

#[tokio::test]
async fn the_terminals_of_a_session_can_be_ended_together() {
    let pool = TestPool::with(|settings| settings.limits.open_per_owner = 2);
    let (one, two) = (somebody("one"), somebody("two"));
    let ids = [pool.shell(&one).await, pool.shell(&one).await];
    let other = pool.shell(&two).await;
    let sessions: Vec<_> = pool.terminals.all().into_iter().map(|(owner, _)| owner.session.to_string()).collect();
    assert_eq!(sessions, ["one", "one", "two"]);
    let owner = one.owner();
    let bytes = Bounds {
        resource: "bytes of workspaces",
        section: "[process.limits]",
        session: Some(("workspace_bytes", 1)),
        tenant: ("workspace_total_bytes_per_tenant", 2),
        host: ("workspace_total_bytes", 3),
    };
    let full = Quota::new(bytes).take(&owner.tenant, &owner.session, 2).expect_err("too much");
    assert_eq!(pool.terminals.end_session(&owner.tenant, &owner.session, &full).await, 2);
    for info in ids.map(|id| pool.info(&one, id)) {
        assert_eq!(info.why, Some(CloseReason::Quota));
        assert!(info.because.as_ref().is_some_and(|because| because.contains("`workspace_bytes`")), "{info:?}");
    }
    assert_eq!(pool.info(&two, other).status, Status::Ready);
}
