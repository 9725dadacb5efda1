//! Reading and changing entries: order, revisions, preconditions, atomicity,
//! and malformed calls.

use super::store_under_test::{PLENTY, StoreUnderTest, delete, keys, put, put_if, thread};
use crate::{MAX_CHANGES, MAX_KEY_BYTES, MAX_KEYS, MAX_VALUE_BYTES, StateChange, StateError};

pub(super) async fn check(subject: &StoreUnderTest) {
    reads_answer_in_the_order_of_their_keys(subject).await;
    revisions_change_and_never_return(subject).await;
    a_change_happens_only_at_the_expected_revision(subject).await;
    a_batch_happens_as_a_whole_or_not_at_all(subject).await;
    any_bytes_are_values_and_any_text_is_a_key(subject).await;
    malformed_calls_are_refused_with_the_reason(subject).await;
    a_read_is_bounded(subject).await;
    keys_are_no_sql_and_no_patterns(subject).await;
}

async fn reads_answer_in_the_order_of_their_keys(subject: &StoreUnderTest) {
    let scope = thread("order", "", "");
    subject.apply(&scope, vec![put("b", b"2"), put("a", b"1")]).await.expect("a batch");
    let found = subject.get_many(&scope, &["b", "absent", "a", "b"]).await;
    let found: Vec<_> = found.into_iter().map(|entry| entry.map(|entry| (entry.key, entry.value))).collect();
    let b = Some(("b".to_owned(), b"2".to_vec()));
    assert_eq!(found, [b.clone(), None, Some(("a".to_owned(), b"1".to_vec())), b]);
    assert_eq!(subject.get_many(&scope, &[]).await, []);
}

async fn revisions_change_and_never_return(subject: &StoreUnderTest) {
    let scope = thread("revisions", "", "");
    let mut seen = vec![0];
    for round in 0..3 {
        let revision = subject.put(&scope, "key", b"same").await;
        assert_eq!(subject.get(&scope, "key").await.expect("present").revision, revision);
        assert!(!seen.contains(&revision), "revision {revision} came twice");
        seen.push(revision);
        if round == 1 {
            // The scope is empty then, and the store may remove it.
            let deleted = subject.apply(&scope, vec![delete("key"), delete("never there")]).await.expect("deletions");
            assert_eq!(deleted, [0, 0]);
            assert_eq!(subject.get(&scope, "key").await, None);
        }
    }
}

async fn a_change_happens_only_at_the_expected_revision(subject: &StoreUnderTest) {
    let scope = thread("expected", "", "");
    let first = subject.apply(&scope, vec![put_if("key", b"1", 0)]).await.expect("absent as expected")[0];
    let refused = subject.apply(&scope, vec![put_if("key", b"2", 0)]).await.expect_err("present");
    assert!(
        matches!(&refused, StateError::Conflict { key, expected: 0, found } if key == "key" && *found == first),
        "{refused:?}"
    );
    let second = subject.apply(&scope, vec![put_if("key", b"2", first)]).await.expect("current")[0];
    assert!(subject.apply(&scope, vec![put_if("key", b"3", first)]).await.is_err(), "an old revision");
    assert!(subject.apply(&scope, vec![StateChange { if_revision: Some(first), ..delete("key") }]).await.is_err());
    assert_eq!(subject.value(&scope, "key").await.as_deref(), Some(b"2".as_slice()));
    subject.apply(&scope, vec![StateChange { if_revision: Some(second), ..delete("key") }]).await.expect("current");
    subject
        .apply(&scope, vec![StateChange { if_revision: Some(0), ..delete("key") }])
        .await
        .expect("absent as expected");
    assert!(subject.apply(&scope, vec![put_if("key", b"4", second)]).await.is_err(), "a deleted key");
}

async fn a_batch_happens_as_a_whole_or_not_at_all(subject: &StoreUnderTest) {
    let scope = thread("batch", "", "");
    let kept = subject.put(&scope, "kept", b"1").await;
    let batch = vec![put("new", b"x"), delete("kept"), put_if("first", b"x", 9), put_if("second", b"x", 9)];
    let refused = subject.apply(&scope, batch).await.expect_err("a conflict");
    assert!(matches!(&refused, StateError::Conflict { key, found: 0, .. } if key == "first"), "{refused:?}");
    let page = subject.scan(&scope, "", None, 10).await;
    assert_eq!(keys(&page), ["kept"]);
    assert_eq!(page.entries[0].revision, kept);
    assert_eq!(subject.usage(&scope).await, (1, 5));

    let revisions =
        subject.apply(&scope, vec![put("new", b"xy"), delete("kept"), put_if("other", b"", 0)]).await.expect("a batch");
    assert!(revisions[0] > kept && revisions[1] == 0 && revisions[2] > 0, "{revisions:?}");
    assert_eq!(keys(&subject.scan(&scope, "", None, 10).await), ["new", "other"]);
    assert_eq!(subject.usage(&scope).await, (2, 10));
    assert!(subject.apply(&scope, Vec::new()).await.expect("nothing to do").is_empty());
}

