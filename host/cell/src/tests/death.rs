//! Who is dead, and what becomes of its sessions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::net::TcpListener;
use wharf_core::{Code, service::Place};
use wharf_test_support::{until, until_async};

use super::{TIMES, TestCell, TestHost, free_address};
use crate::{
    Beat, CellTimes, HostRecord, HostReport, Incarnation, JoinRefused, Members, MemoryCell, NewMember, PeerAddress,
    StoreUnavailable,
};

async fn is_dead(test: &TestCell, name: &str) -> bool {
    let hosts = test.store.list().await.expect("it answers");
    hosts.iter().any(|host| host.host == name && host.is_dead)
}

/// Calls until the session has a home here.
async fn taken_over(host: &TestHost, session: &str) {
    until_async("another host is the home", async || host.call(session, "plugin__tool").await.is_ok()).await;
}

/// Somebody who listens and is no host, and where.
async fn listening() -> (TcpListener, PeerAddress) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    (listener, format!("localhost:{port}").parse().expect("an address"))
}

/// Tells a wrong address of one host, or has beats arrive late.
#[derive(Default)]
struct Misled {
    store: Arc<MemoryCell>,
    address_of: Option<(&'static str, PeerAddress)>,
    /// Beats arrive when their host has left.
    beats_after_leaving: bool,
    /// One more beat arrives before its host is declared dead.
    beats_before_death: AtomicBool,
}

impl Misled {
    fn of(test: &TestCell) -> Self {
        Self { store: Arc::clone(&test.store), ..Self::default() }
    }
}

#[async_trait]
impl Members for Misled {
    async fn join(&self, member: &NewMember) -> Result<Result<(), JoinRefused>, StoreUnavailable> {
        self.store.join(member).await
    }

    async fn beat(&self, incarnation: Incarnation, report: HostReport) -> Result<Beat, StoreUnavailable> {
        while self.beats_after_leaving && self.store.list().await?.iter().any(|host| host.incarnation == incarnation) {
            tokio::task::yield_now().await;
        }
        self.store.beat(incarnation, report).await
    }

    async fn list(&self) -> Result<Vec<HostRecord>, StoreUnavailable> {
        let mut hosts = self.store.list().await?;
        if let Some((name, address)) = &self.address_of {
            hosts.iter_mut().filter(|host| host.host == *name).for_each(|host| host.address = address.to_string());
        }
        Ok(hosts)
    }

    async fn declare_dead(&self, incarnation: Incarnation, beat: i64) -> Result<bool, StoreUnavailable> {
        if self.beats_before_death.swap(false, Ordering::SeqCst) {
            self.store.beat(incarnation, HostReport::default()).await?;
        }
        self.store.declare_dead(incarnation, beat).await
    }

    async fn drain(&self, host: &str, is_draining: bool) -> Result<bool, StoreUnavailable> {
        self.store.drain(host, is_draining).await
    }

    async fn leave(&self, incarnation: Incarnation) -> Result<(), StoreUnavailable> {
        self.store.leave(incarnation).await
    }
}

#[tokio::test]
async fn a_host_that_is_killed_is_declared_dead_by_two_witnesses_at_once() {
    // Nothing but the witnesses can find it out in this time.
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), dead_without_witness: Duration::from_secs(60), ..TIMES };
    let (one, two, _three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    let dead = one.kill().await;
    let began = Instant::now();
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Gone, "{error}");
    assert!(error.retryable && error.message.contains("the host one"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(is_dead(&test, "one").await);
    taken_over(&two, "s-1").await;
    assert_eq!(dead.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_witness_hears_of_a_host_that_joined_after_its_last_reading() {
    // The first reads the members when it joins, and then no more by itself.
    let mut test = TestCell::new();
    let long = Duration::from_secs(60);
    test.times = CellTimes { beat: long, dead: long, dead_without_witness: long, ..TIMES };
    let (_witness, two, one) = (test.host("witness").await, test.host("two").await, test.host("one").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Gone, "{error}");
}

#[tokio::test]
async fn a_witness_that_cannot_tell_is_asked_again() {
    let mut test = TestCell::new();
    let long = Duration::from_secs(60);
    test.times = CellTimes { dead: long, dead_without_witness: long, ..TIMES };
    let (one, two) = (test.host("one").await, test.host("two").await);
    // Where the witness looks, somebody takes one connection and says nothing.
    let (silent, address) = listening().await;
    let taken = tokio::spawn(async move { silent.accept().await });
    let misled = Misled { address_of: Some(("one", address)), ..Misled::of(&test) };
    let _witness = test.host_that_reads("witness", free_address(), Arc::new(misled)).await;
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Gone, "{error}");
    taken.await.expect("no panic").expect("it was looked at twice");
}

#[tokio::test]
async fn a_host_that_takes_connections_while_it_ends_is_looked_at_again() {
    let mut test = TestCell::new();
    let long = Duration::from_secs(60);
    test.times = CellTimes { dead: long, dead_without_witness: long, ..TIMES };
    let (one, _three) = (test.host("one").await, test.host("three").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    // The second host sees one whose socket for new connections is still open.
    let (ending, address) = listening().await;
    tokio::spawn(async move {
        for _ in 0..3 {
            drop(ending.accept().await);
        }
    });
    let misled = Misled { address_of: Some(("one", address)), ..Misled::of(&test) };
    let two = test.host_that_reads("two", free_address(), Arc::new(misled)).await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Gone, "{error}");
}

#[tokio::test]
async fn calls_that_meet_broken_connections_together_share_looks() {
    const CALLS: usize = 16;
    let test = TestCell::new();
    let one = test.host("one").await;
    one.call("s-1", "plugin__tool").await.expect("an answer");
    // As a balancer with nobody behind it.
    let (breaking, address) = listening().await;
    let connections = Arc::new(AtomicUsize::new(0));
    let broken = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok(connection) = breaking.accept().await {
            drop(connection);
            broken.fetch_add(1, Ordering::SeqCst);
        }
    });
    let misled = Misled { address_of: Some(("one", address)), ..Misled::of(&test) };
    let two = test.host_that_reads("two", free_address(), Arc::new(misled)).await;
    for error in join_all((0..CALLS).map(|_| two.call("s-1", "plugin__tool"))).await {
        assert_eq!(error.expect_err("it is not reached").code, Code::Unavailable);
    }
    // One of each call, and those of three looks. A look each would be some two hundred.
    let connections = connections.load(Ordering::SeqCst);
    assert!(connections <= CALLS + 3 * CALLS, "{connections}");
    assert!(!is_dead(&test, "one").await);
}

