//! Reading the same again and again, which a store may serve from memory: what
//! it answers is what was written last, all the same.

use super::{IDLE, Subject, delete, put, thread};

/// More often than a store needs to find a value worth keeping.
const OFTEN: usize = 5;

pub(super) async fn check(subject: &Subject) {
    what_is_read_often_is_never_old(subject).await;
    what_is_read_often_expires(subject).await;
}

async fn what_is_read_often_is_never_old(subject: &Subject) {
    let (scope, other) = (thread("often", "", ""), thread("often-other", "", ""));
    subject.put(&other, "key", b"other").await;
    for round in 0_u8..20 {
        let changes = match round % 4 {
            0 => vec![put("key", &[round]), put("beside", b"1")],
            // The key that is read is not the one that is written.
            1 => vec![put("beside", &[round])],
            2 => vec![delete("key")],
            // Nothing is left: the scope may be made anew by the next round.
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

async fn what_is_read_often_expires(subject: &Subject) {
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
