//! Stops.

use std::time::Duration;

use wharf_process::{Exit, KilledBy, Status, StreamName};
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, owner};
use crate::waiting::pattern;

const BY_USER: Option<Exit> = Some(Exit::Killed { by: KilledBy::User });

#[tokio::test]
async fn a_stop_asks_first_and_what_ends_by_that_is_killed_by_its_user() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done").await;
    assert!(pattern(&registry, id, "up").await);
    let stopped = registry.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    assert_eq!((stopped.exit, stopped.status), (BY_USER, Status::Killed));
    let printed = registry.processes.tail(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a tail").text();
    assert_eq!(printed, "bye\n");
    // Again does nothing.
    let again = registry.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    assert_eq!((again.exit, again.finished), (BY_USER, stopped.finished));
    registry.close().await;
}

#[tokio::test]
async fn a_stop_that_nobody_awaits_goes_on() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("trap '' TERM; echo up; while :; do sleep 1; done").await;
    assert!(pattern(&registry, id, "up").await);
    let owner = owner("one");
    let stop = registry.processes.stop(&owner, id, Duration::from_millis(50));
    assert!(tokio::time::timeout(Duration::from_millis(1), stop).await.is_err(), "it is dropped before its end");
    assert_eq!(registry.exit(id).await.exit, BY_USER);
    registry.close().await;
}