#[tokio::test]
async fn the_last_beat_of_a_killed_host_does_not_hide_its_death() {
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), dead_without_witness: Duration::from_secs(60), ..TIMES };
    let (one, _three) = (test.host("one").await, test.host("three").await);
    let beaten = Misled { beats_before_death: AtomicBool::new(true), ..Misled::of(&test) };
    let two = test.host_that_reads("two", free_address(), Arc::new(beaten)).await;
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Gone, "{error}");
}

#[tokio::test]
async fn a_call_that_runs_when_its_host_is_killed_ends_with_gone() {
    let test = TestCell::new();
    let (one, two, _three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let two = Arc::new(two);
    let calling = tokio::spawn({
        let two = Arc::clone(&two);
        async move { two.call("s-1", "wait").await }
    });
    until("the call runs", || one.calls() == 2).await;
    one.kill().await;
    let error = calling.await.expect("no panic").expect_err("its host is dead");
    assert!(error.code == Code::Gone && error.message.contains("may have run"), "{error}");
}

#[tokio::test]
async fn of_two_hosts_one_is_dead_once_its_beat_stands_still_too() {
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), ..TIMES };
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("its host is dead");
    assert_eq!(error.code, Code::Unavailable, "one witness alone: {error}");
    // Nobody needs to call: the beat is watched.
    until_async("it is declared dead", async || is_dead(&test, "one").await).await;
    taken_over(&two, "s-1").await;
}

#[tokio::test]
async fn a_host_that_one_alone_cannot_reach_lives() {
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), dead_without_witness: Duration::from_secs(60), ..TIMES };
    let (one, three) = (test.host("one").await, test.host("three").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    // At the address that the second host has of the first one nobody listens.
    let misled = Misled { address_of: Some(("one", free_address())), ..Misled::of(&test) };
    let two = test.host_that_reads("two", free_address(), Arc::new(misled)).await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("it is not reached");
    assert_eq!(error.code, Code::Unavailable, "{error}");
    assert!(!is_dead(&test, "one").await);
    three.call("s-1", "plugin__tool").await.expect("others reach it");
}

#[tokio::test]
async fn a_silent_host_is_unavailable_at_first_and_dead_when_its_beat_stands_still() {
    let test = TestCell::new();
    let address = free_address();
    let (one, two) = (test.host_at("one", address.clone()).await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    one.kill().await;
    // Who takes connections there and says nothing is as a process that is stopped.
    let silent = until_async("the address is free", async || TcpListener::bind(address.to_string()).await.ok()).await;
    let error = two.call("s-1", "plugin__tool").await.expect_err("it is silent");
    assert_eq!(error.code, Code::Unavailable, "{error}");
    until_async("it is declared dead", async || is_dead(&test, "one").await).await;
    taken_over(&two, "s-1").await;
    drop(silent);
}

#[tokio::test]
async fn a_host_that_starts_again_at_its_address_is_another_one() {
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), dead_without_witness: Duration::from_secs(60), ..TIMES };
    let address = free_address();
    let (one, two) = (test.host_at("one", address.clone()).await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    two.call("s-1", "plugin__tool").await.expect("an answer");
    let first = one.cell.incarnation();
    one.kill().await;
    let again = until_async("it starts again", async || test.started_at("one", address.clone()).await).await;
    assert_ne!(again.cell.incarnation(), first);
    taken_over(&two, "s-1").await;
}

