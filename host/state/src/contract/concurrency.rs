//! Concurrent calls lose no write and see no half of a batch.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::store_under_test::{PLENTY, StoreUnderTest, generous, put, put_if, soon, thread};
use crate::{StateError, StateStore};

const TASKS: u64 = 64;
const ROUNDS: u64 = 5;

pub(super) async fn check(subject: &StoreUnderTest) {
    counting_by_compare_and_swap_loses_nothing(subject).await;
    no_read_sees_half_of_a_batch(subject).await;
}

async fn counting_by_compare_and_swap_loses_nothing(subject: &StoreUnderTest) {
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let store = Arc::clone(&subject.store);
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                increment(&*store).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a counting task");
    }
    let value = subject.value(&thread("counter", "", ""), "count").await.expect("a count");
    assert_eq!(value, (TASKS * ROUNDS).to_le_bytes());
}

async fn increment(store: &dyn StateStore) {
    let scope = thread("counter", "", "");
    loop {
        let read = store.get_many(&scope, &generous(), &["count".into()], PLENTY).await.expect("a read").remove(0);
        let (count, revision) = read
            .map_or((0, 0), |entry| (u64::from_le_bytes(entry.value.try_into().expect("eight bytes")), entry.revision));
        let change = put_if("count", &(count + 1).to_le_bytes(), revision);
        match store.apply(&scope, &generous(), vec![change], soon()).await {
            Ok(_) => return,
            Err(StateError::Conflict { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

async fn no_read_sees_half_of_a_batch(subject: &StoreUnderTest) {
    let scope = thread("halves", "", "");
    // Enough keys that a write falls between the first and the last read.
    let keys: Vec<String> = (0..300).map(|number| format!("k{number:03}")).collect();
    let batch = |round: u64| keys.iter().map(|key| put(key, &round.to_le_bytes())).collect::<Vec<_>>();
    subject.apply(&scope, batch(0)).await.expect("a batch");
    let batches: Vec<_> = (1..=100).map(batch).collect();
    let writer = {
        let (store, scope) = (Arc::clone(&subject.store), scope.clone());
        tokio::spawn(async move {
            for batch in batches {
                store.apply(&scope, &generous(), batch, soon()).await.expect("a batch");
            }
        })
    };
    while !writer.is_finished() {
        let got = subject.store.get_many(&scope, &generous(), &keys, PLENTY).await.expect("a read");
        let got: Vec<_> = got.into_iter().map(|entry| entry.expect("present").value).collect();
        assert!(got.iter().all(|value| *value == got[0]), "a read saw half of a batch");
        let page = subject.scan(&scope, "", None, 1_000).await;
        assert_eq!(page.entries.len(), keys.len());
        assert!(page.entries.iter().all(|entry| entry.value == page.entries[0].value), "a scan saw half of a batch");
        tokio::task::yield_now().await;
    }
    writer.await.expect("the writing task");
}
