//! Ordered paged scans.

use super::store_under_test::{PLENTY, StoreUnderTest, keys, put, thread};

pub(super) async fn check(subject: &StoreUnderTest) {
    a_scan_is_in_the_order_of_bytes_and_of_its_prefix_only(subject).await;
    pages_join_to_the_whole_without_gap_or_repetition(subject).await;
    a_page_is_bounded_by_bytes_but_never_empty_before_the_end(subject).await;
    a_scan_of_keys_is_in_the_same_order_and_counts_no_value(subject).await;
}

async fn a_scan_is_in_the_order_of_bytes_and_of_its_prefix_only(subject: &StoreUnderTest) {
    let scope = thread("ordered", "", "");
    assert_eq!(subject.scan(&scope, "", None, 10).await, crate::EntryPage::default());
    // Neither by letters nor by UTF-16 units would this be the order.
    let ordered =
        ["A", "Z", "a", "a\0", "a/", "a/1", "a/10", "a/2", "a0", "b", "é", "목표", "목표/1", "\u{fffd}", "😀"];
    let mut shuffled: Vec<_> = ordered.iter().map(|key| put(key, key.as_bytes())).collect();
    shuffled.reverse();
    subject.apply(&scope, shuffled).await.expect("a batch");

    assert_eq!(keys(&subject.scan(&scope, "", None, 100).await), ordered);
    assert_eq!(keys(&subject.scan(&scope, "a/", None, 100).await), ["a/", "a/1", "a/10", "a/2"]);
    assert_eq!(keys(&subject.scan(&scope, "목", None, 100).await), ["목표", "목표/1"]);
    assert_eq!(keys(&subject.scan(&scope, "😀", None, 100).await), ["😀"]);
    assert_eq!(keys(&subject.scan(&scope, "absent", None, 100).await), [""; 0]);
    let found = subject.scan(&scope, "a/1", None, 100).await;
    assert!(found.entries.iter().all(|entry| entry.value == entry.key.as_bytes() && entry.revision > 0));

    assert_eq!(keys(&subject.scan(&scope, "a/", Some("a/1"), 100).await), ["a/10", "a/2"]);
    assert_eq!(keys(&subject.scan(&scope, "a/", Some("a/11"), 100).await), ["a/2"], "`after` need not exist");
    assert_eq!(keys(&subject.scan(&scope, "a/", Some("A"), 100).await), ["a/", "a/1", "a/10", "a/2"]);
    assert_eq!(keys(&subject.scan(&scope, "a/", Some("b"), 100).await), [""; 0]);
    assert_eq!(keys(&subject.scan(&scope, "목표", Some("목표"), 100).await), ["목표/1"]);
}

async fn pages_join_to_the_whole_without_gap_or_repetition(subject: &StoreUnderTest) {
    let scope = thread("pages", "", "");
    let all: Vec<String> = (0..25).map(|number| format!("p/{number:02}")).collect();
    let mut changes: Vec<_> = all.iter().map(|key| put(key, b"value")).collect();
    changes.push(put("q", b"beyond the prefix"));
    subject.apply(&scope, changes).await.expect("a batch");
    for limit in [0, 1, 7, 24, 25, 26, u32::MAX] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = subject.scan(&scope, "p/", after.as_deref(), limit).await;
            assert!(page.entries.len() <= limit.max(1) as usize);
            found.extend(page.entries.into_iter().map(|entry| entry.key));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, all, "with pages of {limit}");
    }
    assert_eq!(subject.scan(&scope, "p/", None, 25).await.next, None, "a full page that is the last says so");
}

async fn a_page_is_bounded_by_bytes_but_never_empty_before_the_end(subject: &StoreUnderTest) {
    let scope = thread("sized", "", "");
    subject.apply(&scope, vec![put("a", &[0; 99]), put("b", &[0; 99]), put("c", &[0; 999])]).await.expect("a batch");
    for (bound, expected) in [(199, vec!["a"]), (200, vec!["a", "b"]), (1_199, vec!["a", "b"]), (1, vec!["a"])] {
        let page = subject.store.scan(&scope, &subject.policy, "", None, 10, bound).await.expect("a scan");
        assert_eq!(keys(&page), expected, "within {bound} bytes");
        assert_eq!(page.next.as_deref(), expected.last().copied());
    }
    let page = subject.store.scan(&scope, &subject.policy, "", Some("b"), 10, 5).await.expect("a scan");
    assert_eq!((keys(&page), &page.next), (vec!["c"], &None), "an entry above the bound comes alone");
    let page = subject.store.scan(&scope, &subject.policy, "", None, 10, 1_200).await.expect("a scan");
    assert_eq!((page.entries.len(), page.next), (3, None));
}

async fn a_scan_of_keys_is_in_the_same_order_and_counts_no_value(subject: &StoreUnderTest) {
    let scope = thread("keys", "", "");
    let scan = async |prefix: &str, after: Option<&str>, limit, bytes| {
        subject.store.scan_keys(&scope, &subject.policy, prefix, after, limit, bytes).await.expect("a scan")
    };
    assert_eq!(scan("", None, 10, PLENTY).await, crate::KeyPage::default());
    let changes = ["b", "a", "é", "p/2", "p/1"].map(|key| put(key, &[7; 999]));
    subject.apply(&scope, changes.into()).await.expect("a batch");
    for prefix in ["", "p/", "q"] {
        let entries = subject.scan(&scope, prefix, None, 100).await.entries;
        let expected: Vec<_> = entries.into_iter().map(|entry| (entry.key, entry.revision)).collect();
        assert_eq!(scan(prefix, None, 100, PLENTY).await, crate::KeyPage { keys: expected, next: None });
    }
    for (limit, bytes) in [(1, PLENTY), (2, PLENTY), (100, 1), (100, 4)] {
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = scan("", after.as_deref(), limit, bytes).await;
            assert!(page.keys.len() <= limit as usize);
            found.extend(page.keys.into_iter().map(|(key, _)| key));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, ["a", "b", "p/1", "p/2", "é"], "pages of {limit} and {bytes} bytes");
    }
    let longest = "k".repeat(crate::MAX_KEY_BYTES + 1);
    let refused = subject.store.scan_keys(&scope, &subject.policy, "", Some(&longest), 1, PLENTY).await;
    assert!(matches!(refused, Err(crate::StateError::IllegalKey { .. })), "{refused:?}");
}
