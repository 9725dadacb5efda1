//! Looking on from where somebody was, while the size changes.

use wharf_terminal::{TerminalId, TerminalSize, WatchEvent, WatchedTerminal};
use wharf_test_support::in_time;

use crate::support::{Somebody, TestPool, somebody};

/// A program that prints a line for each that is typed, and shows nothing else.
async fn quiet(pool: &TestPool, who: &Somebody) -> TerminalId {
    let script = "stty -echo; echo ready; while read line; do echo \"<$line>\"; done";
    let id = pool.script(who, script).await.expect("a terminal").id;
    pool.printed(who, id, "ready").await;
    id
}

async fn say(pool: &TestPool, who: &Somebody, id: TerminalId, word: &str) {
    pool.terminals.press(&who.owner(), id, &[word, "Enter"]).await.expect("typed");
    pool.printed(who, id, &format!("<{word}>")).await;
}

async fn next(watched: &mut WatchedTerminal) -> WatchEvent {
    in_time("an event", watched.next()).await.expect("more")
}

fn text(seen: &WatchEvent) -> String {
    match seen {
        WatchEvent::Bytes { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("no bytes: {other:?}"),
    }
}

#[tokio::test]
async fn who_comes_back_after_a_change_of_size_gets_the_screen_anew() {
    let (pool, who) = (TestPool::new(), somebody("one"));
    let id = quiet(&pool, &who).await;
    let owner = who.owner();
    let watch = |from| pool.terminals.watch(who.context(), id, from).expect("a terminal");
    let first = next(&mut watch(None)).await;
    let WatchEvent::Screen { next: before, .. } = first else { panic!("no screen: {first:?}") };
    say(&pool, &who, id, "a").await;
    assert_eq!(text(&next(&mut watch(Some(before))).await), "<a>\r\n");
    let wide = TerminalSize::new(120, 30).expect("a size");
    pool.terminals.resize(&owner, id, wide).expect("resized");
    say(&pool, &who, id, "b").await;
    let again = next(&mut watch(Some(before))).await;
    let WatchEvent::Screen { size, text: drawn, next: after } = &again else { panic!("no screen: {again:?}") };
    assert_eq!(*size, wide);
    assert!(drawn.contains("<a>") && drawn.contains("<b>"), "{drawn:?}");
    // A viewer that has seen all of that gets no new screen, though the same
    // size is asked for again.
    pool.terminals.resize(&owner, id, wide).expect("resized");
    say(&pool, &who, id, "c").await;
    assert_eq!(text(&next(&mut watch(Some(*after))).await), "<c>\r\n");
}

#[tokio::test]
async fn a_change_of_size_is_told_before_the_bytes_that_come_behind_it() {
    let (pool, who) = (TestPool::new(), somebody("one"));
    let id = quiet(&pool, &who).await;
    let mut watched = pool.terminals.watch(who.context(), id, None).expect("a terminal");
    assert!(matches!(next(&mut watched).await, WatchEvent::Screen { .. }));
    let resize = |columns| {
        let size = TerminalSize::new(columns, 30).expect("a size");
        pool.terminals.resize(&who.owner(), id, size).expect("resized");
        size
    };
    say(&pool, &who, id, "a").await;
    let wide = resize(120);
    say(&pool, &who, id, "b").await;
    // Nobody looked until now.
    assert_eq!(text(&next(&mut watched).await), "<a>\r\n");
    assert_eq!(next(&mut watched).await, WatchEvent::Resized(wide));
    assert_eq!(text(&next(&mut watched).await), "<b>\r\n");
    // Of two changes at once, what was printed between belongs to a size that is gone.
    resize(100);
    say(&pool, &who, id, "c").await;
    let last = resize(90);
    let seen = next(&mut watched).await;
    assert!(matches!(&seen, WatchEvent::Screen { size, .. } if *size == last), "{seen:?}");
}
