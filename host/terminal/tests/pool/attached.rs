//! People who are attached: they look on and type.

use wharf_terminal::{Screen, TerminalError, TerminalSize, ViewUpdate};
use wharf_test_support::in_time;

use crate::support::{TestPool, somebody};

/// A person's terminal, which draws what it is given.
struct Person {
    screen: Screen,
    screens: usize,
}

impl Person {
    fn new() -> Self {
        Self { screen: Screen::new(TerminalSize::default(), 0), screens: 0 }
    }

    fn see(&mut self, update: ViewUpdate) {
        match update {
            ViewUpdate::Screen { size, text } => {
                self.screens += 1;
                self.screen = Screen::new(size, 0);
                self.screen.feed(&text);
            }
            ViewUpdate::Text(text) => self.screen.feed(&text),
            ViewUpdate::Resized(size) => self.screen.resize(size),
            ViewUpdate::Typed(_) => panic!("nobody asked for it"),
        }
    }
}

#[tokio::test]
async fn a_person_sees_the_present_screen_and_then_all_that_comes() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, r"printf '\033[31mred\033[0m \347\225\214\n'; for i in 1 2 3; do echo line $i; done").await;
    let mut attached = pool.terminals.attach(id).expect("attached");
    let mut person = Person::new();
    person.see(attached.next().await.expect("the screen"));
    let view = || pool.terminals.screen(&owner.owner(), id, 0).expect("a screen").view;
    assert_eq!(person.screen.view(), view());
    assert_eq!(pool.info(&owner, id).viewers, 1);
    attached.resize(TerminalSize::new(60, 20).expect("a size")).expect("resized");
    attached
        .write(
            b"stty size; printf '\\033[15;5Hh\\145re\\033]0;title\\007\\033[6n'; read -s -d R word\r".to_vec(),
            false,
        )
        .await
        .expect("typed");
    while !person.screen.view().lines.iter().any(|line| line.contains("here")) || person.screen.view() != view() {
        let update = in_time("it comes", attached.next()).await.expect("more");
        if let ViewUpdate::Text(text) = &update {
            assert!(!text.contains("\x1b[6n") && !text.contains("title\x07"), "{text:?}");
        }
        person.see(update);
    }
    assert!(person.screen.view().lines.iter().any(|line| line == "20 60"));
    assert_eq!(person.screens, 1);
    pool.close(&owner, id).await;
    while attached.next().await.is_some() {}
}

#[tokio::test]
async fn whoever_is_slow_is_shown_the_whole_screen_anew() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let mut attached = pool.terminals.attach(id).expect("attached");
    let mut person = Person::new();
    person.see(attached.next().await.expect("the screen"));
    let (_, turn) = pool.answer(&owner, id, "seq 1 300000").await;
    assert!(turn.is_over());
    let view = pool.terminals.screen(&owner.owner(), id, 0).expect("a screen").view;
    while person.screen.view() != view {
        person.see(in_time("it comes", attached.next()).await.expect("more"));
    }
    assert!(person.screens >= 2);
}

#[tokio::test]
async fn a_person_does_not_type_into_a_turn_unless_they_insist() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let attached = pool.terminals.attach(id).expect("attached");
    let turn = pool.submit(&owner, id, "echo rea''dy; read line; echo got:$line").await.expect("a turn");
    // What is typed before would be read by the shell itself.
    pool.printed(&owner, id, "ready").await;
    let error = attached.write(b"no\r".to_vec(), false).await.expect_err("a turn runs");
    assert!(matches!(error, TerminalError::Busy { .. }));
    attached.write(b"yes\r".to_vec(), true).await.expect("typed");
    pool.printed(&owner, id, "got:yes").await;
    let over = |info: &wharf_terminal::TerminalInfo| info.turn.as_ref().is_some_and(wharf_terminal::TurnState::is_over);
    let info = pool.until(&owner, id, over).await;
    assert_eq!(info.turn.map(|turn| turn.number), Some(turn.number));
}

#[tokio::test]
async fn viewers_are_bounded_and_what_is_closed_is_shown_once() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let viewers: Vec<_> = std::iter::from_fn(|| pool.terminals.attach(id).ok()).take(1_000).collect();
    assert_eq!(viewers.len(), 256);
    assert!(matches!(pool.terminals.attach(id), Err(TerminalError::TooManyViewers(_))));
    drop(viewers);
    pool.close(&owner, id).await;
    let mut attached = pool.terminals.attach(id).expect("attached");
    assert!(matches!(attached.next().await, Some(ViewUpdate::Screen { text, .. }) if text.contains('$')));
    assert_eq!(attached.next().await, None);
    assert!(matches!(attached.write(b"x".to_vec(), true).await, Err(TerminalError::Over { .. })));
}
