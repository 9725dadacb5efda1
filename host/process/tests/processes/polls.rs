//! Polls of real processes, as they are counted.

use std::{collections::HashSet, sync::Arc};

use wharf_process::{SpawnRequest, Status};
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, owner, shell};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn polls_at_once_are_counted_exactly_over_processes() {
    const POLLS: u32 = 50;
    let registry = TestRegistry::new().await;
    let ids = [registry.shell("exec sleep 1000").await, registry.shell("exec sleep 1000").await];
    let begin = Arc::new(tokio::sync::Barrier::new(8));
    let polling: Vec<_> = (0..8)
        .map(|number| {
            let (processes, begin, id) = (Arc::clone(&registry.processes), Arc::clone(&begin), ids[number % 2]);
            tokio::spawn(async move {
                begin.wait().await;
                let mut advice = 0;
                for _ in 0..POLLS {
                    let polled = processes.poll(&owner("one"), id, 1, 100).await.expect("a poll");
                    advice += u64::from(polled.guidance.is_some());
                }
                advice
            })
        })
        .collect();
    let mut advice = 0;
    for polling in polling {
        advice += polling.await.expect("no panic");
    }
    for id in ids {
        let statistics = registry.processes.statistics(&owner("one"), id).expect("its owner's");
        assert_eq!((statistics.polls, statistics.consecutive), (u64::from(4 * POLLS), 4 * POLLS));
        assert_eq!(statistics.intervals.expect("intervals").count, 4 * POLLS - 1);
    }
    let totals = registry.processes.poll_totals();
    assert_eq!((totals.polls, totals.guidance, totals.episodes), (u64::from(8 * POLLS), advice, 2));
    assert_eq!(totals.intervals_after_guidance, advice, "each was followed by another poll");
    assert_eq!(totals.long_episodes_with_guidance + totals.long_episodes_without_guidance, 2);
    registry.close().await;
}

#[tokio::test]
async fn statistics_say_when_and_a_change_of_status_begins_anew() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell("read line") }).await;
    let never = registry.processes.statistics(&owner("one"), id).expect("its owner's");
    assert_eq!((never.polls, never.last, never.first_consecutive, never.intervals), (0, None, None, None));
    let before = chrono::Utc::now();
    for _ in 0..4 {
        registry.processes.poll(&owner("one"), id, 1, 100).await.expect("a poll");
    }
    let polled = registry.processes.statistics(&owner("one"), id).expect("its owner's");
    assert_eq!((polled.polls, polled.consecutive), (4, 4));
    let (first, last) = (polled.first_consecutive.expect("a time"), polled.last.expect("a time"));
    // Two clocks tell these times.
    let slack = chrono::TimeDelta::seconds(1);
    assert!(before - slack <= first && first <= last && last <= chrono::Utc::now() + slack);
    assert_eq!(polled.intervals.expect("intervals").count, 3);
    registry.processes.write(&owner("one"), id, b"on\n", AMPLE).await.expect("written");
    assert_eq!(registry.exit(id).await.status, Status::Finished);
    let waited = registry.processes.statistics(&owner("one"), id).expect("its owner's");
    assert_eq!(waited, polled, "a wait that blocked is no poll");
    registry.processes.poll(&owner("one"), id, 1, 100).await.expect("a poll");
    let ended = registry.processes.statistics(&owner("one"), id).expect("its owner's");
    assert_eq!((ended.polls, ended.consecutive, ended.intervals), (5, 0, None));
    let ids: HashSet<_> = registry.processes.list(&owner("one")).await.iter().map(|listed| listed.id).collect();
    assert_eq!(ids, HashSet::from([id]));
    registry.close().await;
}
