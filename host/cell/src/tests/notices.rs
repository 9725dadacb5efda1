//! Changes that plugins tell at one host, heard at the others.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Mutex, broadcast};
use wharf_core::{
    Context,
    service::{Audience, ChangeRelay as _, offer::Change},
};
use wharf_test_support::{until, until_async};

use super::{TestCell, TestHost};
use crate::{Members as _, NoticeBus};

fn updated(uri: &str) -> Change {
    let context = Context::new("acme".parse().expect("legal"), "s".parse().expect("legal"));
    Change::Resource { context, uri: uri.to_owned(), plugin: "plans".parse().expect("legal") }
}

fn everything() -> Change {
    Change::Missed(Audience::default())
}

impl TestHost {
    fn heard(&self) -> Vec<Change> {
        self.tools.heard.lock().clone()
    }

    async fn until_heard(&self, expected: &[Change]) {
        until("it hears that", || self.heard() == expected).await;
    }

    /// Each knows a host that has joined once it has beaten.
    async fn until_knows(&self, other: &Self) {
        until("it knows the other host", || self.cell.knows(other.cell.incarnation())).await;
    }
}

/// What is published reaches everybody who listens, or nobody, or is refused.
struct TestBus {
    published: broadcast::Sender<Bytes>,
    listening: Mutex<broadcast::Receiver<Bytes>>,
    loses: bool,
    refuses: bool,
}

impl TestBus {
    fn new(loses: bool, refuses: bool) -> Self {
        Self::of(broadcast::Sender::new(64), loses, refuses)
    }

    fn of(published: broadcast::Sender<Bytes>, loses: bool, refuses: bool) -> Self {
        let listening = Mutex::new(published.subscribe());
        Self { published, listening, loses, refuses }
    }

    /// The same bus, for another host.
    fn beside(&self) -> Self {
        Self::of(self.published.clone(), self.loses, self.refuses)
    }
}

#[async_trait]
impl NoticeBus for TestBus {
    async fn publish(&self, batch: Bytes) -> bool {
        if !self.loses && !self.refuses {
            let _ = self.published.send(batch);
        }
        !self.refuses
    }

    async fn next(&self) -> Option<Bytes> {
        self.listening.lock().await.recv().await.ok()
    }
}

#[tokio::test]
async fn what_a_plugin_tells_at_one_host_is_heard_at_all_others_once() {
    let test = TestCell::new();
    let (one, two, three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    for host in [&two, &three] {
        one.until_knows(host).await;
    }
    for _ in 0..5 {
        one.cell.relay(&updated("plan://one"));
    }
    for host in [&two, &three] {
        host.until_heard(&[updated("plan://one")]).await;
    }
    assert!(one.heard().is_empty(), "{:?}", one.heard());
}

#[tokio::test]
async fn what_nobody_has_heard_is_known_from_the_database_and_everything_counts_as_changed() {
    let mut test = TestCell::new();
    let two = test.host("two").await;
    test.bus = Some(Arc::new(TestBus::new(true, false)));
    let one = test.host("one").await;
    one.cell.relay(&updated("plan://one"));
    two.until_heard(&[everything()]).await;
    one.cell.relay(&updated("plan://two"));
    two.until_heard(&[everything(), everything()]).await;
    assert!(one.heard().is_empty());
}

#[tokio::test]
async fn a_bus_carries_changes_and_where_it_does_not_they_go_from_host_to_host() {
    for refuses in [false, true] {
        let mut test = TestCell::new();
        let bus = TestBus::new(false, refuses);
        test.bus = Some(Arc::new(bus.beside()));
        let one = test.host("one").await;
        test.bus = Some(Arc::new(bus));
        let two = test.host("two").await;
        one.until_knows(&two).await;
        one.cell.relay(&updated("plan://one"));
        two.until_heard(&[updated("plan://one")]).await;
        assert!(one.heard().is_empty(), "{:?}", one.heard());
    }
}

#[tokio::test]
async fn a_host_that_was_taken_for_dead_takes_everything_for_changed() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.until_knows(&two).await;
    two.until_knows(&one).await;
    two.cell.relay(&updated("plan://one"));
    one.until_heard(&[updated("plan://one")]).await;
    let before = two.cell.incarnation();
    let beat = async || {
        let hosts = test.store.list().await.expect("it answers");
        hosts.iter().find(|host| host.incarnation == before).expect("it has joined").beat
    };
    until_async("it is declared dead", async || {
        test.store.declare_dead(before, beat().await).await.expect("it answers")
    })
    .await;
    two.until_heard(&[everything()]).await;
    assert_ne!(two.cell.incarnation(), before);
    // What it told with its last breath may be lost; its next life begins to count anew.
    one.until_heard(&[updated("plan://one"), everything()]).await;
    one.until_knows(&two).await;
    two.cell.relay(&updated("plan://two"));
    one.until_heard(&[updated("plan://one"), everything(), updated("plan://two")]).await;
}

#[tokio::test]
async fn a_member_that_nobody_holds_any_more_beats_no_more() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    one.until_knows(&two).await;
    let gone = two.cell.incarnation();
    drop(two);
    until("it is declared dead", || !one.cell.knows(gone)).await;
}