async fn any_bytes_are_values_and_any_text_is_a_key(subject: &StoreUnderTest) {
    let scope = thread("bytes", "", "");
    let all_bytes: Vec<u8> = (0..=255).collect();
    let long_key = "ü".repeat(MAX_KEY_BYTES / 2);
    let large = vec![7; MAX_VALUE_BYTES];
    let entries =
        [("a", &*all_bytes), ("a\0b", b"nul"), ("a\0c", b"other"), ("", b""), (" ", b""), (&long_key, &large)];
    for (key, value) in entries.into_iter().filter(|(key, _)| !key.is_empty()) {
        subject.put(&scope, key, value).await;
        assert_eq!(subject.value(&scope, key).await.as_deref(), Some(value), "{key:?}");
    }
    assert_eq!(subject.value(&scope, "a\0b").await.as_deref(), Some(b"nul".as_slice()));
    assert_eq!(subject.usage(&scope).await.0, 5);
}

async fn malformed_calls_are_refused_with_the_reason(subject: &StoreUnderTest) {
    let scope = thread("malformed", "", "");
    let long = "k".repeat(MAX_KEY_BYTES + 1);
    for key in ["", long.as_str()] {
        let refused = subject.apply(&scope, vec![put("fine", b""), put(key, b"")]).await.expect_err("illegal");
        assert!(matches!(refused, StateError::IllegalKey { length, .. } if length == key.len()), "{refused:?}");
        let refused = subject.store.get_many(&scope, &subject.policy, &[key.to_owned()], PLENTY).await;
        assert!(matches!(refused, Err(StateError::IllegalKey { .. })), "{refused:?}");
    }
    for (prefix, after) in [(long.as_str(), None), ("", Some(long.as_str()))] {
        let refused = subject.store.scan(&scope, &subject.policy, prefix, after, 1, PLENTY).await;
        assert!(matches!(refused, Err(StateError::IllegalKey { .. })), "{refused:?}");
    }
    let refused = subject.apply(&scope, vec![put("key", &vec![0; MAX_VALUE_BYTES + 1])]).await.expect_err("large");
    assert!(matches!(&refused, StateError::ValueTooLarge { key, .. } if key == "key"), "{refused:?}");
    let refused = subject.apply(&scope, vec![put("twice", b"1"), delete("twice")]).await.expect_err("twice");
    assert!(matches!(&refused, StateError::DuplicateKey { key } if key == "twice"), "{refused:?}");

    let most: Vec<StateChange> = (0..MAX_CHANGES).map(|number| put(&format!("k{number}"), b"")).collect();
    let mut more = most.clone();
    more.push(put("one more", b""));
    let refused = subject.apply(&scope, more).await.expect_err("too many");
    assert!(matches!(refused, StateError::TooManyChanges { given } if given == MAX_CHANGES + 1), "{refused:?}");
    assert_eq!(subject.usage(&scope).await, (0, 0), "a refused call wrote something");
    subject.apply(&scope, most).await.expect("just as many as allowed");

    let mut names: Vec<String> = (0..MAX_KEYS).map(|number| format!("k{number}")).collect();
    let found = subject.store.get_many(&scope, &subject.policy, &names, PLENTY).await.expect("as many as allowed");
    assert!(found.iter().all(Option::is_some));
    names.push("one more".into());
    let refused = subject.store.get_many(&scope, &subject.policy, &names, PLENTY).await;
    assert!(matches!(refused, Err(StateError::TooManyKeys { .. })), "{refused:?}");
}

async fn a_read_is_bounded(subject: &StoreUnderTest) {
    let scope = thread("bounded", "", "");
    subject.apply(&scope, vec![put("a", &[0; 60]), put("b", &[0; 40])]).await.expect("a batch");
    let keys = ["a".to_owned(), "b".to_owned(), "absent".to_owned()];
    assert!(subject.store.get_many(&scope, &subject.policy, &keys, 100).await.is_ok());
    let refused = subject.store.get_many(&scope, &subject.policy, &keys, 99).await;
    assert!(matches!(refused, Err(StateError::ReadTooLarge { max_bytes: 99 })), "{refused:?}");
    assert!(subject.store.get_many(&scope, &subject.policy, &keys[1..], 99).await.is_ok());
}

async fn keys_are_no_sql_and_no_patterns(subject: &StoreUnderTest) {
    let scope = thread("hostile-keys", "", "");
    let hostile = [
        "'); DROP TABLE kv; --",
        "$1",
        "%",
        "_",
        "\\",
        "\\x00",
        "\"",
        "{a,\"b\"}",
        "NULL",
        "a\u{7f}\u{80}",
        "\u{10ffff}",
    ];
    for key in hostile {
        subject.put(&scope, key, key.as_bytes()).await;
    }
    for key in hostile {
        assert_eq!(subject.value(&scope, key).await.as_deref(), Some(key.as_bytes()), "{key:?}");
        let page = subject.scan(&scope, key, None, 10).await;
        let found: Vec<_> = hostile.iter().filter(|other| other.starts_with(key)).collect();
        assert_eq!(page.entries.len(), found.len(), "a scan took {key:?} for something else");
    }
    let page = subject.scan(&scope, "", None, 100).await;
    let mut sorted = hostile.map(str::to_owned);
    sorted.sort();
    assert_eq!(page.entries.into_iter().map(|entry| entry.key).collect::<Vec<_>>(), sorted);
    assert_eq!(subject.usage(&scope).await.0, hostile.len() as u64);
}
