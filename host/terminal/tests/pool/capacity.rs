//! How many terminals there are, and how long.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
    time::Duration,
};

use tokio::time::Instant;
use wharf_core::{Code, Error};
use wharf_terminal::{CloseReason, Status, TerminalError};
use wharf_test_support::{let_time_pass, processes::lives, until};

use crate::support::{Somebody, TestPool, runs, somebody};

#[tokio::test]
async fn a_full_pool_closes_the_terminal_that_was_idle_for_longest() {
    let pool = TestPool::with(|settings| (settings.limits.open, settings.limits.evictable_after_seconds) = (3, 0));
    let who = ["one", "two", "three", "four"].map(somebody);
    let first = pool.shell(&who[0]).await;
    let second = pool.shell(&who[1]).await;
    let third = pool.shell(&who[2]).await;
    // The first is busy, and the second was used since.
    pool.make_busy(&who[0], first).await;
    pool.text(&who[1], second);
    let fourth = pool.shell_with(&who[3], |_| {}).await.expect("a terminal");
    // Whose terminal it was is nothing to the other.
    assert!(fourth.replaced.is_empty());
    let info = pool.info(&who[2], third);
    assert_eq!((info.status, info.why), (Status::Closed, Some(CloseReason::Evicted)));
    assert_eq!(pool.info(&who[0], first).status, Status::Busy);
    assert_ne!(pool.info(&who[1], second).status, Status::Closed);
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.open, metrics.busy, metrics.evicted), (3, 1, 1));
}

#[tokio::test]
async fn a_full_host_closes_no_terminal_of_another_tenant() {
    let pool = TestPool::with(|settings| {
        let limits = &mut settings.limits;
        (limits.open, limits.open_per_tenant, limits.evictable_after_seconds) = (3, 3, 0);
    });
    let victim = Somebody::of("quiet", "terminal", "one", None);
    let id = pool.shell(&victim).await;
    let greedy = |number: usize| Somebody::of("greedy", "terminal", &format!("s{number}"), None);
    // Twenty-one times as much as one may have: each closes one of its own.
    for number in 0..21 {
        pool.shell_with(&greedy(number), |_| {}).await.expect("a terminal");
    }
    let info = pool.info(&victim, id);
    assert_eq!((info.status, info.why), (Status::Ready, None));
    assert_eq!(pool.info(&greedy(20), pool.terminals.list(&greedy(20).owner())[0].id).why, None);
    // A tenant with nothing of its own to close is refused.
    let error = pool.shell_with(&Somebody::of("late", "terminal", "one", None), |_| {}).await.expect_err("no room");
    let error = Error::from(error);
    assert_eq!((error.code, error.retryable), (Code::Limit, true));
    assert!(error.message.contains("`open` of [terminal.limits]"), "{error}");
    assert_eq!(pool.info(&victim, id).status, Status::Ready);
    assert_eq!(pool.terminals.metrics().evicted, 19);
}

#[tokio::test]
async fn a_tenant_and_a_session_have_no_more_terminals_than_they_may() {
    let pool = TestPool::with(|settings| {
        let limits = &mut settings.limits;
        (limits.open_per_tenant, limits.open_per_session, limits.evictable_after_seconds) = (3, 2, 3_600);
    });
    let of = |tenant: &str, session: &str, assistant: &str| Somebody::of(tenant, "terminal", session, Some(assistant));
    for assistant in ["a", "b"] {
        pool.shell_with(&of("t", "one", assistant), |_| {}).await.expect("a terminal");
    }
    let refused = async |who: Somebody| {
        let error = pool.shell_with(&who, |_| {}).await.expect_err("no room");
        assert!(matches!(error, TerminalError::Full { .. }), "{error}");
        Error::from(error).message
    };
    let message = refused(of("t", "one", "c")).await;
    assert!(message.contains("`open_per_session`") && message.contains("3600 s"), "{message}");
    pool.shell_with(&of("t", "two", "a"), |_| {}).await.expect("a terminal");
    let message = refused(of("t", "three", "a")).await;
    assert!(message.contains("`open_per_tenant`"), "{message}");
    pool.shell_with(&of("u", "one", "a"), |_| {}).await.expect("another tenant's");
    // Its own it may always replace, and what it closes is free for it.
    let own = of("t", "one", "a");
    let again = pool.shell_with(&own, |_| {}).await.expect("a terminal");
    assert_eq!(again.replaced.len(), 1);
    pool.close(&own, again.id).await;
    pool.shell_with(&of("t", "three", "a"), |_| {}).await.expect("a terminal");
    assert_eq!(pool.terminals.metrics().evicted, 0);
}

#[tokio::test]
async fn a_shell_that_was_used_a_moment_ago_makes_no_room() {
    let pool = TestPool::with(|settings| settings.limits.open_per_tenant = 1);
    let (first, second) = (somebody("one"), somebody("two"));
    let id = pool.shell(&first).await;
    let error = pool.shell_with(&second, |_| {}).await.expect_err("it is in use");
    assert!(Error::from(error).message.contains("`evictable_after_seconds`"));
    assert_eq!(pool.info(&first, id).status, Status::Ready);
}

