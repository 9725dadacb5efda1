//! Looking on from where somebody was, while the size changes.

use wharf_terminal::{TerminalId, TerminalSize, WatchEvent, WatchedTerminal};
use wharf_test_support::in_time;

use crate::support::{Room, Somebody, somebody};

/// A program that prints a line for each that is typed, and shows nothing else.
async fn quiet(room: &Room, who: &Somebody) -> TerminalId {
    let script = "stty -echo; echo ready; while read line; do echo \"<$line>\"; done";
    let id = room.script(who, script).await.expect("a terminal").id;
    room.printed(who, id, "ready").await;
    id
}

async fn say(room: &Room, who: &Somebody, id: TerminalId, word: &str) {
    room.terminals.press(&who.owner(), id, &[word, "Enter"]).await.expect("typed");
    room.printed(who, id, &format!("<{word}>")).await;
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
    let (room, who) = (Room::new(), somebody("one"));
    let id = quiet(&room, &who).await;
    let owner = who.owner();
    let watch = |from| room.terminals.watch(who.context(), id, from).expect("a terminal");
    let first = next(&mut watch(None)).await;
    let WatchEvent::Screen { next: before, .. } = first else { panic!("no screen: {first:?}") };
    say(&room, &who, id, "a").await;
    assert_eq!(text(&next(&mut watch(Some(before))).await), "<a>\r\n");
    let wide = TerminalSize::new(120, 30).expect("a size");
    room.terminals.resize(&owner, id, wide).expect("resized");
    say(&room, &who, id, "b").await;
    let again = next(&mut watch(Some(before))).await;
    let WatchEvent::Screen { size, text: drawn, next: after } = &again else { panic!("no screen: {again:?}") };
    assert_eq!(*size, wide);
    assert!(drawn.contains("<a>") && drawn.contains("<b>"), "{drawn:?}");
    // A viewer that has seen all of that gets no new screen, though the same
    // size is asked for again.
    room.terminals.resize(&owner, id, wide).expect("resized");
    say(&room, &who, id, "c").await;
    assert_eq!(text(&next(&mut watch(Some(*after))).await), "<c>\r\n");
}

#[tokio::test]
async fn a_change_of_size_is_told_before_the_bytes_that_come_behind_it() {
    let (room, who) = (Room::new(), somebody("one"));
    let id = quiet(&room, &who).await;
    let mut watched = room.terminals.watch(who.context(), id, None).expect("a terminal");
    assert!(matches!(next(&mut watched).await, WatchEvent::Screen { .. }));
    let resize = |columns| {
        let size = TerminalSize::new(columns, 30).expect("a size");
        room.terminals.resize(&who.owner(), id, size).expect("resized");
        size
    };
    say(&room, &who, id, "a").await;
    let wide = resize(120);
    say(&room, &who, id, "b").await;
    // Nobody looked until now.
    assert_eq!(text(&next(&mut watched).await), "<a>\r\n");
    assert_eq!(next(&mut watched).await, WatchEvent::Resized(wide));
    assert_eq!(text(&next(&mut watched).await), "<b>\r\n");
    // Of two changes at once, what was printed between belongs to a size that is gone.
    resize(100);
    say(&room, &who, id, "c").await;
    let last = resize(90);
    let seen = next(&mut watched).await;
    assert!(matches!(&seen, WatchEvent::Screen { size, .. } if *size == last), "{seen:?}");
}
