//! Who sees which terminal, and what a further one does.

use std::time::Duration;

use wharf_core::Code;
use wharf_terminal::{CloseReason, Status, TerminalError, TerminalId, TerminalSize, TurnInput, WatchEvent};
use wharf_test_support::processes::lives;

use crate::support::{Somebody, TestPool, somebody};

/// What is answered to all that an owner can ask of a terminal that is not there for it.
pub(crate) async fn refusals(pool: &TestPool, who: &Somebody, id: TerminalId) -> [TerminalError; 12] {
    let (terminals, owner, moment) = (&pool.terminals, &who.owner(), Duration::ZERO);
    let errors = [
        terminals.info(owner, id).err(),
        terminals.turn_options(owner, id, None).err(),
        terminals.send(owner, id, TurnInput::Submit("x"), None).await.err(),
        terminals.follow(owner, id, 1, 0, 100, moment).await.err(),
        terminals.cancel(owner, id, 1).err(),
        terminals.press(owner, id, &["C-c"]).await.err(),
        terminals.screen(owner, id, 10).err(),
        terminals.read_text(owner, id, 0, 100).err(),
        terminals.read_raw(owner, id, 0, 100).err(),
        terminals.wait(owner, id, 0, moment).await.err(),
        terminals.resize(owner, id, TerminalSize::default()).err(),
        terminals.close(owner, id, moment).await.err(),
    ];
    errors.map(|error| error.expect("refused"))
}

#[tokio::test]
async fn what_belongs_to_another_owner_cannot_be_told_from_what_never_was() {
    let pool = TestPool::new();
    let owner = Somebody::of("local", "terminal", "one", Some("a"));
    let id = pool.shell(&owner).await;
    pool.submit(&owner, id, "echo mine").await.expect("a turn");
    for other in [
        Somebody::of("other", "terminal", "one", Some("a")),
        Somebody::of("local", "workspace", "one", Some("a")),
        Somebody::of("local", "terminal", "two", Some("a")),
        Somebody::of("local", "terminal", "one", Some("b")),
        Somebody::of("local", "terminal", "one", None),
    ] {
        assert!(pool.terminals.list(&other.owner()).is_empty());
        for refusal in refusals(&pool, &other, id).await {
            assert!(matches!(refusal, TerminalError::NotFound), "{refusal:?}");
        }
    }
    assert_eq!(pool.terminals.list(&owner.owner()).len(), 1);
    assert_ne!(pool.info(&owner, id).status, Status::Closed);
    assert_eq!(pool.terminals.all().len(), 1, "the operator sees it");
}

#[tokio::test]
async fn a_further_terminal_replaces_the_one_before_and_says_so() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let first = pool.shell(&owner).await;
    let pid = pool.info(&owner, first).pid.expect("it runs");
    let second = pool.shell_with(&owner, |_| {}).await.expect("a terminal");
    assert_eq!(second.replaced, [first]);
    let info = pool.info(&owner, first);
    assert_eq!((info.status, info.why, info.pid), (Status::Closed, Some(CloseReason::Replaced), None));
    assert!(!lives(pid));
    // What it printed can still be read, and nothing can be typed.
    assert!(pool.text(&owner, first).starts_with("$ "));
    let error = pool.submit(&owner, first, "echo late").await.expect_err("it is closed");
    assert_eq!(wharf_core::Error::from(error).code, Code::Gone);
    // Others keep theirs.
    let other = somebody("two");
    assert!(pool.shell_with(&other, |_| {}).await.expect("a terminal").replaced.is_empty());
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.opened, metrics.open, metrics.closed, metrics.replaced), (3, 2, 1, 1));
}

#[tokio::test]
async fn an_owner_that_may_have_more_loses_the_one_it_used_least_recently() {
    let pool = TestPool::with(|settings| settings.limits.open_per_owner = 2);
    let owner = somebody("one");
    let (first, second) = (pool.shell(&owner).await, pool.shell(&owner).await);
    assert_eq!(pool.terminals.list(&owner.owner()).len(), 2);
    pool.text(&owner, first);
    let third = pool.shell_with(&owner, |_| {}).await.expect("a terminal");
    assert_eq!(third.replaced, [second]);
    // One that is busy goes last.
    pool.make_busy(&owner, first).await;
    pool.text(&owner, third.id);
    assert_eq!(pool.shell_with(&owner, |_| {}).await.expect("a terminal").replaced, [third.id]);
}

#[tokio::test]
async fn a_session_may_watch_what_any_plugin_opened_in_it_and_nobody_else_may() {
    let pool = TestPool::new();
    let owner = Somebody::of("local", "database", "one", Some("a"));
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, "echo shown").await;
    for (other, sees) in [
        (Somebody::of("local", "host", "one", None), true),
        (Somebody::of("local", "host", "one", Some("a")), true),
        // The person behind a session watches all of its assistants.
        (Somebody::of("local", "host", "one", Some("b")), true),
        (Somebody::of("local", "database", "two", Some("a")), false),
        (Somebody::of("other", "database", "one", Some("a")), false),
    ] {
        let context = other.context();
        assert_eq!(pool.terminals.of_session(context).len(), usize::from(sees));
        match pool.terminals.watch(context, id, None) {
            Ok(mut watched) => {
                assert!(sees);
                let Some(WatchEvent::Screen { text, .. }) = watched.next().await else { panic!("no screen") };
                assert!(text.contains("shown"), "{text:?}");
            }
            Err(error) => assert!(!sees && matches!(error, TerminalError::NotFound), "{error}"),
        }
    }
    // A viewer does not count as use, and is told why the terminal is over.
    let used = pool.info(&owner, id).last_used;
    let mut watched = pool.terminals.watch(owner.context(), id, None).expect("watched");
    watched.next().await.expect("the screen");
    assert_eq!(pool.info(&owner, id).last_used, used);
    pool.close(&owner, id).await;
    let mut last = None;
    while let Some(seen) = watched.next().await {
        last = Some(seen);
    }
    assert_eq!(last, Some(WatchEvent::Over("its owner closed it".into())));
}