#[tokio::test]
async fn a_terminal_that_takes_long_to_close_keeps_its_place_until_it_has() {
    let pool = TestPool::with(|settings| settings.limits.open_per_tenant = 1);
    let (first, second) = (somebody("one"), somebody("two"));
    let script = "trap '' HUP TERM; echo ready; while :; do sleep 0.05; done";
    let id = pool.script(&first, script).await.expect("a terminal").id;
    pool.printed(&first, id, "ready").await;
    let pid = pool.info(&first, id).pid.expect("it runs");
    let owner = first.owner();
    let closing = pool.terminals.close(&owner, id, Duration::from_secs(60));
    // Begun behind the close, and in need of the place.
    let starting = pool.shell_with(&second, |_| {});
    // The start that needs the place does not wait for a minute.
    let (closed, started) = tokio::join!(closing, starting);
    assert!(started.is_ok() && !lives(pid));
    assert_eq!(closed.expect("closed").why, Some(CloseReason::Owner));
}

#[tokio::test]
async fn ended_terminals_of_one_tenant_displace_none_of_another() {
    let pool = TestPool::with(|settings| {
        let limits = &mut settings.limits;
        (limits.ended, limits.ended_per_tenant, limits.ended_per_session) = (4, 3, 2);
    });
    let ended = async |who: &Somebody| {
        let id = pool.script(who, "true").await.expect("a terminal").id;
        pool.closed(who, id).await;
        id
    };
    let kept = |who: &Somebody| pool.terminals.list(&who.owner()).into_iter().map(|info| info.id).collect::<Vec<_>>();
    let victim = Somebody::of("quiet", "terminal", "one", None);
    let first = ended(&victim).await;
    let greedy = ["one", "two"].map(|session| Somebody::of("greedy", "terminal", session, None));
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push([ended(&greedy[0]).await, ended(&greedy[1]).await]);
    }
    pool.terminals.sweep().await;
    assert_eq!(kept(&victim), [first]);
    // Two of the session at most, three of the tenant, the oldest go.
    assert_eq!((kept(&greedy[0]), kept(&greedy[1])), (vec![ids[2][0]], vec![ids[1][1], ids[2][1]]));
    // The host is full, and the terminal of a tenant with no older one is not kept.
    let late = Somebody::of("late", "terminal", "one", None);
    let id = pool.script(&late, "true").await.expect("a terminal").id;
    until("it is forgotten", || pool.terminals.info(&late.owner(), id).is_err()).await;
    assert_eq!(kept(&victim), [first]);
}

#[tokio::test]
async fn a_start_that_fails_closes_nothing_and_gives_back_what_it_took() {
    let pool = TestPool::with(|settings| {
        let limits = &mut settings.limits;
        (limits.open, limits.open_per_owner, limits.evictable_after_seconds) = (2, 1, 0);
    });
    let (first, second, third) = (somebody("one"), somebody("two"), somebody("three"));
    let (id, other) = (pool.shell(&first).await, pool.shell(&second).await);
    // Starts that fail, of an owner that would replace its own terminal and of one
    // that would have another's closed.
    for who in [&first, &third] {
        pool.shell_with(who, |wanted| wanted.directory = "nosuch").await.expect_err("no such directory");
        for program in ["/etc/passwd", "/tmp", "/nowhere/at/all"] {
            pool.program(who, program).await.expect_err(program);
        }
        pool.script(who, "a\0b").await.expect_err("a NUL");
        assert_eq!((pool.info(&first, id).status, pool.info(&second, other).status), (Status::Ready, Status::Ready));
    }
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.open, metrics.evicted, metrics.replaced), (2, 0, 0));
    // Each has its place again, so a further one closes one of them, and says so.
    let evicting = pool.shell(&third).await;
    assert_eq!(pool.info(&first, id).why, Some(CloseReason::Evicted));
    assert_eq!(pool.info(&second, other).status, Status::Ready);
    assert_eq!(pool.info(&third, evicting).status, Status::Ready);
    assert_eq!(pool.shell_with(&second, |_| {}).await.expect("a terminal").replaced, [other]);
}

#[tokio::test]
async fn where_all_are_busy_a_further_one_is_refused_until_one_is_not() {
    let pool = TestPool::with(|settings| (settings.limits.open, settings.limits.evictable_after_seconds) = (2, 0));
    let who = ["one", "two", "three"].map(somebody);
    let ids = [pool.shell(&who[0]).await, pool.shell(&who[1]).await];
    pool.make_busy(&who[0], ids[0]).await;
    let turn = pool.make_busy(&who[1], ids[1]).await;
    let error = pool.shell_with(&who[2], |_| {}).await.expect_err("no room");
    assert!(matches!(error, TerminalError::Full { full, .. } if full.bound == ("open", 2)), "{error}");
    let error = Error::from(error);
    assert_eq!((error.code, error.retryable), (Code::Limit, true));
    // Its own it may always replace.
    pool.shell_with(&who[0], |_| {}).await.expect("a terminal");
    pool.terminals.cancel(&who[1].owner(), ids[1], turn.number).expect("cancelled");
    let id = pool.shell_with(&who[0], |_| {}).await.expect("a terminal").id;
    pool.prompted(&who[0], id).await;
    pool.make_busy(&who[0], id).await;
    pool.shell_with(&who[2], |_| {}).await.expect("a terminal");
    assert_eq!(pool.info(&who[1], ids[1]).why, Some(CloseReason::Evicted));
    assert_eq!(pool.terminals.metrics().errors.full, 1);
}

