//! Stops.

use std::time::Duration;

use wharf_process::{Exit, KilledBy, Status, StreamName};

use crate::support::{AMPLE, Room, lives, owner};
use crate::waiting::pattern;

const BY_USER: Option<Exit> = Some(Exit::Killed { by: KilledBy::User });

#[tokio::test]
async fn a_stop_asks_first_and_what_ends_by_that_is_killed_by_its_user() {
    let room = Room::new();
    let id = room.shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done").await;
    assert!(pattern(&room, id, "up").await);
    let stopped = room.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    assert_eq!((stopped.exit, stopped.status), (BY_USER, Status::Killed));
    let printed = room.processes.tail(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a tail").text();
    assert_eq!(printed, "bye\n");
    // Again does nothing.
    let again = room.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    assert_eq!((again.exit, again.finished), (BY_USER, stopped.finished));
    room.close().await;
}

#[tokio::test]
async fn a_stubborn_process_is_killed_with_its_whole_tree() {
    let room = Room::new();
    let stubborn = "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' & \
                    echo up; while :; do sleep 1; done";
    let id = room.shell(stubborn).await;
    assert!(pattern(&room, id, r"^\d+$").await && pattern(&room, id, "up").await);
    let printed = room.processes.head(&owner("one"), id, StreamName::Stdout, 2, 100).expect("a head").text();
    let pid = printed.lines().find_map(|line| line.parse().ok()).expect("a process id");
    assert!(lives(pid));
    let stopped = room.processes.stop(&owner("one"), id, Duration::from_millis(50)).await.expect("a stop");
    assert_eq!((stopped.exit, stopped.descendants), (BY_USER, 0));
    assert!(!lives(pid) && !lives(stopped.pid.expect("it ran")));
    room.close().await;
}

#[tokio::test]
async fn a_stop_that_nobody_awaits_goes_on() {
    let room = Room::new();
    let id = room.shell("trap '' TERM; echo up; while :; do sleep 1; done").await;
    assert!(pattern(&room, id, "up").await);
    let owner = owner("one");
    let stop = room.processes.stop(&owner, id, Duration::from_millis(50));
    assert!(tokio::time::timeout(Duration::from_millis(1), stop).await.is_err(), "it is dropped before its end");
    assert_eq!(crate::waiting::exit(&room, id).await.exit, BY_USER);
    room.close().await;
}
