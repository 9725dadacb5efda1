//! A clock that somebody sets while a host runs.

use std::time::{Duration, SystemTime};

use wharf_core::grant::GrantClock;
use wharf_process::{Exit, ProcessSettings};

use crate::support::{TestRegistry, owner, settings};

const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);

#[tokio::test]
async fn what_ended_under_a_clock_that_was_set_back_is_kept_once_it_is_right() {
    // By the host's count it is five years later than the system's clock says.
    let counted = SystemTime::now() + 5 * YEAR;
    let settings = ProcessSettings { clock: GrantClock::new(move || counted), ..settings() };
    let kept = settings.tombstone_lifetime;
    let registry = TestRegistry::with(settings).await;
    let id = registry.shell("exit 3").await;
    let ended = registry.exit(id).await;
    assert_eq!(ended.exit, Some(Exit::Exited { code: 3 }));
    assert_eq!((ended.started, ended.finished), (counted.into(), Some(counted.into())), "one clock has both");
    for early in [counted, counted + kept - Duration::from_secs(1)] {
        assert_eq!(registry.processes.sweep(early.into()).await.processes, 0);
        registry.processes.snapshot(&owner("one"), id).await.expect("it is kept");
    }
    assert_eq!(registry.processes.sweep((counted + kept).into()).await.processes, 1);
    registry.close().await;
}