#[tokio::test]
async fn what_nobody_uses_is_closed_and_what_ended_long_ago_forgotten() {
    let pool = TestPool::new();
    let (idle, busy, attached) = (somebody("idle"), somebody("busy"), somebody("attached"));
    let (id, busy_id) = (pool.shell(&idle).await, pool.shell(&busy).await);
    let attached_id = pool.shell(&attached).await;
    pool.make_busy(&busy, busy_id).await;
    let looking = pool.terminals.attach(attached_id).expect("attached");
    let minutes = |minutes: u64| Instant::now() + Duration::from_secs(minutes * 60);
    assert_eq!(pool.terminals.sweep_as_of(minutes(14)).await.closed, 0);
    let swept = pool.terminals.sweep_as_of(minutes(16)).await;
    assert_eq!((swept.closed, swept.forgotten), (1, 0));
    let info = pool.info(&idle, id);
    assert_eq!((info.status, info.why), (Status::Closed, Some(CloseReason::Idle)));
    assert_eq!(pool.info(&busy, busy_id).status, Status::Busy);
    drop(looking);
    assert_eq!(pool.terminals.sweep_as_of(minutes(16)).await.closed, 1);
    // It stays to be read for an hour.
    assert_eq!(pool.terminals.sweep_as_of(minutes(50)).await.forgotten, 0);
    assert_eq!(pool.terminals.sweep_as_of(minutes(70)).await.forgotten, 2);
    assert!(matches!(pool.terminals.info(&idle.owner(), id), Err(TerminalError::NotFound)));
    assert_eq!(pool.terminals.metrics().idle, 2);
}

#[tokio::test]
async fn what_is_short_is_swept_often_and_nothing_more_often_than_each_second() {
    for (idle, kept, pace) in [(900, 3_600, 60), (6, 3_600, 1), (900, 100, 10), (1, 1, 1)] {
        let pool = TestPool::with(|settings| {
            (settings.limits.idle_seconds, settings.limits.tombstone_seconds) = (idle, kept);
        });
        assert_eq!(pool.terminals.sweep_interval(), Duration::from_secs(pace), "{idle} {kept}");
    }
}

#[tokio::test]
async fn no_more_ended_terminals_are_kept_than_may_be_the_oldest_go_first() {
    let pool = TestPool::with(|settings| settings.limits.ended_per_owner = 2);
    let owner = somebody("one");
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = pool.script(&owner, "true").await.expect("a terminal").id;
        pool.closed(&owner, id).await;
        ids.push(id);
    }
    pool.terminals.sweep().await;
    let kept: Vec<_> = pool.terminals.list(&owner.owner()).into_iter().map(|info| info.id).collect();
    assert_eq!(kept, ids[2..]);
}

#[tokio::test]
async fn a_terminal_is_closed_once_it_was_open_for_as_long_as_it_may() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let lifetime = Some(Duration::from_millis(300));
    let id = pool.shell_with(&owner, |wanted| wanted.lifetime = lifetime).await.expect("a terminal").id;
    let info = pool.closed(&owner, id).await;
    assert_eq!(info.why, Some(CloseReason::TimeLimit));
    assert_eq!(pool.terminals.metrics().expired, 1);
}

#[tokio::test]
async fn a_start_that_is_given_up_gives_its_place_back() {
    let pool = TestPool::with(|settings| settings.limits.open = 1);
    let owner = somebody("one");
    // The first makes what all need; then a start waits for its program, and is
    // given up sooner or later.
    let first = pool.shell(&owner).await;
    for steps in 1..=6 {
        let mut starting = pin!(pool.script(&owner, "exec sleep 761"));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..steps {
            if starting.as_mut().poll(&mut context).is_ready() {
                break;
            }
            let_time_pass(Duration::from_millis(1), "the start goes on").await;
        }
        if steps == 1 {
            assert_eq!(pool.info(&owner, first).why, None, "what runs is not closed for what never did");
        }
    }
    // The first has its place again, or one that did run has it; nobody else gets in.
    until("one is open", || pool.terminals.metrics().open == 1).await;
    let error = pool.shell_with(&somebody("two"), |_| {}).await.expect_err("no room");
    assert!(matches!(error, TerminalError::Full { .. }), "{error}");
    for info in pool.terminals.list(&owner.owner()) {
        pool.close(&owner, info.id).await;
    }
    until("nothing of it is left", || !runs("761")).await;
    let id = pool.shell(&somebody("two")).await;
    assert_eq!(pool.info(&somebody("two"), id).status, Status::Ready);
}
