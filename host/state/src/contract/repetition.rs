//! Repeated reads, which a store may serve from memory: they return the last written value.

use super::store_under_test::{IDLE, StoreUnderTest, delete, put, thread};

/// More reads than a store needs before it keeps a value.
const OFTEN: usize = 5;

pub(super) async fn check(subject: &StoreUnderTest) {
    what_is_read_often_is_never_old(subject).await;
    what_is_read_often_expires(subject).await;
}

async fn what_is_read_often_is_never_old(subject: &StoreUnderTest) {
    let (scope, other) = (thread("often", "", ""), thread("often-other", "", ""));
    subject.put(&other, "key", b"other").await;
    for round in 0_u8..20 {
        let changes = match round % 4 {
            0 => vec![put("key", &[round]), put("beside", b"1")],
            // The round writes another key than it reads.
            1 => vec![put("beside", &[round])],
            2 => vec![delete("key")],
            // The scope is empty now: the next round may create it anew.
            _ => vec![delete("beside")],
        };
        let expected = match round % 4 {
            0 => Some(vec![round]),
            1 => Some(vec![round - 1]),
            _ => None,
        };
        subject.apply(&scope, changes).await.expect("changes");
        for _ in 0..OFTEN {
            let found = subject.get_many(&scope, &["key", "never"]).await;
            let found: Vec<_> = found.into_iter().map(|entry| entry.map(|entry| entry.value)).collect();
            assert_eq!(found, [expected.clone(), None], "round {round}");
            assert_eq!(subject.value(&other, "key").await.as_deref(), Some(b"other".as_slice()));
        }
    }
}

async fn what_is_read_often_expires(subject: &StoreUnderTest) {
    let scope = thread("often-expires", "", "");
    for round in 0_u8..3 {
        let revision = subject.put(&scope, "key", &[round]).await;
        for _ in 0..OFTEN {
            let found = subject.get(&scope, "key").await.expect("present");
            assert_eq!((found.value, found.revision), (vec![round], revision));
        }
        subject.clock.advance(IDLE * 2);
        for _ in 0..OFTEN {
            assert_eq!(subject.get(&scope, "key").await, None);
        }
    }
}