#[tokio::test]
async fn a_host_without_contact_makes_no_call_that_needs_a_home_and_goes_on_when_it_is_back() {
    let mut test = TestCell::new();
    test.times = CellTimes { dead: Duration::from_secs(60), ..TIMES };
    let one = Arc::new(test.host("one").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let calling = one.place("s-1", false).await;
    let Ok(Place::Here(hold)) = calling else { panic!("at home") };
    test.store.answer(false);
    one.call("s-1", "plugin__tool").await.expect("it is at home for a while");
    let error = one.call("s-2", "plugin__tool").await.expect_err("nobody knows its home");
    assert_eq!(error.code, Code::Unavailable, "{error}");
    until_async("it has lost contact", async || one.call("s-1", "plugin__tool").await.is_err()).await;
    assert_eq!(hold.confirm().expect_err("it has lost contact").code, Code::Unavailable);
    test.store.answer(true);
    until_async("it is back", async || one.call("s-1", "plugin__tool").await.is_ok()).await;
    assert_eq!(one.tools.ended.load(Ordering::SeqCst), 0, "nobody took its place");
}

#[tokio::test]
async fn a_host_that_finds_itself_declared_dead_ends_what_it_has_and_begins_anew() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let Ok(Place::Here(hold)) = one.place("s-1", false).await else { panic!("at home") };
    let first = one.cell.incarnation();
    let handle = one.cell.handles().handle().expect("a handle");
    until_async("it is declared dead", async || {
        let hosts = test.store.list().await.expect("it answers");
        let beat = hosts.iter().find(|host| host.incarnation == first).map_or(0, |host| host.beat);
        test.store.declare_dead(first, beat).await.expect("it answers")
    })
    .await;
    until("it begins anew", || one.cell.incarnation() != first && one.cell.is_ready()).await;
    assert_eq!(one.tools.ended.load(Ordering::SeqCst), 1);
    assert_eq!(hold.confirm().expect_err("of an earlier life").code, Code::Unavailable);
    assert!(one.cell.handles().is_of_another_host(&handle), "what it named is gone");
    taken_over(&two, "s-1").await;
    one.call("s-1", "plugin__tool").await.expect("passed on");
}

#[tokio::test]
async fn files_that_stayed_on_a_dead_host_are_told_as_lost_once() {
    let test = TestCell::new();
    let (one, two, three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    one.call_of(super::request("s-1", "plugin__tool"), true).await.expect("an answer");
    one.kill().await;
    taken_over(&two, "s-1").await;
    let error = three.call_of(super::request("s-1", "plugin__tool"), true).await.expect_err("the files are lost");
    assert!(error.code == Code::Gone && error.message.contains("files"), "{error}");
    three.call_of(super::request("s-1", "plugin__tool"), true).await.expect("told once");
}

#[tokio::test]
async fn files_of_an_earlier_time_are_removed_before_a_call_finds_them() {
    let test = TestCell::new();
    let address = free_address();
    let (one, two) = (test.host_at("one", address.clone()).await, test.host("two").await);
    let call = async |host: &TestHost| host.call_of(super::request("s-1", "plugin__tool"), true).await;
    call(&one).await.expect("an answer");
    one.kill().await;
    taken_over(&two, "s-1").await;
    assert_eq!(call(&two).await.expect_err("the files are lost").code, Code::Gone);
    call(&two).await.expect("told once");
    two.kill().await;
    let one = until_async("it starts again", async || test.started_at("one", address.clone()).await).await;
    taken_over(&one, "s-1").await;
    let (first, second) = tokio::join!(call(&one), call(&one));
    let codes = [first, second].map(|answered| answered.expect_err("the files are lost").code);
    assert_eq!(codes, [Code::Gone; 2], "both began before it was told");
    call(&one).await.expect("told once");
    let seen = one.tools.seen.lock().clone();
    let removed: Vec<_> = seen.iter().enumerate().filter(|(_, what)| what.ends_with("files removed")).collect();
    assert!(matches!(removed.as_slice(), [(at, _)] if at + 2 == seen.len()), "once, and before a call: {seen:?}");
}

#[tokio::test]
async fn a_host_that_leaves_does_not_take_the_answer_to_its_last_beat_for_its_death() {
    let mut test = TestCell::new();
    test.times.beat_patience = Duration::from_secs(1);
    let late = Misled { beats_after_leaving: true, ..Misled::of(&test) };
    let one = test.host_that_reads("one", free_address(), Arc::new(late)).await;
    one.cell.leave().await;
    let hosts = test.store.list().await.expect("it answers");
    assert!(hosts.is_empty(), "{hosts:?}");
    assert_eq!(one.tools.ended.load(Ordering::SeqCst), 0);
}
