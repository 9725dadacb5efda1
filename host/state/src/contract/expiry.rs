//! Idle scopes expire, read as empty from that moment, and the store knows that they expired.

use std::time::Duration;

use super::store_under_test::{IDLE, StoreUnderTest, delete, put, put_if, soon, thread};
use crate::{Ceilings, Clock as _, ScopePolicy, TOMBSTONE_LIFETIME};

const MOMENT: Duration = Duration::from_millis(1);

pub(super) async fn check(fresh: &impl Fn(Ceilings) -> StoreUnderTest) {
    an_idle_scope_reads_as_empty_before_and_after_its_sweep(&fresh(Ceilings::default())).await;
    the_first_write_ends_the_expiry(&fresh(Ceilings::default())).await;
    writes_and_reads_count_as_use(&fresh(Ceilings::default())).await;
    a_scope_without_expiry_stays(&fresh(Ceilings::default())).await;
    the_remains_of_an_expired_scope_are_forgotten_in_the_end(&fresh(Ceilings::default())).await;
    many_expired_scopes_are_swept_at_once(&fresh(Ceilings::default())).await;
}

async fn an_idle_scope_reads_as_empty_before_and_after_its_sweep(subject: &StoreUnderTest) {
    let (scope, other) = (thread("idle", "", ""), thread("other", "", ""));
    subject.put(&scope, "key", b"value").await;
    let expiry = subject.clock.now() + IDLE;
    subject.clock.advance(IDLE - MOMENT);
    subject.put(&other, "key", b"value").await;
    assert_eq!(subject.usage(&scope).await, (1, 8));
    assert_eq!(subject.expired_at(&scope).await, None);
    assert_eq!(subject.sweep().await, (0, 0), "swept too early");

    subject.clock.advance(MOMENT);
    for swept in [false, true] {
        assert_eq!(subject.get(&scope, "key").await, None, "swept: {swept}");
        assert!(subject.scan(&scope, "", None, 10).await.entries.is_empty(), "swept: {swept}");
        assert_eq!(subject.usage(&scope).await, (0, 0), "swept: {swept}");
        assert_eq!(subject.expired_at(&scope).await, Some(expiry), "swept: {swept}");
        if !swept {
            assert_eq!(subject.sweep().await, (1, 8));
            assert_eq!(subject.sweep().await, (0, 0), "swept twice");
        }
    }
    assert!(subject.get(&other, "key").await.is_some(), "swept what was used since");
    assert_eq!(subject.expired_at(&other).await, None);
    assert_eq!(subject.expired_at(&thread("never used", "", "")).await, None);
}

async fn the_first_write_ends_the_expiry(subject: &StoreUnderTest) {
    for swept in [false, true] {
        let scope = thread("revived", if swept { "swept" } else { "" }, "");
        let before = subject.put(&scope, "old", b"value").await;
        subject.clock.advance(IDLE);
        if swept {
            subject.sweep().await;
        }
        let refused = subject.apply(&scope, vec![put_if("old", b"", before)]).await;
        assert!(refused.is_err(), "an expired entry met its revision");
        assert!(subject.expired_at(&scope).await.is_some(), "a refused write ended the expiry");

        let after = subject.apply(&scope, vec![put_if("old", b"new", 0)]).await.expect("absent as expected")[0];
        assert!(after > before, "revision {after} after {before}");
        assert_eq!(subject.expired_at(&scope).await, None);
        assert_eq!(subject.usage(&scope).await, (1, 6));

        subject.clock.advance(IDLE);
        assert!(subject.expired_at(&scope).await.is_some());
        subject.apply(&scope, vec![delete("absent")]).await.expect("a deletion");
        assert_eq!(subject.expired_at(&scope).await, None, "a deletion is a write too");
        let last = subject.put(&scope, "old", b"").await;
        assert!(last > after, "revision {last} after {after}");
    }
}

async fn writes_and_reads_count_as_use(subject: &StoreUnderTest) {
    let (written, deleted, got, scanned) =
        (thread("written", "", ""), thread("deleted", "", ""), thread("got", "", ""), thread("scanned", "", ""));
    for scope in [&written, &deleted, &got, &scanned] {
        subject.put(scope, "key", b"value").await;
    }
    for round in 0..3 {
        subject.clock.advance(IDLE / 2 + MOMENT);
        assert!(subject.get(&got, "absent").await.is_none());
        assert!(!subject.scan(&scanned, "k", None, 1).await.entries.is_empty(), "expired in round {round}");
        subject.apply(&deleted, vec![delete("absent")]).await.expect("a deletion");
        // The store records reads before a later write returns.
        subject.put(&written, "other", b"value").await;
    }
    for scope in [&written, &deleted, &got, &scanned] {
        assert!(subject.get(scope, "key").await.is_some(), "{scope:?} expired in spite of its use");
    }
    assert_eq!(subject.sweep().await, (0, 0));
    subject.clock.advance(IDLE);
    assert_eq!(subject.sweep().await.0, 4);
}

async fn a_scope_without_expiry_stays(subject: &StoreUnderTest) {
    let scope = thread("lasting", "", "");
    let lasting = ScopePolicy { idle_expiry: None, ..subject.policy.clone() };
    let write = |policy| subject.store.apply(&scope, policy, vec![put("key", b"value")], soon());
    write(&lasting).await.expect("a put");
    subject.clock.advance(IDLE * 1_000);
    assert_eq!(subject.sweep().await, (0, 0));
    assert_eq!(subject.usage(&scope).await, (1, 8));

    // A changed policy holds from the next use on.
    write(&subject.policy).await.expect("a put");
    write(&lasting).await.expect("a put");
    subject.clock.advance(IDLE * 2);
    assert_eq!(subject.usage(&scope).await, (1, 8));
    write(&subject.policy).await.expect("a put");
    subject.clock.advance(IDLE);
    assert_eq!(subject.usage(&scope).await, (0, 0));
}

async fn the_remains_of_an_expired_scope_are_forgotten_in_the_end(subject: &StoreUnderTest) {
    let scope = thread("forgotten", "", "");
    let before = subject.put(&scope, "key", b"value").await;
    subject.clock.advance(IDLE);
    subject.sweep().await;
    subject.clock.advance(TOMBSTONE_LIFETIME - MOMENT);
    subject.sweep().await;
    assert!(subject.expired_at(&scope).await.is_some());
    subject.clock.advance(MOMENT);
    assert_eq!(subject.sweep().await, (0, 0));
    assert_eq!(subject.expired_at(&scope).await, None);
    let after = subject.put(&scope, "key", b"value").await;
    assert!(after > before, "revision {after} after {before}");
}

async fn many_expired_scopes_are_swept_at_once(subject: &StoreUnderTest) {
    for number in 0..300 {
        subject.put(&thread("many", "", &number.to_string()), "key", &vec![0; number]).await;
    }
    subject.clock.advance(IDLE);
    assert_eq!(subject.sweep().await, (300, (0..300).sum::<u64>() + 900));
    assert_eq!(subject.sweep().await, (0, 0));
}
